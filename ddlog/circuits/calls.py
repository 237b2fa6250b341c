"""Calls of operators as texts, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import functions
from .functions import Python
from .language import Columns

Expression = str | Callable[..., Any] | Python
"""The expression of a column: a text of the language, or a Python function, perhaps with its type."""


def argument(given: object) -> str:
    """An argument of a call."""
    if isinstance(given, str):
        return repr(given) if "'" in given and '"' not in given else '"' + given.replace('"', '\\"') + '"'
    function = given.function if isinstance(given, Python) else given
    return functions.shown(function) if callable(function) else repr(given)


def named(arguments: Mapping[str, object]) -> str:
    """Arguments by name."""
    return ", ".join(f"{name}={argument(each)}" for name, each in arguments.items())


def matched(on: object) -> str:
    """The argument `on` of a join, if it is given."""
    return "" if on is None else f", on={on}"


def listed(columns: Columns) -> str:
    """Columns with their types."""
    return f"({', '.join(f'{each.name}: {each.type}' for each in columns)})"
