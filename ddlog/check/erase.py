"""Erasure of types that make no difference at run time.

`Ref<T>` and `Intern<T>` order, compare and print as `T` does, hash sets iterate in the order of sets; so
once a program is checked they are `T` and `Set<T>`, and no later stage knows of them.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from operator import is_
from typing import Any, TypeVar

from .. import core
from ..errors.source import Span
from ..types import (
    HASH_SETS,
    TRANSPARENT,
    BigInt,
    Bit,
    Bool,
    Float,
    FunctionType,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    User,
)

_SET = "ddlog_std::Set"
# Functions that only change the type.
_IDENTITIES = frozenset(
    {
        "ddlog_std::ref_new",
        "ddlog_std::deref",
        "internment::intern",
        "internment::ival",
        "intern::string_intern",
        "intern::istring_str",
    }
)
_TYPES = frozenset({Tuple, User, Opaque, FunctionType})
_PLAIN = (Bool, BigInt, Bit, Signed, Float, String)

T = TypeVar("T")


class Eraser:
    """Rebuilds checked parts of programs; a part with nothing to erase stays the same object."""

    def __init__(self) -> None:
        self._types: dict[Type, Type] = {}

    def type(self, type_: Type) -> Type:
        """The type with `Ref`, `Intern` and hash sets erased."""
        found = self._types.get(type_)
        if found is None:
            found = self._types[type_] = self._erased(type_)
        return found

    def _erased(self, type_: Type) -> Type:
        match type_:
            case Opaque(name, (inner,)) if name in TRANSPARENT:
                return self.type(inner)
            case Opaque(name, (inner,)) if name in HASH_SETS:
                return Opaque(_SET, (self.type(inner),))
            case Opaque(name, args):
                return Opaque(name, tuple(map(self.type, args)))
            case User(name, args):
                return User(name, tuple(map(self.type, args)))
            case Tuple(items):
                return Tuple(tuple(map(self.type, items)))
            case FunctionType(parameters, mutable, result):
                return FunctionType(tuple(map(self.type, parameters)), mutable, self.type(result))
        return type_

    def part(self, node: T) -> T:
        """A node of core, or a tuple or dictionary of such, with its types erased."""
        return self._part(node)  # type: ignore[no-any-return]

    def _part(self, node: Any) -> Any:
        kind: type = type(node)
        if kind in _TYPES:
            erased = self.type(node)
            return node if erased == node else erased
        if kind is tuple:
            new = tuple(map(self._part, node))
            return node if all(map(is_, node, new)) else new
        if kind is dict:
            return {key: self._part(value) for key, value in node.items()}
        if kind is core.Call and node.function.partition("<")[0] in _IDENTITIES:
            return self._part(node.args[0])
        changes = {}
        for name in _field_names(kind):
            before = getattr(node, name)
            after = self._part(before)
            if after is not before:
                changes[name] = after
        return dataclasses.replace(node, **changes) if changes else node


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a class of core that may hold types or parts of programs; of all else none."""
    if kind in (Span, *_PLAIN) or not dataclasses.is_dataclass(kind):
        return ()
    return tuple(field.name for field in dataclasses.fields(kind) if not field.name.endswith("span"))
