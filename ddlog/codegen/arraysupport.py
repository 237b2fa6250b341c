"""Functions that generated array code calls. Integers are exact: a value outside the inline range raises
NotVectorised.

Columns are int64 arrays. Booleans are computed as arrays of bool, floating point numbers as arrays of
float64; wide integers (of which some values do not fit inline) are checked when they are read and made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.schema import INLINE_LIMIT, Array, Kind, NotVectorised

Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

OBJECT = Kind.OBJECT
_NAN_BITS = np.array([np.nan]).view(np.int64)[0]


def inline(column: Array) -> Array:
    """The column, of which no value is interned."""
    if column.size and column.max() >= INLINE_LIMIT:
        raise NotVectorised
    return column


def fits(values: Array, least: int = -INLINE_LIMIT) -> Array:
    """The computed values, none below `least` or outside the inline range."""
    if values.size and (values.min() < least or values.max() >= INLINE_LIMIT):
        raise NotVectorised
    return values


def magnitude(values: Array) -> int:
    """The largest absolute value."""
    return max(-int(values.min()), int(values.max())) if values.size else 0


def product(a: Array, b: Array) -> Array:
    """The product of unbounded integers."""
    if magnitude(a) * magnitude(b) >= INLINE_LIMIT:
        raise NotVectorised
    return a * b


def shifted(a: Array, amount: Array) -> Array:
    """`a << amount` of unbounded integers."""
    if a.size and amount.size and (amount.max() > 62 or magnitude(a) << int(amount.max()) >= INLINE_LIMIT):
        raise NotVectorised
    return a << amount


def divisor(b: Array, active: Bools | None) -> Array:
    """The divisors, with 1 for a zero where the result is not used."""
    zero = b == 0
    if not zero.any():
        return b
    if active is None or (zero & active).any():
        raise NotVectorised
    return np.where(zero, 1, b)


def quotient(a: Array, b: Array) -> Array:
    """The quotients, truncated toward zero."""
    result: Array = (a - np.fmod(a, b)) // b
    return result


def remainder(a: Array, b: Array) -> Array:
    """The remainders of truncating division."""
    result: Array = np.fmod(a, b)
    return result


def floating(bits: Array) -> Doubles:
    """The doubles of bit patterns."""
    return bits.view(np.float64)


def float_bits(values: Doubles) -> Array:
    """The bit patterns of doubles, with one NaN and no negative zero."""
    bits = (values + 0.0).view(np.int64)
    undefined = np.isnan(values)
    return np.where(undefined, _NAN_BITS, bits) if undefined.any() else bits


def single(values: Doubles | Array) -> Doubles:
    """The values, doubles or integers, rounded to single precision."""
    return values.astype(np.float32).astype(np.float64)


def float_below(a: Doubles, b: Doubles) -> Bools:
    """`a < b` in the total order, in which NaN is the greatest."""
    result: Bools = (a < b) | (np.isnan(b) & ~np.isnan(a))
    return result


def float_equal(a: Doubles, b: Doubles) -> Bools:
    """`a == b`, with NaN equal to itself."""
    result: Bools = (a == b) | (np.isnan(a) & np.isnan(b))
    return result


def full(values: npt.NDArray[Any], columns: tuple[Array, ...]) -> Array:
    """The result as an int64 array as long as the columns, of length 1 when there are none."""
    length = len(columns[0]) if columns else 1
    if values.dtype != np.int64:
        values = values.astype(np.int64)
    return values if len(values) == length else np.full(length, values[0], np.int64)


def quietly(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, without warnings of floating point arithmetic."""

    def quiet(*args: Any) -> Array:
        with np.errstate(all="ignore"):
            return function(*args)

    return quiet
