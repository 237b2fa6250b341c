"""The functions that uuid.dl declares `extern`."""

from __future__ import annotations

import re
from hashlib import sha1
from uuid import UUID

from ..values import Struct, Vec
from .options import err, ok
from .structs import struct

Uuid = struct("uuid::Uuid", "id")

_HYPHENATED = r"[0-9a-f]{8} (?: -[0-9a-f]{4} ){3} -[0-9a-f]{12}"
_FORMS = re.compile(
    rf"[0-9a-f]{{32}} | (?-i:urn:uuid:)? {_HYPHENATED}", re.IGNORECASE | re.ASCII | re.VERBOSE
)


def new_v5(namespace: Struct, name: Vec) -> Struct:
    digest = sha1(namespace[0].to_bytes(16, "big") + bytes(name), usedforsecurity=False).digest()
    return Uuid(UUID(bytes=digest[:16], version=5).int)


def from_u128_le(v: int) -> Struct:
    return Uuid(_turned(v))


def to_u128_le(uuid: Struct) -> int:
    return _turned(uuid[0])


def _turned(number: int) -> int:
    return int.from_bytes(number.to_bytes(16, "little"), "big")


def from_bytes(b: Vec) -> Struct:
    if len(b) != 16:
        return err(f"a uuid has 16 bytes, not {len(b)}")
    return ok(Uuid(int.from_bytes(bytes(b), "big")))


def parse_str(str: str) -> Struct:
    if not _FORMS.fullmatch(str):
        return err(f"not a uuid: {str}")
    return ok(Uuid(int(str.lower().removeprefix("urn:uuid:").replace("-", ""), 16)))


def to_simple_lower(uuid: Struct) -> str:
    return f"{uuid[0]:032x}"


def to_hyphenated_lower(uuid: Struct) -> str:
    digits = to_simple_lower(uuid)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
