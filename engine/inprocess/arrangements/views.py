"""Views: the rows of a relation that a join's look-ups see, at one version of its contents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from ... import thresholds
from ...circuit import Term
from ...derivedcolumns import Position
from ...planner import guessed
from ...schema import Array, Schema
from ..storage.batch import Batch
from ..storage.table import RowTable
from .index import ALL, RowIndex
from .signedstore import SignedStore
from .store import store_of


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches: for each, the position of the left row and the id of a row of `table`.
    Weights None: all 1; times None: all of before the recursion."""

    left: Array
    rows: Array
    table: RowTable
    weights: Array | None = None
    times: Array | None = None

    def take(self, at: Array) -> Matches:
        """The matches at these positions."""
        weights, times = (None if each is None else each[at] for each in (self.weights, self.times))
        return Matches(self.left[at], self.rows[at], self.table, weights, times)

    def without(self, rows: Array) -> Matches:
        """The matches whose rows are not among some; these are sorted, at least one."""
        near = np.minimum(np.searchsorted(rows, self.rows), len(rows) - 1)
        return self.take(np.flatnonzero(rows[near] != self.rows))

    def weighed(self, weights: Array) -> Matches:
        """The matches with these weights, those of weight 0 left out."""
        return replace(self, weights=weights).take(np.flatnonzero(weights))


Groups: TypeAlias = tuple[Array, ...]


class View(Protocol):
    """One version of a relation's contents."""

    @property
    def size(self) -> int:
        """The number of rows, about."""

    def fanout(self, positions: tuple[Position, ...]) -> float:
        """The expected number of rows that agree on the columns at these positions."""

    def arranged(self) -> Collection[tuple[Position, ...]]:
        """The columns by which there is an arrangement."""

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        """The number of matches of each key, or a few more; 0 only for a key that has none. The positions are
        not all."""

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        """The columns at these positions of at most so many rows, taken from everywhere, and the number of
        rows that each of these stands for."""

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        """The places of the matches of each key, and the number of all matches."""

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        """The matches."""

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        """1 for each full row that is there, else 0 (the weight, in a multiset)."""


def expected(
    size: int, indexes: dict[tuple[Position, ...], RowIndex], positions: tuple[Position, ...], arity: int
) -> float:
    """The fan-out of a look-up: measured where there is an index, else guessed."""
    index = indexes.get(positions)
    if index is not None:
        return index.fanout
    if not positions:
        return float(size)
    return guessed(size, len(positions), arity)


def whole_row(positions: tuple[Position, ...], schema: Schema) -> bool:
    """Whether a look-up binds all columns of a relation, so that it is a search for one row."""
    return len(positions) == len(schema) and bool(positions) and isinstance(positions[-1], int)


def strided(size: int, most: int) -> Array:
    """At most so many of the numbers below a size, evenly spaced."""
    return np.arange(0, size, max(1, -(-size // most)), dtype=np.int64)


def some_rows(
    table: RowTable, size: int, weights: Array | None, positions: Sequence[int], most: int
) -> tuple[list[Array], float]:
    """See `View.some`: of the first `size` rows of a table, those with a weight."""
    rows = strided(size, most)
    stride = size / max(1, len(rows))
    if weights is not None:
        rows = rows[weights[rows] != 0]
    return [table.column_at(rows, position) for position in positions], stride


class Readable(Protocol):
    """The contents of a relation, as look-ups read them."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def table(self) -> RowTable:
        """The rows that were ever there."""

    @property
    def weights(self) -> Array | None:
        """The weight of each row of the table, 0 for one that is absent; None: all 1."""

    @property
    def indexes(self) -> dict[tuple[Position, ...], RowIndex]:
        """The arrangements that there are."""

    @property
    def present(self) -> int:
        """The number of rows present."""

    @property
    def ghosts(self) -> bool:
        """Whether arrangements may hold rows that are absent."""

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement by these columns."""

    def weight_of(self, columns: Sequence[Array], length: int) -> Array:
        """The weight of each row."""

    def batch(self) -> Batch:
        """The contents."""

    def rows(self) -> Array:
        """The ids of the rows present."""


def present(store: Readable, left: Array, rows: Array) -> tuple[Array, Array]:
    """The matches that an arrangement gives, without those of absent rows."""
    if not store.ghosts or store.weights is None:
        return left, rows
    there = np.flatnonzero(store.weights[rows])
    return (left, rows) if len(there) == len(rows) else (left[there], rows[there])


def sought(
    relation: Readable, positions: tuple[Position, ...], keys: Sequence[Array], length: int
) -> Array | None:
    """The ids of the rows that have one of a few keys, also of absent rows, found without an index. None: an
    index by these columns is there, or is to be made."""
    if positions in relation.indexes:
        return None
    return relation.table.matching(positions, keys, length)


def matching(
    table: RowTable, positions: tuple[Position, ...], keys: Sequence[Array], length: int, rows: Array
) -> tuple[Groups, int]:
    """The matches of keys among some rows, each as the position of its key and its id, and their number."""
    alike = np.ones((length, len(rows)), np.bool_)
    for position, key in zip(positions, keys, strict=True):
        assert isinstance(position, int)
        alike &= key[:, None] == table.column_at(rows, position)
    left, at = np.nonzero(alike)
    return (np.stack((left, rows[at])),), len(left)


class TableView:
    """A version of the contents of one table that each look-up finds in one index, or, by all columns, in the
    table itself."""

    def __init__(self, relation: Readable) -> None:
        self.relation = relation

    @property
    def table(self) -> RowTable:
        """The rows that were ever there."""
        return self.relation.table

    @property
    def size(self) -> int:
        raise NotImplementedError

    def index(self, positions: tuple[Position, ...]) -> RowIndex:
        """The arrangement by these columns."""
        return self.relation.index(positions)

    @property
    def filters(self) -> bool:
        """Whether arrangements may hold rows that are not seen."""
        return self.relation.ghosts

    def below(self, positions: tuple[Position, ...]) -> int:
        """The row id at which the rows of the arrangement end that are seen."""
        return ALL

    def seen(self, rows: Array) -> Array:
        """The row ids, -1 in place of a row that is not seen."""
        return rows

    def part(self, left: Array, rows: Array) -> Matches:
        """Matches with these positions and row ids."""
        raise NotImplementedError

    def there(self, left: Array, rows: Array) -> tuple[Array, Array]:
        """The matches whose rows are present; all matches in a view whose `part` drops absent rows."""
        return present(self.relation, left, rows)

    def candidates(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array | None:
        """The ids of rows that have all matches of some keys among them. None: an index tells."""
        return None

    def are_found(self, groups: Groups) -> bool:
        """Whether groups are the matches, as positions and ids: a few, which were found without an index."""
        return groups[0].ndim == 2

    def alike(self, positions: tuple[Position, ...]) -> bool:
        """Whether a look-up by these columns finds just the rows of an arrangement, each with weight 1 and of
        before the recursion."""
        return not self.filters and not self.whole(positions) and self.below(positions) == ALL

    def whole(self, positions: tuple[Position, ...]) -> bool:
        """Whether a look-up by these columns is of a row."""
        return whole_row(positions, self.relation.schema)

    def keys(self, positions: tuple[Position, ...]) -> RowTable:
        """The table in which a look-up by these columns finds its keys."""
        return self.table if self.whole(positions) else self.index(positions).searched()

    def places(self, positions: tuple[Position, ...], ids: Array) -> tuple[Groups, int]:
        """The result of `groups` for keys with these ids in `keys`."""
        if self.whole(positions):
            return (self.seen(ids),), len(ids)
        return (ids,), self.index(positions).matches(ids)

    def fanout(self, positions: tuple[Position, ...]) -> float:
        return expected(self.size, self.relation.indexes, positions, len(self.relation.schema))

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return self.relation.indexes.keys()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        index = self.index(positions)
        return index.sizes(index.groups(keys, length))

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        return some_rows(self.table, self.table.size, self.relation.weights, positions, most)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        if self.whole(positions):
            return (self.seen(self.table.find(keys, length)),), length
        candidates = self.candidates(positions, keys, length)
        if candidates is not None:
            return matching(self.table, positions, keys, length, candidates)
        index = self.index(positions)
        groups = index.groups(keys, length)
        return (groups,), index.matches(groups)

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        if self.are_found(groups):
            return [self.part(*groups[0])]
        if self.whole(positions):
            left = np.flatnonzero(groups[0] >= 0)
            return [self.part(left, groups[0][left])]
        found = self.index(positions).expand(groups[0], total, self.below(positions))
        return [self.part(*(self.there(*found) if self.filters else found))]


class StoreView(TableView):
    """A store as it is now."""

    def __init__(self, store: Readable, weighted: bool) -> None:
        super().__init__(store)
        self.weighted = weighted

    @property
    def size(self) -> int:
        return self.relation.present

    def candidates(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array | None:
        rows = sought(self.relation, positions, keys, length)
        weights = self.relation.weights
        return rows if rows is None or weights is None else rows[weights[rows] != 0]

    def alike(self, positions: tuple[Position, ...]) -> bool:
        return not (self.weighted and self.relation.weights is not None) and super().alike(positions)

    def seen(self, rows: Array) -> Array:
        weights = self.relation.weights
        if weights is None or not self.table.size:
            return rows
        return np.where((rows >= 0) & (weights[rows] != 0), rows, -1)

    def part(self, left: Array, rows: Array) -> Matches:
        weights = self.relation.weights
        return Matches(
            left, rows, self.table, weights[rows] if self.weighted and weights is not None else None
        )

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        found = self.relation.weight_of(keys, length)
        return found if self.weighted else (found > 0).astype(np.int64)


def part_of(store: Readable, start: int, stop: int, weighted: bool) -> Batch:
    """The rows from one place to another, in the order in which they lie; `weighted`: with weights."""
    if store.weights is None:
        start, stop = min(start, store.table.size), min(stop, store.table.size)
        return Batch(store.table.columns(start, stop), stop - start)
    rows = store.rows()[start:stop]
    return Batch(store.table.columns_at(rows), len(rows), store.weights[rows] if weighted else None)


def apart(store: Readable) -> Batch:
    """The rows of a set, which do not change when the store does."""
    rows = None if store.weights is None else store.rows()
    return Batch(store.table.apart(rows), store.table.size if rows is None else len(rows))


class Growing(Readable, Protocol):
    """A relation whose rows only come. Its arrangements hold those below `high`, of which those from `low` on
    are the newest."""

    low: int
    high: int


class GrowingView(TableView):
    """The rows of a growing relation below `high`, or below `low`, wherever these are when it is asked."""

    relation: Growing

    def __init__(self, relation: Growing, now: bool) -> None:
        super().__init__(relation)
        self.now = now

    @property
    def size(self) -> int:
        return self.relation.high if self.now else self.relation.low

    def below(self, positions: tuple[Position, ...]) -> int:
        return ALL if self.now or self.relation.low == self.relation.high else self.relation.low

    def seen(self, rows: Array) -> Array:
        return np.where(rows < self.size, rows, -1)

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        return some_rows(self.table, self.size, None, positions, most)

    def part(self, left: Array, rows: Array) -> Matches:
        return Matches(left, rows, self.table, None, None)

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        raise ValueError("a relation cannot be negated inside its own recursion")


class FewView(StoreView):
    """A store of a few rows: a look-up by a few keys compares them with all rows, which takes less time than
    to build an index."""

    def candidates(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array | None:
        plain = positions and all(isinstance(each, int) for each in positions)
        return self.relation.rows() if plain and length * self.table.size <= thresholds.FEW_PAIRS else None


V = TypeVar("V", bound=View)


class Without(Generic[V]):
    """A view of a relation, and one of the change of it that is to be taken away. A subclass gives the
    matches."""

    def __init__(self, now: V, schema: Schema, change: Batch) -> None:
        self.now, self.batch, self._schema = now, change, schema

    @cached_property
    def change(self) -> StoreView:
        """The change, as a store of its own."""
        view = FewView if self.batch.length <= thresholds.FEW_ROWS else StoreView
        return view(store_of(self._schema, self.batch), True)

    @property
    def size(self) -> int:
        return self.now.size

    def fanout(self, positions: tuple[Position, ...]) -> float:
        return self.now.fanout(positions)

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return self.now.arranged()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        return self.now.counts(positions, keys, length) + self.change.counts(positions, keys, length)

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        return self.now.some(positions, most)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        now, total = self.now.groups(positions, keys, length)
        change, more = self.change.groups(positions, keys, length)
        return (*now, *change, np.array([total, more])), total + more


class BeforeView(Without[StoreView]):
    """A store as it was before this epoch's change of it: the rows that the change touches as they were, and
    all others as they are. So a row is found once. The contents and the change taken away would find a new
    row twice, and n look-ups 2^n times."""

    def __init__(self, store: Readable, weighted: bool, change: Batch) -> None:
        super().__init__(StoreView(store, weighted), store.schema, change)
        self._touched: tuple[Array, Array] | None = None

    def _earlier(self) -> tuple[Array, Array]:
        """The ids in the store of the rows that the change touches, sorted, and for each row of the change
        its weight before. A row whose changes add up to 0 is not touched: the change does not show it."""
        if self._touched is None:
            relation = self.change.relation
            columns, length = relation.table.columns(), relation.table.size
            assert relation.weights is not None
            earlier = self.now.presence(columns, length) - relation.weights[:length]
            rows = relation.rows()
            self._touched = np.sort(self.now.table.find(relation.table.columns_at(rows), len(rows))), earlier
        return self._touched

    @cached_property
    def _came(self) -> bool:
        """Whether the change only adds rows to a set: then none of them was there before."""
        return not self.now.weighted and self.batch.positive()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        if not self._came:
            return super().counts(positions, keys, length)
        return self.now.counts(positions, keys, length) - self.change.counts(positions, keys, length)

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        groups, total = super().groups(positions, keys, length)
        if self._came and not self.now.whole(positions) and groups[-1][0] == groups[-1][1]:
            total = 0  # all that match have come
        return groups, total

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        if not total:
            return []
        now, change, totals = groups
        parts = self.now.expand(positions, (now,), int(totals[0]))
        changed = self.change.expand(positions, (change,), int(totals[1])) if totals[1] else []
        if not any(len(part.rows) for part in changed):
            return parts
        touched, earlier = self._earlier()
        return [
            *(part.without(touched) for part in parts),
            *(part.weighed(earlier[part.rows]) for part in changed),
        ]

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        return self.now.presence(keys, length) - self.change.presence(keys, length)


def before(store: Readable, weighted: bool, change: Batch) -> View:
    """A store as it was before a change that is in it."""
    return EmptyView() if was_empty(store, weighted, change) else BeforeView(store, weighted, change)


def was_empty(store: Readable, weighted: bool, change: Batch) -> bool:
    """Whether a set or a bag was certainly empty before a change that is in it: the sizes tell."""
    if change.length < store.present or isinstance(store, SignedStore) or not change.positive():
        return False
    if not weighted:
        return change.length == store.present
    held = store.present if store.weights is None else int(store.weights.sum())
    return held == (change.length if change.weights is None else int(change.weights.sum()))


class EmptyView:
    """Nothing."""

    size = 0

    def fanout(self, positions: tuple[Position, ...]) -> float:
        return 0.0

    def arranged(self) -> Collection[tuple[Position, ...]]:
        return ()

    def counts(self, positions: tuple[Position, ...], keys: Sequence[Array], length: int) -> Array:
        return np.zeros(length, np.int64)

    def some(self, positions: Sequence[int], most: int) -> tuple[list[Array], float]:
        return [np.empty(0, np.int64) for _ in positions], 1.0

    def groups(
        self, positions: tuple[Position, ...], keys: Sequence[Array], length: int
    ) -> tuple[Groups, int]:
        return (), 0

    def expand(self, positions: tuple[Position, ...], groups: Groups, total: int) -> list[Matches]:
        return []

    def presence(self, keys: Sequence[Array], length: int) -> Array:
        return np.zeros(length, np.int64)


def meets_nothing(terms: Sequence[Term], views: Sequence[View | None]) -> bool:
    """Whether a join has no rows, since a positive term is seen as empty."""
    return any(isinstance(v, EmptyView) and not t.negated for v, t in zip(views, terms, strict=True))
