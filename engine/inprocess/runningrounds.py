"""One epoch of a recursion by rounds: in nested time, or from empty relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..circuit import Input, NodeId
from ..clock import work
from ..epoch import Epoch
from ..rounds import import_name
from ..schedule import walk
from ..schema import RowFault
from ..settling import MOST_ROUNDS, Changing, Repetition, is_checkpoint
from .arrangements.store import Store
from .operators import EpochOperators
from .pathsteps import changed_steps
from .recursion.account import Account
from .recursion.checkpoint import Checkpoint
from .recursion.memories import Imported
from .recursion.nestedrounds import NestedEpoch, NestedRounds
from .recursion.paths import Found, Unsuitable
from .recursion.rounds import Recording, RoundsRecursion
from .state import State
from .storage.batch import Batch
from .storage.rows import some_changes


class RunningRounds:
    """One epoch of a recursion by rounds. See `schedule.Nested`. It follows paths, or is maintained in nested
    time, both for all rounds at once, or else is evaluated from empty relations, round by round."""

    def __init__(
        self, recursion: RoundsRecursion, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._evaluator, self._circuit = recursion.evaluator, recursion.circuit
        self._nested: NestedRounds | None = None
        self._changes: dict[str, Batch] | None = None  # of the relations, found in nested time
        self._anew: _Anew | None = None
        self._paths: Found | None = None
        relations = recursion.relations
        self._account = Account(recursion.maintaining, recursion.costs, relations, imports, epoch.number)

    def seed(self, first: bool) -> None:
        """The first round, if there is something to evaluate; in nested time all rounds."""
        changed = self._account.situation.changed
        if (first or changed) and self._followed():
            return
        if first or (changed and not self._maintained()):
            recording = not self._epoch.static and self._recursion.maintaining.mode != "never"
            self._account.begin_anew()
            self._anew = _Anew(self._recursion, self._imports, recording)
            self._anew.begin()

    def _followed(self) -> bool:
        """Whether the epoch is done over paths, from their beginning or on. A limit of rounds asks for
        rounds."""
        recursion = self._recursion
        if recursion.paths is None or self._epoch.limit is not None:
            recursion.forget_paths()
            return False
        recursion.forget()
        recursion.paths.forget_ghosts()
        if recursion.paths.begun and not self._account.choose().maintain:
            recursion.paths.forget()
        if not recursion.paths.begun:
            self._account.begin_anew()
        try:
            steps = changed_steps(recursion.paths, self._imports, self._evaluator)
            self._paths = recursion.paths.run(steps, self._epoch.static)
        except (Unsuitable, RowFault) as error:
            recursion.forget_paths(isinstance(error, Unsuitable))
            return False
        return True

    def _maintained(self) -> bool:
        """Whether the epoch is done in nested time."""
        choice = self._account.choose(self._recursion.is_nested)
        if not choice.maintain:
            return False
        ready, since = self._recursion.is_nested, work()
        self._nested = self._recursion.nested()
        if self._nested is not None and not ready:
            self._account.prepared(since)
        if self._nested is None:
            self._account.give_up("rounds are looked at, or have too many rows", None)
            return False
        limit = MOST_ROUNDS if self._epoch.limit is None else self._epoch.limit
        costs, watch = self._recursion.costs, choice.watch

        def maintain() -> None:
            assert self._nested is not None
            self._changes = NestedEpoch(self._nested, self._imports, limit, costs.profile, watch).run()

        try:
            if self._account.goes_on(maintain, self._nested.rollback):
                return True
        except MemoryError:
            self._recursion.forget()
            self._nested = None
            raise
        self._nested = None
        return False

    def next_iteration(self) -> int | None:
        return None if self._anew is None else self._anew.next_round()

    def iterate(self, time: int) -> None:
        assert self._anew is not None
        self._anew.round()

    def changing(self) -> Changing:
        return () if self._anew is None else self._anew.changing()

    def rows(self) -> int:
        return 0 if self._anew is None else sum(store.present for store in self._anew.results().values())

    @property
    def state(self) -> State | None:
        """The state of an evaluation from empty relations."""
        return None if self._anew is None else self._anew.state

    def finish(self) -> dict[str, Batch | None]:
        self._evaluator.iteration = 0
        if self._paths is not None:
            changes = self._taken(self._paths)
        elif self._anew is not None:
            results = self._anew.results()
            rows = sum(store.present for store in results.values())
            self._account.evaluated(rows, self._anew.depths)
            changes = {name: self._recursion.replace(name, each.batch()) for name, each in results.items()}
            self._account.compared(rows)
        else:
            found = self._changes or {}
            changes = {
                name: self._recursion.change(name, found.get(name)) for name in self._recursion.relations
            }
            self._account.maintained()
        self._account.finish()
        return changes

    def _taken(self, found: Found) -> dict[str, Batch | None]:
        """Brings what was found over paths into the relations; gives the changes."""
        changes = self._recursion.take(found)
        if found.whole:
            self._account.evaluated(sum(each.present for each in self._recursion.relations.values()), ())
        else:
            self._account.maintained()
        return changes

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._account.close()
        self._recursion.commit()
        if self._nested is not None:
            self._nested.commit()
        if self._anew is not None:
            self._recursion.evaluated(self._anew.recording, self._anew.done - 2, self._anew.state.joiners)

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._recursion.rollback()
        self._recursion.forget_paths()
        if self._nested is not None:
            self._nested.rollback()


class _Anew:
    """An evaluation from empty relations, round by round."""

    def __init__(self, recursion: RoundsRecursion, imports: Mapping[int, Imported], recording: bool) -> None:
        self._recursion, self._imports = recursion, imports
        self._evaluator, self._circuit = recursion.evaluator, recursion.circuit
        given = {import_name(node): imported.store for node, imported in imports.items()}
        self._state = State(self._circuit, self._evaluator.values, given, self._evaluator, recursion.fed_back)
        self.recording = recursion.recording() if recording else None
        self.done = 0  # rounds
        self.depths: list[tuple[int, int]] = []  # rounds, and the rows that changed in each
        self._pending: dict[str, Batch] = {}  # the changes of the last round
        self._checkpoint: Checkpoint | None = None

    @property
    def state(self) -> State:
        """The state of the evaluation."""
        return self._state

    def begin(self) -> None:
        """The first round."""
        self._run(range(len(self._circuit.nodes)))

    def next_round(self) -> int | None:
        """The number of the last round, if it changed something."""
        return self.done - 1 if self._pending else None

    def round(self) -> None:
        """The next round."""
        reached = set[NodeId]().union(
            *(self._recursion.downstream.get(name, set()) for name in self._pending)
        )
        self.depths.append((self.done, sum(change.length for change in self._pending.values())))
        self._run(reached)
        self._look_for_repetition()

    def _run(self, nodes: Iterable[NodeId]) -> None:
        """One round: the nodes from the changes of the round before."""
        self._evaluator.iteration = self.done
        operators = _Round(
            self._state, self._imports, self._pending, self.done, self.recording, self._recursion.fed_back
        )
        outputs = walk(self._circuit, operators, self._recursion.in_order(nodes))
        operators.commit()
        self._pending = {
            name: change for name, change in outputs.items() if change is not None and change.length
        }
        self.done += 1

    def _look_for_repetition(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.add(self._pending)
            if self._pending and not self._checkpoint.differs():
                moved = [(name, row, 0) for name, row, _ in self._some(self._checkpoint.moved())]
                raise Repetition(self.done - self._checkpoint.at, list(self._recursion.schemas), moved)
        if is_checkpoint(self.done):
            self._checkpoint = Checkpoint(self.done)

    def changing(self) -> Changing:
        """Some rows of the changes of the last round."""
        return self._some(self._pending)

    def _some(self, changes: Mapping[str, Batch]) -> Changing:
        return some_changes(self._evaluator.values, self._recursion.schemas, changes)

    def results(self) -> dict[str, Store]:
        """The relations."""
        return {name: self._state.own_store(at) for name, at in self._recursion.node.results}


class _Round(EpochOperators):
    """An epoch of the body. The stores of the imports are those outside, which no round changes."""

    def __init__(
        self,
        state: State,
        imports: Mapping[int, Imported],
        changes: Mapping[str, Batch],
        number: int,
        recording: Recording | None,
        fed_back: Mapping[NodeId, NodeId],
    ) -> None:
        super().__init__(state, Epoch({}, number))
        self._imports = {import_name(node): imported for node, imported in imports.items()}
        self._changes, self._recording, self._fed_back = changes, recording, fed_back

    def keep(self, at: int, change: Batch | None) -> None:
        super().keep(at, change)
        if self._recording is not None and change is not None and change.length:
            self._recording.note(at, self.epoch.number, change)

    def input(self, at: int, node: Input) -> Batch | None:
        if node.relation in self._imports:
            return self._imports[node.relation].store.batch() if self.epoch.first else None
        change = self._changes.get(node.relation)
        if change is None:
            return None
        if at in self._fed_back:
            return change  # the store has it since the node was visited
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
