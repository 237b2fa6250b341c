"""The memory of a loop's operators while it is evaluated from empty relations.

The rounds of the outermost loop are visited in order, and none again. So of what changes in these rounds only
the contents as of now are kept, in stores and groups like those outside of loops. What changes in the
rounds of inner loops, too, has timelines whose entries are summed up over the outermost component.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ... import thresholds
from ...circuit import DeltaGroup, Distinct, Earlier, Group, Negate
from ...loopparts import Gate, LoopParts, counts, is_set, looked_up, origin, reaches, unsteady
from ...schema import Array
from ..arrangements.store import Store
from ..arrangements.views import EmptyView, StoreView, View, before
from ..groups.group import GroupState
from ..storage.batch import Batch, concat
from ..storage.steps import Evaluator
from .looprecording import LoopRecording
from .looptimelines import NOTHING, EmittedRows, LoopTimelines


class LoopContents:
    """The contents of the parts of one loop, as of the time that is visited."""

    def __init__(self, parts: LoopParts, evaluator: Evaluator, recorded: bool) -> None:
        """`recorded`: what the parts tell is kept, to be maintained later."""
        self.parts = parts
        reach = reaches(parts)
        plain = not any(isinstance(part.node, Negate) for part in parts.parts)  # no row has a negative weight
        self._plain = [plain and each <= 1 for each in reach]
        self._inner = LoopTimelines(parts, evaluator, [not each for each in self._plain], parts.lattice.inner)
        self.joiners, self.gates = self._inner.joiners, self._inner.gates
        self.recording = LoopRecording(parts, self.gates) if recorded else None
        self._stores: dict[int, Store] = {}
        self._groups: dict[int, GroupState] = {}
        self._changed: dict[int, Store | GroupState] = {}
        self._values = evaluator.values
        self._asked = looked_up(parts, self._without_members()) - _met_by_nothing(parts)
        self._begin(range(len(parts.parts)))

    def _begin(self, some: Collection[int]) -> None:
        """Empties some parts."""
        every = [(at, self.parts.parts[at]) for at in some if self._plain[at]]
        for at, part in every:
            if at in self._asked or counts(self.parts, at):
                store = self._stores.get(at)
                self._stores[at] = (
                    store.emptied() if store else Store(part.node.schema, is_set(self.parts, at))
                )
        for at, part in every:
            if isinstance(part.node, Group):
                self._groups[at] = self._group_of(part.node, part.sources[0])

    def _without_members(self) -> set[int]:
        """The groups that read no members."""
        nodes = [part.node for part in self.parts.parts]
        groups = {at: node for at, node in enumerate(nodes) if self._plain[at] and isinstance(node, Group)}
        return {at for at, node in groups.items() if not _delta(node).reads_members}

    def _group_of(self, node: Group, source: int) -> GroupState:
        given, made = self.parts.parts[source].node, origin(self.parts, source)
        if isinstance(made.node, Earlier):
            made = origin(self.parts, made.sources[0])
        net = isinstance(made.node, Distinct | Group)  # each changes once in a round
        members = self._stores[source] if _delta(node).reads_members else None
        return GroupState(_delta(node), given.schema, members, self._values, net)

    # ------------------------------------------------------------- operators

    def view(self, source: int, time: int, unseen: Batch | None) -> View:
        """A part as it is from a time on, without a change at that time if one is given."""
        if not self._plain[source]:
            return self._inner.view(source, time, unseen)
        store = self._stores.get(source)
        if store is None:
            return EmptyView()
        counted = not is_set(self.parts, source)
        return StoreView(store, counted) if unseen is None else before(store, counted, unseen)

    def keep(self, at: int, time: int, change: Batch) -> None:
        """Keeps what a part emits at a time."""
        if self.recording is not None:
            self.recording.tell(at, time, change)
        store = self._stores.get(at)
        if store is None:
            self._inner.keep(at, time, change)
        elif not counts(self.parts, at):
            self._changed[at] = store
            store.add_counted(change, as_set=False)

    def distinct(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a distinct emits: `visits` are the rows that wait for this time."""
        change = concat(changes, len(self.parts.parts[at].node.schema))
        store = self._stores.get(at)
        if store is not None and change.length > thresholds.FEW_ROWS:  # as words, which are also recorded
            columns = store.table.fitted(change.columns, change.length)
            change = Batch(columns, change.length, change.weights)
        if self.recording is not None and change.length:
            self.recording.ask(at, time, change)
        if store is None:
            return self._inner.distinct(at, time, [change] if change.length else [], visits)
        if not change.length:
            return NOTHING
        self._changed[at] = store
        return NOTHING._replace(change=store.add_counted(change, as_set=True))

    def group(self, at: int, time: int, changes: Sequence[Batch], visits: list[Array]) -> EmittedRows:
        """The rows that a group emits: `visits` are the keys that wait for this time."""
        if at not in self._groups:
            return self._inner.group(at, time, changes, visits)
        change = concat(changes, len(self.parts.parts[self.parts.parts[at].sources[0]].node.schema))
        if not change.length:
            return NOTHING
        group = self._changed[-at - 1] = self._groups[at]
        return NOTHING._replace(change=group.change(change))

    # ------------------------------------------------------------- rounds

    def end_round(self) -> None:
        """A round of the outermost loop is over."""
        for each in self._changed.values():
            each.commit()
        self._changed.clear()
        self._inner.settle()

    @property
    def is_plain(self) -> bool:
        """Whether the contents of all parts are kept, and no timelines."""
        return all(self._plain)

    def restart(self, some: Collection[int], time: int) -> None:
        """Empties some parts, which begin from nothing at this time."""
        if self.recording is not None:
            self.recording.take_back(some, time)
        self._begin(some)

    def size(self, at: int) -> int:
        """The rows of a part whose contents are at hand."""
        return self._groups[at].alive if at in self._groups else self._stores[at].present

    def held(self, at: int) -> Batch | None:
        """The contents of a part, if they are at hand."""
        if at in self._groups:
            return self._groups[at].contents()
        return self._stores[at].batch() if at in self._stores and counts(self.parts, at) else None

    def relations(self) -> dict[str, Store]:
        """The relations of the outermost loop, as far as they are in stores."""
        results = self.parts.results.items()
        return {name: self._stores[at] for name, at in results if at in self._stores}

    def holds(self, at: int) -> bool:
        """Whether the contents of a part are at hand."""
        return at in self._groups or (at in self._stores and counts(self.parts, at))


def _delta(node: Group) -> DeltaGroup:
    return DeltaGroup(node.source, node.source, node.keys, node.aggregates, node.schema, node.text)


def _met_by_nothing(parts: LoopParts) -> set[int]:
    """The parts that are empty in round 0 and that joins read beside what does not change after it: when the
    others change there is nothing to meet."""
    late = {at for at, part in enumerate(parts.parts) if isinstance(part.node, Earlier | Gate)}
    moving = unsteady(parts)
    asked: set[int] = set()
    for part in parts.parts:
        for at, source in enumerate(part.sources):
            others = part.sources[:at] + part.sources[at + 1 :]
            if isinstance(part.node, Group) or moving.intersection(others):
                asked.add(source)
    return late - asked
