"""Views of relations in shards: look-ups that ask the workers which own the keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .. import thresholds
from ..derivedcolumns import Position
from ..inprocess.arrangements.timeline import TimedView
from ..inprocess.arrangements.views import Groups, Matches, View
from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.interner import Values
from ..schema import Array, Column, Kind, Schema
from .team import Team
from .wire import Parcel, known, owners, packed, unpacked

_PLACE = Column("", Kind.BOOL, "")  # a number as it is

Place: TypeAlias = tuple[Any, ...]
"""The name of a version of a relation, by which other workers find their part of it."""


What: TypeAlias = Literal["matches", "counts", "presence", "absence"]
"""What is asked for: the matches of keys; the number of matches of each key; the weights of rows, or the
timelines of their absence."""


class Asked(NamedTuple):
    """A request for what keys have in a place; of more than `most` matches together only for their number."""

    place: Place
    positions: tuple[Position, ...]
    keys: Parcel
    what: What = "matches"
    most: int | None = None


class Received:
    """Rows that other workers sent, as the rows of a table."""

    def __init__(self, columns: Mapping[Position, Array]) -> None:
        self._columns = columns

    def column_at(self, rows: Array, position: int) -> Array:
        """One column of some rows."""
        return self._columns[position][rows]


@dataclass(frozen=True, slots=True)
class Spread:
    """A relation in shards: its columns, and the positions of those by which rows have owners (None: a row
    may be anywhere)."""

    schema: Schema
    key: tuple[int, ...] | None


class _Spoken(NamedTuple):
    """What `groups` has found: the keys, the part of them that each worker looks up, the groups of this one,
    and the matches of others, None where they are many."""

    keys: Sequence[Array]
    parts: Sequence[Array]
    local: tuple[Groups, int]
    found: dict[int, Matches | None]


class ShardsView:
    """One version of a relation in shards; see `views.View`."""

    def __init__(
        self,
        team: Team,
        values: Values,
        spread: Spread,
        place: Place,
        local: View,
        note: Callable[[int], None] = lambda keys: None,
    ) -> None:
        """`note` is told how many keys others are asked for."""
        self._team, self._values, self._spread = team, values, spread
        self._place, self._local, self._note = place, local, note

    @property
    def size(self) -> int:
        return self._local.size * len(self._team.owning)

    def fanout(self, positions: tuple[Position, ...]) -> float:
        fanout = self._local.fanout(positions)
        return fanout if self._is_owned(positions) else fanout * len(self._team.owning)

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return self._local.arranged()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        return self._numbers(positions, keys, length, "counts")

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        columns, stride = self._local.some(positions, most)
        return columns, stride * len(self._team.owning)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        """The matches of each worker, or their number where they are so many that a join may take other ones,
        or halve the keys."""
        parts, found, total = self._parts(positions, keys, length), dict[int, Matches | None](), 0
        own = parts[self._team.rank]
        local = self._local.groups(positions, [key[own] for key in keys], len(own)) if len(own) else ((), 0)
        most = None
        if len(positions) < len(self._spread.schema):
            by_means = length <= thresholds.ROWS_BY_MEANS
            most = thresholds.PROPOSED_BY_MEANS if by_means else thresholds.JOIN_MOST // len(parts)
        for peer, answer in self._asked(positions, keys, parts, most=most):
            many = isinstance(answer, int)
            found[peer] = None if many else self._received(positions, keys, parts[peer], answer)
            total += answer if many else answer.length
        return (_Spoken(keys, parts, local, found),), total + local[1]  # type: ignore[return-value]

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        spoken: _Spoken = groups[0]  # type: ignore[assignment]
        parts, local = spoken.parts, spoken.local
        own = parts[self._team.rank]
        here = self._local.expand(positions, *local) if local[1] else []
        every = [Matches(own[p.left], p.rows, p.table, p.weights, p.times) for p in here]
        many = [keys if spoken.found.get(peer, 0) is None else keys[:0] for peer, keys in enumerate(parts)]
        for peer, answer in self._asked(positions, spoken.keys, many):
            spoken.found[peer] = self._received(positions, spoken.keys, many[peer], answer)
        every += [each for each in spoken.found.values() if each is not None]
        return [each for each in every if len(each.rows)]

    def _received(
        self, positions: tuple[Position, ...], keys: Sequence[Array], rows: Array, answer: Parcel
    ) -> Matches:
        """The matches of some rows of the keys."""
        others = _others(len(self._spread.schema), positions)
        batch = unpacked(self._values, _with_places(self._spread.schema, others), answer)
        *found, left = batch.columns
        columns = dict[Position, Array](zip(others, found, strict=True))
        left = rows[left]
        columns |= {position: keys[k][left] for k, position in enumerate(positions)}
        table: Any = Received(columns)
        return Matches(left, np.arange(batch.length), table, batch.weights, batch.times)

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        return self._numbers(tuple(range(len(self._spread.schema))), keys, length, "presence")

    def _numbers(
        self,
        positions: tuple[Position, ...],
        keys: Sequence[Array],
        length: int,
        what: Literal["counts", "presence"],
    ) -> Array:
        """For each key the sum of what all workers have."""
        parts = self._parts(positions, keys, length)
        numbers = np.zeros(length, np.int64)
        own = parts[self._team.rank]
        if len(own):
            numbers[own] += numbers_in(self._local, positions, [key[own] for key in keys], len(own), what)
        for peer, found in self._asked(positions, keys, parts, what):
            numbers[parts[peer]] += found
        return numbers

    def _asked(
        self,
        positions: tuple[Position, ...],
        keys: Sequence[Array],
        parts: Sequence[Array],
        what: What = "matches",
        most: int | None = None,
    ) -> Iterable[tuple[int, Any]]:
        """The answers of the other workers, each for its part of the keys."""
        schema = tuple(self._spread.schema[position] for position in positions if isinstance(position, int))
        requests = {}
        for peer, rows in enumerate(parts):
            if peer != self._team.rank and len(rows):
                self._note(len(rows))
                sent = Batch(tuple(key[rows] for key in keys), len(rows))
                requests[peer] = Asked(self._place, positions, packed(self._values, schema, sent), what, most)
        return self._team.ask(requests).items() if requests else ()

    def _is_owned(self, positions: Sequence[Position]) -> bool:
        """Whether keys by these columns have one owner each."""
        key = self._spread.key
        return key is not None and set(key) <= set(positions)

    def _parts(self, positions: Sequence[Position], keys: Sequence[Array], length: int) -> list[Array]:
        """The keys that each worker is to look up."""
        every, team = np.arange(length), self._team
        key = self._spread.key
        if key is None:
            return [every] * team.size
        if not self._is_owned(positions):
            return [every if rank in team.owning else every[:0] for rank in range(team.size)]
        at = [list(positions).index(position) for position in key]
        schema = [self._spread.schema[position] for position in key]
        owned = owners(self._values, schema, [keys[k] for k in at], length, team.owning)
        return [np.flatnonzero(owned == owner) for owner in range(team.size)]


class TimedShardsView(ShardsView, TimedView):
    """A version in product time of a part of a loop. Rows whose absence is asked for have owners."""

    def absence(self, keys: Sequence[Array], length: int) -> tuple[Array, Array, Array]:
        positions = tuple(range(len(self._spread.schema)))
        parts = self._parts(positions, keys, length)
        own, local = parts[self._team.rank], self._local
        assert isinstance(local, TimedView)
        left, times, weights = local.absence([key[own] for key in keys], len(own))
        found = [(own[left], times, weights)]
        for peer, (left, times, weights) in self._asked(positions, keys, parts, "absence"):
            found.append((parts[peer][left], times, weights))
        left, times, weights = map(np.concatenate, zip(*found, strict=True))
        return left, times, weights


def numbers_in(
    view: View, positions: tuple[Position, ...], keys: Sequence[Array], length: int, what: str
) -> Array:
    """The weight of each row, or the number of matches of each key in a part of a relation."""
    if what == "presence":
        return view.presence(keys, length)
    return view.counts(positions, keys, length)


def answered(
    values: Values, schema: Schema, view_of: Callable[[Place], View], asked: Asked
) -> Parcel | int | Array | tuple[Array, Array, Array]:
    """The answer of the worker that has a part of a relation with these columns. Of each match it has the
    columns that were not asked by, and as one more the position of its key."""
    view = view_of(asked.place)
    positions = asked.positions
    keys = known(values, tuple(schema[p] for p in positions if isinstance(p, int)), asked.keys)
    if asked.what in ("presence", "counts"):
        return numbers_in(view, positions, keys.columns, keys.length, asked.what)
    if asked.what == "absence":
        assert isinstance(view, TimedView)
        return view.absence(keys.columns, keys.length)
    groups, total = view.groups(positions, keys.columns, keys.length)
    if asked.most is not None and total > asked.most:
        return total
    others = _others(len(schema), positions)
    batches = [
        Batch(
            (*(part.table.column_at(part.rows, k) for k in others), part.left),
            len(part.rows),
            part.weights,
            part.times,
        )
        for part in (view.expand(positions, groups, total) if total else ())
    ]
    return packed(values, _with_places(schema, others), concat(batches, len(others) + 1))


def _others(arity: int, positions: tuple[Position, ...]) -> list[int]:
    """The columns that a look-up does not ask by."""
    return [k for k in range(arity) if k not in positions]


def _with_places(schema: Schema, columns: Sequence[int]) -> Schema:
    return (*(schema[k] for k in columns), _PLACE)
