"""Grouping and aggregation: for each key of a set, or of a bag, one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import zset
from ..node import Moment, Name, Node, NodeId, SingleSource, Surroundings
from ..rounding import rounded
from ..schema import Origin, RowExpr, Schema
from ..sortedrows import ColumnOrder, RowFunction
from ..zset import Row, Zset
from .linear import Traced


@dataclass(frozen=True, slots=True)
class First:
    """The rows of a group that matter: the first `most`, in the order of `key`, which tells any two apart, or
    the last. With the ranks of SQL as `counts`, whose keys are pairs, of which the first parts may be equal:
    those that fewer than so many come before (rank), or that have one of so many first parts (dense_rank).
    `orders`: how the first columns order rows, then all do by their values; None: only `key` tells."""

    most: int
    key: Callable[[tuple[Any, ...]], Any]
    last: bool = False
    counts: str = "row_number"
    orders: Sequence[ColumnOrder] | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One result column of a Group: `function` over `columns`, positions in the source's schema.

    count: number of rows. sum, avg, min, max: of the one column given (avg a double; sum wraps as
    `wrap` says, unless it is in `range`, given by its ends). group: `make(key, values)`, `key` the tuple of
    key values and `values` the sorted list of the rows' `columns` (each a tuple of values), which gives any
    value of the column `out`. With `first`, it gives the same of the first rows of a group alone; with
    `ordered`, the list of what this function makes of each row, whose items have these `parts`, the last of
    which is the value of the row, and the others are its columns behind those of the order.
    """

    function: str
    columns: tuple[int, ...]
    make: Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Any] | None = field(default=None, compare=False)
    wrap: Callable[[int], int] | None = field(default=None, compare=False)
    range: tuple[int, int] | None = field(default=None, compare=False)
    key: Any = None  # identifies make, wrap, first and ordered for equality
    origin: Origin = field(default=None, compare=False, repr=False)
    first: First | None = field(default=None, compare=False, repr=False)
    ordered: RowFunction | None = field(default=None, compare=False, repr=False)
    parts: tuple[RowExpr, ...] = field(default=(), compare=False, repr=False)


class _Grouping(SingleSource):
    """A group, or its incremental version."""

    __slots__ = ()
    keys: int
    aggregates: tuple[Aggregate, ...]
    makes_set: ClassVar[bool] = True
    turns: ClassVar[bool] = True

    def details(self, name: Name) -> str:
        by = ", ".join(column.name for column in self.schema[: self.keys])
        results = zip(self.aggregates, self.schema[self.keys :], strict=False)
        return f"{name(self.source)} by ({by}): {', '.join(_aggregate_text(a, c.name) for a, c in results)}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        arity = len(scope.nodes[self.source].schema)
        if self.keys > arity or len(self.schema) != self.keys + len(self.aggregates):
            columns = len(self.schema)
            yield f"{self.keys} keys and {len(self.aggregates)} aggregates do not make {columns} columns"
        if any(not 0 <= c < arity for a in self.aggregates for c in a.columns):
            yield f"an aggregate reads a column beyond the {arity} of its source"


@dataclass(frozen=True, slots=True)
class Group(_Grouping):
    """One row for each key (the first `keys` columns of the source): the key columns followed by a column for
    each aggregate. A row of the source counts once, or with `bag` as often as its weight says. A change of
    the source changes only the rows of the keys that it touches."""

    source: NodeId
    keys: int
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    text: str = field(default="", compare=False)
    bag: bool = False

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return group(sources[0], self.keys, self.aggregates, self.bag)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        before = trace(self.source)
        return DeltaGroup(self.source, before, self.keys, self.aggregates, self.schema, self.text, self.bag)

    def title(self) -> str:
        return "group of a bag" if self.bag else "group"


@dataclass(frozen=True, slots=True)
class DeltaGroup(Traced, _Grouping):
    """Group^Δ: for each touched key, minus the row of before, plus the row of now. `trace` is z⁻¹ I of the
    source."""

    source: NodeId
    trace: NodeId
    keys: int
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    text: str = field(default="", compare=False)
    bag: bool = False

    @property
    def reads_members(self) -> bool:
        """Whether some aggregate needs the rows of a group, so that the source must be arranged by key."""
        return any(each.function in ("min", "max", "group") for each in self.aggregates)

    def looked_up(self) -> tuple[NodeId, ...]:
        return (self.source,) if self.reads_members else ()

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        change, before = sources
        return delta_group(before, change, self.keys, self.aggregates, self.bag)

    def title(self) -> str:
        return "group of a bagΔ" if self.bag else "groupΔ"


# ------------------------------------------------------------------- meaning


def group(value: Mapping[Row, int], keys: int, aggregates: Sequence[Aggregate], bag: bool = False) -> Zset:
    """One row for each key of a set, or of a bag: the key and its aggregates."""
    groups: dict[Row, list[Row]] = {}
    for row in sorted(zset.distinct(value)):
        groups.setdefault(row[:keys], []).extend([row] * (value[row] if bag else 1))
    return zset.of_rows(
        key + tuple(_aggregate(a, key, rows) for a in aggregates) for key, rows in groups.items()
    )


def _aggregate(aggregate: Aggregate, key: Row, rows: list[Row]) -> Any:
    columns = sorted(tuple(row[c] for c in aggregate.columns) for row in rows)
    if aggregate.make is not None:
        return aggregate.make(key, columns)
    match aggregate.function:
        case "count":
            return len(rows)
        case "sum":
            total = sum(value for (value,) in columns)
            return aggregate.wrap(total) if aggregate.wrap else total
        case "avg":
            return rounded(sum(value for (value,) in columns), len(columns))
        case "min":
            return columns[0][0]
        case "max":
            return columns[-1][0]
        case _:
            raise ValueError(f"unknown aggregate {aggregate.function}")


def delta_group(
    before: Mapping[Row, int],
    change: Mapping[Row, int],
    keys: int,
    aggregates: Sequence[Aggregate],
    bag: bool = False,
) -> Zset:
    """The change of `group` when `before` changes: only the touched keys are looked at."""
    touched = {row[:keys] for row in change}
    old = {row: weight for row, weight in before.items() if row[:keys] in touched}
    now = group(zset.add(old, change), keys, aggregates, bag)
    return zset.subtract(now, group(old, keys, aggregates, bag))


# -------------------------------------------------------- text, construction


def _aggregate_text(aggregate: Aggregate, column: str) -> str:
    """An aggregate as the definition of its column."""
    return f"{column} = {aggregate.function}({', '.join(f'.{c}' for c in aggregate.columns)})"
