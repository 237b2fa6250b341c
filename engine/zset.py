"""Z-sets: finite maps from rows to integer weights, the values that circuits compute on.

A Z-set is a plain dict without zero weights. Together with `add` and `negate` they are an abelian
group (dbsp-spec, part 6); relations are the Z-sets whose weights are all 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Zset: TypeAlias = dict[Row, int]


def zset(weighted: Iterable[tuple[Row, int]]) -> Zset:
    """The Z-set of weighted rows: weights of equal rows are added, zeros dropped."""
    total: Zset = {}
    for row, weight in weighted:
        total[row] = total.get(row, 0) + weight
    return {row: weight for row, weight in total.items() if weight}


def of_rows(rows: Iterable[Row]) -> Zset:
    """The set of the rows: weight 1 for each."""
    return dict.fromkeys(rows, 1)


def add(*operands: Mapping[Row, int]) -> Zset:
    """The sum of Z-sets, row by row."""
    return zset((row, weight) for operand in operands for row, weight in operand.items())


def negate(operand: Mapping[Row, int]) -> Zset:
    """The inverse: a + negate(a) is empty."""
    return {row: -weight for row, weight in operand.items()}


def subtract(left: Mapping[Row, int], right: Mapping[Row, int]) -> Zset:
    """left + negate(right)"""
    return add(left, negate(right))


def distinct(operand: Mapping[Row, int]) -> Zset:
    """Weight 1 for every row of positive weight (Definition 6.3)."""
    return {row: 1 for row, weight in operand.items() if weight > 0}


def sign_change(before: Mapping[Row, int], change: Mapping[Row, int]) -> Zset:
    """H of Proposition 6.12: the change of `distinct` when `before` becomes `before + change`,
    found by looking at the rows of the change alone."""

    def crossing(row: Row, weight: int) -> int:
        old = before.get(row, 0)
        return (old + weight > 0) - (old > 0)

    return zset((row, crossing(row, weight)) for row, weight in change.items())
