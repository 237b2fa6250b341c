"""The functions that uuid.dl declares `extern`."""

from __future__ import annotations

import re
from hashlib import sha1
from uuid import NAMESPACE_DNS, NAMESPACE_OID, NAMESPACE_URL, NAMESPACE_X500, UUID

from ..values import Struct, Vec
from .options import err, ok
from .structs import struct

Uuid = struct("uuid::Uuid", "id")

_HYPHENATED = r"[0-9a-f]{8} (?: -[0-9a-f]{4} ){3} -[0-9a-f]{12}"
_FORMS = re.compile(
    rf"[0-9a-f]{{32}} | (?-i:urn:uuid:)? {_HYPHENATED}", re.IGNORECASE | re.ASCII | re.VERBOSE
)


def nil() -> Struct:
    return Uuid(0)


def nAMESPACE_DNS() -> Struct:
    return Uuid(NAMESPACE_DNS.int)


def nAMESPACE_OID() -> Struct:
    return Uuid(NAMESPACE_OID.int)


def nAMESPACE_URL() -> Struct:
    return Uuid(NAMESPACE_URL.int)


def nAMESPACE_X500() -> Struct:
    return Uuid(NAMESPACE_X500.int)


def new_v5(namespace: Struct, name: Vec) -> Struct:
    digest = sha1(namespace[0].to_bytes(16, "big") + bytes(name), usedforsecurity=False).digest()
    return Uuid(UUID(bytes=digest[:16], version=5).int)


def from_u128(v: int) -> Struct:
    return Uuid(v)


def from_u128_le(v: int) -> Struct:
    return Uuid(_turned(v))


def as_u128(uuid: Struct) -> int:
    return uuid[0]  # type: ignore[no-any-return]


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


def to_simple_upper(uuid: Struct) -> str:
    return f"{uuid[0]:032X}"


def to_hyphenated_lower(uuid: Struct) -> str:
    digits = to_simple_lower(uuid)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def to_hyphenated_upper(uuid: Struct) -> str:
    return to_hyphenated_lower(uuid).upper()


def to_urn_lower(uuid: Struct) -> str:
    return "urn:uuid:" + to_hyphenated_lower(uuid)


def to_urn_upper(uuid: Struct) -> str:
    return "urn:uuid:" + to_hyphenated_upper(uuid)


def is_nil(uuid: Struct) -> bool:
    return uuid[0] == 0  # type: ignore[no-any-return]
