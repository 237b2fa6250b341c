"""Any JSON as a value of the library's JsonValue."""

from __future__ import annotations

import math
from typing import Any

from ..types import String, User
from .collections import Map, Vec
from .fromplain import check
from .numbers import canonical_float, int_to_double
from .shapes import Shape, shape_of
from .structs import TypeDefs

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
