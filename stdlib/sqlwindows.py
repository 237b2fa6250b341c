"""Window functions of the module `sql`: rows of a partition in an order, each with its value.

The value of a row depends on the rows of its frame, and on those between the frame and itself, which decide
on where the frame lies. A frame that begins with the partition goes on from a sum of the rows before; any
other is computed of its rows.

A row has the keys of its order, what tells it apart from others, and last the argument of the function: rows
that are equal in the order are taken in the same order by all functions.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..engine.rounding import rounded
from ..engine.schema import Array
from ..engine.sortedrows import ArrangedColumns, ColumnOrder, Fold, Key, Row, SortedRows
from ..values import NAN, Group, Vec
from .options import NONE, some
from .sqlgroups import cell, column_order, in_order, order_key
from .sqlvalues import DAY, add_months

_Frame: TypeAlias = tuple[tuple[int, int], ...]  # the stretches of rows that it has
_Value: TypeAlias = Callable[[Any], Any]
_MOST = 1 << 48
_SCALE = 1074  # every double is an integer over 2^1074


# ------------------------------------------------------------------------ sums


def _there(row: Row) -> int:
    return int(row[-1][0])


def _number(row: Row) -> tuple[int, int]:
    return (1, row[-1][1]) if row[-1][0] else (0, 0)


def _double(row: Row) -> tuple[int, ...]:
    """How many, the finite part, and how many NaNs and infinities."""
    if not row[-1][0]:
        return 0, 0, 0, 0, 0
    value = row[-1][1]
    if not math.isfinite(value):
        return 1, 0, int(math.isnan(value)), int(value == math.inf), int(value == -math.inf)
    top, bottom = value.as_integer_ratio()
    return 1, (top << _SCALE) // bottom, 0, 0, 0


def _added(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(operator.add, a, b))


def _taken(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(operator.sub, a, b))


def _quotient(sums: tuple[int, ...], below: int) -> float:
    _, finite, nans, plus, minus = sums
    if nans or (plus and minus):
        return NAN
    if plus or minus:
        return math.inf if plus else -math.inf
    return rounded(finite, below << _SCALE)


def _total(sums: tuple[int, ...]) -> Any:
    return some(sums[1]) if sums[0] else NONE


def _total_of_doubles(sums: tuple[int, ...]) -> Any:
    return some(_quotient(sums, 1)) if sums[0] else NONE


def _mean(scale: int, sums: tuple[int, ...]) -> Any:
    return some(rounded(sums[1], sums[0] * scale)) if sums[0] else NONE


def _mean_of_doubles(sums: tuple[int, ...]) -> Any:
    return some(_quotient(sums, sums[0])) if sums[0] else NONE


def _argument(row: Row) -> Any:
    return row[-1]


def _least(a: Any, b: Any) -> Any:
    return (a if a <= b else b) if a[0] and b[0] else a if a[0] else b


def _greatest(a: Any, b: Any) -> Any:
    return (a if a >= b else b) if a[0] and b[0] else a if a[0] else b


def _earlier(a: Any, b: Any) -> Any:
    return a if a[0] else b


def _later(a: Any, b: Any) -> Any:
    return b if b[0] else a


def _same(value: Any) -> Any:
    return value


def _different(a: Any, b: Any) -> Any:
    """Of rows in their order: the first key, the last, and how many are different."""
    if not a[2] or not b[2]:
        return a if a[2] else b
    return a[0], b[1], a[2] + b[2] - (a[1] == b[0])


@dataclass(frozen=True, slots=True)
class _Sum:
    """A fold, the value that is made of its sum, and the difference of two sums if they have one."""

    fold: Fold
    value: _Value = _same
    minus: Callable[[Any, Any], Any] | None = None
    settles: bool = True  # whether equal values have equal sums


_NUMBERS = Fold((0, 0), _number, _added)
_DOUBLES = Fold((0, 0, 0, 0, 0), _double, _added)
_SUMS = {
    "count": _Sum(Fold(0, _there, operator.add), minus=operator.sub),
    "sum": _Sum(_NUMBERS, _total, _taken),
    "doubles": _Sum(_DOUBLES, _total_of_doubles, _taken, False),
    "mean_of_doubles": _Sum(_DOUBLES, _mean_of_doubles, _taken, False),
    "min": _Sum(Fold(NONE, _argument, _least)),
    "max": _Sum(Fold(NONE, _argument, _greatest)),
    "first_there": _Sum(Fold(NONE, _argument, _earlier)),
    "last_there": _Sum(Fold(NONE, _argument, _later)),
}


# --------------------------------------------------------------------- windows


@dataclass(frozen=True)
class WindowFunction:
    """A window function: its order, its name and number, and its frame, as `sql.dl` describes them; the
    scale of a mean."""

    order: str
    name: str
    number: int
    frame: str
    scale: int = 1

    @property
    def most(self) -> int | None:
        """The greatest number that is given to a row, of which the others are left out; None: there is no
        bound."""
        return self.number or None if self.name in ("row_number", "rank", "dense_rank") else None

    @cached_property
    def key(self) -> Callable[[Row], Key]:
        """The order of a row."""
        return order_key(self.order)

    def result(self, row: Row, value: Any) -> Row:
        """What a row has between its keys and its argument, and the value."""
        return *row[len(self.order) : -1], value

    @cached_property
    def settles(self) -> bool:
        """Whether a value says all that the values behind it depend on."""
        if self.name in ("row_number", "rank", "dense_rank"):
            return True
        _, start, end, without = self._bounds
        sums = self._sum
        return sums is not None and sums.settles and (start, end, without) == ("-", "0", "none")

    def settled(self, rows: SortedRows, at: int, last: int) -> bool:
        """Whether the value of a row depends on all rows up to one. Its rank does not depend on its peers."""
        return (rows.peers(at)[0] if self.name == "rank" else at) > last

    @cached_property
    def alike(self) -> bool:
        """Whether all rows have the same value."""
        _, start, end, without = self._bounds
        return self._sum is not None and (start, end, without) == ("-", "+", "none")

    @cached_property
    def _sum(self) -> _Sum | None:
        if self.name == "mean":
            return _Sum(_NUMBERS, partial(_mean, self.scale), _taken, False)
        return _SUMS.get(self.name)

    @cached_property
    def _bounds(self) -> tuple[str, str, str, str]:
        """The rows on which a value depends, written as a frame: kind, start, end, and what is left out."""
        match self.name:
            case "row_number":
                return "rows", "-", "0", "none"
            case "rank" | "dense_rank":
                return "range", "-", "0", "none"
            case "lag":
                return "rows", str(min(-self.number, 0)), str(max(-self.number, 0)), "none"
            case "lead":
                return "rows", str(min(self.number, 0)), str(max(self.number, 0)), "none"
            case "ntile" | "lag_there" | "lead_there":
                return "rows", "-", "+", "none"
        kind, start, end, without = self.frame.split()
        if without == "none" and start in ("-", "0") and end in ("+", "0"):  # the frame has the row itself
            if self.name == "first":
                return kind, start, "first" if start == "-" else "0", without
            if self.name == "last":
                return kind, "last" if end == "+" else "0", end, without
        return kind, start, end, without

    # ------------------------------------------------------------------ edges

    def _edge(self, rows: SortedRows, at: int, text: str, side: int) -> int:
        """Where the rows begin (side 0) or end (1) on which the value of a row depends."""
        kind, size = self._bounds[0], len(rows)
        match text:
            case "-":
                return 0
            case "first":
                return 1
            case "+":
                return size
            case "last":
                return size - 1
        if kind == "rows":
            return min(max(at + int(text) + side, 0), size)
        start, end = rows.peers(at)
        if text == "0":
            return (start, end)[side]
        if kind == "range":
            key = rows[at][0]
            value = _plain(key, self.order)
            if value is None:
                return (start, end)[side]
            moved = _moved(value, text, -1 if self.order[0] in "dDM" else 1)
            target = moved if self.order[0] in "NM" else some(moved)
            return rows.find((cell(target, self.order[0]),), side)
        for _ in range(abs(int(text))):
            if text[0] == "-":
                if start == 0:
                    return 0
                start, end = rows.peers(start - 1)
            else:
                if end == size:
                    return size
                start, end = rows.peers(end)
        return (start, end)[side]

    def _hull(self, rows: SortedRows, at: int, side: int, *, bounded: bool = False) -> int:
        """The edge of the rows on which the value of a row depends, with those that decide on where they lie.
        `bounded`: those at the ends of the partition are not among them."""
        kind, start, end, without = self._bounds
        text = end if side else start
        own = at + side
        if kind != "rows" or without in ("group", "ties"):
            own = rows.peers(at)[side]
        if text in ("-", "+", "first", "last"):
            return own if bounded else self._edge(rows, at, text, side)
        edge = self._edge(rows, at, text, side)
        if (start, end) in (("-", "first"), ("last", "+")):
            return edge
        return max(edge, own) if side else min(edge, own)

    def reach(self, rows: SortedRows, at: int) -> tuple[int, int]:
        """The rows whose values depend on the row at a place."""
        if self._bounds[1:3] == ("-", "first"):
            return (0, len(rows)) if at == 0 else (at, at + 1)
        if self._bounds[1:3] == ("last", "+"):
            return (0, len(rows)) if at == len(rows) - 1 else (at, at + 1)
        every = range(len(rows))
        first = bisect_right(every, at, key=lambda each: self._hull(rows, each, 1))
        last = bisect_right(every, at, key=lambda each: self._hull(rows, each, 0))
        return first, last

    # ----------------------------------------------------------------- columns

    @property
    def orders(self) -> tuple[ColumnOrder, ...]:
        """The order of rows by their first columns."""
        return tuple(map(column_order, self.order))

    def arrays(self, rows: ArrangedColumns) -> Array | None:
        """The values of all rows in columns; None: that is not known for this function, or these rows."""
        starts, ends = rows.starts, rows.ends
        at = np.arange(len(starts))
        match self.name:
            case "row_number":
                return at - starts + 1
            case "rank":
                return rows.peers[0] - starts + 1
            case "dense_rank":
                number: Array = np.cumsum(rows.peers[0] == at)
                number -= number[starts]
                return number + 1
            case "ntile":
                small, more = np.divmod(ends - starts, self.number)
                large, place = more * (small + 1), at - starts
                behind = more + (place - large) // np.maximum(small, 1)
                part: Array = np.where(place < large, place // (small + 1), behind)
                return part + 1
            case "lag" | "lead":
                place = at + (self.number if self.name == "lead" else -self.number)
                return self._found(rows, place, (starts <= place) & (place < ends))
        kind, start, end, without = self.frame.split()
        first, last = (self._ends(rows, kind, *side) for side in ((start, 0), (end, 1)))
        if first is None or last is None or without != "none":
            return None
        last = np.maximum(first, last)
        match self.name:
            case "first" | "last" | "nth":
                steps = {"first": first, "last": last - 1, "nth": first + self.number - 1}
                place = steps[self.name]
                return self._found(rows, place, (first <= place) & (place < last))
            case "count" | "sum" | "mean":
                return self._summed(rows, first, last)
        return None

    def _ends(self, rows: ArrangedColumns, kind: str, text: str, side: int) -> Array | None:
        """Where the frames begin (side 0) or end (1)."""
        if text in "-+":
            return rows.starts if text == "-" else rows.ends
        if kind == "rows":
            place = np.arange(len(rows.starts)) + (_limited(int(text)) + side)
            return np.clip(place, rows.starts, rows.ends)
        return rows.peers[side] if text == "0" else None

    @staticmethod
    def _found(rows: ArrangedColumns, place: Array, there: npt.NDArray[np.bool_]) -> Array | None:
        """The arguments of rows at places, NULL where there is none."""
        column, codes = rows.argument
        if column.domain != rows.out.domain:
            return None
        (none,) = rows.values.encode_column(column, [NONE], 1)
        return np.where(there, codes[np.where(there, place, 0)], none)

    def _summed(self, rows: ArrangedColumns, first: Array, last: Array) -> Array | None:
        """Counts, sums and means of the arguments of frames, if no sum is too large."""
        distinct, which = np.unique(rows.argument[1], return_inverse=True)
        values = rows.values.decode_column(rows.argument[0], distinct)
        counts = _sums_between(np.array([value[0] for value in values], np.int64)[which], first, last)
        if self.name == "count":
            return counts
        numbers = [value[1] if value[0] else 0 for value in values]
        most = len(which) * max([self.scale, *map(abs, numbers)])
        if most >= (1 << 62 if self.name == "sum" else 1 << 53):
            return None
        sums = _sums_between(np.array(numbers, np.int64)[which], first, last)
        made_of = sums / np.maximum(counts * self.scale, 1) if self.name == "mean" else sums
        distinct, which = np.unique(made_of, return_inverse=True)
        made = [NONE, *map(some, distinct.tolist())]
        return rows.values.encode_column(rows.out, made, len(made))[np.where(counts > 0, which + 1, 0)]

    # ----------------------------------------------------------------- values

    def values(self, rows: SortedRows, start: int, end: int) -> list[Any]:
        """The values of the rows start .. end."""
        if start >= end:
            return []
        if self.name == "row_number":
            return list(range(start + 1, end + 1))
        if self.alike:
            assert self._sum is not None
            return [self._sum.value(rows.folded(self._sum.fold, 0, len(rows)))] * (end - start)
        _, begin, stop, without = self._bounds
        goes_on = self._sum is not None and without == "none" and (begin == "-" or stop == "+")
        bounded = goes_on or self.name in ("rank", "dense_rank") or stop == "first" or begin == "last"
        low = self._hull(rows, start, 0, bounded=bounded)
        high = self._hull(rows, end - 1, 1, bounded=bounded)
        if goes_on:  # the sum of the rows beyond goes as far as a frame
            low = min(low, self._edge(rows, start, stop, 1))
            high = max(high, self._edge(rows, end - 1, begin, 0))
        local, part = rows.part(low, high), slice(start - low, end - low)
        if self.name in ("rank", "dense_rank"):
            return self._ranks(rows, low, local)[part]
        if stop == "first":
            return [rows[0][-1]] * (end - start)
        if begin == "last":
            return [rows[len(rows) - 1][-1]] * (end - start)
        if self.name not in _FRAMED and self._sum is None:
            return self._placed(local)[part]
        frames = list(_frames(local, self.order, self.frame))[part]
        if goes_on:
            return self._going_on(rows, low, high, local, frames)
        return self._framed(local, frames)

    def _ranks(self, rows: SortedRows, low: int, local: list[Row]) -> list[int]:
        """The ranks of rows from a place on, at which a row begins that is not equal to the one before."""
        peers = _peers(local, self.order)
        if self.name == "rank":
            return [low + start + 1 for start, _ in peers]
        before = rows.folded(self._keys, 0, low)[2]
        starts = {start: i for i, start in enumerate(sorted({start for start, _ in peers}), before + 1)}
        return [starts[start] for start, _ in peers]

    @cached_property
    def _keys(self) -> Fold:
        count = len(self.order)
        return Fold((None, None, 0), lambda row: (row[:count], row[:count], 1), _different)

    def _placed(self, rows: list[Row]) -> list[Any]:
        """The values of functions of places in the partition, or of rows so many places away."""
        values, size, number = [row[-1] for row in rows], len(rows), self.number
        match self.name:
            case "lag" | "lead":
                shift = number if self.name == "lead" else -number
                return [values[i + shift] if 0 <= i + shift < size else NONE for i in range(size)]
            case "lag_there" | "lead_there":
                return _neighbours(values, number if self.name == "lead_there" else -number)
        small, more = divmod(size, number)  # the parts of NTILE
        large = more * (small + 1)
        return [i // (small + 1) + 1 if i < large else more + (i - large) // small + 1 for i in range(size)]

    def _going_on(
        self, rows: SortedRows, low: int, high: int, local: list[Row], frames: Sequence[_Frame]
    ) -> list[Any]:
        """The values of frames that begin or end with the partition, from the sum of the rows before `local`
        or behind."""
        assert self._sum is not None
        fold, value = self._sum.fold, self._sum.value
        if self._bounds[1] == "-":
            sums = fold.running(local, rows.folded(fold, 0, low))
            return [value(sums[b]) for ((_, b),) in frames]
        behind = Fold(fold.empty, fold.one, lambda a, b: fold.add(b, a))
        sums = behind.running(local[::-1], rows.folded(fold, high, len(rows)))
        size = len(local)
        return [value(sums[size - a]) for ((a, _),) in frames]

    def _framed(self, rows: list[Row], frames: Sequence[_Frame]) -> list[Any]:
        """The values of frames of rows."""
        sums = self._sum
        if sums is not None and sums.minus is not None:
            before, minus, add = sums.fold.running(rows, sums.fold.empty), sums.minus, sums.fold.add
            found = []
            for frame in frames:
                total = sums.fold.empty
                for a, b in frame:
                    total = add(total, minus(before[b], before[a]))
                found.append(sums.value(total))
            return found
        return [self._of_frame(rows, frame) for frame in frames]

    def _of_frame(self, rows: list[Row], frame: _Frame) -> Any:
        if self.name in _PLACED and len(frame) == 1:
            ((a, b),) = frame
            at = a if self.name == "first" else b - 1 if self.name == "last" else a + self.number - 1
            return rows[at][-1] if a <= at < b else NONE
        values = [row[-1] for a, b in frame for row in rows[a:b]]
        if self.name == "frames":
            return Vec(values)
        there = values if self.name in _PLACED else [each for each in values if each[0]]
        match self.name.removesuffix("_there"):
            case "distinct":
                return len({each[1] for each in there})
            case "first":
                return there[0] if there else NONE
            case "last":
                return there[-1] if there else NONE
            case "nth":
                return there[self.number - 1] if 0 < self.number <= len(there) else NONE
            case "min":
                return min(there, default=NONE)
        return max(there, default=NONE)


_PLACED = ("first", "last", "nth")
_FRAMED = (*_PLACED, "nth_there", "distinct", "frames")


def _limited(number: int) -> int:
    """A number of rows, or one beyond all partitions that an int64 holds with any place added."""
    return max(-_MOST, min(number, _MOST))


def _sums_between(column: Array, first: Array, last: Array) -> Array:
    """The sums of a column from one place up to another."""
    sums: Array = np.concatenate([np.zeros(1, np.int64), np.cumsum(column)])
    found: Array = sums[last] - sums[first]
    return found


def _peers(rows: Sequence[Any], order: str) -> list[tuple[int, int]]:
    """For each row, where the rows that are equal in the order begin and end."""
    found: list[tuple[int, int]] = []
    count = len(order)
    while len(found) < len(rows):
        start = len(found)
        key = rows[start][:count]
        end = start + 1
        while end < len(rows) and rows[end][:count] == key:
            end += 1
        found += [(start, end)] * (end - start)
    return found


def _frames(rows: Sequence[Row], order: str, frame: str) -> Iterator[_Frame]:
    """For each row, the stretches of rows of its frame."""
    kind, start, end, without = frame.split()
    peers = _peers(rows, order)
    begins, ends = _edges(rows, order, peers, kind, start, 0), _edges(rows, order, peers, kind, end, 1)
    for at, (a, b) in enumerate(zip(begins, ends, strict=True)):
        if without == "none":
            yield ((a, max(a, b)),)
            continue
        first, last = (at, at + 1) if without == "row" else peers[at]
        left = [(a, min(first, b)), (max(last, a), b)]
        if without == "ties" and a <= at < b:
            left.insert(1, (at, at + 1))
        yield tuple((x, y) for x, y in left if x < y)


def _edges(
    rows: Sequence[Any], order: str, peers: Sequence[tuple[int, int]], kind: str, text: str, side: int
) -> list[int]:
    """For each row, where its frame begins (side 0) or ends (1)."""
    size = len(rows)
    if text in "-+":
        return [0 if text == "-" else size] * size
    if text == "0" and kind != "rows":
        return [each[side] for each in peers]
    if kind == "rows":
        return [min(max(at + int(text) + side, 0), size) for at in range(size)]
    if kind == "range":
        return _of_values(rows, order, peers, text, side)
    starts = sorted({each[0] for each in peers})
    bounds = [(start, peers[start][1]) for start in starts]
    found = []
    for number, each in enumerate(bounds):
        at = number + int(text)
        edge = bounds[at][side] if 0 <= at < len(bounds) else 0 if at < 0 else size
        found += [edge] * (each[1] - each[0])
    return found


def _of_values(
    rows: Sequence[Any], order: str, peers: Sequence[tuple[int, int]], text: str, side: int
) -> list[int]:
    """For each row, where the rows begin or end whose key is at most a distance away; of NULL its peers."""
    down = order[0] in "dDM"
    keys = [_plain(row[0], order) for row in rows]
    there = [at for at, key in enumerate(keys) if key is not None]
    low, high = (there[0], there[-1] + 1) if there else (0, 0)
    find = bisect_right if side else bisect_left
    found = []
    for at, key in enumerate(keys):
        if key is None:
            found.append(peers[at][side])
        elif down:
            found.append(find(keys, -_moved(key, text, -1), low, high, key=operator.neg))
        else:
            found.append(find(keys, _moved(key, text, 1), low, high))
    return found


def _plain(key: Any, order: str) -> Any:
    """A key of the order without its Option; None where it is NULL."""
    return key if order[0] in "NM" else key[1] if key[0] else None


def _moved(key: Any, text: str, sign: int) -> Any:
    """A key and a distance: a number, or the months and the microseconds of a moment."""
    if "/" not in text:
        return key + sign * (float(text) if isinstance(key, float) else int(text))
    months, micros = (sign * int(each) for each in text.split("/"))
    days, rest = divmod(key, DAY)
    return add_months(days, months) * DAY + rest + micros


def _neighbours(values: Sequence[Any], shift: int) -> list[Any]:
    """For each row, the value so many values that are not NULL before or behind it."""
    there = [at for at, each in enumerate(values) if each[0]]
    found = []
    for at in range(len(values)):
        if not shift:
            found.append(values[at])
            continue
        place = bisect_right(there, at) - 1 + shift if shift > 0 else bisect_left(there, at) + shift
        found.append(values[there[place]] if 0 <= place < len(there) else NONE)
    return found


# -------------------------------------------------------------------- the library


@lru_cache(1024)
def window_of(function: str, order: str, *rest: Any) -> WindowFunction:
    """The window function of a function of `sql.dl` with these arguments beside the group."""
    match function, rest:
        case "window_frames", (frame,):
            return WindowFunction(order, "frames", 0, frame)
        case "window_mean", (_, frame, scale):
            return WindowFunction(order, "mean", 0, frame, scale)
        case "window_mean_of_doubles", (_, frame, _):
            return WindowFunction(order, "mean_of_doubles", 0, frame)
    what, frame = rest
    name, number = what.split()
    return WindowFunction(order, name, _limited(int(number)), frame)


def _given(function: str, g: Group, *given: Any) -> Vec:
    window = window_of(function, *given)
    width = len(window.order)
    flat = [(*keys[:width], row, argument) for keys, row, argument in in_order(g[1], window.order)]
    rows = SortedRows(flat, window.key)
    found, most = map(window.result, flat, window.values(rows, 0, len(flat))), window.most
    return Vec(found if most is None else (each for each in found if each[1] <= most))


def window_number(g: Group, order: str, what: str, frame: str) -> Vec:
    return _given("window_number", g, order, what, frame)


def window_value(g: Group, order: str, what: str, frame: str) -> Vec:
    return _given("window_value", g, order, what, frame)


def window_mean(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    return _given("window_mean", g, order, what, frame, scale)


def window_mean_of_doubles(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    return _given("window_mean_of_doubles", g, order, what, frame, scale)


def window_frames(g: Group, order: str, frame: str) -> Vec:
    return _given("window_frames", g, order, frame)
