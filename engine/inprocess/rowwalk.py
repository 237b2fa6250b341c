"""The walk of an epoch that changes a few rows: tuples from node to node, and no batches between them.

    n0 input            the rows that change, with their weights
    n4 joinΔ n0, n1     a function of Python           (engine/inprocess/joins/onebyone.py)
    n6 distinctΔ n4     weights in a store, row by row
    n7 fixpoint         rounds of rows, while it grows (engine/inprocess/recursion/growthbyrows.py)
    n8 orderedΔ n7      in the general way: from a batch to a batch, and rows again

A walk is made once for the nodes that may change together. It has a function for each of them that can take
rows; the walk of `engine/schedule.py` visits the others, and those whose function declines, which it does
before it has changed anything, or where the other goes on; it also visits the nodes that read a change of
many rows. A node without a change costs one look into a dictionary. The state is changed by the same methods
of stores and groups as in the general way, so that the end of an epoch and its rollback are the same. Only
stores that no operator reads are left as they are: the state notes their changes when the epoch has ended,
and takes them in when somebody asks for it (`State.late`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, cast

from .. import memory, thresholds
from ..circuit import (
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    FixpointResult,
    Input,
    Join,
    Negate,
    Node,
    NodeId,
    Output,
    Sum,
)
from ..operators.steps import expression
from ..runtime import Progress
from ..schedule import CircuitWalk, phase_of
from ..versions import versions
from .arrangements.store import Store
from .arrangements.views import StoreView, View, meets_nothing
from .epoch import RunningEpoch
from .operators import KEPT_ALREADY
from .recursion.growthbyrows import GrowthByRows, Known
from .recursion.recursion import Recursion
from .recursion.rowrounds import starts_of
from .state import ALONE, State
from .storage.batch import Batch, Rows, no_rows

Changes: TypeAlias = dict[NodeId, Rows]
"""The changes of the nodes that change."""
Take: TypeAlias = Callable[[Changes, RunningEpoch], Rows | None]
"""Takes the changes of a node's sources, and gives that of the node; None: it has none. `DECLINED`: the
general walk is to visit the node."""
Keep: TypeAlias = Callable[[Rows, RunningEpoch], None]
"""Takes the change of a node into its store."""
_Visit: TypeAlias = tuple[NodeId, Take, Keep | None, Sequence[NodeId], str | None]
"""A node, its functions, its sources, and its phase if it may take long."""
_Shown: TypeAlias = tuple[str, NodeId]
"""An output: its relation, and its source."""

DECLINED: Rows = [], []
NONE: Rows = [], []


def rows_walked(state: State) -> Callable[[Sequence[NodeId]], RowWalk]:
    """Gives the walks of changes of few rows, each from its nodes. They share what they know of a node: many
    sets of inputs change together, each of which has a walk."""

    @cache
    def visit(at: NodeId) -> _Visit:
        node = state.circuit.nodes[at]
        phase = phase_of(node) if _may_take_long(node) else None
        return at, _taking(state, at) or _declines, _keeping(state, at), node.reads(), phase

    @cache
    def shown(at: NodeId) -> _Shown:
        node = state.circuit.nodes[at]
        assert isinstance(node, Output)
        return node.relation, node.source

    return lambda nodes: RowWalk(state, nodes, visit, shown)


class RowWalk:
    """The walk of some nodes of a state, of changes of few rows."""

    def __init__(
        self,
        state: State,
        nodes: Sequence[NodeId],
        visit: Callable[[NodeId], _Visit],
        shown: Callable[[NodeId], _Shown],
    ) -> None:
        self._state, self._nodes, of = state, nodes, state.circuit.nodes
        self._outputs = [shown(at) for at in nodes if isinstance(of[at], Output)]
        self._visits = [visit(at) for at in nodes if not isinstance(of[at], Output)]
        known = [take for at, take, *_ in self._visits if not isinstance(of[at], Input)]
        self._pays = not known or any(take is not _declines for take in known)

    def run(
        self, running: RunningEpoch, limit: int | None, progress: Progress | None
    ) -> Mapping[str, Batch | Rows | None]:
        """Runs the operators of an epoch. Returns the changes of the outputs that change. Raises what
        `engine.schedule.walk` does."""
        state = self._state
        if not self._pays or state.remembering or state.forgetful:
            return CircuitWalk(state.circuit, running, limit, progress).run(self._nodes)
        changes: Changes = {}
        many: set[NodeId] = set()  # the nodes of whose changes the walk of batches has batches only
        walk: CircuitWalk[Batch | None] | None = None
        at, few = -1, thresholds.ROWS_ONE_BY_ONE
        try:
            for at, take, keep, sources, phase in self._visits:
                if phase is not None and progress is not None:
                    progress(phase, 0, 0)
                change = DECLINED if many and not many.isdisjoint(sources) else take(changes, running)
                if change is None:
                    continue
                if change is not DECLINED and len(change[0]) <= few:
                    changes[at] = change
                    if keep is not None:
                        keep(change, running)
                    continue
                walk = walk or CircuitWalk(state.circuit, running, limit, progress)
                if change is not DECLINED:
                    many.add(at)
                    walk.changes[at] = running.few(at, change)
                    running.keep(at, walk.changes[at])
                elif not self._in_general(at, sources, walk, changes, running):
                    many.add(at)
        except MemoryError as error:
            memory.tell(error, phase_of(state.circuit.nodes[at]))
            raise
        found: dict[str, Batch | Rows | None] = {
            name: changes[source] for name, source in self._outputs if source in changes
        }
        if walk is not None:
            found.update((name, walk.changes[source]) for name, source in self._outputs if source in many)
        return found

    def _in_general(
        self,
        at: NodeId,
        sources: Sequence[NodeId],
        walk: CircuitWalk[Batch | None],
        changes: Changes,
        running: RunningEpoch,
    ) -> bool:
        """Visits a node in the general way. False: those that read it are to be visited so, too, since many
        rows of it change, or rows that have times, or some have gone on early."""
        for source in sources:
            if source in changes:
                walk.changes[source] = running.few(source, changes[source])
        walk.run((at,))
        change = walk.changes.get(at)
        if running.filled:
            return False
        if change is None or not change.length:
            return True
        if change.length > thresholds.ROWS_ONE_BY_ONE or change.times is not None:
            return False
        changes[at] = change.rows(), change.weight_list()
        return True


# ------------------------------------------------------------------ operators


def _declines(changes: Changes, running: RunningEpoch) -> Rows | None:
    """Of a node that the general walk visits."""
    return DECLINED


def _may_take_long(node: Node) -> bool:
    """Whether a node calls functions of Python even for a few rows."""
    if isinstance(node, Fixpoint):
        return any(map(_may_take_long, node.body.nodes))
    return isinstance(node, Join | DeltaJoin) and any(expression(step).arrays is None for step in node.steps)


def _keeping(state: State, at: NodeId) -> Keep | None:
    """As `EpochOperators.keep`; None: the node has no store, or the store has the change when it is known."""
    node, stores = state.circuit.nodes[at], _own_stores(state)
    if at not in stores or node.__class__ in KEPT_ALREADY or not isinstance(stores[at], Store):
        return None
    is_group, is_unread = isinstance(node, DeltaGroup), at in state.unread

    def keep(change: Rows, running: RunningEpoch) -> None:
        if is_unread and not running.epoch.tried:
            running.late.append((at, change))
            return
        store = stores[at]
        running.changed.append(store)
        store.keep_rows(*change, is_group)

    return keep


def _own_stores(state: State) -> Mapping[NodeId, Store]:
    """The stores of a state, of which one asks for those of nodes outside recursions."""
    return cast("Mapping[NodeId, Store]", state.stores)


def _taking(state: State, at: NodeId) -> Take | None:
    """The function that takes rows to a node; None: there is none."""
    match node := state.circuit.nodes[at]:
        case Input():
            return _input(state, at, node)
        case Join() | DeltaJoin():
            return _join(state, at, node)
        case DeltaDistinct() if state.memories.counts(at) is None:
            return _distinct(state, at, node)
        case DeltaGroup():
            return _group(state, at, node)
        case Sum():
            return _sum(node)
        case Fixpoint() if isinstance(state.recursions[at], Recursion):
            return _recursion(state, at, node)
        case FixpointResult() if isinstance(state.recursions[node.fixpoint], Recursion):
            return _result(node)
        case Negate():
            return _negate(node)
    return None


def _input(state: State, at: NodeId, node: Input) -> Take:
    relation, stores = node.relation, _own_stores(state)

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        parts = running.epoch.changes.get(relation, ())
        if len(parts) != 1 or parts[0][0].length != 1 or parts[0][0].weights is not None or node.multiset:
            change = running.input(at, node)
            return None if change is None else (change.rows(), change.weight_list())
        (batch, sign), store = parts[0], stores[at]
        running.changed.append(store)
        rows = batch.rows()
        if store.set_one(rows[0], sign):
            running.taken[at] = batch if sign > 0 else batch.negated()
            return rows, [sign]
        running.taken[at] = no_rows(node.schema)
        return None

    return take


def _join(state: State, at: NodeId, node: Join | DeltaJoin) -> Take:
    joiner, terms, sources = state.joiners[at], node.terms, [term.source for term in node.terms]

    def joined(start: int, change: Rows, views: Sequence[View | None]) -> Rows | None:
        """The change that follows from that of a term."""
        rows, weights = change
        if len(rows) > 1:
            rows, weights = joiner.net_rows(start, rows, weights)
            if not rows:
                return None
        found = joiner.of_rows(start, rows, weights, None, views)
        if found is None or found[2]:
            return DECLINED
        return found[:2] if found[0] else None

    def take_alone(changes: Changes, running: RunningEpoch) -> Rows | None:
        change = changes.get(source)
        return None if change is None else joined(0, change, ALONE)

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        start = -1
        for place, source in enumerate(sources):
            if source in changes:
                if start >= 0:
                    return take_several(changes, running)
                start = place
        if start < 0:
            return None
        return joined(start, changes[sources[start]], state.views_from(at, node, start))

    def take_several(changes: Changes, running: RunningEpoch) -> Rows | None:
        batches = [running.few(each, changes[each]) if each in changes else None for each in sources]
        nets = [joiner.net_rows(place, *changes.get(each, NONE)) for place, each in enumerate(sources)]
        found: Rows = [], []
        for start, seen in versions(terms, [len(rows) for rows, _ in nets], False):
            assert start is not None
            views = running.views(node, start, seen, batches)
            if meets_nothing(terms, views):
                continue
            some = joiner.of_rows(start, *nets[start], None, views)
            if some is None or some[2]:
                return DECLINED
            found[0].extend(some[0])
            found[1].extend(some[1])
        return found if found[0] else None

    source = sources[0]
    return take_alone if len(sources) == 1 else take


def _distinct(state: State, at: NodeId, node: DeltaDistinct) -> Take:
    source, stores = node.source, _own_stores(state)

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        if (change := changes.get(source)) is None:
            return None
        (rows, weights), store = change, stores[at]
        running.changed.append(store)
        if len(rows) == 1:
            sign = store.add_one(rows[0], weights[0])
            return (rows, [sign]) if sign else None
        signs = store.add_rows(rows, weights)
        if not signs:
            return None
        if len(signs) != len(rows):
            rows = [store.table.row(each) for each in signs]
        return rows, [*signs.values()]

    return take


def _group(state: State, at: NodeId, node: DeltaGroup) -> Take:
    source, groups = node.source, state.groups

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        if (change := changes.get(source)) is None:
            return None
        group = groups[at]
        running.changed.append(group)
        found = group.change_few(*change)
        return found if found[0] else None

    return take


def _recursion(state: State, at: NodeId, node: Fixpoint) -> Take:
    sources, stores = node.reads(), state.stores
    known: tuple[list[object], Known] = [], Known({}, {})  # the tables and stores that the starts know

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        nonlocal known
        recursion, given = state.recursions[at], {each: changes[each] for each in sources if each in changes}
        assert isinstance(recursion, Recursion)
        if not given:
            running.growths[at] = GrowthByRows(recursion, {}, Known({}, {}), 0)
            return None
        if (
            running.epoch.limit is not None
            or recursion.maintaining.mode == "never"
            or not recursion.only_grows(given)
            or min([min(weights) for _, weights in given.values()]) < 0
        ):
            return DECLINED
        parts: list[object] = [stores[each] for each in sources]
        parts += [relation.table for relation in recursion.sets.values()]
        if parts != known[0]:
            views = {each: StoreView(stores[each], state.weighted(each)) for each in sources}
            known = parts, Known(starts_of(recursion.rules, recursion.sets, views), views)
        growth = running.growths[at] = GrowthByRows(recursion, given, known[1], running.epoch.number)
        return None if growth.run() else DECLINED

    return take


def _result(node: FixpointResult) -> Take:
    fixpoint, relation = node.fixpoint, node.relation

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        growth = running.growths.get(fixpoint)
        if growth is None:
            return DECLINED
        rows = growth.came.get(relation)
        return None if rows is None else (rows, [1] * len(rows))

    return take


def _sum(node: Sum) -> Take:
    sources = node.sources

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        some = [changes[source] for source in sources if source in changes]
        if len(some) < 2:
            return some[0] if some else None
        return [row for rows, _ in some for row in rows], [w for _, weights in some for w in weights]

    return take


def _negate(node: Negate) -> Take:
    source = node.source

    def take(changes: Changes, running: RunningEpoch) -> Rows | None:
        if (change := changes.get(source)) is None:
            return None
        return change[0], [-weight for weight in change[1]]

    return take
