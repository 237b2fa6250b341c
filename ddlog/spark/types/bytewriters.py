"""Writers of values as bytes, one for each type; see `canonical` for the form."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...codegen.sqltypes import group_of
from ...types import ANY, BigInt, Bit, Bool, Float, FunctionType, Opaque, Signed, String, Tuple, Type, User
from ...values import TypeDefs, captured_by
from ...values.shapes import collection_of, shape_of
from .typelists import type_as_lists

WriteValue: TypeAlias = Callable[[Any, bytearray], None]

_DOUBLE = struct.Struct(">d")


class Writers:
    """A writer for each type; one of a recursive type finds itself when it runs."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self.made: dict[Type, WriteValue] = {}

    def of(self, type: Type) -> WriteValue:
        """The writer of a type."""
        if type not in self.made:
            self.made[type] = lambda value, out: self.made[type](value, out)
            self.made[type] = self._of(type)
        return self.made[type]

    def _of(self, type: Type) -> WriteValue:
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
        group, collection = group_of(type), collection_of(type)
        if group is not None:
            key, members = self.of(group[0]), _all_writer(self.of(group[1]))
            return _fields_writer([key, members], 0)
        if collection is not None:
            return _all_writer(self.of(collection.element))
        if isinstance(type, FunctionType):
            return self._closure
        return self._any if type == Opaque(ANY) else _refuse(type)

    def _any(self, value: Any, out: bytearray) -> None:
        """A value of Any: its type, then itself."""
        _write_string(json.dumps(type_as_lists(value.type)), out)
        self.of(value.type)(value.value, out)

    def _closure(self, value: Any, out: bytearray) -> None:
        """A closure: its place, then the values that it captured."""
        _write_string(value.place, out)
        holder, captured = captured_by(value, self.typedefs)
        for each, (_, of) in zip(captured, holder.fields, strict=True):
            self.of(of)(each, out)

    def _user(self, type: User) -> WriteValue:
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


def _refuse(type: Type) -> WriteValue:
    def write(value: Any, out: bytearray) -> None:
        raise ValueError(f"Spark cannot store values of type {type}")

    return write


def _fields_writer(writers: Sequence[WriteValue], skip: int) -> WriteValue:
    places = list(enumerate(writers, skip))

    def write(value: Any, out: bytearray) -> None:
        for place, each in places:
            each(value[place], out)

    return write


def _all_writer(write_one: WriteValue) -> WriteValue:
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
