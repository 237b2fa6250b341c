"""One epoch of a circuit in nested time: evaluated anew where an import changes.

The iterations are to the body what epochs are to a circuit of streams. So the body runs as such a circuit, on
its incremental version: what enters is a stream that ends after iteration 0, and an iteration costs in
proportion to what changes from the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..circuit import Input, NodeId
from ..divergence import Changing, Endless
from ..epoch import Epoch, Epochs, Running
from ..operators.fixpoint import import_name
from .arrangements.signedstore import SignedStore
from .recursion.bracket import Bracketed
from .recursion.memories import Imported
from .state import State
from .storage.batch import Batch, concat, consolidate, length_of
from .storage.rows import some_changes
from .storage.steps import Evaluator


class RunningBracket:
    """One epoch of a circuit in nested time. See `schedule.NestedEpoch`."""

    def __init__(
        self,
        recursion: Bracketed,
        imports: Mapping[NodeId, Imported],
        epoch: Epoch[Batch],
        begin: Callable[[State, Epoch[Batch]], Running[Batch | None]],
    ) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._begin = begin
        self._state: State | None = None
        self._epochs: Epochs[Batch, Batch | None] | None = None
        self._parts: dict[str, list[Batch]] = {name: [] for name in recursion.relations}
        self._rest = True

    @property
    def state(self) -> State | None:
        """The state of the evaluation."""
        return self._state

    def seed(self, first: bool) -> None:
        """Iteration 0, if an import has changed."""
        changed = any(each.change is not None and each.change.length for each in self._imports.values())
        if not first and not changed:
            return
        recursion = self._recursion
        state = self._state = State(
            recursion.circuit, recursion.evaluator.values, evaluator=Evaluator(recursion.evaluator.values)
        )
        self._epochs = Epochs(
            recursion.circuit,
            lambda epoch: self._begin(state, epoch),
            self._held,
            length_of,
            restless=state.memories.restless,
        )
        self._run({import_name(at): [(each.store.batch(), 1)] for at, each in self._imports.items()})

    def _held(self, at: NodeId) -> Batch | None:
        assert self._state is not None
        held = self._state.stores[at].batch()
        return held if held.length else None

    def _run(self, changes: Mapping[str, list[tuple[Batch, int]]]) -> None:
        assert self._epochs is not None and self._state is not None
        self._epochs.run(changes, False, self._epoch.limit, None)
        now: dict[str, Batch] = {}
        for name, parts in self._parts.items():
            contents = self._state.output(name).batch()
            if contents.length:
                now[name] = contents
                parts.append(contents)
        self._rest = not self._state.memories.restless() and not any(map(self._held, self._inputs()))
        if self._rest and now:
            raise Endless(list(self._parts), self._some(now))

    def _inputs(self) -> list[NodeId]:
        return [at for at, node in enumerate(self._recursion.circuit.nodes) if isinstance(node, Input)]

    def next_iteration(self) -> int | None:
        return None if self._rest or self._epochs is None else self._epochs.committed

    def iterate(self, time: int) -> None:
        self._run({})

    def rows(self) -> int:
        return sum(part.length for parts in self._parts.values() for part in parts)

    def changing(self) -> Changing:
        return self._some({name: parts[-1] for name, parts in self._parts.items() if parts})

    def _some(self, rows: Mapping[str, Batch]) -> Changing:
        found = some_changes(self._recursion.evaluator.values, self._recursion.schemas, rows)
        return [(name, row, 1) for name, row, _ in found]

    def finish(self) -> dict[str, Batch | None]:
        if self._epochs is None:
            return dict.fromkeys(self._parts)
        return {
            name: self._moved(store, self._parts[name]) for name, store in self._recursion.relations.items()
        }

    def _moved(self, store: SignedStore, parts: list[Batch]) -> Batch | None:
        """Makes the sum of the parts the contents of a store; gives the change."""
        before = [store.batch().negated()] if store.present else []
        change = consolidate(concat([*parts, *before], len(store.schema)))
        return store.add_counted(change, as_set=False) if change.length else None

    def commit(self) -> None:
        """The epoch's changes stay."""
        for store in self._recursion.relations.values():
            store.commit()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        for store in self._recursion.relations.values():
            store.rollback()
