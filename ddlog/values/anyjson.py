"""Any JSON as a value of the library's JsonValue, and back."""

from __future__ import annotations

import math
from typing import Any

from ..types import UNIT, Constructor, String, User
from .collections import Map, Vec
from .fromplain import check
from .numbers import canonical_float, int_to_double
from .structs import Struct, struct_class

JSON_VALUE = User("json::JsonValue")
_INTEGERS = range(-(1 << 127), 1 << 127)


def _class(typedef: str, name: str, index: int, *fields: str) -> type[Struct]:
    constructor = Constructor(f"json::{name}", index, tuple((field, UNIT) for field in fields))
    return struct_class(f"json::{typedef}", constructor, True)


JsonInt = _class("JsonNum", "JsonInt", 0, "i")
JsonFloat = _class("JsonNum", "JsonFloat", 1, "d")
NULL: Struct = _class("JsonValue", "JsonNull", 0)()
JsonBool = _class("JsonValue", "JsonBool", 1, "b")
JsonNumber = _class("JsonValue", "JsonNumber", 2, "n")
JsonString = _class("JsonValue", "JsonString", 3, "s")
JsonArray = _class("JsonValue", "JsonArray", 4, "a")
JsonObject = _class("JsonValue", "JsonObject", 5, "o")


def from_any_json(data: Any) -> Struct:
    """The JsonValue of decoded JSON. A whole number of more than 128 bits becomes a float. Raises ValueError
    for a number that is no double, and for half of a surrogate pair."""
    match data:
        case None:
            return NULL
        case bool():
            return JsonBool(data)
        case int() if data in _INTEGERS:
            return JsonNumber(JsonInt(data))
        case int() | float():
            return JsonNumber(JsonFloat(_double(data)))
        case str():
            return JsonString(_text(data))
        case list():
            return JsonArray(Vec(map(from_any_json, data)))
    return JsonObject(Map((_text(key), from_any_json(value)) for key, value in data.items()))


def to_any_json(value: Any) -> Any:
    """The decoded JSON that a JsonValue stands for. A number that is not finite becomes null."""
    match value[0]:
        case 0:
            return None
        case 1 | 3:
            return value[1]
        case 2:
            number = value[1][1]
            return number if isinstance(number, int) or math.isfinite(number) else None
        case 4:
            return [to_any_json(each) for each in value[1]]
    return {key: to_any_json(each) for key, each in value[1]}


def _double(value: float) -> float:
    found = int_to_double(value) if isinstance(value, int) else canonical_float(value)
    if not math.isfinite(found):
        raise ValueError("the number is out of the range of double")
    return found


def _text(text: str) -> str:
    return text if text.isascii() else str(check(text, String(), {}))
