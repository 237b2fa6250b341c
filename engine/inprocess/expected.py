"""What would be done with the recursions of a state: up to how many changed rows they are maintained."""

from __future__ import annotations

from collections.abc import Iterator

from ..circuit import Import
from ..maintaining import Expectation, Situation, expectation
from ..maintaining import Import as Imported
from .recursion import Recursion
from .rounds import RoundsRecursion
from .state import State


def expectations(state: State) -> Iterator[Expectation]:
    """What would be done with each recursion that is not inside another one."""
    for recursion in state.recursions.values():
        if not isinstance(recursion, Recursion | RoundsRecursion):
            continue
        node = recursion.fixpoint if isinstance(recursion, Recursion) else recursion.node
        imports = [Imported(state.stores[n.node].present) for n in node.body.nodes if isinstance(n, Import)]
        rows = sum(relation.present for relation in recursion.relations.values())
        why = ""
        if isinstance(recursion, Recursion) and recursion.has_effects:
            why = "a rule has an effect"
        yield expectation(recursion.relations, recursion.costs, Situation(rows, imports), why)
