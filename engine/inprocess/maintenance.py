"""The number of changed rows up to which each recursion of a state would be maintained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from ..maintenance import Costs, Expectation, ImportSize, Situation, expectation
from .arrangements.views import Readable
from .recursion.loops import LoopRecursion
from .state import State


@runtime_checkable
class Chosen(Protocol):
    """The state of a recursion that is maintained or evaluated anew."""

    costs: Costs

    @property
    def relations(self) -> Mapping[str, Readable]:
        """The relations, as of the last commit."""


def expectations(state: State) -> Iterator[Expectation]:
    """The expected way of each recursion that is not inside another one."""
    for at, recursion in state.recursions.items():
        if not isinstance(recursion, Chosen):
            continue
        imports = [ImportSize(state.stores[source].present) for source in state.circuit.nodes[at].reads()]
        rows = sum(relation.present for relation in recursion.relations.values())
        has_effects = isinstance(recursion, LoopRecursion) and recursion.has_effects
        why = "a rule has an effect" if has_effects else ""
        yield expectation(recursion.relations, recursion.costs, Situation(rows, imports), why)
