"""Values as bytes, equal values as equal bytes: for what Spark has no type for.

The bytes are read by the type alone: there is a length before whatever has one, and the constructor's number
before the fields of a union.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..codegen.sqltypes import element_of
from ..shapes import shape_of
from ..types import BigInt, Bit, Bool, Float, Opaque, Signed, String, Tuple, Type, User
from ..values import NAN, Group, Map, Set, TypeDefs, Vec, local_name

_DEPTH = 100_000


def to_bytes(value: Any, type: Type, typedefs: TypeDefs) -> bytes:
    """The bytes of a value. Raises ValueError for a type whose values are not data (a function)."""
    out = bytearray()
    with _deep():
        _write(value, type, typedefs, out)
    return bytes(out)


def from_bytes(data: bytes, type: Type, typedefs: TypeDefs) -> Any:
    """The value that `to_bytes` made bytes of."""
    with _deep():
        return _read(data, 0, type, typedefs)[0]


@contextmanager
def _deep() -> Iterator[None]:
    """Room for long chains of values that hold each other."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _write_number(value: int, out: bytearray) -> None:
    """A number from 0 up, seven bits a byte."""
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _write_integer(value: int, out: bytearray) -> None:
    size = (value.bit_length() + 8) // 8
    _write_number(size, out)
    out += value.to_bytes(size, "big", signed=True)


def _write_all(values: Any, type: Type, typedefs: TypeDefs, out: bytearray) -> None:
    _write_number(len(values), out)
    for value in values:
        _write(value, type, typedefs, out)


def _write(value: Any, type: Type, typedefs: TypeDefs, out: bytearray) -> None:
    match type:
        case Bool():
            out.append(bool(value))
        case Bit() | Signed() | BigInt():
            _write_integer(value, out)
        case Float():
            out += struct.pack(">d", value)
        case String():
            data = value.encode()
            _write_number(len(data), out)
            out += data
        case Tuple(items):
            for each, of in zip(value, items, strict=True):
                _write(each, of, typedefs, out)
        case User():
            shape = shape_of(type, typedefs)
            number = value[0] if shape.is_union else 0
            if shape.is_union:
                _write_number(number, out)
            fields = tuple(value)[1:] if shape.is_union else tuple(value)
            for each, (_, of) in zip(fields, shape.constructors[number].fields, strict=True):
                _write(each, of, typedefs, out)
        case Opaque(name, (key, element)) if local_name(name) == "Group":
            _write(value[0], key, typedefs, out)
            _write_all(value[1], element, typedefs, out)
        case _:
            element_type = element_of(type)
            if element_type is None:
                raise ValueError(f"Spark cannot store values of type {type}")
            _write_all(tuple(value), element_type, typedefs, out)


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _read_all(data: bytes, at: int, type: Type, typedefs: TypeDefs) -> tuple[list[Any], int]:
    count, at = _read_number(data, at)
    found = []
    for _ in range(count):
        value, at = _read(data, at, type, typedefs)
        found.append(value)
    return found, at


def _read_fields(data: bytes, at: int, types: list[Type], typedefs: TypeDefs) -> tuple[list[Any], int]:
    found = []
    for of in types:
        value, at = _read(data, at, of, typedefs)
        found.append(value)
    return found, at


def _read(data: bytes, at: int, type: Type, typedefs: TypeDefs) -> tuple[Any, int]:
    match type:
        case Bool():
            return bool(data[at]), at + 1
        case Bit() | Signed() | BigInt():
            size, at = _read_number(data, at)
            return int.from_bytes(data[at : at + size], "big", signed=True), at + size
        case Float():
            value = struct.unpack(">d", data[at : at + 8])[0]
            return (value if value == value else NAN), at + 8
        case String():
            size, at = _read_number(data, at)
            return data[at : at + size].decode(), at + size
        case Tuple(items):
            found, at = _read_fields(data, at, list(items), typedefs)
            return tuple(found), at
        case User():
            shape = shape_of(type, typedefs)
            number, at = _read_number(data, at) if shape.is_union else (0, at)
            constructor = shape.constructors[number]
            found, at = _read_fields(data, at, [of for _, of in constructor.fields], typedefs)
            return shape.make(constructor)(*found), at
        case Opaque(name, (key, element)) if local_name(name) == "Group":
            first, at = _read(data, at, key, typedefs)
            values, at = _read_all(data, at, element, typedefs)
            return Group(first, values), at
    element_type = element_of(type)
    if element_type is None:
        raise ValueError(f"Spark cannot store values of type {type}")
    found, at = _read_all(data, at, element_type, typedefs)
    return collection_maker(type)(found), at


def collection_maker(type: Type) -> Callable[[Any], Any]:
    """What builds a Vec, Set or Map from its elements in order."""
    assert isinstance(type, Opaque)
    match local_name(type.name):
        case "Vec":
            return Vec
        case "Set":
            return Set.ordered
    return Map.ordered
