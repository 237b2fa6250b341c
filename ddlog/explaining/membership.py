"""Membership of rows in a relation, by a query."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Atom, Rule
from ..values.rows import Row
from .held import HeldRelations
from .stages import BodyStage


def membership(held: HeldRelations, relation: str, rows: Sequence[Row]) -> set[Row]:
    """The rows among some that a relation has."""
    declared = held.program.relations[relation]
    names = tuple(f"c{at}" for at in range(len(declared.columns)))
    types = {name: column.type for name, column in zip(names, declared.columns, strict=True)}
    term = Atom(relation, names, False, declared.span)
    stage = BodyStage(Rule((), (term,), types, "", declared.span), 1, names)
    return {row for row, _ in stage.valuations(held, rows)}
