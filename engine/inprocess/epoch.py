"""One epoch of a circuit in process: its operators, its recursions, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..circuit import DeltaDistinct, Fixpoint, NodeId
from ..epoch import Epoch
from ..integrals import shown
from ..runtime import Delta
from .arrangements.views import Readable
from .operators import EpochOperators
from .recursion.bracket import Bracketed
from .recursion.growthbyrows import GrowthByRows
from .recursion.memories import Imported
from .recursion.monotoneepoch import MaintainedRecursion
from .recursion.recursion import Recursion
from .runningbracket import RunningBracket
from .runningloop import RunningLoop
from .state import State
from .storage.batch import Batch, Rows, few_rows
from .storage.rows import ArrayDelta, change_of


class RunningEpoch(EpochOperators):
    """One epoch over a state. See `engine.epoch.Running`."""

    def __init__(self, state: State, epoch: Epoch[Batch]) -> None:
        super().__init__(state, epoch)
        self._begun: list[MaintainedRecursion | RunningBracket | RunningLoop] = []
        self.growths: dict[NodeId, GrowthByRows] = {}
        """The recursions whose epochs are walked row by row."""
        self.late: list[tuple[int, Rows]] = []  # the changes of nodes that are taken in when somebody asks
        self._few: dict[NodeId, Batch] = {}

    def recursion(
        self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]
    ) -> MaintainedRecursion | RunningBracket | RunningLoop:
        imports = self.imports(changes)
        recursion = self.state.recursions[at]
        running: MaintainedRecursion | RunningBracket | RunningLoop
        if isinstance(recursion, Recursion):
            growth = self.growths.get(at)
            running = MaintainedRecursion(recursion, imports, self.epoch, growth.rounds if growth else 0)
        elif isinstance(recursion, Bracketed):
            running = RunningBracket(recursion, imports, self.epoch, RunningEpoch)
        else:
            running = RunningLoop(recursion, imports, self.epoch)
        self._begun.append(running)
        self.growths.pop(at, None)  # `running` goes on from there
        running.seed(self.epoch.first)
        return running

    def few(self, at: NodeId, change: Rows) -> Batch:
        """The change of a node, of a few rows, as a batch, always the same."""
        found = self._few.get(at)
        if found is None:
            found = self._few[at] = few_rows(*change, len(self.circuit.nodes[at].schema))
        return found

    def imports(self, changes: Mapping[int, Batch | None]) -> dict[int, Imported]:
        """The imports of a recursion, given their changes."""
        state = self.state
        return {
            source: Imported(state.stores[source], state.weighted(source), change)
            for source, change in changes.items()
        }

    def inner_states(self) -> list[State]:
        """The states of the brackets that have begun."""
        states = [each.state for each in self._begun if isinstance(each, RunningBracket)]
        return [state for state in states if state is not None]

    def evaluated_anew(self) -> Iterator[tuple[str, Readable]]:
        """The relations of the recursions that are being evaluated from empty relations, beside the old."""
        for each in self._begun:
            if isinstance(each, MaintainedRecursion | RunningLoop):
                yield from each.anew.items()

    # ------------------------------------------------------------- the end

    def finish(self, outputs: Mapping[str, Batch | Rows | None]) -> dict[str, Delta]:
        state, nodes, static = self.state, self.circuit.nodes, self.epoch.static
        self.forget()
        deltas: dict[str, Delta] = dict(state.unchanged)
        for name, change in outputs.items():
            if change is None:
                continue
            at = state.outputs[name]
            schema = nodes[at].schema
            if isinstance(change, tuple):
                deltas[name] = change_of(state.values, schema, *change)
            else:
                source = shown(self.circuit, at)
                is_net = source in self.filled or isinstance(nodes[source], DeltaDistinct)
                deltas[name] = ArrayDelta(state.values, schema, change, static, is_net)
        for name in state.streams:
            schema = nodes[state.outputs[name]].schema
            deltas[name] = ArrayDelta(state.values, schema, state.output(name).batch(), True)
        return deltas

    def commit(self) -> None:
        for changed in self.changed:
            changed.commit()
        for recursion in (*self.growths.values(), *self._begun):
            recursion.commit()
        for at, change in self.late:
            self.state.keep_late(at, change)
        if self.state.given:
            self.state.given.clear()

    def rollback(self) -> None:
        for changed in reversed(self.changed):
            changed.rollback()
        for recursion in (*self.growths.values(), *self._begun):
            recursion.rollback()
        for state in (self.state, *self.inner_states()):
            for joiner in state.joiners.values():
                joiner.forget_faults()
