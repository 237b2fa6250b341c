"""The memory of a loop's operators in product time: timelines, sums and gates. See `engine.time`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...circuit import Group, Join, NodeId
from ...loopparts import Gate, LoopParts, counts, delays, is_set, looked_up
from ...schema import Array
from ..arrangements.timeline import Timeline, TimelineBeforeView, TimelineView, forget_ghosts, mark
from ..arrangements.views import View
from ..joins.join import Joiner
from ..kernels import addition
from ..storage.arrays import grow
from ..storage.batch import Batch, concat
from ..storage.marks import Marks
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from .loopgates import GateState
from .looprecording import LoopRecording
from .loopsums import LoopSums, adds_up
from .missing import Missing, TimelineGroup, missing_presence, missing_rows


class EmittedRows(NamedTuple):
    """The rows that a distinct or a group emits at a time, and the keys to visit again, with the times."""

    change: Batch | None
    again: Array
    times: Array


NOTHING = EmittedRows(None, np.empty(0, np.int64), np.empty(0, np.int64))


class LoopTimelines:
    """The timelines of the parts of one loop. Without `components`, those bits of a time, entries are
    summed up over the other components: that is all where none of them is visited again."""

    def __init__(
        self, parts: LoopParts, evaluator: Evaluator, kept: Sequence[bool] | None = None, components: int = -1
    ) -> None:
        """`kept` says for each part whether it has timelines here."""
        self.parts, self._components = parts, components
        self._timelines: dict[int, Timeline] = {}  # of parts that are looked up
        self._sums: dict[int, Timeline] = {}  # of the sources of distincts, by distinct
        self._told: dict[int, Timeline] = {}  # of what distincts and groups tell
        self._members: dict[int, TimelineGroup] = {}
        self._added: dict[int, LoopSums] = {}  # of groups that add up
        self._keys: dict[int, RowTable] = {}  # of the other groups, of one epoch
        self._scratch: Array = np.zeros(0, np.int8)
        self.gates: dict[int, GateState] = {}
        self.joiners: dict[NodeId, Joiner] = {}
        self._make(evaluator, [True] * len(parts.parts) if kept is None else kept)

    def _make(self, evaluator: Evaluator, kept: Sequence[bool]) -> None:
        parts, lattice = self.parts, self.parts.lattice
        every = parts.parts
        added = {at for at, each in enumerate(every) if isinstance(each.node, Group) and self._adds_up(at)}
        asked = looked_up(parts, added)
        for at, part in enumerate(every):
            node = part.node
            if isinstance(node, Gate):
                self.gates[at] = GateState(node, lattice)
            elif isinstance(node, Join):
                schemas = [every[source].node.schema for source in part.sources]
                self.joiners[at] = Joiner(node, schemas, evaluator, lattice.join)
            if not kept[at]:
                continue
            if counts(parts, at):
                self._sums[at] = Timeline(node.schema, lattice)
                self._told[at] = Timeline(node.schema, lattice, self._sums[at].table)
            elif isinstance(node, Group):
                self._told[at] = Timeline(node.schema, lattice)
            if at in asked:
                self._timelines[at] = self._told.get(at) or Timeline(node.schema, lattice)
        for at, told in self._told.items():
            node, source = every[at].node, every[at].sources[0]
            if at in added and isinstance(node, Group):
                self._added[at] = LoopSums(node, every[source].node.schema, lattice, evaluator.values)
            elif isinstance(node, Group):
                self._members[at] = TimelineGroup(node, self._timelines[source], told, evaluator.values)

    def _adds_up(self, at: int) -> bool:
        part = self.parts.parts[at]
        source = part.sources[0]
        assert isinstance(part.node, Group)
        return is_set(self.parts, source) and adds_up(part.node, self.parts.parts[source].node.schema)

    def load(self, recording: LoopRecording) -> None:
        """Adds what an evaluation told, which stays, and takes it out of the recording part by part."""
        delayed = delays(self.parts)
        for told in [*recording.told]:
            changes = recording.told.pop(told)
            if told not in delayed:
                self._load(told, changes)
            for at in [at for at, source in delayed.items() if source == told]:
                self._load(at, self.parts.delayed(at, changes))
        for at in [*recording.asked]:
            self._sums[at].load(recording.asked.pop(at))
        self.gates = recording.gates
        self.commit()

    def _load(self, at: int, changes: Sequence[tuple[int, Batch]]) -> None:
        timeline = self._told.get(at) or self._timelines.get(at)
        if timeline is not None:
            timeline.load(changes)
        for sums in [self._added[reader] for reader, _ in self.parts.readers[at] if reader in self._added]:
            for time, batch in changes:
                sums.add(batch, time)

    # ------------------------------------------------------------- operators

    def view(self, source: int, time: int, unseen: Batch | None) -> View:
        """A part as it is from a time on, without a change at that time if one is given."""
        timeline = self._timelines[source]
        return TimelineView(timeline, time) if unseen is None else TimelineBeforeView(timeline, time, unseen)

    def keep(self, at: int, time: int, change: Batch) -> None:
        """Keeps what a part emits at a time."""
        if at in self._timelines and at not in self._told:
            self._timelines[at].add(change, time & self._components)

    def distinct(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a distinct emits: `visits` are the rows that wait for this time."""
        sums = self._sums[at]
        change = concat(changes, len(sums.schema))
        if change.length:
            visits = [*visits, sums.add(change, time & self._components)]
        if not visits:
            return NOTHING
        rows = self._once(visits, sums.table.size)
        return self._tell(at, time, missing_presence(sums, self._told[at], rows, time))

    def group(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a group emits: `visits` are the keys that wait for this time."""
        node, added = self.parts.parts[at].node, self._added.get(at)
        assert isinstance(node, Group)
        keys = self._keys.setdefault(at, RowTable(node.keys)) if added is None else added.keys
        for change in changes:
            if added is not None:
                visits = [*visits, added.add(change, time & self._components)]
            else:
                visits = [*visits, keys.insert(change.columns[: node.keys], change.length)]
        if not visits:
            return NOTHING
        groups = self._once(visits, keys.size)
        if added is None:
            return self._tell(at, time, self._members[at].missing(keys, groups, time))
        new, left, times = added.look(groups, time)
        columns = keys.columns_at(groups)
        told = self._told[at]
        missing = missing_rows(told, new, columns, time, groups[left], times)
        return self._tell(at, time, missing)

    def _once(self, visits: Sequence[Array], size: int) -> Array:
        """Each number below a size once."""
        if len(visits) == 1 and len(visits[0]) == 1:
            return visits[0]
        grow(self, "_scratch", size, 0)
        found: Array = addition.first_seen(np.concatenate(visits), self._scratch)
        return found

    def _tell(self, at: int, time: int, missing: Missing) -> EmittedRows:
        if not len(missing.rows):
            return EmittedRows(None, missing.again, missing.times)
        told = self._told[at]
        told.add_rows(missing.rows, missing.change, time & self._components)
        columns = told.table.columns_at(missing.rows)
        return EmittedRows(Batch(columns, len(missing.rows), missing.change), missing.again, missing.times)

    # ------------------------------------------------------------- epochs

    def all_timelines(self) -> list[Timeline]:
        """The timelines, each once."""
        every = (*self._timelines.values(), *self._told.values(), *self._sums.values())
        return list({id(timeline): timeline for timeline in every}.values())

    @property
    def sums(self) -> Iterable[LoopSums]:
        """The sums of the groups that add up."""
        return self._added.values()

    def _by_table(self) -> Iterable[list[Timeline]]:
        sharing: dict[int, list[Timeline]] = {}
        for timeline in self.all_timelines():
            sharing.setdefault(id(timeline.table), []).append(timeline)
        return sharing.values()

    def holds(self, at: int) -> bool:
        """Never: the contents are not at hand."""
        return False

    def end_round(self) -> None:
        """Nothing ends with a round of the outermost loop."""

    def settle(self) -> None:
        """The changes so far stay. No visit may wait."""
        self._keys.clear()
        for timeline in self.all_timelines():
            timeline.commit()
        for sums in self._added.values():
            sums.commit()
        for sharing in self._by_table():
            forget_ghosts(sharing)

    def commit(self) -> None:
        """The epoch's changes stay."""
        self.settle()
        for gate in self.gates.values():
            gate.commit()

    def rollback(self) -> None:
        """Takes back the changes since the last commit."""
        self._keys.clear()
        self._scratch = np.zeros(0, np.int8)
        for timeline in self.all_timelines():
            timeline.rollback()
        for sums in self._added.values():
            sums.rollback()
        for gate in self.gates.values():
            gate.rollback()

    def mark(self, marks: Marks) -> None:
        """Marks the ids in what is kept."""
        for sharing in self._by_table():
            mark(sharing, marks)
        for sums in self._added.values():
            sums.mark(marks)
        for gate in self.gates.values():
            gate.mark(marks)
