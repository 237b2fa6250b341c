"""Integers from any number of digits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Context, Decimal

CONVERTIBLE = 4000
"""The most digits that Python converts at once: it takes the square of their number."""
_BYTES = 80_000  # of an integer whose digits are put together by multiplications of integers
_BYTES_A_DIGIT = 0.41525


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
