"""The relations that the state of a program holds, and how they differ from those of a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from ..core import Relation
from ..types import TypeDef
from .records import Stored

PAST = "$past"
"""The end of the name under which the past of an input with rules is held."""


def kept_relations(
    relations: Mapping[str, Relation],
    typedefs: Mapping[str, TypeDef],
    computed: frozenset[str],
    derived: Collection[str],
) -> dict[str, Stored]:
    """The relations that a state holds for a program: its inputs, and the relations that computed ones read
    with a delay. The ids are 0. `derived` are the relations that have rules: an input among them is more than
    what came in, and its past is held apart."""
    inputs = {name: each for name, each in relations.items() if each.role == "input" and not each.hidden}
    past = {each.past[0] for name, each in relations.items() if each.past is not None and name in computed}
    found = {name: described(each, "input", typedefs) for name, each in inputs.items()}
    for name in sorted(past):
        if name not in inputs:
            found[name] = described(relations[name], "past", typedefs)
        elif name in derived:
            found[f"{name}{PAST}"] = replace(
                described(relations[name], "past", typedefs), name=f"{name}{PAST}"
            )
    return found


def described(relation: Relation, role: str, typedefs: Mapping[str, TypeDef]) -> Stored:
    """A relation as a state describes it, without an id."""
    columns = tuple((each.name, str(each.type)) for each in relation.columns)
    types = tuple(definitions([text for _, text in columns], typedefs))
    return Stored(0, relation.name, relation.kind, role, relation.key is not None, columns, types)


def definitions(texts: list[str], typedefs: Mapping[str, TypeDef]) -> list[str]:
    """The definitions of the types that some types are made of, as text."""
    found: dict[str, str] = {}
    left = list(texts)
    while left:
        for name in re.findall(r"[\w:]+", left.pop()):
            if name in typedefs and name not in found:
                found[name] = " | ".join(
                    f"{each.name}({', '.join(f'{field}: {type}' for field, type in each.fields)})"
                    for each in typedefs[name].constructors
                )
                left.append(found[name])
    return [f"{name}: {found[name]}" for name in sorted(found)]


def same_rows(one: Stored, other: Stored) -> bool:
    """Whether two descriptions are of the same columns and kind."""
    return (one.kind, one.columns, one.types) == (other.kind, other.columns, other.types)
