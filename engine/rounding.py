"""Exact fractions rounded once to machine floats."""

from __future__ import annotations

import math
from ctypes import c_float


def rounded(above: int, below: int) -> float:
    """The double nearest to above / below; infinite beyond the greatest."""
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def rounded_single(above: int, below: int) -> float:
    """The single nearest to above / below; infinite beyond the greatest."""
    double = rounded(above, below)
    if math.isinf(double):
        return double
    from fractions import Fraction  # few programs round to single precision

    error = above - Fraction(double) * below
    return single_beside(double, (error > 0) - (error < 0))


def single_beside(double: float, side: int) -> float:
    """The single nearest to a value of which `double` is the nearest double.

    The value is greater than `double` if side is 1, less if it is -1. A double with an odd last bit
    is never half way between two singles, so it stands for the values beside it.
    """
    if side and not math.isinf(double):
        mantissa, _ = math.frexp(double)
        if int(mantissa * (1 << 53)) % 2 == 0:
            double = math.nextafter(double, side * math.inf)
    return c_float(double).value + 0.0  # no negative zero
