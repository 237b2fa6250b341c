"""Functions of groups of the module `sql`: the first rows of an order, windows, and statistics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from ..engine.rounding import rounded
from ..engine.sortedrows import ColumnOrder, Falling
from ..values import NAN, Fault, Group, Struct, Vec, canonical_float
from .options import NONE, some


def only(g: Group) -> Any:
    if len(g[1]) > 1:
        raise Fault("more than one row is returned by a subquery that is used as a value")
    return g[1][0][0]


def in_order(rows: Iterable[Any], order: str) -> list[Any]:
    """Rows, whose first item is the tuple of their keys, in an order; equal ones in that of their values."""
    listed = list(rows)
    for place, letter in reversed([*enumerate(order)]):
        by = column_order(letter)
        made = by.key or _itself
        listed.sort(key=lambda row, at=place, made=made: made(row[0][at]), reverse=by.falls)  # type: ignore[misc]
    return listed


def order_key(order: str) -> Callable[[Any], tuple[tuple[Any, ...], Any]]:
    """The key that orders rows which begin with their keys, as `in_order` does: the cells of the order, and
    the row, for equal ones."""
    places = list(enumerate(order))
    if set(order) <= {"N"}:
        return lambda row: (row[: len(places)], row)
    return lambda row: (tuple([cell(row[place], letter) for place, letter in places]), row)


def cell(value: Any, letter: str) -> Any:
    """A value such that values in an order of this letter are in the order of their cells."""
    order = column_order(letter)
    made = value if order.key is None else order.key(value)
    return Falling(made) if order.falls else made


@cache
def column_order(letter: str) -> ColumnOrder:
    """The order of a letter."""
    null = letter in "aD"
    key = (lambda value: ((value[0] == 0) == null, value)) if letter in "adAD" else None
    return ColumnOrder(letter in "MdD", key)


def _itself(value: Any) -> Any:
    return value


def top(g: Group, order: str, first: int, count: int) -> Vec:
    rows = in_order(g[1], order)
    return Vec(row[1] for row in (rows[first:] if count < 0 else rows[first : first + count]))


def ordered(rows: Vec, order: str) -> Vec:
    return Vec(row[1][1] for row in in_order([row for row in rows if row[1][0] == 1], order))


def at(values: Vec, share: float) -> Struct:
    return some(values[max(math.ceil(len(values) * share) - 1, 0)]) if values else NONE


def between_values(values: Vec, share: float) -> Struct:
    if not values:
        return NONE
    place = (len(values) - 1) * share
    low, high = values[math.floor(place)], values[math.ceil(place)]
    if low == high:
        return some(low)
    more = (high - low) * (place - math.floor(place))
    return some(low + (math.floor(more + 0.5) if isinstance(low, int) else more))


def mode(values: Vec) -> Struct:
    return some(Counter(values).most_common(1)[0][0]) if values else NONE


def variance(n: int, total: int, squares: int, scale: int, population: bool) -> Struct:
    below = n if population else n - 1
    if below < 1:
        return NONE
    return some(rounded(n * squares - total * total, n * below * scale * scale))


def of_pairs(pairs: Vec, what: str) -> Struct:
    there = [each[1] for each in pairs if each[0] == 1]
    n = len(there)
    if n < 1 + (what == "covar_samp"):
        return NONE
    if not all(math.isfinite(each) for pair in there for each in pair):
        return some(NAN)
    ys, xs = ([Fraction(pair[k]) for pair in there] for k in (0, 1))
    y, x = sum(ys) / n, sum(xs) / n
    sxx, syy = sum((each - x) ** 2 for each in xs), sum((each - y) ** 2 for each in ys)
    sxy = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    match what:
        case "covar_pop":
            return some(float(sxy / n))
        case "covar_samp":
            return some(float(sxy / (n - 1)))
        case "regr_avgx":
            return some(float(x))
        case "regr_avgy":
            return some(float(y))
        case "regr_sxx":
            return some(float(sxx))
        case "regr_syy":
            return some(float(syy))
        case "regr_sxy":
            return some(float(sxy))
        case "corr":
            return some(float(sxy) / math.sqrt(sxx * syy)) if sxx and syy else some(NAN)
    if not sxx:
        return some(NAN) if what == "regr_slope" else NONE
    if what == "regr_slope":
        return some(float(sxy / sxx))
    if what == "regr_intercept":
        return some(float(y - x * sxy / sxx))
    return some(float(sxy**2 / (sxx * syy)) if syy else 1.0)


def shape(values: Vec, what: str) -> Struct:
    there = [each[1] for each in values if each[0] == 1]
    n = len(there)
    if not n:
        return NONE
    if not all(map(math.isfinite, there)):
        return some(NAN)
    exact = [Fraction(each) for each in there]
    if what == "mad":
        middle = _median(exact)
        return some(float(_median([abs(each - middle) for each in exact])))
    mean = sum(exact) / n
    second, third, fourth = (sum((each - mean) ** power for each in exact) / n for power in (2, 3, 4))
    if not second or n < {"skewness": 3, "kurtosis": 4}.get(what, 1):
        return NONE
    if what == "skewness":
        return some(math.sqrt(n * (n - 1)) / (n - 2) * float(third) / float(second) ** 1.5)
    over = fourth / second**2 - 3
    return some(
        float(over if what == "kurtosis_pop" else (n - 1) * ((n + 1) * over + 6) / ((n - 2) * (n - 3)))
    )


def _median(values: list[Fraction]) -> Fraction:
    there, middle = sorted(values), len(values) // 2
    return there[middle] if len(there) % 2 else (there[middle - 1] + there[middle]) / 2


def entropy(values: Vec) -> float:
    counts = Counter(each[1] for each in values if each[0] == 1).values()
    whole = sum(counts)
    return canonical_float(sum(-each / whole * math.log2(each / whole) for each in sorted(counts)))


def variance_of_doubles(values: Vec, population: bool) -> Struct:
    there = [each[1] for each in values if each[0] == 1]
    n, below = len(there), len(there) - (not population)
    if below < 1:
        return NONE
    if not all(map(math.isfinite, there)):
        return some(math.nan)
    exact = [Fraction(each) for each in there]
    return some(float((n * sum(x * x for x in exact) - sum(exact) ** 2) / (n * below)))


def mean_of_values(values: Vec, factor: int) -> Struct:
    there = [each[1] for each in values if each[0]]
    if not there:
        return NONE
    total, count = sum(there) * factor, len(there)
    whole = (2 * abs(total) + count) // (2 * count)
    return some(whole if total >= 0 else -whole)
