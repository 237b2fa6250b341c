"""Exact fractions rounded once to machine floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def rounded(above: int, below: int) -> float:
    """The double nearest to a fraction; infinite beyond the greatest."""
    try:
        return above / below
    except OverflowError:
        return float("inf") if above > 0 else float("-inf")


def rounded_single(above: int, below: int) -> float:
    """The single nearest to a fraction: rounding to a double on the way must not decide a tie."""
    double = rounded(above, below)
    with np.errstate(over="ignore"):
        single = np.float32(double)
    error = above - Fraction(double) * below if np.isfinite(double) else 0
    if error and np.isfinite(single):
        other = np.nextafter(single, np.float32(np.inf if double > float(single) else -np.inf))
        if np.isfinite(other) and abs(Fraction(double) - Fraction(float(other))) == abs(
            Fraction(double) - Fraction(float(single))
        ):
            return float(max(single, other) if error > 0 else min(single, other))
    return float(single)
