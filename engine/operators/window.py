"""Windows over time (dbsp-spec, 8.5).

    W(v, θ)[t] = {x ∈ v[t] : ts(x) ≥ θ[t] - range}

The last column of the source is ts. The clock θ only grows, so a row that left a window never comes back, and
W moves inside the integration: its integral is all that it remembers.

    ───Δv──▶ (+) ──▶ W(·, θ) ──┬──▶ D ──▶
              ▲                │
              └───── z⁻¹ ◀─────┘

A row is late if its time lies before the clock of the epoch before it by more than `lateness`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from .. import zset
from ..node import ENDING, Name, Node, NodeId, Signs, SingleSource, Stateful, Surroundings, fits, not_inside
from ..schema import Kind, Origin, Schema
from ..zset import Zset
from .join import Join, functions_of


@dataclass(frozen=True, slots=True)
class Clock(SingleSource, Stateful):
    """The greatest value that the one column of the source has had: no row, or one."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    origin: Origin = field(default=None, compare=False, repr=False)
    sign: ClassVar[str] = "clock"
    turns: ClassVar[bool] = True

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        now = _greatest(memory, sources[0])
        return _row(now), now

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return DeltaClock(self.source, self.schema, self.text, self.origin)

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from not_inside(scope)
        yield from SingleSource.problems(self, scope)
        yield from _time(self.schema)
        if len(self.schema) != 1:
            yield "a clock has one column"


@dataclass(frozen=True, slots=True)
class DeltaClock(Clock):
    """Clock^Δ: what it remembers is the greatest value."""

    sign: ClassVar[str] = "clockΔ"

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        now = _greatest(memory, sources[0])
        return zset.subtract(_row(now), _row(memory)), now

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class _Timed(Stateful):
    """An operator of rows whose last column is a time, and of a clock. It gives the rows without the time."""

    source: NodeId
    clock: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    origin: Origin = field(default=None, compare=False, repr=False)

    def reads(self) -> tuple[NodeId, ...]:
        return self.source, self.clock

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return replace(self, source=new(self.source), clock=new(self.clock))

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from not_inside(scope)
        source = scope.nodes[self.source].schema
        yield from fits(source[:-1], self.schema, f"source {self.source}")
        yield from _time(source[-1:])
        if not isinstance(scope.nodes[self.clock], Clock):
            yield f"node {self.clock} is no clock"

    @abstractmethod
    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        """See Stateful."""


@dataclass(frozen=True, slots=True)
class Window(_Timed):
    """The rows of the source within `range` of the clock, without those that came late, if there is a
    `lateness`. A deletion takes away what is there."""

    range: int = 0
    lateness: int | None = None
    sign: ClassVar[str] = "window"
    kept: ClassVar[bool] = True

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        rows, (now,) = sources[0], _values(sources[1])
        before, source, admitted = memory or (None, {}, {})
        if self.lateness is None:
            admitted = rows
        else:
            change = zset.subtract(rows, source)
            admitted = _admitted(admitted, change, before, self.lateness)
        return _without_times(_within(admitted, now, self.range)), (now, rows, admitted)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return DeltaWindow(*(getattr(self, each.name) for each in fields(self)))

    def details(self, name: Name) -> str:
        late = "" if self.lateness is None else f", at most {self.lateness} late"
        return f"{name(self.source)}: {self.range} before {name(self.clock)}{late}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from _Timed.problems(self, scope)
        if self.range < 0 or (self.lateness or 0) < 0:
            yield "a range or a lateness is negative"

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        source = nodes[self.source]  # of which a row has to have one time
        timed = isinstance(source, Join) and source.output[-1] in functions_of(source, source.output[:-1])
        return timed and sets[self.source]


@dataclass(frozen=True, slots=True)
class DeltaWindow(Window):
    """Window^Δ: what comes into the window, minus what leaves it. What it remembers is the window and the
    clock."""

    sign: ClassVar[str] = "windowΔ"

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        before, held = memory or (None, {})
        (now,) = _values(sources[1], before)
        kept = (
            zset.add(held, sources[0])
            if self.lateness is None
            else _admitted(held, sources[0], before, self.lateness)
        )
        kept = _within(kept, now, self.range)
        return _without_times(zset.subtract(kept, held)), (now, kept)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Late(_Timed):
    """The rows that come late in this epoch, as often as they come: a stream."""

    lateness: int = 0
    sign: ClassVar[str] = "late"
    kept: ClassVar[bool] = True

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        before, source = memory or (None, {})
        rows, (now,) = sources[0], _values(sources[1])
        change = zset.subtract(rows, source)
        return _without_times(_late(change, before, self.lateness)), (now, rows)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return DeltaLate(*(getattr(self, each.name) for each in fields(self)))

    def details(self, name: Name) -> str:
        return f"{name(self.source)}: more than {self.lateness} before {name(self.clock)}"

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        return frozenset({ENDING})


@dataclass(frozen=True, slots=True)
class DeltaLate(Late):
    """Late^Δ: the rows that come late, minus those of the epoch before."""

    sign: ClassVar[str] = "lateΔ"

    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        before, last = memory or (None, {})
        (now,) = _values(sources[1], before)
        come = _without_times(_late(sources[0], before, self.lateness))
        return zset.subtract(come, last), (now, come)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return self


# ------------------------------------------------------------------- meaning


def _greatest(before: int | None, rows: Mapping[zset.Row, int]) -> int | None:
    found = [value for (value,), weight in rows.items() if weight > 0]
    return max(found if before is None else [before, *found], default=None)


def _row(value: int | None) -> Zset:
    return {} if value is None else {(value,): 1}


def _values(clock: Mapping[zset.Row, int], before: int | None = None) -> tuple[int | None]:
    """The value of a clock, from its row or from the change of it."""
    return (_greatest(before, clock),)


def _late(change: Mapping[zset.Row, int], clock: int | None, lateness: int) -> Zset:
    if clock is None:
        return {}
    return {row: weight for row, weight in change.items() if weight > 0 and row[-1] < clock - lateness}


def _admitted(held: Zset, change: Mapping[zset.Row, int], clock: int | None, lateness: int) -> Zset:
    """The rows held after a change: late rows stay out, and nothing is taken away that is not there."""
    late = _late(change, clock, lateness)
    whole = zset.add(held, {row: weight for row, weight in change.items() if row not in late})
    return {row: weight for row, weight in whole.items() if weight > 0}


def _within(rows: Mapping[zset.Row, int], clock: int | None, range: int) -> Zset:
    if clock is None:
        return dict(rows)
    return {row: weight for row, weight in rows.items() if row[-1] >= clock - range}


def _without_times(rows: Mapping[zset.Row, int]) -> Zset:
    return zset.zset((row[:-1], weight) for row, weight in rows.items())


# -------------------------------------------------------------- construction


def _time(schema: Schema) -> Iterator[str]:
    if any(column.kind is not Kind.INT for column in schema) or not schema:
        yield "a time is an integer"
