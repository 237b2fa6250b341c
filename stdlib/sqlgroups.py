"""Functions of groups of the module `sql`: the first rows of an order, windows, and statistics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from ..engine.rounding import rounded
from ..values import Fault, Group, Struct, Vec
from .group import float_sum, mean
from .options import NONE, some


def only(g: Group) -> Any:
    if len(g[1]) > 1:
        raise Fault("more than one row is returned by a subquery that is used as a value")
    return g[1][0][0]


def in_order(rows: Iterable[Any], order: str) -> list[Any]:
    """Rows, whose first item is the tuple of their keys, in an order; equal ones in that of their values."""
    listed = list(rows)
    for place, letter in reversed_list(order):
        if letter in "NM":  # a plain value, never NULL
            listed.sort(key=lambda row, at=place: row[0][at], reverse=letter == "M")  # type: ignore[misc]
        else:
            down = letter in "dD"
            first = letter.isupper() == down
            listed.sort(
                key=lambda row, at=place, last=first: (  # type: ignore[misc]
                    (row[0][at][0] == 0) != (not last),
                    row[0][at],
                ),
                reverse=down,
            )
    return listed


class _Down:
    """A value that comes before those that are less."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Down) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def order_key(order: str) -> Callable[[Any], Any]:
    """The key by which `in_order` sorts rows, equal ones included."""
    places = list(enumerate(order))

    def key(row: Any) -> Any:
        keys: list[Any] = []
        for place, letter in places:
            value = row[0][place]
            if letter in "adAD":
                value = ((value[0] == 0) == (letter in "aD"), value)
            keys.append(_Down(value) if letter in "MdD" else value)
        return (*keys, row)

    return key


def reversed_list(order: str) -> list[tuple[int, str]]:
    """The places and letters of an order, last first."""
    return list(enumerate(order))[::-1]


def top(g: Group, order: str, first: int, count: int) -> Vec:
    rows = in_order(g[1], order)
    return Vec(row[1] for row in (rows[first:] if count < 0 else rows[first : first + count]))


def _peers(rows: list[Any], order: str) -> list[tuple[int, int]]:
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


def _frames(rows: list[Any], order: str, frame: str) -> list[tuple[int, int]]:
    """For each row, where its frame begins and ends."""
    kind, start, end = frame.split()
    size, peers = len(rows), _peers(rows, order)

    def edge(text: str, at: int, last: bool) -> int:
        if text in "-+":
            return 0 if text == "-" else size
        if kind == "range":
            return peers[at][1 if last else 0]
        return min(max(at + int(text) + last, 0), size)

    return [(edge(start, at, False), edge(end, at, True)) for at in range(size)]


def window_number(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, number = what.split()
    peers = _peers(rows, order)
    size = len(rows)
    match name:
        case "row_number":
            found = list(range(1, size + 1))
        case "rank":
            found = [start + 1 for start, _ in peers]
        case "dense_rank":
            starts = {start: i for i, start in enumerate(sorted({start for start, _ in peers}), 1)}
            found = [starts[start] for start, _ in peers]
        case "ntile":
            parts = int(number)
            small, more = divmod(size, parts)
            found = [
                i // (small + 1) + 1
                if i < more * (small + 1)
                else more + (i - more * (small + 1)) // small + 1
                for i in range(size)
            ]
        case _:
            there = [row[1][0] for row in rows]
            found = [sum(there[a:b]) for a, b in _frames(rows, order, frame)]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_share(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    peers, size = _peers(rows, order), len(rows)
    if what == "cume_dist":
        found = [rounded(end, size) for _, end in peers]
    else:
        found = [rounded(start, size - 1) if size > 1 else 0.0 for start, _ in peers]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_value(g: Group, order: str, what: str, frame: str) -> Vec:
    rows = in_order(g[1], order)
    name, text = what.split()
    number, values = int(text), [row[1] for row in rows]
    if name in ("lag", "lead"):
        shift = -number if name == "lag" else number
        found = [values[i + shift] if 0 <= i + shift < len(rows) else NONE for i in range(len(rows))]
    else:
        found = [_of_frame(name, number, values[a:b]) for a, b in _frames(rows, order, frame)]
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def _of_frame(name: str, number: int, values: list[Any]) -> Any:
    match name:
        case "first":
            return values[0] if values else NONE
        case "last":
            return values[-1] if values else NONE
        case "nth":
            return values[number - 1] if 0 < number <= len(values) else NONE
    there = [each[1] for each in values if each[0] == 1]
    if not there:
        return NONE
    if name == "sum":
        return some(float_sum(there) if isinstance(there[0], float) else sum(there))
    return some(min(there) if name == "min" else max(there))


def window_mean(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    found = []
    for a, b in _frames(rows, order, frame):
        there = [row[1][1] for row in rows[a:b] if row[1][0] == 1]
        found.append(some(rounded(sum(there), len(there) * scale)) if there else NONE)
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def window_mean_of_doubles(g: Group, order: str, what: str, frame: str, scale: int) -> Vec:
    rows = in_order(g[1], order)
    found = []
    for a, b in _frames(rows, order, frame):
        there = [row[1][1] for row in rows[a:b] if row[1][0] == 1]
        found.append(some(mean(there)) if there else NONE)
    return Vec((row[2], value) for row, value in zip(rows, found, strict=True))


def ordered(rows: Vec, order: str) -> Vec:
    return Vec(row[1][1] for row in in_order([row for row in rows if row[1][0] == 1], order))


def at(values: Vec, share: float) -> Struct:
    return some(values[max(math.ceil(len(values) * share) - 1, 0)]) if values else NONE


def between_values(values: Vec, share: float) -> Struct:
    if not values:
        return NONE
    place = (len(values) - 1) * share
    low, high = values[math.floor(place)], values[math.ceil(place)]
    return some(low if low == high else low + (high - low) * (place - math.floor(place)))


def mode(values: Vec) -> Struct:
    return some(Counter(values).most_common(1)[0][0]) if values else NONE


def variance(n: int, total: int, squares: int, scale: int, population: bool) -> Struct:
    below = n if population else n - 1
    if below < 1:
        return NONE
    return some(rounded(n * squares - total * total, n * below * scale * scale))


def variance_of_doubles(values: Vec, population: bool) -> Struct:
    there = [each[1] for each in values if each[0] == 1]
    n, below = len(there), len(there) - (not population)
    if below < 1:
        return NONE
    if not all(map(math.isfinite, there)):
        return some(math.nan)
    exact = [Fraction(each) for each in there]
    return some(float((n * sum(x * x for x in exact) - sum(exact) ** 2) / (n * below)))


def deviation_of_doubles(values: Vec, population: bool) -> Struct:
    found = variance_of_doubles(values, population)
    return found if found[0] == 0 else some(math.sqrt(found[1]))


def deviation(n: int, total: int, squares: int, scale: int, population: bool) -> Struct:
    found = variance(n, total, squares, scale, population)
    return found if found[0] == 0 else some(math.sqrt(found[1]))
