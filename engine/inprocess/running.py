"""One epoch of a circuit in process: its operators, its recursions, and its end."""

from __future__ import annotations

from collections.abc import Mapping

from ..circuit import Fixpoint, Output
from ..epoch import Epoch
from ..integrals import weighted
from ..runtime import Delta
from .batch import Batch
from .memories import Imported
from .operators import EpochOperators
from .recursion import Recursion, RunningRecursion
from .rows import ArrayDelta
from .runningrounds import RunningRounds
from .state import State
from .store import Store


class RunningEpoch(EpochOperators):
    """One epoch over a state. See `engine.epoch.Running`."""

    def __init__(self, state: State, epoch: Epoch[Batch]) -> None:
        super().__init__(state, epoch)
        self._begun: list[RunningRecursion | RunningRounds] = []

    def recursion(
        self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]
    ) -> RunningRecursion | RunningRounds:
        imports = {
            source: Imported(self.state.stores[source], weighted(self.circuit, source), change)
            for source, change in changes.items()
        }
        recursion = self.state.recursions[at]
        running = (
            recursion.begin(imports)
            if isinstance(recursion, Recursion)
            else RunningRounds(recursion, imports, self.epoch)
        )
        self._begun.append(running)
        running.seed(self.epoch.first)
        return running

    # ------------------------------------------------------------- the end

    def finish(self, outputs: Mapping[str, Batch | None]) -> dict[str, Delta]:
        return {name: self._delta(name, outputs.get(name)) for name in self.state.outputs}

    def _delta(self, relation: str, change: Batch | None) -> ArrayDelta:
        values, node = self.state.values, self.circuit.nodes[self.state.outputs[relation]]
        assert isinstance(node, Output)
        if node.stream:
            return ArrayDelta(values, node.schema, self.state.output(relation).batch(), True)
        if change is None:
            return self.state.unchanged[relation]
        return ArrayDelta(values, node.schema, change, self.epoch.static)

    def commit(self) -> None:
        for store in self.state.stores.values():
            if isinstance(store, Store):
                store.commit()
        for group in self.state.groups.values():
            group.commit()
        for recursion in self._begun:
            recursion.commit()

    def rollback(self) -> None:
        for group in self.state.groups.values():
            group.rollback()
        for store in self.state.stores.values():
            if isinstance(store, Store):
                store.rollback()
        for recursion in self._begun:
            recursion.rollback()
