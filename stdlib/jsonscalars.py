"""Functions that read scalars, keys of maps and JsonValues from decoded JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..types import BigInt, Bit, Bool, Signed, String, Type
from ..values import canonical_float, int_to_double, int_to_single, integer_range, single
from ..values.anyjson import from_any_json
from .jsontext import DEPTH, Refused, decode, number_text

ReadJson = Callable[[Any, int], Any]  # decoded JSON and its depth to a value; raises Refused


def deeper(depth: int) -> int:
    """The depth inside an array or object at `depth`. Raises Refused if it is too deep."""
    if depth >= DEPTH:
        raise Refused("recursion limit exceeded")
    return depth + 1


def any_json(data: Any, depth: int) -> Any:
    """Reads a JsonValue."""
    if isinstance(data, list | dict):
        deeper(depth + _height(data))
    return json_value(data)


def json_value(data: Any) -> Any:
    """The JsonValue of decoded JSON, which has no halves of surrogate pairs."""
    try:
        return from_any_json(data)
    except ValueError:
        raise Refused("number out of range") from None


def _height(data: Any) -> int:
    """The nesting depth of the arrays and objects inside."""
    items = data.values() if isinstance(data, dict) else data
    return max((1 + _height(each) for each in items if isinstance(each, list | dict)), default=0)


def never(type: Type) -> ReadJson:
    """Refuses everything, for a type whose values no JSON stands for."""

    def read(data: Any, depth: int) -> Any:
        raise Refused(f"values of type {type} cannot be read from JSON")

    return read


def expecting(of: type, what: str, value: Any = None) -> ReadJson:
    """Reads a value of a Python class, as itself unless a value is given."""

    def read(data: Any, depth: int) -> Any:
        if not isinstance(data, of):
            raise mismatch(data, what)
        return data if value is None else value

    return read


def integer(type: BigInt | Bit | Signed) -> ReadJson:
    """Reads whole numbers in the range of a type."""
    least, greatest = (None, None) if isinstance(type, BigInt) else integer_range(type)

    def read(data: Any, depth: int) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            raise mismatch(data, str(type))
        if least is not None and greatest is not None and not least <= data <= greatest:
            raise Refused(f"invalid value: {_described(data)}, expected {type}")
        return data

    return read


def floating(width: int) -> ReadJson:
    """Reads numbers, rounded once."""
    exact, rounded = (int_to_double, canonical_float) if width == 64 else (int_to_single, single)

    def read(data: Any, depth: int) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise mismatch(data, "float" if width == 32 else "double")
        if isinstance(data, float):
            return rounded(data)
        found = exact(data)
        if math.isinf(found):
            raise Refused("number out of range")
        return found

    return read


def key_reader(type: Type) -> Callable[[str], Any]:
    """A function that reads the key of a map, which is a string in JSON."""
    match type:
        case String():
            return lambda text: text
        case BigInt() | Bit() | Signed():
            number = integer(type)
            return lambda text: number(_plain(text, "-0123456789"), 0)
        case Bool():
            boolean = expecting(bool, "a boolean")
            return lambda text: boolean({"true": True, "false": False}.get(text, text), 0)
    return lambda text: never(type)(text, 0)


def _plain(text: str, allowed: str) -> Any:
    if not text or text.strip(allowed):
        return text
    try:
        return decode(text)
    except Refused:
        return text


def mismatch(data: Any, what: str) -> Refused:
    """The refusal of data of a wrong kind."""
    return Refused(f"invalid type: {_described(data)}, expected {what}")


def _described(data: Any) -> str:
    match data:
        case None:
            return "null"
        case bool():
            return f"boolean `{'true' if data else 'false'}`"
        case int():
            return f"integer `{data}`" if data.bit_length() < 1000 else "integer"
        case float():
            return f"floating point `{number_text(data, 64)}`"
        case str():
            return f'string "{data}"'
    return "map" if isinstance(data, dict) else "sequence"
