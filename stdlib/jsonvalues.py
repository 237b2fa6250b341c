"""Values of the module json's JsonValue, from the decoded form of JSON and to it."""

from __future__ import annotations

import math
from typing import Any

from ..types import UNIT, Constructor
from ..values import Map, Struct, Vec, int_to_double, struct_class
from .jsontext import Refused


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


def to_value(data: Any) -> Struct:
    """The JsonValue of a decoded form. A whole number of more than 128 bits becomes a float."""
    match data:
        case None:
            return NULL
        case bool():
            return JsonBool(data)
        case int() if -(1 << 127) <= data < 1 << 127:
            return JsonNumber(JsonInt(data))
        case int() | float():
            return JsonNumber(JsonFloat(_double(data)))
        case str():
            return JsonString(data)
        case list():
            return JsonArray(Vec(map(to_value, data)))
    return JsonObject(Map((key, to_value(value)) for key, value in data.items()))


def from_value(value: Any) -> Any:
    """The decoded form of a JsonValue. A number that is not finite becomes null."""
    match value[0]:
        case 0:
            return None
        case 1 | 3:
            return value[1]
        case 2:
            number = value[1][1]
            return number if math.isfinite(number) else None
        case 4:
            return [from_value(each) for each in value[1]]
    return {key: from_value(each) for key, each in value[1]}


def _double(value: float) -> float:
    exact = int_to_double(value) if isinstance(value, int) else float(value)
    if math.isinf(exact):
        raise Refused("number out of range")
    return exact
