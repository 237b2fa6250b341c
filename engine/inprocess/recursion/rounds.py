"""The state of a recursion by rounds in process: the relations of one Rounds node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...circuit import Circuit, Input, NodeId, Output, Rounds
from ...maintaining import Costs, Maintaining
from ...paths import path_plan
from ...rounds import fed_back, import_name, round_circuit
from ...rules import schemas_of
from ...schedule import downstream, readers
from ..arrangements.store import Store
from ..arrangements.timeline import Timeline
from ..joins.join import Joiner
from ..storage.batch import Batch, concat, consolidate
from ..storage.marks import Marks
from ..storage.steps import Evaluator
from .nestedrounds import NestedRounds, nests, recorded_nodes
from .paths import Found, Paths


class Recording:
    """The changes that an evaluation had, round by round, at the nodes whose timelines it takes to maintain
    it; of no more than some rows."""

    def __init__(self, nodes: set[NodeId], room: int) -> None:
        self._nodes, self._room = nodes, room
        self._changes: dict[NodeId, list[tuple[int, Batch]]] = {}

    def note(self, at: NodeId, time: int, change: Batch) -> None:
        """Notes the change of a node in a round."""
        if at in self._nodes and self._room >= 0:
            self._room -= change.length
            self._changes.setdefault(at, []).append((time, change))
            if self._room < 0:
                self._changes.clear()

    def mark(self, marks: Marks, circuit: Circuit) -> None:
        """Marks the ids in the changes."""
        for at, changes in self._changes.items():
            for _, change in changes:
                marks.columns(circuit.nodes[at].schema, change.columns)

    def batches(self) -> list[Batch]:
        """The changes."""
        return [change for changes in self._changes.values() for _, change in changes]

    def taken(self) -> Mapping[NodeId, list[tuple[int, Batch]]] | None:
        """The changes, which are forgotten here. None: there were too many."""
        changes, self._changes = self._changes, {}
        return changes if self._room >= 0 else None


class RoundsRecursion:
    """The relations of one Rounds node, as of the last commit, and the circuit of its rounds. The last
    evaluation from empty relations left a recording, of which the first epoch that needs it makes
    timelines. A recursion over paths has `paths` instead, unless the values at hand need rounds."""

    def __init__(
        self,
        node: Rounds,
        weighted: Callable[[NodeId], bool],
        evaluator: Evaluator,
        maintaining: Maintaining,
        read: Callable[[str], bool] = lambda relation: True,
    ) -> None:
        """`weighted` says of which imported nodes the rows have weights, `read` which relations are read
        outside."""
        self.node, self.evaluator, self.maintaining = node, evaluator, maintaining
        self.costs = Costs(going=_NESTED, coming=_NESTED)
        self.circuit = round_circuit(node, weighted)
        self.schemas = schemas_of(node)
        self.relations = {head: Store(schema, is_set=True) for head, schema in self.schemas.items()}
        read_by = readers(self.circuit)
        self.downstream = {
            each.relation: downstream(read_by, at)
            for at, each in enumerate(self.circuit.nodes)
            if isinstance(each, Input)
        }
        self.fed_back = fed_back(self.circuit)
        last = set(self.fed_back.values())
        outputs = {at for at, each in enumerate(self.circuit.nodes) if isinstance(each, Output)}
        self._order = [(at in outputs, at in last, at) for at in range(len(self.circuit.nodes))]
        self._imported = {import_name(at) for at in node.reads()}
        self._nests = nests(self.circuit)
        self._recorded: tuple[Recording, int] | None = None
        self._nested: NestedRounds | None = None
        self._joiners: Mapping[NodeId, Joiner] = {}
        plan = path_plan(node, weighted)
        self.paths: Paths | None = None
        if plan is not None and (plan.offer_places is not None or not read(plan.offers)):
            self.paths = Paths(plan, read(plan.offers))

    def in_order(self, nodes: Iterable[NodeId]) -> list[NodeId]:
        """The nodes in the order in which a round visits them: those that share their stores with variables
        last, when no other node reads the variables any more."""
        return sorted(nodes, key=self._order.__getitem__)

    def recording(self) -> Recording | None:
        """A place for the changes of an evaluation. None: the rounds are always evaluated from empty
        relations."""
        return (
            Recording(recorded_nodes(self.circuit, self._imported), _MOST_RECORDED) if self._nests else None
        )

    def evaluated(self, recording: Recording | None, last: int, joiners: Mapping[NodeId, Joiner]) -> None:
        """An evaluation with these joins is committed, whose last round with changes was `last`."""
        self._joiners = joiners
        self._nested, self._recorded = None, None if recording is None else (recording, last)

    def joiners(self) -> list[Mapping[NodeId, Joiner]]:
        """The joins of the last evaluation, and those of the timelines, if there are any."""
        return [self._joiners] if self._nested is None else [self._joiners, self._nested.joiners]

    @property
    def is_nested(self) -> bool:
        """Whether there are timelines."""
        return self._nested is not None

    def nested(self) -> NestedRounds | None:
        """The timelines, if there are any: made of the recording by the first call."""
        if self._recorded is not None:
            (recording, last), self._recorded = self._recorded, None
            changes = recording.taken()
            if changes is not None:
                self._nested = NestedRounds(self.circuit, self._imported, self.evaluator, changes, last)
        return self._nested

    @property
    def recorded(self) -> list[Batch]:
        """The changes that wait to become timelines."""
        return [] if self._recorded is None else self._recorded[0].batches()

    def timelines(self) -> list[Timeline]:
        """The timelines, if there are any."""
        return [] if self._nested is None else self._nested.all_timelines()

    def forget(self) -> None:
        """Forgets the timelines, which may be half changed: the next epoch evaluates from empty relations."""
        self._nested = self._recorded = None

    def forget_paths(self, unsuitable: bool = False) -> None:
        """Forgets the paths, which may be half changed. `unsuitable`: from now on there are rounds."""
        if self.paths is not None:
            self.paths.forget()
        if unsuitable:
            self.paths = None

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the recording, or in the timelines."""
        if self._recorded is not None:
            self._recorded[0].mark(marks, self.circuit)
        if self._nested is not None:
            self._nested.mark(marks)
        if self.paths is not None:
            self.paths.mark_ids(marks)

    def replace(self, relation: str, contents: Batch) -> Batch | None:
        """Makes these rows the contents of a relation; gives the change."""
        store = self.relations[relation]
        if not store.present:
            return store.add_present(contents) if contents.length else None
        change = consolidate(concat([contents, store.batch().negated()], len(store.schema)))
        return store.add_counted(change, as_set=True) if change.length else None

    def change(self, relation: str, change: Batch | None) -> Batch | None:
        """Adds a change to the contents of a relation; gives it."""
        if change is None or not change.length:
            return None
        return self.relations[relation].add_counted(change, as_set=True)

    def take(self, found: Found) -> dict[str, Batch | None]:
        """Adds what an epoch over paths found to the contents of the relations; gives the changes."""
        assert self.paths is not None
        changes: dict[str, Batch | None] = dict.fromkeys(self.relations)
        new = {self.paths.plan.best: found.best, self.paths.plan.offers: found.offers}
        for name, batch in new.items():
            if batch is not None:
                changes[name] = self.replace(name, batch) if found.whole else self.change(name, batch)
        return changes

    def commit(self) -> None:
        """The epoch's changes stay."""
        for store in self.relations.values():
            store.commit()

    def rollback(self) -> None:
        """Takes the epoch back."""
        for store in self.relations.values():
            store.rollback()


_MOST_RECORDED = 1 << 26  # rows
_NESTED = 4.0  # times dearer that a row is in nested time, where nothing was measured
