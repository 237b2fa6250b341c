"""Types as lists, to be written as JSON beside a value of Any."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, get_args

from ...types import Type

_TYPES = {each.__name__: each for each in get_args(Type)}


def type_as_lists(part: Any) -> Any:
    """A type as lists: the name of its class, then the fields that it is made from."""
    if isinstance(part, tuple):
        return [type_as_lists(each) for each in part]
    if is_dataclass(part):
        return [
            type(part).__name__,
            *(type_as_lists(getattr(part, each.name)) for each in fields(part) if each.init),
        ]
    return part


def type_of_lists(part: Any) -> Any:
    """The type of which `type_as_lists` made these lists."""
    if isinstance(part, list) and part and isinstance(part[0], str):
        return _TYPES[part[0]](*map(type_of_lists, part[1:]))
    return tuple(map(type_of_lists, part)) if isinstance(part, list) else part
