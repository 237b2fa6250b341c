"""Rows in an order: for each key of a set, or of a bag, its rows in an order, each with a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .. import zset
from ..node import Moment, Name, Node, NodeId, SingleSource, Surroundings
from ..schema import Schema
from ..sortedrows import RowFunction, SortedRows
from ..zset import Row, Zset
from .group import Aggregate
from .linear import Traced


class _Ordering(SingleSource):
    """An ordering, or its incremental version."""

    __slots__ = ()
    keys: int
    aggregate: Aggregate
    turns: ClassVar[bool] = True

    def details(self, name: Name) -> str:
        by = ", ".join(column.name for column in self.schema[: self.keys])
        columns = ", ".join(f".{c}" for c in self.aggregate.columns)
        made = ", ".join(column.name for column in self.schema[self.keys :])
        return f"{name(self.source)} by ({by}): {made} in ordered({columns})"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        arity = len(scope.nodes[self.source].schema)
        if self.keys > arity or len(self.schema) <= self.keys:
            yield f"{self.keys} keys and a value do not make {len(self.schema)} columns"
        if any(not 0 <= c < arity for c in self.aggregate.columns):
            yield f"a value reads a column beyond the {arity} of its source"

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Ordered(_Ordering):
    """A row for each row of the source: the key (the first `keys` columns of the source), and columns that
    the function makes of the row among the rows of its key. A row of the source counts once, or with `bag` as
    often as its weight says. A change of the source changes the rows within reach of it."""

    source: NodeId
    keys: int
    aggregate: Aggregate
    schema: Schema
    text: str = field(default="", compare=False)
    bag: bool = False

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return ordered(sources[0], self.keys, self.aggregate, self.bag)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        before = trace(self.source)
        return DeltaOrdered(self.source, before, self.keys, self.aggregate, self.schema, self.text, self.bag)

    def title(self) -> str:
        return "ordered bag" if self.bag else "ordered"


@dataclass(frozen=True, slots=True)
class DeltaOrdered(Traced, _Ordering):
    """Ordered^Δ: for each touched key, minus the rows of before, plus the rows of now. `trace` is z⁻¹ I of
    the source."""

    source: NodeId
    trace: NodeId
    keys: int
    aggregate: Aggregate
    schema: Schema
    text: str = field(default="", compare=False)
    bag: bool = False

    def looked_up(self) -> tuple[NodeId, ...]:
        return (self.source,)

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        change, before = sources
        touched = {row[: self.keys] for row in change}
        old = {row: weight for row, weight in before.items() if row[: self.keys] in touched}
        now = ordered(zset.add(old, change), self.keys, self.aggregate, self.bag)
        return zset.subtract(now, ordered(old, self.keys, self.aggregate, self.bag))

    def title(self) -> str:
        return "ordered bagΔ" if self.bag else "orderedΔ"


def ordered(value: Mapping[Row, int], keys: int, aggregate: Aggregate, bag: bool = False) -> Zset:
    """Definition of the operator: for each row of a set, or of a bag, a row of its key and of the result of
    the aggregate's function for it."""
    groups: dict[Row, list[Row]] = {}
    for row in sorted(zset.distinct(value)):
        members = [tuple(row[c] for c in aggregate.columns)] * (value[row] if bag else 1)
        groups.setdefault(row[:keys], []).extend(members)
    found: dict[Row, int] = {}
    assert aggregate.ordered is not None
    for key, rows in groups.items():
        for result in results(aggregate.ordered, rows):
            found[*key, *result] = found.get((*key, *result), 0) + 1
    return found


def results(function: RowFunction, rows: Sequence[Row]) -> list[Row]:
    """What the function makes of each row among these."""
    listed = sorted(rows, key=function.key)
    made = function.values(SortedRows(listed, function.key), 0, len(listed))
    return [function.result(row, value) for row, value in zip(listed, made, strict=True)]
