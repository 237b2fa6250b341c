"""Accumulators: counts, sums and means, by the number of a group. What is added can be taken away again, and
accumulators of parts of a group can be added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ...circuit import Aggregate
from ...rounding import rounded, rounded_single
from ...schema import INLINE_LIMIT, Array, Column, Kind, Schema
from ..kernels import addition
from ..storage.arrays import grown
from ..storage.batch import Batch
from ..storage.interner import Values
from ..storage.unread import Unread

_PLAIN = 1 << 29  # upper parts of sums below it make no sum that an int64 cannot hold
_SCALE = 1074  # every double is an integer over 2^1074
_NOTHING = (0, 0, 0, 0)

Bools: TypeAlias = npt.NDArray[np.bool_]


class Accumulator(Protocol):
    """Keeps one aggregate for every group."""

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        """Adds weighted rows of the source to their groups."""

    def result(self, groups: Array, counts: Array) -> Array:
        """The aggregate of each of these groups, none of which is empty, as column codes."""

    def keep(self, groups: Array) -> None:
        """Forgets all groups but these, which get new numbers, from 0 in order."""


class Count:
    """Counts, which whoever adds rows to groups keeps."""

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        """Nothing to keep: the grouping counts rows itself."""

    def result(self, groups: Array, counts: Array) -> Array:
        return counts

    def keep(self, groups: Array) -> None:
        """Nothing is kept."""

    def gathered(self, groups: Array, parts: Array, size: int) -> Count:
        """The sums by group of parts with these numbers, for the groups 0 .. size - 1."""
        return self


class IntegerSum(Unread):
    """Exact sums in two limbs of 32 bits of the value each; interned integers apart."""

    def __init__(self, position: int, column: Column, out: Column, one: Aggregate, values: Values) -> None:
        self.position, self.column, self.out, self.one, self.values = position, column, out, one, values
        self.low: Array = np.zeros(16, np.int64)
        self.high: Array = np.zeros(16, np.int64)
        self.huge: dict[int, int] = {}

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        top = int(groups.max()) + 1
        self.low, self.high = grown(self.low, top, 0), grown(self.high, top, 0)
        codes = batch.columns[self.position]
        wide = int(codes.max()) >= INLINE_LIMIT
        plain = np.where(codes >= INLINE_LIMIT, 0, codes) if wide else codes
        if wide:
            for at in np.flatnonzero(codes >= INLINE_LIMIT).tolist():
                value = self.values.decode_column(self.column, codes[at : at + 1])[0]
                group = int(groups[at])
                self.huge[group] = self.huge.get(group, 0) + value * int(weights[at])
        addition.accumulate_limbs(self.low, self.high, groups, plain, weights)

    def result(self, groups: Array, counts: Array) -> Array:
        huge = [self.huge.get(group, 0) for group in groups.tolist()] if self.huge else None
        return integer_sums(
            self.one, self.out, self.values, self.low[groups], self.high[groups], counts, huge
        )

    def gathered(self, groups: Array, parts: Array, size: int) -> IntegerSum:
        """The sums by group of parts with these numbers, for the groups 0 .. size - 1."""
        sums = IntegerSum(self.position, self.column, self.out, self.one, self.values)
        sums.low, sums.high = np.zeros(size, np.int64), np.zeros(size, np.int64)
        addition.add(sums.low, groups, self.low[parts])
        addition.add(sums.high, groups, self.high[parts])
        if self.huge:
            for group, part in zip(groups.tolist(), parts.tolist(), strict=True):
                if part in self.huge:
                    sums.huge[group] = sums.huge.get(group, 0) + self.huge[part]
        return sums

    def totals(self, groups: Array) -> list[int]:
        """The sums of groups, of any size."""
        parts = zip(groups.tolist(), self.low[groups].tolist(), self.high[groups].tolist(), strict=True)
        return [(high << 32) + low + self.huge.get(group, 0) for group, low, high in parts]

    def keep(self, groups: Array) -> None:
        self.low, self.high = self.low[groups], self.high[groups]
        if self.huge:
            held = ((new, self.huge.get(old, 0)) for new, old in enumerate(groups.tolist()))
            self.huge = {group: total for group, total in held if total}


def integer_sums(
    one: Aggregate,
    out: Column,
    values: Values,
    low: Array,
    high: Array,
    counts: Array,
    huge: Sequence[int] | None = None,
) -> Array:
    """The codes of sums or means, given the sums of the lower 32 bits of each group's values, those of the
    others, the numbers of values, and what interned values come to."""
    known = one.wrap is None or one.range is not None
    if huge is None and known and one.function == "sum" and len(low) and int(np.abs(high).max()) < _PLAIN:
        plain: Array = (high << 32) + low
        least, most = one.range or (-INLINE_LIMIT, INLINE_LIMIT - 1)
        if int(plain.min()) >= max(least, -INLINE_LIMIT) and int(plain.max()) <= min(most, INLINE_LIMIT - 1):
            return plain
    sums: list[Any] = [(h << 32) + lo for h, lo in zip(high.tolist(), low.tolist(), strict=True)]
    if huge is not None:
        sums = [a + b for a, b in zip(sums, huge, strict=True)]
    if one.function == "avg":
        sums = [rounded(s, n) for s, n in zip(sums, counts.tolist(), strict=True)]
    elif one.wrap is not None:
        sums = [one.wrap(s) for s in sums]
    return values.encode_column(out, sums, len(sums))


class FloatSum:
    """Exact sums of doubles, as integers over 2^1074, rounded once when read."""

    def __init__(self, position: int, column: Column, out: Column, one: Aggregate, values: Values) -> None:
        self.position, self.column, self.out, self.one, self.values = position, column, out, one, values
        self.sums: dict[int, tuple[int, int, int, int]] = {}  # finite part, NaNs, +inf, -inf

    def add(self, groups: Array, batch: Batch, weights: Array) -> None:
        doubles = batch.columns[self.position].view(np.float64).tolist()
        for group, value, weight in zip(groups.tolist(), doubles, weights.tolist(), strict=True):
            finite, nans, plus, minus = self.sums.get(group, _NOTHING)
            if value != value:
                nans += weight
            elif value in (float("inf"), float("-inf")):
                plus, minus = plus + weight * (value > 0), minus + weight * (value < 0)
            else:
                top, bottom = value.as_integer_ratio()
                finite += weight * ((top << _SCALE) // bottom)
            self.sums[group] = (finite, nans, plus, minus)

    def _total(self, group: int, divisor: int) -> float:
        finite, nans, plus, minus = self.sums[group]
        if nans or (plus and minus):
            return float("nan")
        if plus or minus:
            return float("inf") if plus else float("-inf")
        below = divisor << _SCALE
        return rounded_single(finite, below) if self.out.domain == "float" else rounded(finite, below)

    def result(self, groups: Array, counts: Array) -> Array:
        divisors = counts.tolist() if self.one.function == "avg" else [1] * len(groups)
        sums: list[float] = [self._total(g, n) for g, n in zip(groups.tolist(), divisors, strict=True)]
        return self.values.encode_column(self.out, sums, len(sums))

    def gathered(self, groups: Array, parts: Array, size: int) -> FloatSum:
        """The sums by group of parts with these numbers, for the groups 0 .. size - 1."""
        sums = FloatSum(self.position, self.column, self.out, self.one, self.values)
        found = [list(_NOTHING) for _ in range(size)]
        for group, part in zip(groups.tolist(), parts.tolist(), strict=True):
            found[group] = [a + b for a, b in zip(found[group], self.sums[part], strict=True)]
        sums.sums = {group: (a, b, c, d) for group, (a, b, c, d) in enumerate(found)}
        return sums

    def keep(self, groups: Array) -> None:
        self.sums = {new: self.sums[old] for new, old in enumerate(groups.tolist())}


Linear: TypeAlias = Count | IntegerSum | FloatSum
"""Accumulators that are sums over the members."""


def linear_of(one: Aggregate, source: Schema, out: Column, values: Values) -> Linear | None:
    """A new accumulator for an aggregate that is a sum over the members of a source with these columns, or
    follows from sums. None: it is not."""
    match one.function:
        case "count":
            return Count()
        case "sum" | "avg":
            column = source[one.columns[0]]
            kind = FloatSum if column.kind is Kind.FLOAT else IntegerSum
            return kind(one.columns[0], column, out, one, values)
        case _:
            return None
