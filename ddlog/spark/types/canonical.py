"""Values as bytes, equal values as equal bytes: for types that Spark has none for.

The bytes are read by the type alone: there is a length before a value that has one, and the number of the
constructor before the fields of a union. A writer and a reader are made once for each type inside a type.
"""

from __future__ import annotations

from typing import Any

from ...syntax.stackroom import deep_recursion
from ...types import Type
from ...values import TypeDefs
from .bytereaders import Readers
from .bytewriters import Writers

_DEPTH = 100_000  # calls, for long chains of values that hold each other


class Canonical:
    """Values of a type to bytes and back. Two of the same type do the same."""

    def __init__(self, type: Type, typedefs: TypeDefs) -> None:
        self._write = Writers(typedefs).of(type)
        self._read = Readers(typedefs).of(type)

    def to_bytes(self, value: Any) -> bytes:
        """The bytes of a value."""
        out = bytearray()
        with deep_recursion(_DEPTH):
            self._write(value, out)
        return bytes(out)

    def from_bytes(self, data: bytes) -> Any:
        """The value of bytes."""
        with deep_recursion(_DEPTH):
            return self._read(data, 0)[0]
