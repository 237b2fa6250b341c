"""Fields whose own fields stand among those of the struct around them in JSON: `serde(flatten)`.

A struct or union takes the keys that it knows, and a struct leaves none of them to later fields. A Map takes
every key that no field of the struct around it has by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from ..types import JsonField, Type, User
from .shapes import forms_of, is_option, shape_of, variant
from .structs import TypeDefs

ABSENT = object()
"""Stands for a field that an object does not have."""

Shares = Callable[[dict[str, Any]], tuple[list[Any], list[str]]]
"""Gives the part of an object that each field has, of a flattened one an object; and the keys left over."""


def shares_of(fields: Sequence[tuple[str, Type]], forms: Sequence[JsonField], typedefs: TypeDefs) -> Shares:
    """The function that parts objects among the fields of a struct."""
    named = {form.name for form in forms if not form.flatten}
    flat = {
        n: (_keys(of, typedefs), is_union_by_name(of, typedefs), _is_shared(of, typedefs))
        for n, (form, (_, of)) in enumerate(zip(forms, fields, strict=True))
        if form.flatten
    }

    def shares(data: dict[str, Any]) -> tuple[list[Any], list[str]]:
        rest = {key: value for key, value in data.items() if key not in named}
        unknown, found = dict.fromkeys(rest), list[Any]()
        for n, form in enumerate(forms):
            if n not in flat:
                found.append(data.get(form.name, ABSENT))
                continue
            keys, by_name, shared = flat[n]
            part = {key: value for key, value in rest.items() if keys is None or key in keys}
            if by_name:
                part = dict(list(part.items())[:1])
            found.append(part)
            for key in part:
                unknown.pop(key, None)
                if keys is not None and not shared:
                    del rest[key]
        return found, list(unknown)

    return shares


def _inner(of: Type) -> Type:
    while is_option(of):
        of = of.args[0]
    return of


def _keys(of: Type, typedefs: TypeDefs, around: tuple[Type, ...] = ()) -> set[str] | None:
    """The keys that a type knows, but for those of the types `around` it; None for all."""
    of = _inner(of)
    if of in around:
        return set()
    if not isinstance(of, User) or of.name == "json::JsonValue":
        return None
    shape = shape_of(of, typedefs)
    if is_union_by_name(of, typedefs):
        return {variant(each) for each in shape.constructors}
    found = {shape.typedef.tag} if shape.typedef.tag else set[str]()
    for constructor in shape.constructors:
        for form, (_, field) in zip(forms_of(constructor), constructor.fields, strict=True):
            inner = _keys(field, typedefs, (*around, of)) if form.flatten else {form.name}
            if inner is None:
                return None
            found |= inner
    return found


def is_union_by_name(of: Type, typedefs: TypeDefs) -> TypeGuard[User]:
    """Whether a type is a union that JSON writes as an object with the constructor's name as its key."""
    of = _inner(of)
    if not isinstance(of, User) or of.name == "json::JsonValue":
        return False
    shape = shape_of(of, typedefs)
    return shape.is_union and shape.typedef.tag is None


def _is_shared(of: Type, typedefs: TypeDefs) -> bool:
    """Whether later fields may have the keys of a type, too."""
    of = _inner(of)
    if not isinstance(of, User) or is_union_by_name(of, typedefs):
        return False
    shape = shape_of(of, typedefs)
    return shape.typedef.tag is not None or any(f.flatten for each in shape.constructors for f in each.json)
