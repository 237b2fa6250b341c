"""Values as bytes, equal values as equal bytes: for what Spark has no type for.

The bytes are read by the type alone: there is a length before whatever has one, and the constructor's number
before the fields of a union. A writer and a reader are made once for each type that occurs in a value's.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, get_args

from ...codegen.sqltypes import element_of, group_of
from ...types import ANY, BigInt, Bit, Bool, Float, Opaque, Signed, String, Tuple, Type, User
from ...values import NAN, Group, Map, Set, TypeDefs, Vec, any_class, local_name
from ...values.shapes import shape_of

Write: TypeAlias = Callable[[Any, bytearray], None]
Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]

_DEPTH = 100_000
_DOUBLE = struct.Struct(">d")


class Canonical:
    """Values of a type to bytes and back. Two of the same type do the same."""

    def __init__(self, type: Type, typedefs: TypeDefs) -> None:
        self._write = _Writers(typedefs).of(type)
        self._read = _Readers(typedefs).of(type)

    def to_bytes(self, value: Any) -> bytes:
        """The bytes of a value. Raises ValueError for a value that is not data (a function)."""
        out = bytearray()
        with _deep():
            self._write(value, out)
        return bytes(out)

    def from_bytes(self, data: bytes) -> Any:
        """The value of bytes."""
        with _deep():
            return self._read(data, 0)[0]


@contextmanager
def _deep() -> Iterator[None]:
    """Room for long chains of values that hold each other."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def collection_maker(type: Type) -> Callable[[Any], Any]:
    """What builds a Vec, Set or Map from its elements in order."""
    assert isinstance(type, Opaque)
    match local_name(type.name):
        case "Vec":
            return Vec
        case "Set":
            return Set.ordered
    return Map.ordered


# ---------------------------------------------------------------- types as data

_TYPES = {each.__name__: each for each in get_args(Type)}


def _plain(part: Any) -> Any:
    """A type as lists: the name of its class, then its fields."""
    if isinstance(part, tuple):
        return [_plain(each) for each in part]
    if is_dataclass(part):
        return [type(part).__name__, *(_plain(getattr(part, each.name)) for each in fields(part))]
    return part


def _type(part: Any) -> Any:
    """What `_plain` made lists of."""
    if isinstance(part, list) and part and isinstance(part[0], str):
        return _TYPES[part[0]](*map(_type, part[1:]))
    return tuple(map(_type, part)) if isinstance(part, list) else part


# -------------------------------------------------------------------- writing


class _Writers:
    """A writer for each type; one of a recursive type finds itself when it runs."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self.made: dict[Type, Write] = {}

    def of(self, type: Type) -> Write:
        """The writer of a type."""
        if type not in self.made:
            self.made[type] = lambda value, out: self.made[type](value, out)
            self.made[type] = self._of(type)
        return self.made[type]

    def _of(self, type: Type) -> Write:
        match type:
            case Bool():
                return lambda value, out: out.append(value)
            case Bit() | Signed() | BigInt():
                return _write_integer
            case Float():
                return lambda value, out: out.extend(_DOUBLE.pack(value))
            case String():
                return _write_string
            case Tuple(items):
                return _fields_writer([self.of(item) for item in items], 0)
            case User():
                return self._user(type)
        group, element = group_of(type), element_of(type)
        if group is not None:
            key, members = self.of(group[0]), _all_writer(self.of(group[1]))
            return _fields_writer([key, members], 0)
        if element is not None:
            return _all_writer(self.of(element))
        return self._any if type == Opaque(ANY) else _refuse(type)

    def _any(self, value: Any, out: bytearray) -> None:
        """A value of Any: its type, then itself."""
        _write_string(json.dumps(_plain(value.type)), out)
        self.of(value.type)(value.value, out)

    def _user(self, type: User) -> Write:
        shape = shape_of(type, self.typedefs)
        union = shape.is_union
        writers = [
            _fields_writer([self.of(of) for _, of in each.fields], int(union)) for each in shape.constructors
        ]
        if not union:
            return writers[0]

        def write(value: Any, out: bytearray) -> None:
            _write_number(value[0], out)
            writers[value[0]](value, out)

        return write


def _refuse(type: Type) -> Write:
    def write(value: Any, out: bytearray) -> None:
        raise ValueError(f"Spark cannot store values of type {type}")

    return write


def _fields_writer(writers: Sequence[Write], skip: int) -> Write:
    places = list(enumerate(writers, skip))

    def write(value: Any, out: bytearray) -> None:
        for place, each in places:
            each(value[place], out)

    return write


def _all_writer(write_one: Write) -> Write:
    def write(value: Any, out: bytearray) -> None:
        _write_number(len(value), out)
        for each in value:
            write_one(each, out)

    return write


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


def _write_string(value: str, out: bytearray) -> None:
    data = value.encode()
    _write_number(len(data), out)
    out += data


# -------------------------------------------------------------------- reading


class _Readers:
    """A reader for each type: gives the value at a place, and the place after it."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self.made: dict[Type, Read] = {}

    def of(self, type: Type) -> Read:
        """The reader of a type."""
        if type not in self.made:
            self.made[type] = lambda data, at: self.made[type](data, at)
            self.made[type] = self._of(type)
        return self.made[type]

    def _of(self, type: Type) -> Read:
        match type:
            case Bool():
                return lambda data, at: (bool(data[at]), at + 1)
            case Bit() | Signed() | BigInt():
                return _read_integer
            case Float():
                return _read_float
            case String():
                return _read_string
            case Tuple(items):
                return _fields_reader([self.of(item) for item in items], tuple)
            case User():
                return self._user(type)
        group, element = group_of(type), element_of(type)
        if group is not None:
            parts = [self.of(group[0]), _all_reader(self.of(group[1]), tuple)]
            return _fields_reader(parts, lambda pair: Group(*pair))
        if element is not None:
            return _all_reader(self.of(element), collection_maker(type))
        if type == Opaque(ANY):
            return self._any
        return lambda data, at: _no_value(type)

    def _any(self, data: bytes, at: int) -> tuple[Any, int]:
        text, at = _read_string(data, at)
        of = _type(json.loads(text))
        value, at = self.of(of)(data, at)
        return any_class(of)(value), at

    def _user(self, type: User) -> Read:
        shape = shape_of(type, self.typedefs)
        readers = []
        for each in shape.constructors:
            make = shape.make(each)
            readers.append(_fields_reader([self.of(of) for _, of in each.fields], _spread(make)))
        if not shape.is_union:
            return readers[0]

        def read(data: bytes, at: int) -> tuple[Any, int]:
            number, at = _read_number(data, at)
            return readers[number](data, at)

        return read


def _no_value(type: Type) -> tuple[Any, int]:
    raise ValueError(f"Spark cannot store values of type {type}")


def _spread(make: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda fields: make(*fields)


def _fields_reader(readers: Sequence[Read], make: Callable[[list[Any]], Any]) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        found = []
        for each in readers:
            value, at = each(data, at)
            found.append(value)
        return make(found), at

    return read


def _all_reader(read_one: Read, make: Callable[[list[Any]], Any]) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = _read_number(data, at)
        found = []
        for _ in range(count):
            value, at = read_one(data, at)
            found.append(value)
        return make(found), at

    return read


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _read_integer(data: bytes, at: int) -> tuple[int, int]:
    size, at = _read_number(data, at)
    return int.from_bytes(data[at : at + size], "big", signed=True), at + size


def _read_float(data: bytes, at: int) -> tuple[float, int]:
    (value,) = _DOUBLE.unpack_from(data, at)
    return (value if value == value else NAN), at + 8


def _read_string(data: bytes, at: int) -> tuple[str, int]:
    size, at = _read_number(data, at)
    return data[at : at + size].decode(), at + size
