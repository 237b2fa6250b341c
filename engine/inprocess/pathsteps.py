"""The changes of the steps of a recursion over paths: the epochs of their circuit. See `engine.paths`."""

from __future__ import annotations

from collections.abc import Mapping

from .. import thresholds
from ..circuit import Constant, Input
from ..epoch import Epoch
from ..operators.fixpoint import import_name
from ..paths import Steps
from ..schedule import downstream, readers, walk
from .operators import EpochOperators
from .recursion.memories import Imported
from .recursion.paths import Paths, Unsuitable
from .state import State
from .storage.batch import Batch, Gathering
from .storage.steps import Evaluator


def changed_steps(
    paths: Paths, imports: Mapping[int, Imported], evaluator: Evaluator
) -> list[tuple[Steps, Batch]]:
    """The changes of the steps in an epoch; all steps, if the paths have not begun. Raises Unsuitable if they
    are too many, and what the expressions in them raise."""
    circuit, given = paths.plan.circuit, {import_name(at): imported for at, imported in imports.items()}
    stores = {name: imported.store for name, imported in given.items()}
    if paths.state is None:
        paths.state = State(circuit, evaluator.values, stores, evaluator)
    state = paths.state
    assert isinstance(state, State)
    nodes: set[int] = set()
    read_by = readers(circuit)
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Input):
            state.replace(at, stores[node.relation])
            change = given[node.relation].change
            if change is not None and change.length:
                nodes |= downstream(read_by, at)
    operators = _Operators(state, given, not paths.begun, paths.asserts)
    walk(circuit, operators, sorted(nodes) if paths.begun else range(len(circuit.nodes)))
    for changed in operators.changed:
        changed.commit()
    return [(each, operators.given[each.node]) for each in paths.plan.steps if each.node in operators.given]


class _Operators(EpochOperators):
    """An epoch of the circuit of the steps, over the relations outside. What its nodes give is kept."""

    def __init__(self, state: State, imports: Mapping[str, Imported], first: bool, asserts: bool) -> None:
        super().__init__(state, Epoch({}, 0 if first else 1))
        self._imports, self._asserts = imports, asserts
        self._room = thresholds.PATH_STEPS + thresholds.PATH_STEPS_PER_ROW * sum(
            imported.store.present for imported in imports.values()
        )
        self.given: dict[int, Batch] = {}

    def input(self, at: int, node: Input) -> Batch | None:
        imported = self._imports[node.relation]
        return imported.store.batch() if self.epoch.first else imported.change

    def constant(self, at: int, node: Constant) -> Batch | None:
        return super().constant(at, node) if self._asserts else None

    def gathered(self, at: int) -> Gathering:
        return Gathering(len(self.circuit.nodes[at].schema))  # the change of any node may be asked for

    def keep(self, at: int, change: Batch | None) -> None:
        super().keep(at, change)
        if change is not None and not isinstance(self.circuit.nodes[at], Input):
            self.given[at] = change
            self._room -= change.length
            if self._room < 0:
                raise Unsuitable
