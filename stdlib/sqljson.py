"""JSON in texts of the module `sql`."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ..values import Fault, Struct, Vec
from .options import NONE, some
from .sqlvalues import decimal_text


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Any:
    return json.loads(text)


def _value(text: str) -> Any:
    try:
        return _read(text)
    except (ValueError, RecursionError):
        raise Fault(f"{json.dumps(text[:40])} is no JSON") from None


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _is_place(value: Any, step: int | str) -> bool:
    return isinstance(value, list) and isinstance(step, int)


def _has_key(value: Any, step: int | str) -> bool:
    return isinstance(value, dict) and isinstance(step, str) and step in value


def json_at(text: str, path: str, as_text: bool) -> Struct:
    value = _value(text)
    for step in _read(path):
        there = -len(value) <= step < len(value) if _is_place(value, step) else _has_key(value, step)
        if not there:
            return NONE
        value = value[step]
    if as_text and (value is None or isinstance(value, str)):
        return NONE if value is None else some(value)
    return some(_written(value))


def json_length(text: str) -> Struct:
    value = _value(text)
    return some(len(value) if isinstance(value, list) else 0)


def json_valid(text: str) -> bool:
    try:
        _read(text)
    except (ValueError, RecursionError):
        return False
    return True


def json_sure(text: str) -> str:
    _value(text)
    return text


def json_type(text: str) -> Struct:
    return some(_type(_value(text)))


def _type(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return "BIGINT" if -(1 << 63) <= value < 0 else "UBIGINT" if 0 <= value < 1 << 64 else "DOUBLE"
    return _TYPES[type(value)]


_TYPES = {
    type(None): "NULL", bool: "BOOLEAN", float: "DOUBLE", str: "VARCHAR", list: "ARRAY", dict: "OBJECT"
}  # fmt: skip


def json_keys(text: str) -> Struct:
    value = _value(text)
    return some(Vec(map(some, value if isinstance(value, dict) else ())))


def json_number(a: float) -> str:
    return _written(a).replace("e+", "e")


def json_decimal(units: int, places: int) -> str:
    text = decimal_text(units, places)
    if abs(units) >= 10**15:
        return text
    whole, fraction = text.split(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def json_quoted(text: str) -> str:
    return _written(text)


def json_list(values: Vec) -> str:
    return f"[{','.join(each[1] for each in values)}]"


def json_members_of(names: Vec, values: Vec) -> str:
    parts = zip(names, values, strict=True)
    return f"{{{','.join(f'{json_quoted(name[1])}:{value[1]}' for name, value in parts)}}}"


def json_object(members: Vec) -> str:
    return f"{{{','.join(each[1] for each in members if each[0])}}}"


def json_members(text: str) -> Vec:
    value = _value(text)
    match value:
        case dict():
            pairs = [(some(key), each) for key, each in value.items()]
        case list():
            pairs = [(some(str(place)), each) for place, each in enumerate(value)]
        case _:
            pairs = [(NONE, value)]
    return Vec((key, _written(each), _type(each)) for key, each in pairs)
