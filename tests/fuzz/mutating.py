"""Random changes of an input: of its bytes, and of its words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_WORD = re.compile(rb"\w+|\s+|[^\w\s]")
_ODD = (
    b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"'", b"\\", b"%", b"${", b"}",
    b"(", b")", b"[", b"]", b"{", b"<", b"->", b":-", b".", b",", b";", b"//", b"/*", b"*/", b"#", b"@json",
    b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b"0x", b"_", b"null", b"None", b"Some{1}",
    b"true", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"string", b"bigint", b"not ", b"var x = ", b"group_by",
)  # fmt: skip
Change = Callable[[bytes, random.Random], bytes]


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """The input with a few changes, among them pieces of others of its kind."""
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        if others and chance.random() < 0.15:
            data = _spliced(data, chance.choice(others), chance)
        else:
            data = chance.choice(_CHANGES)(data, chance)
    return data


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _spliced(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start = _place(other, chance)
    at = _place(data, chance)
    return data[:at] + other[start : start + chance.randrange(80)] + data[at:]


def _odd_byte(data: bytes, chance: random.Random) -> bytes:
    at = _place(data, chance)
    return data[:at] + bytes([chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))]) + data[at + 1 :]


def _flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _odd_number(data: bytes, chance: random.Random) -> bytes:
    """With four bytes that are a number."""
    at = _place(data, chance)
    number = chance.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1_000_000))
    return data[:at] + number.to_bytes(4, "little") + data[at + 4 :]


def _odd_word(data: bytes, chance: random.Random) -> bytes:
    at = _place(data, chance)
    return data[:at] + chance.choice(_ODD) + data[at:]


def _without(data: bytes, chance: random.Random) -> bytes:
    at = _place(data, chance)
    return data[:at] + data[at + chance.randrange(1, 40) :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: _place(data, chance)]


def _repeated(data: bytes, chance: random.Random) -> bytes:
    """With a piece that is repeated, perhaps thousands of times."""
    at = _place(data, chance)
    piece = data[at : at + chance.randrange(1, 12)]
    return data[:at] + piece * chance.choice((2, 3, 50, 400, 3000)) + data[at:]


def _exchanged(data: bytes, chance: random.Random) -> bytes:
    """With two words exchanged."""
    words = _WORD.findall(data)
    if len(words) > 1:
        a, b = chance.randrange(len(words)), chance.randrange(len(words))
        words[a], words[b] = words[b], words[a]
    return b"".join(words)


_CHANGES: tuple[Change, ...] = (
    _odd_byte, _flipped, _odd_number, _odd_word, _odd_word, _without, _cut, _repeated, _exchanged, _exchanged,
)  # fmt: skip
