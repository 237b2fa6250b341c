"""The state of a loop in process: the relations of one Loop node, and the timelines of its operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..circuit import DeltaGroup, Distinct, Earlier, Group, Import, Join, Loop, NodeId, Result
from ..loopparts import Gate, LoopParts
from ..rules import schemas_of
from .batch import Batch, concat, consolidate
from .join import Joiner
from .looptimeline import LoopGroup, LoopTimeline
from .steps import Evaluator
from .store import Store
from .sweeping import Marks
from .timeline import Timeline, forget_ghosts, mark

_MOST_BATCHES = 8  # of one time that are not made one


class GateState:
    """What a Gate has seen: the changes of its source by time, and the times at which flags come and go."""

    def __init__(self, arity: int) -> None:
        self._arity = arity
        self.batches: dict[int, list[Batch]] = {}
        self.flags: dict[int, int] = {}
        self._log: list[tuple[int, int]] = []  # times, and changes of the flag: 0 for a batch

    def add(self, time: int, batch: Batch) -> None:
        """Adds a change of the source."""
        self.batches.setdefault(time, []).append(batch)
        self._log.append((time, 0))

    def add_flag(self, time: int, change: int) -> None:
        """Adds a change of the flag."""
        self.flags[time] = self.flags.get(time, 0) + change
        self._log.append((time, change))

    def commit(self) -> None:
        """The epoch's changes stay."""
        for time in {time for time, change in self._log if not change}:
            held = self.batches[time]
            if len(held) > _MOST_BATCHES:
                whole = consolidate(concat(held, self._arity))
                self.batches[time] = [whole] if whole.length else []
        self.flags = {time: weight for time, weight in self.flags.items() if weight}
        self._log.clear()

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        for time, change in reversed(self._log):
            if change:
                self.flags[time] -= change
            else:
                self.batches[time].pop()
        self._log.clear()


class LoopState:
    """The timelines of one loop, of all epochs so far."""

    def __init__(self, parts: LoopParts, evaluator: Evaluator) -> None:
        self.parts = parts
        self.timelines: dict[int, LoopTimeline] = {}  # of parts that are looked up
        self.sums: dict[int, LoopTimeline] = {}  # of the sources of distincts, by distinct
        self.told: dict[int, LoopTimeline] = {}  # of what distincts and groups tell
        self.groups: dict[int, LoopGroup] = {}
        self.gates: dict[int, GateState] = {}
        self.joiners: dict[NodeId, Joiner] = {}
        self.named = [0] * len(parts.scopes)  # the last round that an Admit has named, by scope
        lattice, every = parts.lattice, parts.parts
        looked_up = _looked_up(parts)
        for at, part in enumerate(every):
            node = part.node
            if isinstance(node, Distinct) and not is_set(parts, part.sources[0]):
                self.sums[at] = LoopTimeline(node.schema, lattice)
                self.told[at] = LoopTimeline(node.schema, lattice, self.sums[at].table)
            elif isinstance(node, Group):
                self.told[at] = LoopTimeline(node.schema, lattice)
            elif isinstance(node, Gate):
                self.gates[at] = GateState(len(node.schema))
            elif isinstance(node, Join):
                schemas = [every[source].node.schema for source in part.sources]
                self.joiners[at] = Joiner(node, schemas, evaluator, lattice.join)
            if at in looked_up:
                self.timelines[at] = self.told.get(at) or LoopTimeline(node.schema, lattice)
        for at, part in enumerate(every):
            node = part.node
            if isinstance(node, Group):
                source = self.timelines[part.sources[0]]
                group = DeltaGroup(
                    node.source, node.source, node.keys, node.aggregates, node.schema, node.text
                )
                self.groups[at] = LoopGroup(group, source, self.told[at], 0, evaluator.values)

    def all_timelines(self) -> list[LoopTimeline]:
        """The timelines, each once."""
        every = (*self.timelines.values(), *self.told.values(), *self.sums.values())
        return list({id(timeline): timeline for timeline in every}.values())

    def _by_table(self) -> Iterable[list[Timeline]]:
        sharing: dict[int, list[Timeline]] = {}
        for timeline in self.all_timelines():
            sharing.setdefault(id(timeline.table), []).append(timeline)
        return sharing.values()

    def commit(self) -> None:
        """The epoch's changes stay."""
        for timeline in self.all_timelines():
            timeline.commit()
        for sharing in self._by_table():
            forget_ghosts(sharing)
        for gate in self.gates.values():
            gate.commit()

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        for timeline in self.all_timelines():
            timeline.rollback()
        for gate in self.gates.values():
            gate.rollback()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the state."""
        for sharing in self._by_table():
            mark(sharing, marks)
        for at, gate in self.gates.items():
            for batches in gate.batches.values():
                for batch in batches:
                    marks.columns(self.parts.parts[at].node.schema, batch.columns)


def _looked_up(parts: LoopParts) -> set[int]:
    """The parts whose timelines joins and groups look up. Imports are looked up outside."""
    found: set[int] = set()
    for part in parts.parts:
        if isinstance(part.node, Group) or (isinstance(part.node, Join) and len(part.sources) > 1):
            found.update(part.sources)
    groups = {part.sources[0] for part in parts.parts if isinstance(part.node, Group)}
    imports = set(parts.imports.values())
    return (found - imports) | groups


def is_set(parts: LoopParts, at: int) -> bool:
    """Whether the values of a part are sets at all times: a distinct of it does nothing."""
    node = parts.parts[at].node
    if isinstance(node, Result | Earlier | Gate):
        return is_set_source(parts, at)
    return isinstance(node, Distinct | Group)


def is_set_source(parts: LoopParts, at: int) -> bool:
    """The same of a part that passes on what its source is."""
    node = parts.parts[parts.parts[at].sources[0]].node
    return isinstance(node, Distinct | Group)


class LoopRecursion:
    """The relations of one Loop node as of the last commit, and its timelines."""

    def __init__(self, node: Loop, evaluator: Evaluator) -> None:
        self.node, self.evaluator = node, evaluator
        self.schemas = schemas_of(node)
        self.relations = {head: Store(schema, is_set=True) for head, schema in self.schemas.items()}
        self.parts = LoopParts(node)
        self.state: LoopState | None = None

    def joiners(self) -> list[Mapping[NodeId, Joiner]]:
        """The joins of the timelines."""
        return [] if self.state is None else [self.state.joiners]

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
            return f"{part.node.relation}-{part.node.rounds}"
        return (
            self.part_name(part.sources[0], names) if isinstance(part.node, Gate | Result) else "(internal)"
        )

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the timelines."""
        if self.state is not None:
            self.state.mark(marks)

    def replace(self, relation: str, contents: Batch) -> Batch | None:
        """Makes these rows the contents of a relation; gives the change."""
        store = self.relations[relation]
        if not store.present:
            return self.change(relation, contents)
        return self.change(
            relation, consolidate(concat([contents, store.batch().negated()], len(store.schema)))
        )

    def change(self, relation: str, change: Batch | None) -> Batch | None:
        """Adds a change to the contents of a relation; gives it."""
        if change is None or not change.length:
            return None
        store = self.relations[relation]
        if not store.present and change.weights is None:
            return store.add_present(change)
        return store.add_counted(change, as_set=True)

    def commit(self) -> None:
        """The epoch's changes stay."""
        for store in self.relations.values():
            store.commit()

    def rollback(self) -> None:
        """Takes the epoch back."""
        for store in self.relations.values():
            store.rollback()
