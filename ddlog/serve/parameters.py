"""The parameters of a statement of SQL as JSON. A date, time, decimal or interval is an object
`{class: text}`, since the Python class decides the type in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from ..errors.diagnostics import DDlogError
from ..errors.sql import BadSqlParameter

_READ: Mapping[type[Any], Callable[[str], Any]] = {
    Decimal: Decimal,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
    timedelta: lambda text: timedelta(microseconds=int(text)),
}
_CLASSES = {each.__name__: each for each in _READ}


def sent_parameters(parameters: Any) -> Any:
    """Parameters in order or by name, for JSON. Raises DDlogError."""
    if isinstance(parameters, Mapping):
        return {name: _sent(f"${name}", value) for name, value in parameters.items()}
    return [_sent(f"${number}", value) for number, value in enumerate(parameters, 1)]


def received_parameters(parameters: Any) -> Any:
    """What `sent_parameters` was given. Raises ValueError."""
    if isinstance(parameters, Mapping):
        return {name: _received(value) for name, value in parameters.items()}
    return [_received(value) for value in parameters]


def _sent(shown: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_sent(shown, each) for each in value]
    if type(value) not in _READ:
        raise DDlogError([BadSqlParameter(shown, type(value).__name__)])
    text = str(value // timedelta(microseconds=1)) if isinstance(value, timedelta) else str(value)
    return {type(value).__name__: text}


def _received(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_received, value))
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, text),) = value.items()
        if name in _CLASSES and isinstance(text, str):
            try:
                return _READ[_CLASSES[name]](text)
            except ArithmeticError:
                raise ValueError(f"{text} is no {name}") from None
    raise ValueError(f"a parameter is a value of JSON, or an object of {', '.join(_CLASSES)} and a text")
