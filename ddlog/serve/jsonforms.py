"""Plain data of a session as JSON: errors, programs, explanations, profiles.

    tuple              an array
    list, set, map     {"list": […]}, {"set": […]}, {"map": [[key, value], …]}
    value of a typedef {"struct": [type, constructor, index, names, items]}
    Vec, Set, …        {"Vec": […]}
    dataclass          {"new": "errors.unknown:UnknownName", "fields": {…}}; the next time {"again": 7}
    form of a type     {"text": "time::Date"}: the library's own, by the name of the type
    date, decimal, …   {"date": "2024-02-29"}: a parameter of SQL, whose type its class decides

Only dataclasses and enums of the rooms that are named here are made of what a server sends, and nothing of it
is executed: no Python file, and no text where code that is generated has a number or an operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

from ..core import Op
from ..errors.lazyclasses import Declared
from ..errors.origins import Origins
from ..explaining.snapshot import ANY
from ..stdlib import text_form
from ..syntax.stackroom import deep_recursion
from ..types import KeyOf, TextForm
from ..values.collections import Group, Map, Set, Vec
from ..values.numbers import canonical_float
from ..values.structs import Struct, restored

ROOMS = ("core", "engine", "errors", "explaining", "profiling", "syntax", "types")
"""The rooms whose classes are carried."""

_OPS = {
    "neg", "~", "not", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "and", "or", "=>", "++", "concat",
    "==", "!=", "<", "<=", ">", ">=",
}  # fmt: skip
_TUPLES: dict[str, type[Any]] = {each.__name__: each for each in (Vec, Set, Map, Group)}
_WRITTEN: dict[type[Any], Callable[[str], Any]] = {
    Decimal: Decimal, date: date.fromisoformat, datetime: datetime.fromisoformat, time: time.fromisoformat,
    timedelta: lambda text: timedelta(microseconds=int(text)),
}  # fmt: skip
_READERS = {each.__name__: read for each, read in _WRITTEN.items()}
Other = Callable[[Any], Any]


def carried(data: Any, other: Other | None = None) -> str:
    """The text of plain data; `other` gives what stands for an object that is none. Raises TypeError for such
    an object without it."""
    with deep_recursion():
        return json.dumps(_ValueWriter(other).write(data), ensure_ascii=False)


def received(text: str | bytes, other: Other | None = None) -> Any:
    """The data of a text; `other` makes an object of what stands for it. Raises ValueError."""
    with deep_recursion():
        try:
            return _ValueReader(other).read(json.loads(text, parse_constant=_float, parse_float=_float))
        except (ArithmeticError, KeyError, TypeError, AttributeError, ImportError) as error:
            raise ValueError(f"this is no data of a session: {error}") from None


class _ValueWriter:
    def __init__(self, other: Other | None) -> None:
        self._other = other
        self._known: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no identity is used twice

    def write(self, value: Any) -> Any:
        kind = type(value)
        if value is ANY:
            return {"any": True}
        if value is None or kind in (bool, int, str) or isinstance(value, float):
            return value
        if kind in _WRITTEN:
            return {kind.__name__: str(value // timedelta(microseconds=1) if kind is timedelta else value)}
        if kind is tuple:
            return [self.write(each) for each in value]
        if kind is list:
            return {"list": [self.write(each) for each in value]}
        if kind in (set, frozenset):
            return {"set": [self.write(each) for each in value]}
        if isinstance(value, Struct):
            return {"struct": [*value.__ddlog__, [self.write(each) for each in tuple(value)]]}
        if kind.__name__ in _TUPLES and kind is _TUPLES[kind.__name__]:
            return {kind.__name__: [self.write(each) for each in value]}
        if isinstance(value, Enum):
            return {"enum": _name(kind), "name": value.name}
        if isinstance(value, Mapping):
            return {"map": [[self.write(key), self.write(each)] for key, each in value.items()]}
        if is_dataclass(value) and kind.__module__.split(".")[1] in ROOMS:
            return self._dataclass(value)
        if self._other is None:
            raise TypeError(f"{value!r} cannot be carried")
        return {"other": self._other(value)}

    def _dataclass(self, value: Any) -> Any:
        known = self._known.get(id(value))
        if known is not None:
            return {"again": known}
        parts = {each.name: self._field(value, each.name) for each in fields(value)}
        self._known[id(value)] = len(self._known)
        self._alive.append(value)
        return {"new": _name(type(value)), "fields": parts}

    def _field(self, whole: Any, name: str) -> Any:
        part = getattr(whole, name)
        if isinstance(whole, KeyOf) and name == "function":
            return None  # the client compiles its own
        if isinstance(whole, Origins) and name == "tables":
            return {"map": []}  # the server translates statements
        return {"text": whole.name} if isinstance(part, TextForm) else self.write(part)


class _ValueReader:
    def __init__(self, other: Other | None) -> None:
        self._other = other
        self._made: list[Any] = []

    def read(self, data: Any) -> Any:
        if isinstance(data, list):
            return tuple(map(self.read, data))
        if not isinstance(data, dict):
            return data
        word = next(iter(data))
        part = data[word]
        match word:
            case "any":
                return ANY
            case "list":
                return list(map(self.read, part))
            case "set":
                return frozenset(map(self.read, part))
            case "map":
                return {self.read(key): self.read(value) for key, value in part}
            case "struct":
                typedef, constructor, index, names, items = part
                return restored(typedef, constructor, index, tuple(names), map(self.read, items))
            case "enum":
                return _class(part)[data["name"]]
            case "text":
                return text_form(part)
            case "again":
                return self._made[part]
            case "new":
                return self._dataclass(_class(part), data["fields"])
            case "other" if self._other is not None:
                return self._other(part)
        if word in _READERS:
            return _READERS[word](part)
        return tuple.__new__(_TUPLES[word], map(self.read, part))

    def _dataclass(self, kind: Any, parts: Mapping[str, Any]) -> Any:
        made, plain = kind.__new__(kind), _plain(kind)
        for name, part in parts.items():
            value = self.read(part)
            known = (
                value in _OPS if kind is Op and name == "op" else isinstance(value, plain.get(name, object))
            )
            if not known:
                raise TypeError(f"{name} of {kind.__name__} is {value!r:.60}")
            object.__setattr__(made, name, value)
        self._made.append(made)
        return made


def _name(kind: type[Any]) -> str:
    return f"{kind.__module__.partition('.')[2]}:{kind.__qualname__}"


@cache
def _plain(kind: type[Any]) -> Mapping[str, type]:
    """The classes of the fields that hold numbers, texts or truth values."""
    plain: Mapping[Any, type] = {"int": int, "str": str, "bool": bool, int: int, str: str, bool: bool}
    return {each.name: plain[each.type] for each in fields(kind) if each.type in plain}


@cache
def _class(name: str) -> Any:
    """The class of a name. Raises KeyError for one that is not carried."""
    module, _, word = name.partition(":")
    if module.partition(".")[0] not in ROOMS or module == "core.pythonfile":
        raise KeyError(name)
    found = vars(import_module(f"ddlog.{module}"))[word]
    if not (isinstance(found, type) and (issubclass(found, Enum | Declared) or is_dataclass(found))):
        raise KeyError(name)
    return found


def _float(text: str) -> float:
    return canonical_float(float(text))
