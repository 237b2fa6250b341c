"""Rows in an order, in blocks: rows come and go, and stretches are summed up, without walking all of them.

blocks    [r r r r r] [r r r r] [r r r r r r]
starts     0           5         9               where each block begins, by number
sums       s0          s1        s2              what a fold gives of each block, as long as it is the same
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, islice
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from . import thresholds
from .schema import Array, Column

Row: TypeAlias = tuple[Any, ...]
Key: TypeAlias = tuple[Row, Any]
"""The order of a row: by what it is ordered, and then by what tells it apart."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A sum of rows: `one` of a row, `add` of two sums, the first of the rows before, `empty` of no rows."""

    empty: Any
    one: Callable[[Row], Any]
    add: Callable[[Any, Any], Any]

    def of(self, rows: Iterable[Row], before: Any = None) -> Any:
        """The sum of rows, after another sum."""
        return reduce(self.add, map(self.one, rows), self.empty if before is None else before)

    def running(self, rows: Iterable[Row], before: Any) -> list[Any]:
        """The sums of no row, of the first, of the first two and so on, each after another sum."""
        return list(accumulate(map(self.one, rows), self.add, initial=before))


class _Block:
    """`keys` are made when they are first asked for."""

    def __init__(self, rows: list[Row], values: list[Any], key: Callable[[Row], Key]) -> None:
        self.rows, self.values, self._key = rows, values, key
        self.sums: dict[Fold, Any] = {}

    @cached_property
    def keys(self) -> list[Key]:
        """The keys of the rows."""
        return list(map(self._key, self.rows))

    @property
    def last(self) -> Key:
        """The key of the last row."""
        return self._key(self.rows[-1])


class Falling:
    """A key that comes before those that are less."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Falling) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Falling) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """How a column orders rows: by what `key` makes of a value, or by the values; `falls`: the greatest
    first."""

    falls: bool = False
    key: Callable[[Any], Any] | None = None


class SortedRows:
    """Rows in the order of their keys, each with a value, which is None until it is set."""

    def __init__(self, rows: Sequence[Row], key: Callable[[Row], Key]) -> None:
        """`rows` are in the order of their keys."""
        self.key = key
        self._room = thresholds.ORDER_BLOCK  # of a block; one of twice as many rows is split
        parts = [list(rows[at : at + self._room]) for at in range(0, len(rows), self._room)]
        self._blocks = [_Block(part, [None] * len(part), key) for part in parts]
        self._starts: list[int] | None = None

    def __len__(self) -> int:
        return self._places()[-1]

    def __getitem__(self, at: int) -> Row:
        number, inside = self._at(at)
        return self._blocks[number].rows[inside]

    def part(self, start: int, end: int) -> list[Row]:
        """The rows start .. end."""
        return [row for block, a, b in self._stretches(start, end) for row in block.rows[a:b]]

    def values(self, start: int, end: int) -> list[Any]:
        """The values of the rows start .. end."""
        return [value for block, a, b in self._stretches(start, end) for value in block.values[a:b]]

    def all_values(self) -> Iterator[Any]:
        """The values of all rows."""
        return (value for block in self._blocks for value in block.values)

    def set_values(self, start: int, values: Sequence[Any]) -> None:
        """Sets the values of rows from `start`."""
        given = iter(values)
        for block, a, b in self._stretches(start, start + len(values)):
            block.values[a:b] = islice(given, b - a)

    def find(self, order: Row, side: int) -> int:
        """The number of rows that come before what is ordered so; with `side` 1, of those that do not come
        behind."""
        bisect = bisect_right if side else bisect_left
        number = bisect(self._blocks, order, key=_last)
        if number == len(self._blocks):
            return len(self)
        return self._places()[number] + bisect(self._blocks[number].keys, order, key=_order)

    def peers(self, at: int) -> tuple[int, int]:
        """The places at which the rows begin and end that are equal to a row in the order."""
        number, inside = self._at(at)
        order = self._blocks[number].keys[inside][0]
        return self.find(order, 0), self.find(order, 1)

    def place(self, row: Row) -> int:
        """The place of a row, or where it would be."""
        key = self.key(row)
        number = bisect_left(self._blocks, key, key=lambda block: block.last)
        if number == len(self._blocks):
            return len(self)
        return self._places()[number] + bisect_left(self._blocks[number].keys, key)

    def places(self, rows: Mapping[Row, int]) -> list[int]:
        """The places of rows, each of which is there so often, in order. Raises KeyError."""
        found: list[int] = []
        for row, count in rows.items():
            at = self.place(row)
            if self.part(at, at + count) != [row] * count:
                raise KeyError(row)
            found += range(at, at + count)
        return sorted(found)

    def insert(self, at: int, row: Row) -> None:
        """Puts a row at its place."""
        if not self._blocks:
            self._blocks.append(_Block([], [], self.key))
        number = min(bisect_right(self._places(), at) - 1, len(self._blocks) - 1)
        block, inside = self._blocks[number], at - self._places()[number]
        block.keys.insert(inside, self.key(row))
        block.rows.insert(inside, row)
        block.values.insert(inside, None)
        block.sums.clear()
        room = self._room
        if len(block.rows) > 2 * room:
            other = _Block(block.rows[room:], block.values[room:], self.key)
            del block.keys[room:], block.rows[room:], block.values[room:]
            self._blocks.insert(number + 1, other)
        self._starts = None

    def remove(self, at: int) -> Any:
        """Takes the row at a place away; returns its value."""
        number, inside = self._at(at)
        block = self._blocks[number]
        value = block.values.pop(inside)
        del block.keys[inside], block.rows[inside]
        block.sums.clear()
        if not block.rows:
            del self._blocks[number]
        self._starts = None
        return value

    def folded(self, fold: Fold, start: int, end: int) -> Any:
        """The sum of the rows start .. end."""
        total = fold.empty
        for block, a, b in self._stretches(start, end):
            if (a, b) != (0, len(block.rows)):
                total = fold.of(block.rows[a:b], total)
                continue
            if fold not in block.sums:
                block.sums[fold] = fold.of(block.rows)
            total = fold.add(total, block.sums[fold])
        return total

    def _places(self) -> list[int]:
        """Where each block begins, and the last one ends."""
        if self._starts is None:
            self._starts = [*accumulate((len(block.rows) for block in self._blocks), initial=0)]
        return self._starts

    def _at(self, at: int) -> tuple[int, int]:
        """The number of the block of a row, and its place in it."""
        number = bisect_right(self._places(), at) - 1
        return number, at - self._places()[number]

    def _stretches(self, start: int, end: int) -> Iterator[tuple[_Block, int, int]]:
        """The blocks of the rows start .. end, with the places of these rows in each."""
        if start >= end:
            return
        places = self._places()
        for number in range(bisect_right(places, start) - 1, len(self._blocks)):
            begin = places[number]
            if begin >= end:
                return
            yield self._blocks[number], max(start - begin, 0), min(end, places[number + 1]) - begin


def _order(key: Key) -> Row:
    return key[0]


def _last(block: _Block) -> Row:
    return block.last[0]


class Encoder(Protocol):
    """How the values of a column are int64s."""

    def encode_column(self, column: Column, values: Iterable[Any], length: int) -> Array:
        """The int64s of values."""

    def decode_column(self, column: Column, codes: Array) -> list[Any]:
        """The values of int64s."""


@dataclass
class ArrangedColumns:
    """The rows of several groups, one after another, each in its order, in columns: row `order[k]` of some
    rows is at place k. `begins`: whether a group begins at a place; `differs`: whether its row is another in
    the order than the one before. `argument`: the last column of the rows, `out`: that of the values to be
    made."""

    values: Encoder
    argument: tuple[Column, Array]
    out: Column
    order: Array
    begins: npt.NDArray[np.bool_]
    differs: npt.NDArray[np.bool_]

    @cached_property
    def starts(self) -> Array:
        """The place at which the group of a row begins."""
        return _begins_and_ends(self.begins)[0]

    @cached_property
    def ends(self) -> Array:
        """The place at which the group of a row ends."""
        return _begins_and_ends(self.begins)[1]

    @cached_property
    def peers(self) -> tuple[Array, Array]:
        """The places at which the rows begin and end that are equal to a row in the order."""
        return _begins_and_ends(self.differs)


def _begins_and_ends(begins: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """For each place, where the stretch of places begins and ends that it is in, given where any begin."""
    first = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    return first[number], np.append(first[1:], len(begins))[number]


class RowFunction(Protocol):
    """A function that gives each row of an order a value, which depends on the rows around it."""

    @property
    def settles(self) -> bool:
        """Whether there may be rows behind which values stay if their own do. See `settled`."""

    @property
    def alike(self) -> bool:
        """Whether all rows have the same value."""

    @property
    def key(self) -> Callable[[Row], Key]:
        """The order of a row."""

    @property
    def orders(self) -> Sequence[ColumnOrder]:
        """The order of rows by their first columns; rows that are equal there are in the order of values."""

    def arrays(self, rows: ArrangedColumns) -> Array | None:
        """The values of all rows in columns; None: `values` is to be asked."""

    def values(self, rows: SortedRows, start: int, end: int) -> list[Any]:
        """The values of the rows start .. end."""

    def reach(self, rows: SortedRows, at: int) -> tuple[int, int]:
        """The rows, from one to another, whose values depend on the row at a place."""

    def settled(self, rows: SortedRows, at: int, last: int) -> bool:
        """Whether the rows behind a row keep their values if that row does, where none changed behind
        `last`."""

    def result(self, row: Row, value: Any) -> Row:
        """The columns that are made of a row and its value, which are beside its key."""
