"""Any JSON as a value of the library's JsonValue, and back."""

from __future__ import annotations

import math
from typing import Any

from ..types import String, User
from . import local_name
from .collections import Map, Vec
from .fromplain import check
from .numbers import canonical_float, int_to_double
from .shapes import Shape, shape_of
from .structs import TypeDefs, taken_apart

JSON_VALUE = User("json::JsonValue")
_INTEGERS = range(-(1 << 127), 1 << 127)


def _text(text: str) -> str:
    """A string of JSON. Raises ValueError for one that is no text."""
    checked: str = check(text, String(), {})
    return checked


def from_any_json(data: Any, typedefs: TypeDefs) -> Any:
    """The JsonValue of decoded JSON. A whole number of more than 128 bits becomes a float. Raises ValueError
    for a number that is no double, and for half of a surrogate pair."""
    shape, number = shape_of(JSON_VALUE, typedefs), shape_of(User("json::JsonNum"), typedefs)

    def made(of: Shape, name: str, *fields: Any) -> Any:
        constructor = of.constructor(name)
        assert constructor is not None
        return of.make(constructor)(*fields)

    def value(data: Any) -> Any:
        match data:
            case None:
                return made(shape, "JsonNull")
            case bool():
                return made(shape, "JsonBool", data)
            case int() if data in _INTEGERS:
                return made(shape, "JsonNumber", made(number, "JsonInt", data))
            case int() | float():
                double = int_to_double(data) if isinstance(data, int) else canonical_float(data)
                if not math.isfinite(double):
                    raise ValueError("the number is out of the range of double")
                return made(shape, "JsonNumber", made(number, "JsonFloat", double))
            case str():
                return made(shape, "JsonString", _text(data))
            case list():
                return made(shape, "JsonArray", Vec(map(value, data)))
        return made(shape, "JsonObject", Map((_text(key), value(item)) for key, item in data.items()))

    return value(data)


def to_any_json(value: Any, typedefs: TypeDefs) -> Any:
    """The decoded JSON that a JsonValue stands for. A number that is not finite becomes null."""
    chosen, fields = taken_apart(value, JSON_VALUE, typedefs)
    match local_name(chosen.name):
        case "JsonNull":
            return None
        case "JsonNumber":
            (number,) = taken_apart(fields[0], User("json::JsonNum"), typedefs)[1]
            return number if isinstance(number, int) or math.isfinite(number) else None
        case "JsonArray":
            return [to_any_json(item, typedefs) for item in fields[0]]
        case "JsonObject":
            return {key: to_any_json(item, typedefs) for key, item in fields[0]}
    return fields[0]
