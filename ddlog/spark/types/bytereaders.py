"""Readers of values from bytes, one for each type; see `canonical` for the form."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...codegen.sqltypes import group_of
from ...types import ANY, BigInt, Bit, Bool, Float, FunctionType, Opaque, Signed, String, Tuple, Type, User
from ...values import NAN, FunctionValue, Group, TypeDefs, any_class
from ...values.shapes import collection_of, shape_of
from .typelists import type_of_lists

ReadValue: TypeAlias = Callable[[bytes, int], tuple[Any, int]]

_DOUBLE = struct.Struct(">d")


class Readers:
    """A reader for each type: gives the value at a place, and the place after it."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self.made: dict[Type, ReadValue] = {}

    def of(self, type: Type) -> ReadValue:
        """The reader of a type."""
        if type not in self.made:
            self.made[type] = lambda data, at: self.made[type](data, at)
            self.made[type] = self._of(type)
        return self.made[type]

    def _of(self, type: Type) -> ReadValue:
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
        group, collection = group_of(type), collection_of(type)
        if group is not None:
            parts = [self.of(group[0]), _all_reader(self.of(group[1]), tuple)]
            return _fields_reader(parts, lambda pair: Group(*pair))
        if collection is not None:
            return _all_reader(self.of(collection.element), collection.ordered)
        if type == Opaque(ANY):
            return self._any
        if isinstance(type, FunctionType):
            return self._closure
        return lambda data, at: _no_value(type)

    def _any(self, data: bytes, at: int) -> tuple[Any, int]:
        text, at = _read_string(data, at)
        of = type_of_lists(json.loads(text))
        value, at = self.of(of)(data, at)
        return any_class(of)(value), at

    def _closure(self, data: bytes, at: int) -> tuple[Any, int]:
        place, at = _read_string(data, at)
        typedef = self.typedefs.get(place)
        if typedef is None:
            raise ValueError("this is a function of another program")
        items: list[Any] = [place]
        for _, of in typedef.constructors[0].fields:
            value, at = self.of(of)(data, at)
            items.append(value)
        return tuple.__new__(typedef.closure or FunctionValue, items), at

    def _user(self, type: User) -> ReadValue:
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


def _fields_reader(readers: Sequence[ReadValue], make: Callable[[list[Any]], Any]) -> ReadValue:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        found = []
        for each in readers:
            value, at = each(data, at)
            found.append(value)
        return make(found), at

    return read


def _all_reader(read_one: ReadValue, make: Callable[[list[Any]], Any]) -> ReadValue:
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
