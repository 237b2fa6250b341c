"""Relations of a state without their program: what the manifest says of them is enough to read their rows."""

from __future__ import annotations

from collections.abc import Mapping

from ...durability.inputs import definitions
from ...durability.records import Stored
from ...durability.typetexts import relation_of, types_of
from ...types import TypeDef
from ..types.codec import SparkCodec
from .rows import RelationRows


def stored_rows(root: str, stored: Stored, typedefs: Mapping[str, TypeDef]) -> RelationRows:
    """The rows of a relation in files, as the state describes it."""
    return RelationRows(stored.id, relation_of(stored, root), SparkCodec(typedefs))


def unclear(typedefs: Mapping[str, TypeDef]) -> str:
    """A type whose rows cannot be read, as its definition does not tell the order of its parameters; empty:
    there is none."""
    return next((each.name for each in typedefs.values() if len(each.parameters) > 1), "")


def stored_types(stored: Stored, known: Mapping[str, TypeDef]) -> dict[str, TypeDef]:
    """The types of a relation's columns; those that a program defines in the same way are the program's."""
    _, found = types_of(stored)
    for name, text in defined(stored).items():
        if name in known and f"{name}: {text}" in definitions([name], known):
            found[name] = known[name]
    return found


def defined(stored: Stored) -> dict[str, str]:
    """The definitions of types that a state has with a relation, by their names."""
    return {name: text for name, _, text in (each.partition(": ") for each in stored.types)}
