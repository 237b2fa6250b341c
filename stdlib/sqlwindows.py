"""Window functions of the module `sql`: rows of a partition in an order, each with its value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from ..engine.rounding import rounded
from ..values import Group, Vec
from .group import float_sum, mean
from .options import NONE, some
from .sqlgroups import in_order
from .sqlvalues import DAY, add_months

_Frame = tuple[tuple[int, int], ...]  # the stretches of rows that it has


def _peers(rows: Sequence[Any], order: str) -> list[tuple[int, int]]:
    """For each row, where the rows that are equal in the order begin and end."""
    found: list[tuple[int, int]] = []
    count = len(order)
    while len(found) < len(rows):
        start = len(found)
        key = rows[start][0][:count]
        end = start + 1
        while end < len(rows) and rows[end][0][:count] == key:
            end += 1
        found += [(start, end)] * (end - start)
    return found


def _frames(rows: Sequence[Any], order: str, frame: str) -> Iterator[_Frame]:
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
    letter, down = order[0], order[0] in "dDM"
    keys = [row[0][0] if letter in "NM" else row[0][0][1] if row[0][0][0] else None for row in rows]
    there = [at for at, key in enumerate(keys) if key is not None]
    low, high = (there[0], there[-1] + 1) if there else (0, 0)
    find = bisect_right if side else bisect_left
    found = []
    for at, key in enumerate(keys):
        if key is None:
            found.append(peers[at][side])
        elif down:
            target = -_moved(key, text, -1)
            found.append(find(keys, target, low, high, key=_opposite))
        else:
            found.append(find(keys, _moved(key, text, 1), low, high))
    return found


def _opposite(key: Any) -> Any:
    return -key


def _moved(key: Any, text: str, sign: int) -> Any:
    """A key and a distance: a number, or the months and the microseconds of a moment."""
    if "/" not in text:
        return key + sign * (float(text) if isinstance(key, float) else int(text))
    months, micros = (sign * int(each) for each in text.split("/"))
    days, rest = divmod(key, DAY)
    return add_months(days, months) * DAY + rest + micros


def _framed(values: Sequence[Any], frames: Iterator[_Frame]) -> Iterator[Sequence[Any]]:
    """The values of each frame."""
    for frame in frames:
        yield [each for a, b in frame for each in values[a:b]]


def _sums(values: Sequence[int], frames: Iterator[_Frame]) -> Iterator[int]:
    """The sum of whole numbers of each frame."""
    sums = [0, *accumulate(values)]
    return (sum(sums[b] - sums[a] for a, b in frame) for frame in frames)


def _given(rows: Sequence[Any], found: Iterator[Any] | Sequence[Any]) -> Vec:
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_number(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, number = what.split()
    peers, size = _peers(rows, order), len(rows)
    match name:
        case "row_number":
            return _given(rows, range(1, size + 1))
        case "rank":
            return _given(rows, [start + 1 for start, _ in peers])
        case "dense_rank":
            starts = {start: i for i, start in enumerate(sorted({start for start, _ in peers}), 1)}
            return _given(rows, [starts[start] for start, _ in peers])
        case "ntile":
            small, more = divmod(size, int(number))
            large = more * (small + 1)
            tiles = (
                i // (small + 1) + 1 if i < large else more + (i - large) // small + 1 for i in range(size)
            )
            return _given(rows, tiles)
    there, frames = [row[1] for row in rows], _frames(rows, order, frame)
    if name == "distinct":
        return _given(rows, [len({each[1] for each in one if each[0]}) for one in _framed(there, frames)])
    return _given(rows, _sums([each[0] for each in there], frames))


def window_share(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    peers, size = _peers(rows, order), len(rows)
    if what == "cume_dist":
        return _given(rows, [rounded(end, size) for _, end in peers])
    return _given(rows, [rounded(start, size - 1) if size > 1 else 0.0 for start, _ in peers])


def window_value(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, text = what.split()
    number, values, leaves = int(text), [row[1] for row in rows], name.endswith("_there")
    match name.removesuffix("_there"):
        case "lag" | "lead" if leaves:
            return _given(rows, _neighbours(values, number if name == "lead_there" else -number))
        case "lag" | "lead":
            shift, size = number if name == "lead" else -number, len(rows)
            return _given(rows, [values[i + shift] if 0 <= i + shift < size else NONE for i in range(size)])
        case "sum" if not any(isinstance(each[1], float) for each in values if each[0]):
            counts = _sums([each[0] for each in values], _frames(rows, order, frame))
            sums = _sums([each[1] if each[0] else 0 for each in values], _frames(rows, order, frame))
            return _given(rows, [some(total) if n else NONE for n, total in zip(counts, sums, strict=True)])
        case plain:
            framed = _framed(values, _frames(rows, order, frame))
            return _given(rows, [_of_frame(plain, number, one, leaves) for one in framed])


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


def _of_frame(name: str, number: int, values: Sequence[Any], leaves: bool) -> Any:
    if leaves or name in ("sum", "min", "max"):
        values = [each for each in values if each[0]]
    match name:
        case "first":
            return values[0] if values else NONE
        case "last":
            return values[-1] if values else NONE
        case "nth":
            return values[number - 1] if 0 < number <= len(values) else NONE
    if not values:
        return NONE
    if name == "sum":
        return some(float_sum([each[1] for each in values]))
    return min(values) if name == "min" else max(values)


def window_mean(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    counts = _sums([row[1][0] for row in rows], _frames(rows, order, frame))
    sums = _sums([row[1][1] if row[1][0] else 0 for row in rows], _frames(rows, order, frame))
    means = (some(rounded(total, n * scale)) if n else NONE for n, total in zip(counts, sums, strict=True))
    return _given(rows, means)


def window_mean_of_doubles(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    found = []
    for one in _framed([row[1] for row in rows], _frames(rows, order, frame)):
        there = [each[1] for each in one if each[0]]
        found.append(some(mean(there)) if there else NONE)
    return _given(rows, found)


def window_frames(g: Group, order: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    framed = _framed([row[1] for row in rows], _frames(rows, order, frame))
    return _given(rows, (Vec(one) for one in framed))
