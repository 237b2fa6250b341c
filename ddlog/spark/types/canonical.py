"""Values as bytes, equal values as equal bytes: for types that Spark has none for.

The bytes are read by the type alone: there is a length before a value that has one, and the number of the
constructor before the fields of a union. A form is made once for each type inside a type.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

from ...codegen.sqltypes import group_of
from ...syntax.stackroom import deep_recursion
from ...types import ANY, BigInt, Bit, Bool, Float, FunctionType, Opaque, Signed, String, Tuple, Type, User
from ...values import NAN, FunctionValue, Group, TypeDefs, any_class, captured_by
from ...values.shapes import collection_of, shape_of
from .typelists import type_as_lists, type_of_lists

_DEPTH = 100_000  # calls, for long chains of values that hold each other
_DOUBLE = struct.Struct(">d")


class Canonical:
    """Values of a type to bytes and back. Two of the same type do the same."""

    def __init__(self, type: Type, typedefs: TypeDefs) -> None:
        self._form = _Forms(typedefs).of(type)

    def to_bytes(self, value: Any) -> bytes:
        """The bytes of a value."""
        out = bytearray()
        with deep_recursion(_DEPTH):
            self._form.write(value, out)
        return bytes(out)

    def from_bytes(self, data: bytes) -> Any:
        """The value of bytes."""
        with deep_recursion(_DEPTH):
            return self._form.read(data, 0)[0]


class _Form(NamedTuple):
    """Writes a value of a type; reads the one at a place, and gives the place after it, too."""

    write: Callable[[Any, bytearray], object]
    read: Callable[[bytes, int], tuple[Any, int]]


class _Forms:
    """The form of each type; that of a recursive type finds itself when it runs."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self.made: dict[Type, _Form] = {}

    def of(self, type: Type) -> _Form:
        """The form of a type."""
        made = self.made
        if type not in made:
            made[type] = _Form(
                lambda value, out: made[type].write(value, out), lambda data, at: made[type].read(data, at)
            )
            made[type] = self._of(type)
        return made[type]

    def _of(self, type: Type) -> _Form:
        match type:
            case Bool():
                return _Form(lambda value, out: out.append(value), lambda data, at: (bool(data[at]), at + 1))
            case Bit() | Signed() | BigInt():
                return _Form(_write_integer, _read_integer)
            case Float():
                return _Form(lambda value, out: out.extend(_DOUBLE.pack(value)), _read_float)
            case String():
                return _Form(_write_string, _read_string)
            case Tuple(items):
                return _fields(map(self.of, items), tuple)
            case User():
                return self._user(type)
        group, collection = group_of(type), collection_of(type)
        if group is not None:
            return _fields([self.of(group[0]), _all(self.of(group[1]), tuple)], lambda pair: Group(*pair))
        if collection is not None:
            return _all(self.of(collection.element), collection.ordered)
        if isinstance(type, FunctionType):
            return _Form(self._write_closure, self._read_closure)
        if type == Opaque(ANY):
            return _Form(self._write_any, self._read_any)
        refuse = partial(_refuse, type)
        return _Form(refuse, refuse)

    def _write_any(self, value: Any, out: bytearray) -> None:
        """A value of Any: its type, then itself."""
        _write_string(json.dumps(type_as_lists(value.type)), out)
        self.of(value.type).write(value.value, out)

    def _read_any(self, data: bytes, at: int) -> tuple[Any, int]:
        text, at = _read_string(data, at)
        of = type_of_lists(json.loads(text))
        value, at = self.of(of).read(data, at)
        return any_class(of)(value), at

    def _write_closure(self, value: Any, out: bytearray) -> None:
        """A closure: its place, then the values that it captured."""
        _write_string(value.place, out)
        holder, captured = captured_by(value, self.typedefs)
        for each, (_, of) in zip(captured, holder.fields, strict=True):
            self.of(of).write(each, out)

    def _read_closure(self, data: bytes, at: int) -> tuple[Any, int]:
        place, at = _read_string(data, at)
        typedef = self.typedefs.get(place)
        if typedef is None:
            raise ValueError("this is a function of another program")
        items: list[Any] = [place]
        for _, of in typedef.constructors[0].fields:
            value, at = self.of(of).read(data, at)
            items.append(value)
        return tuple.__new__(typedef.closure or FunctionValue, items), at

    def _user(self, type: User) -> _Form:
        shape = shape_of(type, self.typedefs)
        forms = [
            _fields([self.of(of) for _, of in each.fields], _spread(shape.make(each)), int(shape.is_union))
            for each in shape.constructors
        ]
        if not shape.is_union:
            return forms[0]

        def write(value: Any, out: bytearray) -> None:
            _write_number(value[0], out)
            forms[value[0]].write(value, out)

        def read(data: bytes, at: int) -> tuple[Any, int]:
            number, at = _read_number(data, at)
            return forms[number].read(data, at)

        return _Form(write, read)


def _refuse(type: Type, *_: object) -> NoReturn:
    raise ValueError(f"Spark cannot store values of type {type}")


def _spread(make: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda fields: make(*fields)


def _fields(forms: Iterable[_Form], make: Callable[[list[Any]], Any], skip: int = 0) -> _Form:
    """The form of a tuple of values of these forms, after the first `skip`."""
    each = list(forms)

    def write(value: Any, out: bytearray) -> None:
        for place, form in enumerate(each, skip):
            form.write(value[place], out)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        found = []
        for form in each:
            value, at = form.read(data, at)
            found.append(value)
        return make(found), at

    return _Form(write, read)


def _all(one: _Form, make: Callable[[list[Any]], Any]) -> _Form:
    """The form of a collection of values of one form."""

    def write(value: Any, out: bytearray) -> None:
        _write_number(len(value), out)
        for each in value:
            one.write(each, out)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = _read_number(data, at)
        found = []
        for _ in range(count):
            value, at = one.read(data, at)
            found.append(value)
        return make(found), at

    return _Form(write, read)


def _write_number(value: int, out: bytearray) -> None:
    """A number from 0 up, seven bits a byte."""
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _write_integer(value: int, out: bytearray) -> None:
    size = (value.bit_length() + 8) // 8
    _write_number(size, out)
    out += value.to_bytes(size, "big", signed=True)


def _read_integer(data: bytes, at: int) -> tuple[int, int]:
    size, at = _read_number(data, at)
    return int.from_bytes(data[at : at + size], "big", signed=True), at + size


def _read_float(data: bytes, at: int) -> tuple[float, int]:
    (value,) = _DOUBLE.unpack_from(data, at)
    return (value if value == value else NAN), at + 8


def _write_string(value: str, out: bytearray) -> None:
    data = value.encode()
    _write_number(len(data), out)
    out += data


def _read_string(data: bytes, at: int) -> tuple[str, int]:
    size, at = _read_number(data, at)
    return data[at : at + size].decode(), at + size
