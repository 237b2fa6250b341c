"""The state of a loop in process: the relations of a Loop, or of a Fixpoint that is not monotone, and what it
takes to maintain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ... import thresholds
from ...circuit import Earlier, Fixpoint, FixpointResult, Import, Join, Loop, NodeId
from ...loopparts import Gate, LoopParts
from ...maintenance import Costs, Maintaining
from ...operators.steps import has_effect
from ...paths import path_plan
from ...rules import schemas_of
from ...schedule import phase_of
from ..arrangements.store import Store
from ..joins.join import Joiner
from ..storage.batch import Batch, concat, consolidate
from ..storage.marks import Marks
from ..storage.steps import Evaluator
from .loopdivergence import no_reach
from .looprecording import LoopRecording
from .looptimelines import LoopTimelines
from .paths import FoundPaths, Paths


class LoopRecursion:
    """The relations of one Loop or Fixpoint as of the last commit. The last evaluation from empty relations
    left a recording, of which the first epoch that needs it makes timelines. A recursion over paths has
    `paths` instead, unless the values at hand need rounds."""

    def __init__(
        self,
        node: Fixpoint,
        weighted: Callable[[NodeId], bool],
        evaluator: Evaluator,
        maintaining: Maintaining,
        read: Callable[[str], bool],
    ) -> None:
        """`weighted` says of which imported nodes the rows have weights, `read` which relations are read
        outside: no others are kept here."""
        self.node, self.evaluator, self.maintaining = node, evaluator, maintaining
        self.costs = Costs(going=thresholds.LOOP_DEARER, coming=thresholds.LOOP_DEARER)
        self.schemas = {name: schema for name, schema in schemas_of(node).items() if read(name)}
        self.relations = {head: Store(schema, is_set=True) for head, schema in self.schemas.items()}
        self.parts = LoopParts(node)
        self.reach = no_reach(self.parts)
        self.evaluations = 0  # since there were timelines
        steps = (each for part in self.parts.parts if isinstance(part.node, Join) for each in part.node.steps)
        self.has_effects = any(map(has_effect, steps))
        self._recording: LoopRecording | None = None
        self._timelines: LoopTimelines | None = None
        self._joiners: Mapping[NodeId, Joiner] = {}
        self.phase = f"loop {node.name}" if isinstance(node, Loop) else phase_of(node)
        plan = None if isinstance(node, Loop) else path_plan(node, weighted)
        self.paths: Paths | None = None
        if plan is not None and (plan.offer_places is not None or not read(plan.offers)):
            self.paths = Paths(plan, self.relations.get(plan.offers))

    @property
    def is_ready(self) -> bool:
        """Whether there are timelines."""
        return self._timelines is not None

    def timelines(self) -> LoopTimelines | None:
        """The timelines: made of the recording by the first call. None: there is neither."""
        recording, self._recording = self._recording, None
        if recording is not None and recording.complete:
            timelines = LoopTimelines(self.parts, self.evaluator)
            timelines.load(recording)
            self._timelines, self.evaluations = timelines, 0
        return self._timelines

    def evaluated(self, recording: LoopRecording | None, joiners: Mapping[NodeId, Joiner]) -> None:
        """An evaluation from empty relations, with these joins, is committed."""
        self._timelines, self._recording, self._joiners = None, recording, joiners
        self.evaluations += 1

    def forget(self) -> None:
        """Forgets the timelines, which may be half changed."""
        self._timelines = self._recording = None

    @property
    def kept(self) -> LoopTimelines | None:
        """The timelines, if there are any."""
        return self._timelines

    @property
    def recording(self) -> LoopRecording | None:
        """The changes that wait to become timelines."""
        return self._recording

    def joiners(self) -> list[Mapping[NodeId, Joiner]]:
        """The joins of the last evaluation, and those of the timelines."""
        return [self._joiners] if self._timelines is None else [self._joiners, self._timelines.joiners]

    def part_name(self, at: int, names: Mapping[NodeId, str]) -> str:
        """A name for a part, given those of the imports."""
        part = self.parts.parts[at]
        if isinstance(part.node, Import):
            return names[part.node.node]
        for scope in self.parts.scopes:
            for relation, made in scope.results.items():
                if made == at:
                    return relation
        if isinstance(part.node, Earlier):
            is_loop = isinstance(self.parts.scopes[part.scope].node, Loop)
            return f"{part.node.relation}-{part.node.rounds}" if is_loop else part.node.relation
        return (
            self.part_name(part.sources[0], names)
            if isinstance(part.node, Gate | FixpointResult)
            else "(internal)"
        )

    def forget_paths(self, unsuitable: bool = False) -> None:
        """Forgets the paths, which may be half changed. `unsuitable`: from now on there are rounds."""
        if self.paths is not None:
            self.paths.forget()
        if unsuitable:
            self.paths = None

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the recording, in the timelines, or in the paths."""
        if self.paths is not None:
            self.paths.mark_ids(marks)
        if self._recording is not None:
            self._recording.mark(marks)
        if self._timelines is not None:
            self._timelines.mark(marks)

    def replace(self, relation: str, contents: Batch) -> Batch | None:
        """Makes these rows the contents of a relation; gives the change."""
        store = self.relations[relation]
        if not store.present:
            return self.change(relation, contents)
        return self.change(
            relation, consolidate(concat([contents, store.counted().negated()], len(store.schema)))
        )

    def change(self, relation: str, change: Batch | None) -> Batch | None:
        """Adds a change to the contents of a relation; gives it."""
        if change is None or not change.length:
            return None
        store = self.relations[relation]
        if not store.present and change.weights is None:
            return store.add_present(change)
        return store.add_counted(change, as_set=True)

    def take(self, found: FoundPaths) -> dict[str, Batch | None]:
        """Adds the best values that an epoch over paths found to the contents of the relations; gives the
        changes of these. Those of the offers are there."""
        assert self.paths is not None
        best, add = self.paths.plan.best, self.replace if found.whole else self.change
        return {name: add(name, found.best) if name == best else found.offers for name in self.relations}

    def commit(self) -> None:
        """The epoch's changes stay."""
        for store in self.relations.values():
            store.commit()

    def rollback(self) -> None:
        """Takes the epoch back."""
        for store in self.relations.values():
            store.rollback()
