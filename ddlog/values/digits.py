"""Integers from their digits, however many."""

from __future__ import annotations

_CONVERTIBLE = 4000  # digits that Python converts at once


def to_int(text: str) -> int:
    """The integer that digits write, however many: decimal, or hexadecimal after `0x`."""
    if text.startswith("-"):
        return -to_int(text[1:].strip())
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    if len(text) <= _CONVERTIBLE:
        return int(text)
    half = len(text) // 2
    left: int = to_int(text[:-half]) * 10**half
    return left + to_int(text[-half:])
