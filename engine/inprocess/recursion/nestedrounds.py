"""A recursion by rounds in nested time: an epoch costs in proportion to what it changes.

The state is a timeline for each node of the rounds that a join, a *distinct* or a group has to look up (see
`engine.nestedtime`). It is made of the changes that one evaluation from empty relations had, round by round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ...circuit import (
    Circuit,
    Clocked,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Input,
    Inspect,
    Join,
    Negate,
    Node,
    NodeId,
    Output,
    Sum,
)
from ...maintaining import GivenUp, Profile, Watch
from ...rounds import import_name
from ...schedule import Nested, downstream, readers, walk
from ...schema import Array
from ...versions import Seen, versions
from ..arrangements.timeline import Timeline, TimelineBeforeView, TimelineView, forget_ghosts, mark
from ..arrangements.views import StoreView, View, before, meets_nothing
from ..groups.roundgroup import RoundGroup
from ..joins.join import Joiner
from ..storage.batch import Batch, concat, consolidate
from ..storage.marks import Marks
from ..storage.steps import Evaluator
from .memories import Imported

Recorded: TypeAlias = Mapping[NodeId, Sequence[tuple[int, Batch]]]
"""The changes of nodes in an evaluation, by round."""

_FEW_ROUNDS = 16
_LONGER = 4  # times as many rounds as before, and some, that an epoch may come to


def nests(circuit: Circuit) -> bool:
    """Whether rounds can be maintained in nested time: nobody inspects them one by one."""
    joins = (node for node in circuit.nodes if isinstance(node, Join | DeltaJoin))
    return not any(isinstance(step, Inspect) for join in joins for step in join.steps)


def recorded_nodes(circuit: Circuit, imported: set[str]) -> set[NodeId]:
    """The nodes whose changes make up the state."""
    shared = _told_to(circuit)
    looked_up = {at for at in _looked_up(circuit, imported) if at not in shared}
    sums = {
        node.source
        for at, node in enumerate(circuit.nodes)
        if isinstance(node, DeltaDistinct) and not _is_set(circuit, node.source)
    }
    groups = {at for at, node in enumerate(circuit.nodes) if isinstance(node, DeltaGroup)}
    return looked_up | sums | groups | _only_grouped(circuit, imported)


def _only_grouped(circuit: Circuit, imported: set[str]) -> set[NodeId]:
    """The sources of groups whose timelines nothing looks up."""
    sources = {node.source for node in circuit.nodes if isinstance(node, DeltaGroup)}
    return sources - _looked_up(circuit, imported)


def _looked_up(circuit: Circuit, imported: set[str]) -> set[NodeId]:
    """The nodes whose timelines joins and groups look up. Joins look imports up outside."""
    found: set[NodeId] = set()
    for node in circuit.nodes:
        if isinstance(node, DeltaJoin):
            sources = {term.source for term in node.terms}
            found |= {s for s in sources if not _is_import(circuit, s, imported)}
        elif isinstance(node, DeltaGroup) and node.reads_members:
            found.add(node.source)
    return found


def _is_import(circuit: Circuit, at: NodeId, imported: set[str]) -> bool:
    node = circuit.nodes[at]
    return isinstance(node, Input) and node.relation in imported


def _is_set(circuit: Circuit, at: NodeId) -> bool:
    """Whether the changes of a node are those of a set: a distinct of it does nothing."""
    return isinstance(circuit.nodes[at], DeltaDistinct | DeltaGroup)


def _told_to(circuit: Circuit) -> dict[NodeId, NodeId]:
    """For each variable the node that tells the rounds what its value is in the next one: a group, or a
    distinct of what is not a set."""
    nodes = circuit.nodes
    results = {node.relation: node.source for node in nodes if isinstance(node, Output)}
    found: dict[NodeId, NodeId] = {}
    for at, node in enumerate(nodes):
        if isinstance(node, Input) and node.relation in results:
            teller = results[node.relation]
            while isinstance(each := nodes[teller], DeltaDistinct) and _is_set(circuit, each.source):
                teller = each.source
            found[at] = teller
    return found


class NestedRounds:
    """The timelines of the nodes of a recursion by rounds."""

    def __init__(
        self, circuit: Circuit, imported: set[str], evaluator: Evaluator, recorded: Recorded, last: int
    ) -> None:
        """`recorded` is what an evaluation told of `recorded_nodes`, and `last` its last round."""
        self.circuit, self.evaluator, self.last = circuit, evaluator, last
        nodes = circuit.nodes
        self.timelines: dict[NodeId, Timeline] = {}  # of the nodes that are looked up
        self.sums: dict[NodeId, Timeline] = {}  # of the sources of distincts, by distinct
        self.told: dict[NodeId, Timeline] = {}  # of what distincts and groups tell
        self.groups: dict[NodeId, RoundGroup] = {}
        self.joiners: dict[NodeId, Joiner] = {}
        looked_up = _looked_up(circuit, imported)
        self.shared = {at: teller for at, teller in _told_to(circuit).items() if at in looked_up}
        self.late = set(self.shared.values())  # what they tell is that of the variable, a round later
        for at, node in enumerate(nodes):
            if isinstance(node, DeltaDistinct) and not _is_set(circuit, node.source):
                self.sums[at] = Timeline(node.schema).load(recorded.get(node.source, ()))
                self.told[at] = self.sums[at].distinct(self.shift(at))
            elif isinstance(node, DeltaGroup):
                self.told[at] = Timeline(node.schema).load(recorded.get(at, ()), self.shift(at))
            if at in self.told and not self.shift(at):
                self.timelines[at] = self.told[at]
            elif at in looked_up and at not in self.shared:
                self.timelines[at] = Timeline(node.schema).load(recorded.get(at, ()))
            if isinstance(node, Join | DeltaJoin):
                self.joiners[at] = Joiner(node, [nodes[term.source].schema for term in node.terms], evaluator)
        self.timelines |= {at: self.told[teller] for at, teller in self.shared.items()}
        for at, node in enumerate(nodes):
            if isinstance(node, DeltaGroup):
                source = self.timelines.get(node.source)
                group = RoundGroup(
                    node, nodes[node.source].schema, source, self.told[at], self.shift(at), evaluator.values
                )
                self.groups[at] = group.load(recorded.get(node.source, ()))
        read_by = readers(circuit)
        self.downstream = {at: sorted(downstream(read_by, at)) for at in range(len(nodes))}
        self.inputs = {node.relation: at for at, node in enumerate(nodes) if isinstance(node, Input)}
        self._last = last  # as of the last commit
        self.commit()

    def shift(self, at: NodeId) -> int:
        """The number of rounds that the timeline of what a node tells is late."""
        return int(at in self.late)

    def all_timelines(self) -> list[Timeline]:
        """The timelines of all nodes, each once."""
        groups = (group.groups for group in self.groups.values())
        every = (*self.timelines.values(), *self.told.values(), *self.sums.values(), *groups)
        return list({id(timeline): timeline for timeline in every}.values())

    def commit(self) -> None:
        """The epoch's changes stay."""
        self._last = self.last
        for group in self.groups.values():
            group.commit()
        for timeline in self.all_timelines():
            timeline.commit()
        for sharing in self._by_table():
            forget_ghosts(sharing)

    def _by_table(self) -> Iterable[list[Timeline]]:
        sharing: dict[int, list[Timeline]] = {}
        for timeline in self.all_timelines():
            sharing.setdefault(id(timeline.table), []).append(timeline)
        return sharing.values()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in the timelines."""
        for sharing in self._by_table():
            mark(sharing, marks)

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        self.last = self._last
        for group in self.groups.values():
            group.rollback()
        for timeline in self.all_timelines():
            timeline.rollback()


class NestedEpoch:
    """One epoch in nested time: all rounds in which something is to be visited, in order. See
    `schedule.Operators`."""

    def __init__(
        self,
        state: NestedRounds,
        imports: Mapping[int, Imported],
        most: int,
        profile: Profile,
        watch: Watch,
    ) -> None:
        """`most` is the greatest number of rounds that the recursion may take, `profile` that of its last
        evaluation from empty relations."""
        self._profile, self._watch = profile, watch
        self.state, self.circuit = state, state.circuit
        self._most = min(most, _LONGER * (state.last + _FEW_ROUNDS))
        self._imports = {import_name(node): imported for node, imported in imports.items()}
        self._time = 0
        self._changes: dict[str, Batch] = {}  # of the variables, in this round
        self._later: dict[int, dict[NodeId, list[Batch]]] = {}  # what joins give in later rounds
        self._visits: dict[int, dict[NodeId, list[Array]]] = {}  # rows of distincts, and groups
        self._ahead: list[tuple[Timeline, Array, Array]] = []  # what was told for the next round

    def run(self) -> dict[str, Batch]:
        """The net changes of the relations. Raises GivenUp where evaluating anew is as good, or may be needed
        to tell how the recursion ends; RowFault, too, may be one that evaluating anew does not have."""
        found: dict[str, list[Batch]] = {}
        started: set[NodeId] = {
            self.state.inputs[name]
            for name, imported in self._imports.items()
            if imported.change is not None and imported.change.length
        }
        time: int | None = 0
        while time is not None:
            self._time = self.state.evaluator.iteration = time
            self._watch.reached = self._profile.reached(time)
            self._watch.look()
            outputs = self._round(started)
            if not time:
                self._watch.seeded()
            self._changes = {}
            for name, change in outputs.items():
                if change is not None and change.length:
                    found.setdefault(name, []).append(change)
                    self._changes[name] = change
                    self.state.last = max(self.state.last, time)
            if self.state.last >= self._most:
                raise GivenUp
            started = {self.state.inputs[name] for name in self._changes if name in self.state.inputs}
            waiting = [*self._later, *self._visits, *([time + 1] if started else [])]
            time = min(waiting, default=None)
        return {name: consolidate(concat(parts, len(parts[0].columns))) for name, parts in found.items()}

    def _round(self, started: set[NodeId]) -> dict[str, Batch | None]:
        starts = started | self._later.get(self._time, {}).keys() | self._visits.get(self._time, {}).keys()
        reached: set[NodeId] = set()
        for at in starts:
            reached.update(self.state.downstream[at])
        outputs = walk(self.circuit, self, sorted(reached))
        self._later.pop(self._time, None)
        self._visits.pop(self._time, None)
        for timeline, rows, change in self._ahead:
            timeline.add_rows(rows, change, self._time + 1)
        self._ahead.clear()
        return outputs

    # ------------------------------------------------------------- operators

    def nothing(self) -> None:
        """No change."""

    def input(self, at: int, node: Input) -> Batch | None:
        if node.relation in self._imports:
            return None if self._time else self._imports[node.relation].change
        return self._changes.get(node.relation)

    def constant(self, at: int, node: Constant) -> Batch | None:
        return None

    def sum(self, at: int, node: Sum, changes: Sequence[Batch | None]) -> Batch | None:
        some = [change for change in changes if change is not None]
        return concat(some, len(node.schema)) if some else None

    def negate(self, at: int, node: Negate, change: Batch | None) -> Batch | None:
        return None if change is None else change.negated()

    def timed(self, at: int, node: Node, change: Batch | None) -> Batch | None:
        raise TypeError("a window stands inside a recursion")

    def join(self, at: int, node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> Batch | None:
        found = self._later.get(self._time, {}).pop(at, [])
        sizes = [0 if change is None else change.length for change in changes]
        for start, seen in versions(node.terms, sizes, False):
            views = self._views(node, start, seen, changes)
            if start is not None and not meets_nothing(node.terms, views):
                change = changes[start]
                assert change is not None
                times = None if len(views) == 1 else np.full(change.length, self._time, np.int64)
                timed = Batch(change.columns, change.length, change.weights, times)
                for derived in self.state.joiners[at].run(start, timed, views):
                    self._watch.look()
                    found += self._now(at, derived)
        return concat(found, len(node.schema)) if found else None

    def _now(self, at: int, derived: Batch) -> list[Batch]:
        """The part of a join's rows that belongs to this round; the rest waits for its rounds."""
        times = derived.times
        plain = Batch(derived.columns, derived.length, derived.weights)
        if times is None or not derived.length or int(times.max()) == self._time:
            return [plain]
        order = np.argsort(times, kind="stable")
        cuts = np.flatnonzero(np.diff(times[order])) + 1
        for rows in np.split(order, cuts):
            later = self._later.setdefault(int(times[rows[0]]), {})
            later.setdefault(at, []).append(plain.take(rows))
        return self._later.get(self._time, {}).pop(at, [])

    def _views(
        self, node: Join | DeltaJoin, start: int | None, seen: Seen, changes: Sequence[Batch | None]
    ) -> list[View | None]:
        views: list[View | None] = []
        for k, term in enumerate(node.terms):
            change = None if seen[k] else changes[k]
            views.append(None if k == start else self._view(term.source, change))
        return views

    def _view(self, source: NodeId, unseen: Batch | None) -> View:
        node = self.circuit.nodes[source]
        if isinstance(node, Input) and node.relation in self._imports:
            store, weighted, _ = self._imports[node.relation]
            return StoreView(store, weighted) if unseen is None else before(store, weighted, unseen)
        timeline = self.state.timelines[source]
        if unseen is None:
            return TimelineView(timeline, self._time)
        return TimelineBeforeView(timeline, self._time, unseen)

    def distinct(self, at: int, node: DeltaDistinct, change: Batch | None) -> Batch | None:
        if at not in self.state.sums:
            return change
        sums = self.state.sums[at]
        visited = self._visits.get(self._time, {}).pop(at, [])
        if change is not None and change.length:
            visited.append(sums.add(change, self._time))
        if not visited:
            return None
        rows = np.unique(np.concatenate(visited))
        self._watch.look()
        told, shift = self.state.told[at], self.state.shift(at)
        missing, weights, later, times = sums.missing_presence(told, rows, self._time, shift)
        self._visit(at, later, times)
        return self._tell(at, missing, weights)

    def _tell(self, at: NodeId, rows: Array, change: Array) -> Batch | None:
        """Gives rows of the table of what a node told, with their changes, and notes that they are told."""
        if not len(rows):
            return None
        told = self.state.told[at]
        if at in self.state.late:
            self._ahead.append((told, rows, change))
        else:
            told.add_rows(rows, change, self._time)
        return Batch(told.table.columns_at(rows), len(rows), change)

    def group(self, at: int, node: DeltaGroup, change: Batch | None) -> Batch | None:
        group = self.state.groups[at]
        visited = self._visits.get(self._time, {}).pop(at, [])
        if change is not None and change.length:
            visited.append(group.change(change, self._time))
        if not visited:
            return None
        visit = group.visit(np.unique(np.concatenate(visited)), self._time)
        self._watch.look()
        self._visit(at, visit.again, visit.times)
        return self._tell(at, visit.missing, visit.change)

    def _visit(self, at: NodeId, items: Array, times: Array) -> None:
        """Notes that rows or groups are to be visited in later rounds."""
        if not len(items):
            return
        order = np.argsort(times, kind="stable")
        cuts = np.flatnonzero(np.diff(times[order])) + 1
        for some in np.split(order, cuts):
            visits = self._visits.setdefault(int(times[some[0]]), {})
            visits.setdefault(at, []).append(items[some])

    def clocked(self, at: int, node: Clocked, change: Batch | None) -> Batch | None:
        raise TypeError("a delay stands inside a recursion")

    def recursion(self, at: int, node: Fixpoint, changes: Mapping[int, Batch | None]) -> Nested[Batch | None]:
        raise TypeError("a recursion stands inside a recursion")

    def lengths(self, changes: Iterable[Batch | None]) -> list[float]:
        return [0 if change is None else change.length for change in changes]

    def keep(self, at: int, change: Batch | None) -> None:
        state, timeline = self.state, self.state.timelines.get(at)
        if timeline is None or change is None or at in state.shared or timeline is state.told.get(at):
            return
        if change.length:
            timeline.add(change, self._time)
