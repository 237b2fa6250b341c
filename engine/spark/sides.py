"""The two sides of a runtime on Spark: the in-process engine on the driver, and tables on the cluster.

Both have the whole circuit, and each has the state of the operators that run there. Between epochs, the state
of an operator moves to the other side when its placement changes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..circuit import Circuit, DeltaDistinct, DeltaGroup, Fixpoint, Input, NodeId, Result
from ..epoch import Epoch
from ..inprocess.arrangements.views import Readable
from ..inprocess.groups.grouping import GroupState
from ..inprocess.runtime import InProcess
from ..inprocess.storage.batch import Batch
from ..maintaining import Maintaining
from .guesses import Guesses
from .moving import Crossing
from .placedepoch import EpochHere, PlacedEpoch
from .placement import SLACK, TOTAL, Misguessed, Outgrown, PlacedOperators, Placement
from .relocating import Relocation
from .running import RunningEpoch
from .spine import Spine
from .state import State
from .tables import Options, Table, Tables
from .widths import Widths


class Sides:
    """The state of a circuit on both sides. `there` is that on the cluster."""

    def __init__(
        self, circuit: Circuit, there: State, tables: Tables, options: Options, maintaining: Maintaining
    ) -> None:
        self.circuit, self.there, self.tables = circuit, there, tables
        self.here = InProcess(circuit, there.nan, maintain=maintaining, budget=tables.budget)
        self.crossing = Crossing(self.here.values, tables)
        self.widths = Widths(circuit, self.here.values, tables.codec)
        mode = options.placement if options.driver_rows else "cluster"
        limit = sys.maxsize if mode in ("driver", "flip") else options.driver_rows
        self.placement = Placement(
            circuit,
            frozenset(there.ungrouped),
            there.accumulating,
            limit,
            options.small_rows,
            mode,
        )
        self.places = self.placement.places()
        self._inputs = there.inputs
        self._lent: dict[NodeId, Spine] = {}  # the contents of nodes on the driver, for queries
        self._offered: list[Table] = []  # what an epoch is given
        self.promised: Sequence[Table] = ()  # what the next one is given
        there.elsewhere, there.lent = self._lend, self.lent
        self._waves: Sequence[int] = ()
        self._waves_of: tuple[PlacedOperators, frozenset[NodeId], frozenset[NodeId]] | None = None
        self._changing = self._guessed = frozenset[NodeId]()
        self.started = False  # whether an epoch was committed
        self.guesses = Guesses(circuit)
        self.running: PlacedEpoch | None = None  # the last epoch that began, until it has been looked at
        for at in self.places.kept_here:
            node = circuit.nodes[at]
            if (node.fixpoint if isinstance(node, Result) else at) in self.places.there:
                self.here.state.stores[at] = self.here.state.new_store(at)
        for at in there.accumulating:
            node = circuit.nodes[at]
            assert isinstance(node, DeltaGroup)
            store = self.here.state.stores[node.source] if node.reads_members else None
            self.here.state.groups[at] = self.new_group(at, node, store)

    def new_group(self, at: NodeId, node: DeltaGroup, store: Readable | None) -> GroupState:
        """The state of a group on the driver, without groups. `store` is that of its members on the driver;
        they may be on the cluster instead, if it has accumulators."""
        groups, here = self.there.driver_groups.get(at), self.here
        if groups is None:
            return here.state.new_group(node, store)

        def members() -> Spine | None:
            return None if node.source in self.places.kept_here else self.there.spines[node.source]

        source = self.circuit.nodes[node.source].schema
        return GroupState(node, source, store, here.values, True, groups.best(here.values, members))

    # ------------------------------------------------------------- reading

    def is_here(self, relation: str) -> bool:
        """Whether the rows of a relation lie on the driver."""
        return self.there.stored_at(relation) in self.places.kept_here

    def _lend(self, at: NodeId) -> Spine | None:
        """The contents of a node that are on the driver alone, for queries on the cluster."""
        if at in self.places.kept_there or at not in self.places.kept_here:
            return None
        if at not in self._lent:
            schema = self.circuit.nodes[at].schema
            spine = Spine(self.tables, schema)
            spine.add(self.crossing.table(schema, self.here.state.stores[at].batch()))
            spine.replace(spine.fresh)
            self._lent[at] = spine
        return self._lent[at]

    def lent(self) -> Iterator[Table]:
        """The tables that are lent until the next epoch, and those that this one or the next is given."""
        yield from self._offered
        yield from self.promised
        for spine in self._lent.values():
            yield from spine.held()

    def size(self, at: NodeId) -> int:
        """The number of rows that are held of a node, about."""
        if at in self.places.kept_here:
            return self.here.state.stores[at].present
        spine = self.there.spines.get(at)
        return 0 if spine is None else spine.total()

    def _counted(self, at: NodeId) -> int:
        """For how many ordinary rows those of a node count."""
        if at in self.places.kept_here:
            return self.widths.counted(at, self.size(at))
        parts = self.there.spines[at].parts if at in self.there.spines else []
        rows = sum(table.rows for table in parts)
        return self.size(at) * sum(table.counted for table in parts) // rows if rows else 0

    def room(self, relation: str) -> int:
        """How many more rows of an input the driver takes."""
        at = self._inputs[relation]
        return 0 if at in self.places.there else self.placement.limit - self._counted(at)

    def held(self, at: NodeId) -> Table | None:
        """The rows of a node as a table; None: there are none."""
        if at in self.places.kept_there:
            spine = self.there.spines[at]
            return self.there.whole(spine) if spine.rows() else None
        batch = self.here.state.stores[at].batch()
        return self.crossing.table(self.circuit.nodes[at].schema, batch) if batch.length else None

    # ------------------------------------------------------------- epochs

    def begin(self, epoch: Epoch[Table]) -> PlacedEpoch:
        """An epoch."""
        self._lent.clear()
        self.tables.budget.begin()
        self.guesses.begin()
        self._changing = frozenset(self._inputs[name] for name in epoch.changes)
        self._guessed = frozenset(self._guess(epoch.changes))
        lengths = {
            name: [(Batch((), table.rows), sign) for table, sign in parts]
            for name, parts in epoch.changes.items()
        }
        there = self.places.there
        self.here.earlier = self.there.earlier
        self.here.prepare(Epoch(lengths, epoch.number, epoch.static, epoch.limit), there)
        given = {
            name: self._given(self._inputs[name], parts)
            for name, parts in epoch.changes.items()
            if self._inputs[name] not in there
        }
        here: Epoch[Batch] = Epoch(given, epoch.number, epoch.static, epoch.limit, epoch.progress)
        running = EpochHere(self.here.state, here)
        running.most = TOTAL * self.placement.limit
        cluster = RunningEpoch(self.there, epoch)
        self.running = PlacedEpoch(
            running,
            cluster,
            self.crossing,
            self.placement,
            self.places,
            self.widths,
            epoch,
            self._waves_now(),
            self.guesses,
        )
        return self.running

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Inside, an epoch runs which is taken back: nothing that was made for it is used after."""
        with self.here.tried():
            try:
                yield
            finally:
                self.running = None
                self._lent.clear()

    def ordered(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Nodes in the order in which an epoch visits them, by waves: see `placement.waves`."""
        waves = self._waves_now()
        return sorted(nodes, key=lambda at: (waves[at], at)) if any(waves) else nodes

    def _waves_now(self) -> Sequence[int]:
        key = self.places, self._changing, self._guessed
        if self._waves_of != key:
            self._waves, self._waves_of = self.placement.waves(*key), key
        return self._waves

    def _guess(self, changes: Mapping[str, Sequence[tuple[Table, int]]]) -> Iterator[NodeId]:
        """The inputs whose changes are taken to be as they are given until the first wave has ended."""
        for name, parts in changes.items():
            at, small = self._inputs[name], all(table.small for table, _ in parts)
            node = self.circuit.nodes[at]
            is_set = isinstance(node, Input) and not node.multiset and bool(node.schema)
            if small and is_set and at in self.places.there and self.guesses.allows(at):
                yield at

    def _given(self, at: NodeId, parts: Sequence[tuple[Table, int]]) -> list[tuple[Batch, int]]:
        schema = self.circuit.nodes[at].schema
        return [(self.crossing.batch(schema, table), sign) for table, sign in parts if table.rows]

    def ended(self, first: bool, static: bool) -> None:
        """An epoch was committed."""
        self.started = True
        self.guesses.ended()
        self._offered = []
        if not static:
            self.here.ended(first)
            self._measure()

    def promise(self, before: Sides) -> None:
        """Keeps what an epoch of another circuit was given, for the next one of this."""
        self.promised = [*before._offered, *before.promised]

    # ------------------------------------------------------------- placing

    def place(self, changes: Mapping[str, Sequence[tuple[Table, int]]]) -> None:
        """Places all nodes for an epoch with some changes of inputs."""
        self.guesses.stop(False)
        self._offered = [table for parts in changes.values() for table, _ in parts]
        placement = self.placement
        if placement.mode == "flip":
            placement.flip()
        elif placement.mode == "auto":
            for name, parts in changes.items():
                at = self._inputs[name]
                come = sum(table.counted for table, sign in parts if sign > 0)
                if come > placement.limit:
                    placement.presume(placement.below(at))
                elif self._counted(at) + come > placement.limit:
                    placement.large.add(at)
        self.relocate()

    def begin_again(self, error: Exception) -> None:
        """Prepares an epoch to be run once more: makes room where a node outgrew the driver, and guesses less
        where that was wrong, or where the epoch failed before it was known to be right."""
        match error:
            case Outgrown():
                if not self.placement.outgrown(error):
                    raise AssertionError(f"{error} on the driver, though it is placed on the cluster")
                self.relocate()
            case Misguessed():
                self.guesses.were_wrong(error.nodes)
            case _:
                self.guesses.stop()

    def relocate(self) -> None:
        """Moves what is on the wrong side."""
        places = self.placement.places()
        if places != self.places:
            relocation = Relocation(self, places)
            relocation.prepare()
            relocation.apply()
            self.places = places
            self._lent.clear()
            self.there.sweep()

    def _measure(self) -> None:
        """Takes for small what has become small, and for large what is the largest if all is too much."""
        placement = self.placement
        if placement.mode != "auto":
            return
        least = placement.limit // SLACK
        placement.large -= {at for at in placement.large if self._counted(at) <= least}
        for at in sorted(placement.heavy, reverse=True):
            if self._is_light(at, least):
                placement.heavy.discard(at)
        held = {at: self._counted(at) for at in self.places.kept_here}
        for at in sorted(held, key=held.__getitem__, reverse=True):
            if sum(held.values()) <= TOTAL * placement.limit:
                break
            if at not in placement.pinned:
                placement.presume([at])
            del held[at]

    def _is_light(self, at: NodeId, least: int) -> bool:
        """Whether an operator on the cluster has no more to do than the driver should."""
        if at in self.placement.large:
            return False
        state, node = self.there, self.circuit.nodes[at]
        match node:
            case DeltaDistinct():
                return state.counts[at].rows() <= least
            case DeltaGroup() if at in state.accumulating:
                return True
            case DeltaGroup():
                counted = node.source in state.ungrouped and at in self.places.there
                members = state.counts[node.source] if counted else state.spines.get(node.source)
                return members is None or members.rows() <= least
            case Fixpoint():
                return all(self.size(result) <= least for result in self.placement.results[at])
        return True

    # ------------------------------------------------------------- telling

    def told(self) -> list[tuple[str, str, int]]:
        """For each relation that is kept: its name, "driver" or "cluster", and its rows, about."""
        names = {name: self.there.stored_at(name) for name in self.there.relations}
        return [
            (name, "driver" if at in self.places.kept_here else "cluster", self.size(at))
            for name, at in names.items()
        ]

    def operators(self) -> list[str]:
        """ "driver" or "cluster" for each node of the circuit: where its operator runs."""
        made_there = self.placement.made_there(self.places)
        return ["cluster" if there else "driver" for there in made_there]
