"""Values of types that are written as a text of their own, such as a time as `"10:11:12.5"`."""

from __future__ import annotations

from typing import Any

from ..types import TextForm, Type, User
from .structs import TypeDefs

_OBJECTS = ("datetime", "decimal", "ipaddress", "uuid")
"""Python's modules whose objects, and those of classes below theirs, stand for such values."""


def text_form(type: Type, typedefs: TypeDefs) -> TextForm | None:
    """The form of a type that is written as text, or None."""
    return typedefs[type.name].text if isinstance(type, User) and type.name in typedefs else None


def from_written(text: str, form: TextForm, type: Type) -> Any:
    """The value that a text writes. Raises ValueError with the reason."""
    try:
        return form.read(text)
    except ValueError as error:
        raise ValueError(f'expected {type}, such as "{form.example}", found "{text}": {error}') from None


def written(value: Any, form: TextForm) -> str | None:
    """The text of a string, or of an object of Python's own that stands for such a value; else None."""
    if isinstance(value, str):
        return str(value)
    if isinstance(form.unit, int) and isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return as_text(value)


def as_text(value: Any) -> str | None:
    """The text of an object of Python's own that stands for such a value; else None."""
    if value.__class__.__module__ == "numpy" and value.__class__.__name__ == "datetime64":
        return str(value)
    if any(each.__module__ in _OBJECTS for each in type(value).__mro__):
        if hasattr(value, "isoformat"):
            return str(value.isoformat())
        return f"{value:f}" if hasattr(value, "as_tuple") else str(value)
    return None
