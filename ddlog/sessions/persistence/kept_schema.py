"""The relations and windows that a session needs a state to keep, in a file or in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...durability.inputs import PAST, described, kept_relations
from ...durability.records import Stored

if TYPE_CHECKING:
    from ...core import Relation
    from ..program import Program
    from .windowcontents import KeptWindows


@dataclass(slots=True)
class KeptSchema:
    """Relations by their names in the state: as the program has them, and as the state describes them, with
    no ids before it has given them. `delays` are the relations that are read with a delay, each with its
    source and the delay, and `depth` is the longest delay."""

    relations: dict[str, Relation]
    stored: dict[str, Stored]
    delays: dict[str, tuple[str, int]]
    depth: int

    def source(self, name: str) -> Stored:
        """The stored changes of a relation that is read with a delay."""
        return self.stored.get(f"{name}{PAST}") or self.stored[name]


def kept_schema(program: Program, computed: frozenset[str], windows: KeptWindows) -> KeptSchema:
    """The needs of a session that computes these relations."""
    typedefs = program.checked.typedefs
    derived = {head.relation for rule in program.checked.rules for head in rule.heads}
    stored = kept_relations(program.relations, typedefs, computed, derived)
    relations = {name: program.relations[name.removesuffix(PAST)] for name in stored} | windows.relations
    stored |= {n: described(each, windows.roles[n], typedefs) for n, each in windows.relations.items()}
    delays = {n: each.past for n, each in program.relations.items() if each.past and n in computed}
    return KeptSchema(relations, stored, delays, max((delay for _, delay in delays.values()), default=0))
