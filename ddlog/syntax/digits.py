"""Integers from any number of digits."""

from __future__ import annotations

CONVERTIBLE = 4000
"""The most digits that Python converts at once: it takes the square of their number."""


def to_int(text: str) -> int:
    """The integer of decimal digits, or of hexadecimal digits after `0x`. Python's `int` takes at most
    4300 decimal digits, or time without end; this function has no limit."""
    if text.startswith("-"):
        return -to_int(text[1:].strip())
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    if len(text) <= CONVERTIBLE:
        return int(text)
    half = len(text) // 2
    left: int = to_int(text[:-half]) * 10**half
    return left + to_int(text[-half:])
