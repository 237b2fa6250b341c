"""Exact fractions rounded once to machine floats."""

from __future__ import annotations

import math
from fractions import Fraction

from ..values import single


def nearest_double(value: Fraction) -> float:
    """The nearest double; infinite beyond the largest."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def nearest_single(value: Fraction) -> float:
    """The nearest single; infinite beyond the largest."""
    double = nearest_double(value)
    if math.isinf(double):
        return double
    return single_beside(double, (value > Fraction(double)) - (value < Fraction(double)))


def single_beside(double: float, side: int) -> float:
    """The single nearest to a value of which `double` is the nearest double.

    The value is greater than `double` if side is 1, less if it is -1. A double with an odd last bit
    is never half way between two singles, so it stands for what lies beside it.
    """
    if side and not math.isinf(double):
        mantissa, _ = math.frexp(double)
        if int(mantissa * (1 << 53)) % 2 == 0:
            double = math.nextafter(double, side * math.inf)
    return single(double)
