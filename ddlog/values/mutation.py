"""The text after `<-` in `modify` as a function that changes a value.

Scalars, strings and Vecs are overwritten; of a struct only the named fields change; a Set becomes the
symmetric difference with the given one; of a Map the given keys are set, and deleted where the
value is `()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import values
from ..syntax.cursor import Cursor, TextFault
from ..types import Constructor, Tuple, Type, User
from .fromtext import read_field_name, read_name, read_value
from .shapes import Collection, Shape, collection_of, shape_of
from .structs import TypeDefs

Mutation = Callable[[Any], Any]


def read_mutation(cursor: Cursor, type: Type, typedefs: TypeDefs) -> Mutation:
    """Reads a mutation of a value of `type`: a function of the value. Raises TextFault."""
    if not cursor.looking_at("@json"):
        collection = collection_of(type)
        if isinstance(type, User):
            named = _read_named_fields(cursor, type, typedefs)
            if named is not None:
                return named
        elif collection is not None and collection.kind == "Set":
            return _symmetric_difference(read_value(cursor, type, typedefs), collection)
        elif collection is not None and collection.kind == "Map":
            return _read_map(cursor, collection, typedefs)
    value = read_value(cursor, type, typedefs)
    return lambda _: value


def _read_named_fields(cursor: Cursor, type: User, typedefs: TypeDefs) -> Mutation | None:
    """`C{.field = mutation, …}` or `_{…}`; None, and the cursor where it was, when it is another form."""
    start = cursor.skip()
    name, begin, end = (
        read_name(cursor, f"{type}") if cursor.next_piece()[0][:1].isidentifier() else ("", 0, 0)
    )
    shape = shape_of(type, typedefs)
    chosen = shape.constructors[0] if name == "_" and not shape.is_union else shape.constructor(name)
    if not name or not cursor.accept("{") or not _names_fields(cursor, shape):
        cursor.position = start
        return None
    if chosen is None:
        raise TextFault(f"`{name}` is no constructor of {type}", begin, end)
    changes = _read_fields(cursor, chosen, typedefs)

    def mutate(value: Any) -> Any:
        if not shape.is_union:
            old = value
        elif value[0] == chosen.index:
            old = value[1:]
        elif len(changes) == len(chosen.fields):
            old = [values.default_value(of, typedefs) for _, of in chosen.fields]
        else:
            shown = values.show(value, type, typedefs)
            raise ValueError(f"{shown} is no {chosen.name}: to make it one, all fields must be given")
        fields = [
            changes[n](each) if n in changes else each
            for (n, _), each in zip(chosen.fields, old, strict=True)
        ]
        return shape.make(chosen)(*fields)

    return mutate


def _names_fields(cursor: Cursor, shape: Shape) -> bool:
    """Whether fields follow by name, or of a struct none, which changes nothing."""
    return cursor.looking_at(".") or (cursor.looking_at("}") and not shape.is_union)


def _read_fields(cursor: Cursor, chosen: Constructor, typedefs: TypeDefs) -> dict[str, Mutation]:
    changes: dict[str, Mutation] = {}
    kinds = dict(chosen.fields)
    for _ in cursor.items("}"):
        name = read_field_name(cursor, chosen.fields, changes)
        changes[name] = read_mutation(cursor, kinds[name], typedefs)
    return changes


def _symmetric_difference(given: Any, collection: Collection) -> Mutation:
    return lambda value: collection.build(sorted(set(value) ^ set(given)))


def _read_map(cursor: Cursor, collection: Collection, typedefs: TypeDefs) -> Mutation:
    assert isinstance(collection.element, Tuple)
    key_type, value_type = collection.element.items
    changes: dict[Any, Mutation | None] = {}
    cursor.expect("[")
    for _ in cursor.items("]"):
        cursor.expect("(")
        key = read_value(cursor, key_type, typedefs)
        cursor.expect(",")
        changes[key] = _read_map_value(cursor, value_type, typedefs)
        cursor.accept(",")
        cursor.expect(")")

    def mutate(value: Any) -> Any:
        items = dict(tuple(value))
        for key, change in changes.items():
            if change is None:
                items.pop(key, None)
            else:
                old = items[key] if key in items else values.default_value(value_type, typedefs)
                items[key] = change(old)
        return collection.build(sorted(items.items()))

    return mutate


def _read_map_value(cursor: Cursor, type: Type, typedefs: TypeDefs) -> Mutation | None:
    """The mutation of a value in a Map; None for `()`, which deletes it."""
    start = cursor.skip()
    if type != Tuple(()) and cursor.accept("("):
        if cursor.accept(")"):
            return None
        cursor.position = start
    return read_mutation(cursor, type, typedefs)
