"""Numbers at run time: floats with one NaN and no negative zero, integers of every width, their digits."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

from ..syntax.digits import exact
from ..types import Bit, Signed, Type

if TYPE_CHECKING:
    from decimal import Decimal


class _NotANumber(float):
    """NaN as the language has it: equal to itself and greater than every number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isnan(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return self == other

    def __gt__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0x7FF8

    def __repr__(self) -> str:
        return "NaN"

    def __reduce__(self) -> tuple[Any, ...]:
        return canonical_float, (math.nan,)


NAN = _NotANumber("nan")
_BRIEF = 200  # digits of an integer in a message
_CONVERTIBLE = 13_000  # bits of an integer that Python writes at once


def canonical_float(value: float) -> float:
    """The value with one NaN and no negative zero."""
    return value + 0.0 if value == value and value is not NAN else NAN


def single(value: float) -> float:
    """The nearest value of single precision, canonical."""
    if value != value or value is NAN:
        return NAN
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded + 0.0


def int_to_double(value: int) -> float:
    """The nearest double; infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def int_to_single(value: int) -> float:
    """The nearest single, rounded once."""
    excess = abs(value).bit_length() - 30
    if excess <= 0:
        return single(float(value))
    if excess > 1000:
        return math.inf if value > 0 else -math.inf
    magnitude = abs(value)
    leading = magnitude >> excess | (magnitude & (1 << excess) - 1 != 0)
    return single(math.copysign(math.ldexp(leading, excess), value))


def wrap_bit(value: int, width: int) -> int:
    """The value modulo 2^width."""
    return value & (1 << width) - 1


def wrap_signed(value: int, width: int) -> int:
    """The value modulo 2^width, in two's complement."""
    half = 1 << width - 1
    return (value + half & (half << 1) - 1) - half


def wrap(value: int, type: Type) -> int:
    """The value brought into the range of an integer type."""
    match type:
        case Bit(width):
            return wrap_bit(value, width)
        case Signed(width):
            return wrap_signed(value, width)
    return value


def integer_range(type: Bit | Signed) -> tuple[int, int]:
    """The least and the greatest value of the type."""
    if isinstance(type, Bit):
        return 0, (1 << type.width) - 1
    return -(1 << type.width - 1), (1 << type.width - 1) - 1


def decimal(value: int) -> str:
    """The decimal digits, however many. Python takes the square of their number for many; its decimals, which
    multiply faster, put the halves together."""
    if value.bit_length() <= _CONVERTIBLE:
        return str(value)
    from decimal import localcontext

    with localcontext(exact()):
        digits = str(_in_decimal(abs(value), abs(value).bit_length(), {}))
    return f"-{digits}" if value < 0 else digits


def brief(value: int) -> str:
    """The decimal digits for a message: of very many the first."""
    digits = decimal(value)
    return digits if len(digits) <= _BRIEF else f"{digits[:_BRIEF]}… ({len(digits):,} digits)"


def _in_decimal(value: int, bits: int, powers: dict[int, Decimal]) -> Decimal:
    if bits <= _CONVERTIBLE:
        return exact().create_decimal(value)
    half = bits // 2
    if half not in powers:
        powers[half] = exact().power(2, half)
    high, low = value >> half, value & (1 << half) - 1
    return _in_decimal(high, bits - half, powers) * powers[half] + _in_decimal(low, half, powers)


def shortest(value: float, width: int = 64) -> str:
    """The shortest text that gives the value back at the precision, with an exponent if it is far from 1."""
    if value is NAN or value != value:
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    digits = repr(value)
    if width == 32:
        digits = next(text for p in range(1, 18) if single(float(text := f"{value:.{p}g}")) == value)
    return digits.removesuffix(".0").replace("e+", "e")


def float_text(value: float, width: int = 64) -> str:
    """The shortest decimal that gives the value back at the precision, without an exponent."""
    digits = shortest(value, width)
    if "e" in digits:
        from decimal import Decimal

        digits = format(Decimal(digits), "f")
    return digits
