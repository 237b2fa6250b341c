"""The form in JSON of the values of a typedef: the keys of fields, the names of constructors."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import TRANSPARENT, Constructor, JsonField, KeyOf, Opaque, Type
from ..values import local_name
from ..values.shapes import is_option

SETS = ("Set", "HashSet", "Set64")


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """A field: its key in objects, its type, whether it may be left out for its default value, and of a map
    that is the array of its values, the function of their keys. A flattened field has its own fields in the
    object around it; a nested one is a string that holds its JSON."""

    key: str
    type: Type
    optional: bool
    key_of: KeyOf | None
    flatten: bool = False
    nested: bool = False


def layout(constructor: Constructor) -> tuple[FieldLayout, ...]:
    """The fields of a constructor, in order, as attributes have them."""
    forms = constructor.json or tuple(JsonField(name) for name, _ in constructor.fields)
    return tuple(
        FieldLayout(form.name, of, form.optional or is_option(of), form.key, form.flatten, form.nested)
        for form, (_, of) in zip(forms, constructor.fields, strict=True)
    )


def variant(constructor: Constructor) -> str:
    """The name of a constructor."""
    return constructor.variant or local_name(constructor.name)


def unwrapped(type: Type) -> Type:
    """The type without references and interning around it."""
    while isinstance(type, Opaque) and type.name in TRANSPARENT:
        (type,) = type.args
    return type
