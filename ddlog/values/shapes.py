"""The shapes of types: constructors with their type arguments substituted, collections, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

from .. import values
from ..types import Constructor, JsonField, Opaque, Tuple, Type, TypeDef, User
from . import local_name

UUID_TYPE = User("uuid::Uuid")
OPTION_WORDS = ("some", "Some", "None")
"""The keys of an object of JSON that is an Option."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A struct or union type, its constructors' fields typed for its arguments."""

    typedef: TypeDef
    constructors: tuple[Constructor, ...]

    @property
    def is_union(self) -> bool:
        """Whether the type has several constructors."""
        return len(self.constructors) != 1

    def constructor(self, name: str) -> Constructor | None:
        """The constructor with a name: the full name, that without the module or with its alias, or the name
        in JSON."""
        for each in self.constructors:
            if name in (each.name, local_name(each.name), each.variant or None, *each.aliases):
                return each
        return None

    def make(self, constructor: Constructor) -> Callable[..., Any]:
        """A function that makes a value of the constructor from its fields."""
        return values.struct_class(self.typedef.name, constructor, self.is_union).make


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection type: Vec, Set or Map, the type of its elements, and how it is built from them; by
    `ordered` from elements that are in order and distinct."""

    kind: str
    element: Type
    build: Callable[[Iterable[Any]], Any]
    ordered: Callable[[Iterable[Any]], Any]


def shape_of(type: User, typedefs: Mapping[str, TypeDef]) -> Shape:
    """The shape of a struct or union type."""
    typedef = typedefs[type.name]
    return Shape(typedef, values.constructors_of(typedef, type.args))


def is_option(type: Type) -> TypeGuard[User]:
    """Whether the type is the library's Option."""
    return isinstance(type, User) and local_name(type.name) == "Option" and len(type.args) == 1


def is_nullable(type: Type, typedefs: Mapping[str, TypeDef]) -> TypeGuard[User]:
    """Whether values of the type are written as SQL writes them: NULL, or the bare value."""
    return is_option(type) and typedefs[type.name].nullable


def some_maker(type: User, typedefs: Mapping[str, TypeDef]) -> Callable[[Any], Any]:
    """A function that makes `Some` of an Option type from the value in it."""
    shape = shape_of(type, typedefs)
    return shape.make(shape.constructors[1])


def variant(constructor: Constructor) -> str:
    """The name of a constructor in JSON."""
    return constructor.variant or local_name(constructor.name)


def forms_of(constructor: Constructor) -> tuple[JsonField, ...]:
    """The form that each field of a constructor has in JSON."""
    return constructor.json or tuple(JsonField(name) for name, _ in constructor.fields)


@lru_cache(maxsize=4096)
def collection_of(type: Type) -> Collection | None:
    """The collection that a type is, or None."""
    if not isinstance(type, Opaque):
        return None
    match local_name(type.name), type.args:
        case "Vec", (element,):
            return Collection("Vec", element, values.Vec, values.Vec)
        case "Set", (element,):
            return Collection("Set", element, values.Set, values.Set.ordered)
        case "Map", (key, value):
            return Collection("Map", Tuple((key, value)), values.Map, values.Map.ordered)
    return None
