"""Strings. Lengths and places count bytes of UTF-8."""

from __future__ import annotations

import re

from ..engine.memory import reserve
from ..values import Struct, Vec
from .options import NONE, err, ok, some

_UNSIGNED = re.compile(r"\+?[0-9]+", re.ASCII)
_SIGNED = re.compile(r"[+-]?[0-9]+", re.ASCII)
_WHITE_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001)))).translate(
    dict.fromkeys(range(0x1C, 0x20))
)


def string_contains(s1: str, s2: str) -> bool:
    return s2 in s1


def string_join(strings: Vec, sep: str) -> str:
    reserve(sum(map(len, strings)) + len(sep) * len(strings))
    return sep.join(strings)


def string_len(s: str) -> int:
    return len(s) if s.isascii() else len(s.encode())


def string_to_lowercase(s: str) -> str:
    return s.lower()


def str_to_lower(s: str) -> str:
    return s.lower()


def string_to_uppercase(s: str) -> str:
    return s.upper()


def string_replace(s: str, old: str, new: str) -> str:
    if len(new) > len(old):
        reserve(len(s) + s.count(old) * (len(new) - len(old)))
    return s.replace(old, new)


def string_split(s: str, sep: str) -> Vec:
    """The pieces between separators; between the characters, and at both ends, for an empty one."""
    return Vec(s.split(sep)) if sep else Vec(("", *s, ""))


def string_starts_with(s: str, prefix: str) -> bool:
    return s.startswith(prefix)


def string_ends_with(s: str, suffix: str) -> bool:
    return s.endswith(suffix)


def string_substr(s: str, start: int, end: int) -> str:
    """The bytes from start to end; a character that is cut is replaced."""
    if s.isascii():
        return s[start:end]
    return s.encode()[start:end].decode(errors="replace")


def string_to_bytes(s: str) -> Vec:
    return Vec(s.encode())


def string_trim(s: str) -> str:
    return s.strip(_WHITE_SPACE)


def string_reverse(s: str) -> str:
    return s[::-1]


def from_utf8(buffer: Vec) -> Struct:
    try:
        return ok(bytes(buffer).decode())
    except UnicodeDecodeError as error:
        return err(f"invalid utf-8 sequence at byte {error.start}")


def encode_utf16(s: str) -> Vec:
    units = s.encode("utf-16-le")
    return Vec(int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2))


def from_utf16(buffer: Vec) -> Struct:
    try:
        return ok(b"".join(unit.to_bytes(2, "little") for unit in buffer).decode("utf-16-le"))
    except UnicodeDecodeError:
        return err("invalid utf-16: lone surrogate found")


def parse_dec_u64(s: str) -> Struct:
    return _parsed(s, _UNSIGNED, 0, 2**64 - 1)


def parse_dec_i64(s: str) -> Struct:
    return _parsed(s, _SIGNED, -(2**63), 2**63 - 1)


def _parsed(s: str, form: re.Pattern[str], least: int, greatest: int) -> Struct:
    if not form.fullmatch(s):
        return NONE
    digits = s.lstrip("+-").lstrip("0") or "0"
    if len(digits) > 20:
        return NONE
    value = -int(digits) if s[0] == "-" else int(digits)
    return some(value) if least <= value <= greatest else NONE
