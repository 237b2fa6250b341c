"""One epoch of a recursion by rounds: evaluated anew if an import changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..circuit import Input, NodeId
from ..epoch import Epoch
from ..rounds import import_name
from ..schedule import walk
from ..settling import Changing, Repetition, is_checkpoint
from .batch import Batch
from .checkpoint import Checkpoint
from .memories import Imported
from .operators import EpochOperators
from .rounds import RoundsRecursion
from .rows import some_changes
from .state import State
from .store import Store


class RunningRounds:
    """One epoch of a recursion by rounds. See `schedule.Nested`."""

    def __init__(self, recursion: RoundsRecursion, imports: Mapping[int, Imported]) -> None:
        self._recursion, self._imports = recursion, imports
        self._evaluator, self._circuit = recursion.evaluator, recursion.circuit
        given = {import_name(node): imported.store for node, imported in imports.items()}
        self._state = State(self._circuit, self._evaluator.values, given, self._evaluator)
        self._anew = False
        self._done = 0  # rounds
        self._pending: dict[str, Batch] = {}  # the changes of the last round
        self._checkpoint: Checkpoint | None = None

    def seed(self, first: bool) -> None:
        """The first round, if there is something to evaluate."""
        changes = [each.change for each in self._imports.values()]
        self._anew = first or any(change is not None and change.length for change in changes)
        if self._anew:
            self._run(range(len(self._circuit.nodes)))

    def next_iteration(self) -> int | None:
        return self._done - 1 if self._pending else None

    def iterate(self, time: int) -> None:
        reached = set[NodeId]().union(
            *(self._recursion.downstream.get(name, set()) for name in self._pending)
        )
        self._run(sorted(reached))
        self._look_for_repetition()

    def _run(self, nodes: Sequence[NodeId]) -> None:
        """One round: the nodes from the changes of the round before."""
        self._evaluator.iteration = self._done
        operators = _Round(self._state, self._imports, self._pending, self._done)
        outputs = walk(self._circuit, operators, nodes)
        operators.commit()
        self._pending = {
            name: change for name, change in outputs.items() if change is not None and change.length
        }
        self._done += 1

    def _look_for_repetition(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.add(self._pending)
            if self._pending and not self._checkpoint.differs():
                moved = [(name, row, 0) for name, row, _ in self._some(self._checkpoint.moved())]
                raise Repetition(self._done - self._checkpoint.at, list(self._recursion.schemas), moved)
        if is_checkpoint(self._done):
            self._checkpoint = Checkpoint(self._done)

    def changing(self) -> Changing:
        return self._some(self._pending)

    def _some(self, changes: Mapping[str, Batch]) -> Changing:
        return some_changes(self._evaluator.values, self._recursion.schemas, changes)

    def rows(self) -> int:
        return sum(store.present for store in self._results().values())

    def _results(self) -> dict[str, Store]:
        return {name: self._state.own_store(at) for name, at in self._recursion.node.results}

    def finish(self) -> dict[str, Batch | None]:
        self._evaluator.iteration = 0
        if not self._anew:
            return dict.fromkeys(self._recursion.relations)
        return {n: self._recursion.replace(n, found.batch()) for n, found in self._results().items()}

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._recursion.commit()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._recursion.rollback()


class _Round(EpochOperators):
    """An epoch of the body. The stores of the imports are those outside, which no round changes."""

    def __init__(
        self, state: State, imports: Mapping[int, Imported], changes: Mapping[str, Batch], number: int
    ) -> None:
        super().__init__(state, Epoch({}, number))
        self._imports = {import_name(node): imported for node, imported in imports.items()}
        self._changes = changes

    def input(self, at: int, node: Input) -> Batch | None:
        if node.relation in self._imports:
            return self._imports[node.relation].store.batch() if self.epoch.first else None
        change = self._changes.get(node.relation)
        if change is None:
            return None
        store = self.state.own_store(at)
        return store.add_present(change) if change.positive() else store.add_counted(change, as_set=True)

    def commit(self) -> None:
        """The round's changes stay."""
        for at, store in self.state.stores.items():
            node = self.circuit.nodes[at]
            if isinstance(store, Store) and not (isinstance(node, Input) and node.relation in self._imports):
                store.commit()
        for group in self.state.groups.values():
            group.commit()
