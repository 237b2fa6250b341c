"""The functions that intern.dl declares `extern`. An interned string is the string itself."""

from __future__ import annotations

from hashlib import blake2b


def string_intern(s: str) -> str:
    return s


istring_str = string_intern


def istring_ord(s: str) -> int:
    return int.from_bytes(blake2b(s.encode(), digest_size=4).digest(), "little")
