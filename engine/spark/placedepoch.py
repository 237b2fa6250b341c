"""One epoch of a circuit whose operators are partly on the driver and partly on the cluster.

Each operator runs where its placement says, by the operators of the in-process runtime or by those of Spark.
A change crosses over when the first operator on the other side reads it. The sum of changes, and a linear
operator, take the part of each side where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..budget import MADE
from ..circuit import (
    Clocked,
    Constant,
    DeltaClock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaLate,
    DeltaWindow,
    Exchange,
    Fixpoint,
    Input,
    Join,
    Negate,
    NodeId,
    Output,
    Result,
    Sum,
)
from ..epoch import Epoch
from ..inprocess.arrangements.store import Store
from ..inprocess.arrangements.views import meets_nothing
from ..inprocess.running import RunningEpoch as RunningHere
from ..inprocess.storage.batch import Batch, Gathering, concat, consolidate
from ..integrals import shown
from ..runtime import Delta
from ..schedule import NestedEpoch
from ..schema import Schema
from ..settling import Changing
from ..versions import versions
from .batched_fetch import settle_together
from .change import Change
from .driverrows import DriverDelta
from .guesses import Guesses
from .moving import Crossing, Moving
from .placement import Misguessed, Outgrown, PlacedOperators, Placement, is_linear, is_plain
from .reading import shown_delta
from .rows import FrameDelta
from .running import RunningEpoch as RunningThere
from .tables import Table
from .widths import Widths


class EpochHere(RunningHere):
    """The operators on the driver. A join that gives too many rows ends the epoch."""

    most = 0

    def gathered(self, at: NodeId, arity: int) -> Gathering:
        return _Bounded(at, arity, self.most)


class _Bounded(Gathering):
    """A sum of batches that may not exceed `most` rows."""

    def __init__(self, at: NodeId, arity: int, most: int) -> None:
        super().__init__(arity, min(most, 1 << 24))
        self._at, self._most = at, most

    def consolidated(self) -> None:
        if self.rows > self._most:
            raise Outgrown(self._at, self.rows)


class PlacedEpoch:
    """One epoch over the states of both sides. See `engine.epoch.Running`."""

    def __init__(
        self,
        here: EpochHere,
        there: RunningThere,
        crossing: Crossing,
        placement: Placement,
        places: PlacedOperators,
        widths: Widths,
        epoch: Epoch[Table],
        waves: Sequence[int] = (),
        guesses: Guesses | None = None,
    ) -> None:
        """`waves`: see `Placement.waves`; without them, every change is kept at once. `guesses`: which
        changes of inputs are taken to be as they are given until the end of the wave."""
        self.here, self.there, self.crossing = here, there, crossing
        self.placement, self.places, self.epoch = placement, places, epoch
        self.widths = widths
        self.circuit = there.circuit
        self._nodes = self.circuit.nodes
        self.waves, self._wave = waves, 0
        self._waiting: list[tuple[NodeId, Moving]] = []  # the changes of this wave, to be kept
        self._late: set[NodeId] = set()  # their nodes
        self._guesses = guesses
        self._guessed: list[tuple[NodeId, Change, int]] = []  # inputs with a guess of so many rows
        self._kept_there = places.kept_there
        if epoch.static:
            self._kept_there &= there.state.kept_static

    # ------------------------------------------------------------- crossing over

    def _schema(self, at: NodeId) -> Schema:
        return self._nodes[at].schema

    def _here(self, reader: NodeId, at: NodeId, moving: Moving | None) -> Batch | None:
        """The change of a node on the driver, for an operator there."""
        if moving is not None and moving.there is not None and not self._is_pinned(reader):
            rows = moving.there.table.counted
            if rows > self.placement.limit:
                raise Outgrown(reader, rows)
        return self.crossing.here(self._schema(at), moving)

    def _there(self, at: NodeId, moving: Moving | None) -> Change | None:
        return self.crossing.there(self._schema(at), moving)

    def _is_there(self, at: NodeId) -> bool:
        return at in self.places.there

    # ------------------------------------------------------------- operators

    def nothing(self) -> None:
        """No change."""

    def input(self, at: NodeId, node: Input) -> Moving | None:
        self._begin(at)
        if not self._is_there(at):
            return _moving(self.here.input(at, node))
        change, guesses = self.there.input(at, node), self._guesses
        fetch = None if change is None else change.fetch
        if change is None or fetch is None or fetch.guess is None or fetch.query is None:
            return self._made(at, change)
        if guesses is None or not guesses.allows(at):
            return _moving(None, change)
        guesses.pending = True
        self._guessed.append((at, change, fetch.guess.num_rows))
        return _moving(self.crossing.batch(node.schema, self.there.tables.local(fetch.guess)))

    def _made(self, at: NodeId, change: Change | None) -> Moving | None:
        """A change of the cluster; it is on the driver if no job is needed for it."""
        moving = _moving(None, change)
        if moving is not None and change is not None:
            known = change.rows is not None if change.fetch is None else change.fetch.query is None
            if known:
                self._bring(at, moving)
        return moving

    def constant(self, at: NodeId, node: Constant) -> Moving | None:
        self._begin(at)
        return _moving(self.here.constant(at, node))

    def sum(self, at: NodeId, node: Sum, changes: Sequence[Moving | None]) -> Moving | None:
        self._begin(at)
        some = [each for each in changes if each is not None]
        here = self.here.sum(at, node, [each.here for each in some])
        return _moving(here, self.there.sum(at, node, [each.there for each in some]))

    def negate(self, at: NodeId, node: Negate, change: Moving | None) -> Moving | None:
        self._begin(at)
        if change is None:
            return None
        here = self.here.negate(at, node, change.here)
        return _moving(here, self.there.negate(at, node, change.there))

    def exchange(self, at: NodeId, node: Exchange, change: Moving | None) -> Moving | None:
        return change

    def clocked(self, at: NodeId, node: Clocked, change: Moving | None) -> Moving | None:
        self._begin(at)
        (source, *_) = node.reads() or (at,)
        return _moving(None, self.there.clocked(at, node, self._there(source, change)))

    def join(self, at: NodeId, node: Join | DeltaJoin, changes: Sequence[Moving | None]) -> Moving | None:
        self._begin(at)
        if isinstance(node, Join) and is_linear(node):
            return self._linear(at, node, changes[0])
        sources = [term.source for term in node.terms]
        if not self._is_there(at):
            batches = [self._here(at, *pair) for pair in zip(sources, changes, strict=True)]
            return _moving(self.here.join(at, node, batches))
        return self._join_there(at, node, changes)

    def _linear(self, at: NodeId, node: Join, change: Moving | None) -> Moving | None:
        if change is None:
            return None
        here = change.here
        if here is not None:
            try:
                here = self.here.join(at, node, [here])
            except Outgrown:
                if not self._is_there(at):
                    raise
                (term,) = node.terms
                return _moving(None, self.there.join(at, node, [self._there(term.source, change)]))
        there = None if change.there is None else self.there.join(at, node, [change.there])
        return _moving(here, there)

    def _join_there(
        self, at: NodeId, node: Join | DeltaJoin, changes: Sequence[Moving | None]
    ) -> Moving | None:
        """A join of a large integral: small changes that only meet small ones are joined on the driver."""
        sizes = [self.crossing.rows(change) for change in changes]
        sources = [term.source for term in node.terms]
        here: Batch | None = None
        starts: set[int | None] = set()
        text = self.there.state.joins[at]
        if not text.may_fault:
            for start, _ in versions(node.terms, sizes, self.epoch.first):
                if start is not None and self._meets_small(node, start, sizes):
                    starts.add(start)
        if starts:
            try:
                here = self._join_here(at, node, changes, sizes, starts)
            except Outgrown:
                starts = set()
        others = [self._there(*pair) for pair in zip(sources, changes, strict=True)]
        return _moving(here, self.there.join_from(at, node, others, but=starts))

    def _meets_small(self, node: Join | DeltaJoin, start: int, sizes: Sequence[int]) -> bool:
        others = [term.source for k, term in enumerate(node.terms) if k != start]
        return sizes[start] <= self.placement.few and all(
            source in self.places.kept_here for source in others
        )

    def _join_here(
        self,
        at: NodeId,
        node: Join | DeltaJoin,
        changes: Sequence[Moving | None],
        sizes: Sequence[int],
        starts: set[int | None],
    ) -> Batch | None:
        """The part of a join that some changes start."""
        sources = [term.source for term in node.terms]
        batches = [
            self.crossing.here(self._schema(source), change)
            if k in starts or source in self.places.kept_here
            else None
            for k, (source, change) in enumerate(zip(sources, changes, strict=True))
        ]
        found = self.here.gathered(at, len(node.schema))
        for start, seen in versions(node.terms, sizes, self.epoch.first):
            if start not in starts:
                continue
            views = self.here.views(node, start, seen, batches)
            if not meets_nothing(node.terms, views):
                assert start is not None
                found.extend(self.here.state.joiners[at].run(start, batches[start], views))
        return found.total()

    def distinct(self, at: NodeId, node: DeltaDistinct, change: Moving | None) -> Moving | None:
        self._begin(at)
        if self._is_there(at):
            return self._made(at, self.there.distinct(at, node, self._there(node.source, change)))
        return _moving(self.here.distinct(at, node, self._here(at, node.source, change)))

    def group(self, at: NodeId, node: DeltaGroup, change: Moving | None) -> Moving | None:
        self._begin(at)
        if self._is_there(at):
            return self._made(at, self.there.group(at, node, self._there(node.source, change)))
        batch = self._here(at, node.source, change)
        if batch is not None and at in self.there.state.accumulating:
            batch = consolidate(batch)
        found = self.here.group(at, node, batch)
        groups = self.here.state.groups[at].alive
        if found is not None:
            self.widths.look(at, groups, found)
        if (groups := self.widths.counted(at, groups)) > self.placement.limit:
            raise Outgrown(at, groups)
        return _moving(found)

    def timed(
        self, at: NodeId, node: DeltaClock | DeltaWindow | DeltaLate, change: Moving | None
    ) -> Moving | None:
        self._begin(at)
        return _moving(None, self.there.timed(at, node, self._there(node.source, change)))

    def recursion(
        self, at: NodeId, node: Fixpoint, changes: Mapping[int, Moving | None]
    ) -> NestedEpoch[Moving | None]:
        self._begin(at)
        if self._is_there(at):
            sent = {source: self._there(source, change) for source, change in changes.items()}
            return _Recursion(self.there.recursion(at, node, sent))
        brought = {source: self._here(at, source, change) for source, change in changes.items()}
        most = None if at in self.placement.pinned else self.placement.limit
        return _Recursion(self.here.recursion(at, node, brought), at, most)

    def lengths(self, changes: Iterable[Moving | None]) -> list[float]:
        some = [each or Moving() for each in changes]
        here = self.here.lengths(each.here for each in some)
        there = self.there.lengths(each.there for each in some)
        return [a + b for a, b in zip(here, there, strict=True)]  # unknown where one of them is

    # ------------------------------------------------------------- integrals

    def keep(self, at: NodeId, change: Moving | None) -> None:
        """Takes a change into the integrals of the node, on either side: one of the cluster when its wave is
        over."""
        if change is None:
            return
        if change.there is None or not self.waves:
            self._keep(at, change)
        else:
            self._waiting.append((at, change))
            self._late.add(at)

    def _begin(self, at: NodeId) -> None:
        """Ends the wave before, if a node is of the next one or needs what this wave has to compute."""
        if not self.waves:
            return
        node = self._nodes[at]
        needs = not is_plain(node) and any(source in self._late for source in node.reads())
        if needs or self.waves[at] != self._wave:
            self._end_wave()
            self._wave = self.waves[at]

    def _end_wave(self) -> None:
        """Computes the small changes of a wave together, and takes all into the integrals."""
        waiting, self._waiting = self._waiting, []
        self._late.clear()
        some = {
            id(change.there): change.there
            for at, change in waiting
            if change.there is not None and change.there.rows is None and change.there.small
            if self._is_read(at)
        }
        guessed, self._guessed = self._guessed, []
        every = [*some.values(), *(change for _, change, _ in guessed)]
        asking = [each for each in every if each.fetch is None or each.fetch.query is not None]
        if len(asking) > 1:
            settle_together(self.there.tables, asking)
        wrong = [at for at, change, rows in guessed if change.table.rows != rows]
        if wrong:
            raise Misguessed(wrong)
        if guessed and self._guesses is not None:
            self._guesses.pending = False
        for at, change in waiting:
            if self._is_read(at):
                self._bring(at, change)
            self._keep(at, change)

    def _bring(self, at: NodeId, change: Moving) -> None:
        """Makes a small change of the cluster one of the driver, which what follows can take from there."""
        there = change.there
        if there is not None and there.small and there.table.small:
            batch = self.crossing.here(self._schema(at), change)
            change.there, change.here, change.sent = None, batch, there if change.here is None else None

    def _is_read(self, at: NodeId) -> bool:
        """Whether the change of a node is needed as a table."""
        if at in self.places.kept_here or at in self._kept_there:
            return True
        readers = (self._nodes[k] for k in self.there.state.read_by[at])
        return not all(is_plain(node) and not isinstance(node, Output) for node in readers)

    def _keep(self, at: NodeId, change: Moving) -> None:
        if at in self.places.kept_here:
            self._keep_here(at, change)
        if at in self._kept_there:
            sent = self._there(at, change)
            if sent is not None:
                self.there.state.spines[at].add(sent.table)
        elif change.there is not None and len(self.there.state.read_by[at]) > 1:
            change.there.settle()
        if change.there is not None and not isinstance(self._nodes[at], Input | Result):
            self.there.tables.budget.spend(MADE * (change.there.rows or 0))

    def _keep_here(self, at: NodeId, change: Moving) -> None:
        batch = self._here(at, at, change)
        if batch is None:
            return
        node = self._nodes[at]
        made_by = node.fixpoint if isinstance(node, Result) else at
        store = self.here.state.stores[at]
        if not self._is_there(made_by):
            self.here.keep(at, batch)
        else:
            assert isinstance(store, Store)
            self.here.changed.append(store)
            store.add_counted(batch, as_set=False)
        self.widths.look(at, store.present, batch)
        if self.widths.counted(at, store.present) > self.placement.limit and not self._is_pinned(at):
            raise Outgrown(at, self.widths.counted(at, batch.length))

    def _is_pinned(self, at: NodeId) -> bool:
        """Whether a node is on the driver whatever its size."""
        return at in self.placement.pinned

    # ------------------------------------------------------------- the end

    def finish(self, outputs: Mapping[str, Moving | None]) -> dict[str, Delta]:
        self._end_wave()
        state, here = self.there.state, self.here
        static = self.epoch.static
        deltas: dict[str, Delta] = {}
        for name, at in state.outputs.items():
            node, source, change = self._nodes[at], shown(self.circuit, at), outputs.get(name)
            if isinstance(node, Output) and node.stream:
                if source in self.places.kept_here:
                    deltas[name] = self._delta(at, here.state.output(name).batch(), True)
                else:
                    deltas[name] = self._told(name, at, None)
            elif change is None or change.there is None:
                batch = None if change is None else change.here
                deltas[name] = self._delta(at, batch, static)
            elif change.there.table.local is not None:
                deltas[name] = self._delta(at, self.crossing.here(node.schema, change), static)
            else:
                deltas[name] = self._told(name, at, self._there(at, change))
        here.finish({})
        self.there.prepare()
        return deltas

    def _told(self, name: str, at: NodeId, change: Change | None) -> FrameDelta:
        told = self.there.told[name] = self.there.delta(at, change)
        return shown_delta(self.there.tables, self._schema(at), told)

    def _delta(self, at: NodeId, batch: Batch | None, static: bool) -> DriverDelta:
        schema = self._schema(at)
        return DriverDelta(self.crossing, schema, batch or concat([], len(schema)), static)

    def commit(self) -> None:
        self.here.commit()
        self.there.commit()

    def rollback(self) -> None:
        self.here.rollback()
        self.there.rollback()


def _moving(here: Batch | None, there: Change | None = None) -> Moving | None:
    if here is not None and not here.length:
        here = None
    return None if here is None and there is None else Moving(here, there)


class _Recursion:
    """A recursion on one side; one on the driver ends the epoch at more than `most` rows."""

    def __init__(
        self,
        nested: NestedEpoch[Batch | None] | NestedEpoch[Change | None],
        at: NodeId = -1,
        most: int | None = None,
    ) -> None:
        self._nested, self._at, self._most = nested, at, most

    def next_iteration(self) -> int | None:
        return self._nested.next_iteration()

    def iterate(self, time: int) -> None:
        self._nested.iterate(time)
        self._check()

    def _check(self) -> None:
        if self._most is not None and (rows := self._nested.rows()) > self._most:
            raise Outgrown(self._at, rows)

    def rows(self) -> int:
        return self._nested.rows()

    def changing(self) -> Changing:
        return self._nested.changing()

    def finish(self) -> Mapping[str, Moving | None]:
        self._check()
        found: dict[str, Moving | None] = {}
        for name, change in self._nested.finish().items():
            found[name] = _moving(None, change) if isinstance(change, Change) else _moving(change)
        return found
