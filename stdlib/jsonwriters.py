"""Functions that turn values of a type into decoded JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    JsonField,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    User,
)
from ..values import NAN, TypeDefs, constructors_of, decimal, local_name
from ..values.anyjson import to_any_json
from ..values.shapes import forms_of, is_option, variant
from .jsontext import Refused, Single, encode

Writer = Callable[[Any], Any]  # raises Refused


class JsonWriters:
    """The writers of types, each made once; the writers of recursive types refer to each other."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self._made: dict[Type, Writer] = {}

    def writer(self, type: Type) -> Writer:
        """The writer of a type."""
        found = self._made.get(type)
        if found is None:
            self._made[type] = lambda value: self._made[type](value)
            found = self._made[type] = self._make(type)
        return found

    def _make(self, type: Type) -> Writer:
        match type:
            case Bool() | String() | BigInt() | Bit() | Signed():
                return lambda value: value
            case Float(width):
                number = Single if width == 32 else float
                return lambda value: None if value is NAN or value in _INFINITE else number(value)
            case Tuple(()):
                return lambda value: None
            case Tuple(items):
                writers = [self.writer(of) for of in items]
                return lambda value: [write(each) for write, each in zip(writers, value, strict=True)]
            case User():
                return self._user(type)
            case Opaque(name, args):
                return self._collection(local_name(name), args, type)
        return _never(type)

    def _collection(self, name: str, args: tuple[Type, ...], type: Type) -> Writer:
        match name, args:
            case "Map", (key, of):
                name_of, item = _key(key), self.writer(of)
                return lambda value: {name_of(k): item(v) for k, v in value}
            case "Vec" | "Set", (of,):
                write = self.writer(of)
                return lambda value: [write(each) for each in value]
        return _never(type)

    def _user(self, type: User) -> Writer:
        constructors = constructors_of(self.typedefs[type.name], type.args)
        if is_option(type):
            item = self.writer(type.args[0])
            return lambda value: item(value[1]) if value[0] else None
        if type.name == "json::JsonValue":
            return to_any_json
        if type.name == "json::JsonWrapper":
            inner = self.writer(type.args[0])
            return lambda value: encode(inner(value[0]))
        return self._constructors(constructors, self.typedefs[type.name].tag)

    def _constructors(self, constructors: tuple[Constructor, ...], tag: str | None) -> Writer:
        """A struct, or a union with the name of its constructor around the fields, among them or nowhere."""
        writers = [self._fields(each) for each in constructors]
        names = [variant(each) for each in constructors]

        def tagged(value: Any) -> Any:
            n, fields = (value[0], value[1:]) if len(writers) > 1 else (0, value)
            return {tag: names[n]} | writers[n](fields)

        def untagged(value: Any) -> Any:
            return writers[value[0]](value[1:]) if value[1:] else None

        def named(value: Any) -> Any:
            name, fields = names[value[0]], value[1:]
            return {name: writers[value[0]](fields)} if fields else name

        if tag:
            return tagged
        if len(writers) == 1:
            return writers[0]
        return named if tag is None else untagged

    def _fields(self, constructor: Constructor) -> Writer:
        pairs = zip(forms_of(constructor), constructor.fields, strict=True)
        fields = [(form, self._field(form, of)) for form, (_, of) in pairs]
        if not any(form.flatten for form, _ in fields):
            return lambda values: {
                form.name: write(v) for (form, write), v in zip(fields, values, strict=True)
            }

        def write(values: Any) -> Any:
            made: dict[str, Any] = {}
            for (form, write), value in zip(fields, values, strict=True):
                data = write(value)
                made |= _members(data) if form.flatten else {form.name: data}
            return made

        return write

    def _field(self, form: JsonField, type: Type) -> Writer:
        """The writer of a field; a map may be the array of its values."""
        if form.nested:
            inner = self.writer(type)
            return lambda value: encode(inner(value))
        if form.key is None:
            return self.writer(type)
        assert isinstance(type, Opaque)
        write = self.writer(type.args[1])
        return lambda value: [write(held) for _, held in value]


def _members(data: Any) -> dict[str, Any]:
    """What a flattened field adds to the object around it. Raises Refused."""
    if data is None:
        return {}
    if isinstance(data, str):
        return {data: None}
    if not isinstance(data, dict):
        raise Refused("can only flatten structs and maps")
    return data


_INFINITE = (float("inf"), float("-inf"))


def _key(type: Type) -> Writer:
    match type:
        case String():
            return lambda key: key
        case BigInt() | Bit() | Signed():
            return decimal
        case Bool():
            return lambda key: "true" if key else "false"

    def refuse(key: Any) -> Any:
        raise Refused("key must be a string")

    return refuse


def _never(type: Type) -> Writer:
    def write(value: Any) -> Any:
        raise Refused(f"values of type {type} cannot be written as JSON")

    return write
