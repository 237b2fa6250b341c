"""The values of the library's typedefs, for functions written in Python."""

from __future__ import annotations

from ..types import UNIT, Constructor
from ..values import Struct, struct_class


def struct(name: str, *fields: str) -> type[Struct]:
    """The class of the values of `typedef name = name{fields}`, given the qualified name."""
    return struct_class(name, _constructor(name, 0, fields), False)


def constants(typedef: str, *names: str) -> tuple[Struct, ...]:
    """The values of `typedef = A | B | ...`, a union of constructors without fields."""
    module = typedef.rpartition("::")[0]
    made = (_constructor(f"{module}::{name}", number, ()) for number, name in enumerate(names))
    return tuple(struct_class(typedef, each, True)() for each in made)


def _constructor(name: str, number: int, fields: tuple[str, ...]) -> Constructor:
    return Constructor(name, number, tuple((field, UNIT) for field in fields))
