"""The functions that base64.dl declares `extern`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from string import ascii_letters, digits

from ..values import Struct, Vec
from .options import err, ok

_ALPHABET = frozenset((ascii_letters + digits + "+/").encode())


def encode(s: Vec) -> str:
    return b64encode(bytes(s)).decode()


def decode(s: str) -> Struct:
    """The bytes, or the error: a foreign byte, a single last one, or bits that should be zero."""
    given = s.encode()
    text = given[:-4] + given[-4:].rstrip(b"=")
    for offset, byte in enumerate(text):
        if byte not in _ALPHABET:
            return err(f"Invalid byte {byte}, offset {offset}.")
    if len(text) % 4 == 1:
        return err("Encoded text cannot have a 6-bit remainder.")
    if (padding := len(given) - len(text)) > -len(text) % 4:
        return err(f"Invalid byte {ord('=')}, offset {len(given) - padding}.")
    padded = text + b"=" * (-len(text) % 4)
    decoded = b64decode(padded)
    if b64encode(decoded) != padded:
        return err(f"Invalid last symbol {text[-1]}, offset {len(text) - 1}.")
    return ok(Vec(decoded))
