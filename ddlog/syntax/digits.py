"""Integers from any number of digits, also where a fraction of zeros is written behind them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Context, Decimal

CONVERTIBLE = 4000
"""The most digits that Python converts at once: it takes the square of their number."""
_BYTES = 80_000  # of an integer whose digits are put together by multiplications of integers
_BYTES_A_DIGIT = 0.41525


_EXACT = 1 << 53  # doubles below it hold every integer


class WholeFloat(float):
    """The double of a whole number that does not tell how it was written: with the integer, where it is one
    of digits and a fraction of zeros, and not with an exponent."""

    __slots__ = ("whole",)
    whole: int | None


def to_float(text: str) -> float:
    """The double of a number's text, with the integer if it is written as `9007199254740993.0`."""
    number = float(text)
    if not number.is_integer() or ("e" not in text.lower() and -_EXACT < number < _EXACT):
        return number
    digits, _, fraction = text.partition(".")
    found = WholeFloat(number)
    found.whole = None if not fraction or fraction.strip("0") else to_int(digits)
    return found


def whole_number(number: float) -> float | int:
    """The integer that a double was written as; the double if it was not written as one."""
    if isinstance(number, WholeFloat):
        return number if number.whole is None else number.whole
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def to_int(text: str) -> int:
    """The integer of decimal digits, or of hexadecimal digits after `0x`. Python's `int` takes at most
    4300 decimal digits, or time without end; this function has no limit."""
    if text.startswith("-"):
        return -to_int(text[1:].strip())
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    if len(text) <= CONVERTIBLE:
        return int(text)
    size = int(len(text) * _BYTES_A_DIGIT) + 1
    if size > _BYTES:
        from decimal import Decimal, localcontext

        with localcontext(exact()):
            return int.from_bytes(_bytes(Decimal(text), size, {}), "big")
    half = len(text) // 2
    left: int = to_int(text[:-half]) * 10**half
    return left + to_int(text[-half:])


@cache
def exact() -> Context:
    """Decimals of any number of digits. Python multiplies and divides them faster than long integers."""
    from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context

    return Context(MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _bytes(number: Decimal, size: int, powers: dict[int, Decimal]) -> bytes:
    """The bytes of an integer, the highest first. `powers` are those of 256 that were needed already."""
    if size <= _BYTES:
        return to_int(str(number)).to_bytes(size, "big")
    low = size // 2
    if low not in powers:
        powers[low] = exact().power(256, low)
    left, right = divmod(number, powers[low])
    return _bytes(left, size - low, powers) + _bytes(right, low, powers)
