"""How the values of a typedef stand in JSON: the keys of fields, the names of constructors."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Constructor, Opaque, Type, User
from ..values import local_name

WRAPPERS = ("Ref", "Intern", "IObj")  # types whose values are those of their argument
SETS = ("Set", "HashSet", "Set64")


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """A field: its key in objects, its type, and whether it may be left out for its default value."""

    key: str
    type: Type
    optional: bool


def layout(constructor: Constructor) -> tuple[FieldLayout, ...]:
    """The fields of a constructor, in order."""
    return tuple(FieldLayout(name, of, is_named(of, "Option")) for name, of in constructor.fields)


def variant(constructor: Constructor) -> str:
    """The name of a union's constructor."""
    return local_name(constructor.name)


def is_named(type: Type, name: str) -> bool:
    """Whether the type is the library's type of that name."""
    return isinstance(type, User) and type.name == f"ddlog_std::{name}"


def unwrapped(type: Type) -> Type:
    """The type without references and interning around it."""
    while isinstance(type, Opaque) and local_name(type.name) in WRAPPERS:
        (type,) = type.args
    return type
