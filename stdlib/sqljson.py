"""JSON in texts of the module `sql`."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ..values import Fault, Struct
from .options import NONE, some


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
