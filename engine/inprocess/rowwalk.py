"""The walk of an epoch that changes a few rows: tuples from node to node, and no batches between them.

    n0 input            the rows that change, with their weights
    n4 joinΔ n0, n1     a function of Python           (engine/inprocess/joins/onebyone.py)
    n6 distinctΔ n4     weights in a store, row by row
    n7 fixpoint         rounds of rows, while it grows (engine/inprocess/recursion/growthbyrows.py)
    n8 orderedΔ n7      in the general way: from a batch to a batch, and rows again

A walk is made once for the nodes that may change together. It has a function for each of them that can take
rows; the walk of `engine/schedule.py` visits the others, and those whose function declines, which it does
before it has changed anything, or where the other goes on. From a change of many rows on, it visits all that
are left. A node without a change costs one look into a dictionary. The state is changed by the same methods
of stores and groups as in the general way, so that the end of an epoch and its rollback are the same. Only
stores that no operator reads are left as they are: the state notes their changes when the epoch has ended,
and takes them in when somebody asks for it (`State.late`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from .. import interrupt, memory, thresholds
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
from .arrangements.store import Store
from .arrangements.views import StoreView
from .epoch import RunningEpoch
from .operators import KEPT_ALREADY
from .recursion.growthbyrows import GrowthByRows, Starts, starts_of
from .recursion.recursion import Recursion
from .state import ALONE, State
from .storage.batch import Batch, Rows, few_rows, no_rows

Changes: TypeAlias = dict[NodeId, Rows]
"""The changes of the nodes that change."""
Take: TypeAlias = Callable[[Changes, RunningEpoch], bool]
"""Takes the changes of a node's sources, and adds that of the node. False: it declines."""
Keep: TypeAlias = Callable[[Rows, RunningEpoch], None]
"""Takes the change of a node into its store."""
_Visit: TypeAlias = tuple[NodeId, Take | None, Keep | None]
_Shown: TypeAlias = tuple[str, NodeId]
"""An output: its relation, and its source."""


def rows_walked(state: State) -> Callable[[Sequence[NodeId]], RowWalk]:
    """Gives the walks of changes of few rows, each from its nodes. They share what they know of a node: many
    sets of inputs change together, each of which has a walk."""

    @cache
    def visit(at: NodeId) -> _Visit:
        return at, _taking(state, at), _keeping(state, at)

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
        self._taking = [visit(at) for at in nodes if not isinstance(of[at], Output)]
        self._phases = {at: phase_of(of[at]) for at in nodes if _may_take_long(of[at])}
        known = [take for at, take, _ in self._taking if not isinstance(of[at], Input)]
        self._pays = None not in known or any(known)

    def run(
        self, running: RunningEpoch, limit: int | None, progress: Progress | None
    ) -> Mapping[str, Batch | Rows | None]:
        """Runs the operators of an epoch. Returns the changes of the outputs that change. Raises what
        `engine.schedule.walk` does."""
        state = self._state
        if not self._pays or state.remembering or state.forgetful:
            return CircuitWalk(state.circuit, running, limit, progress).run(self._nodes)
        interrupt.check()
        phases = {} if progress is None else self._phases
        changes: Changes = {}
        walk: CircuitWalk[Batch | None] | None = None
        left: list[NodeId] = []  # `list[…]()` would make a type each time
        at, few = -1, thresholds.ROWS_ONE_BY_ONE
        try:
            for place, (at, take, keep) in enumerate(self._taking):
                is_few = True
                if at in phases and progress is not None:
                    progress(phases[at], 0, 0)
                if take is None or not take(changes, running):
                    walk = walk or CircuitWalk(state.circuit, running, limit, progress)
                    is_few = self._in_general(at, walk, changes)
                elif at in changes:
                    is_few = len(changes[at][0]) <= few
                    if not is_few:
                        walk = walk or CircuitWalk(state.circuit, running, limit, progress)
                        running.keep(at, self._batch(at, walk, changes))
                    elif keep is not None:
                        keep(changes[at], running)
                if not is_few:
                    left = [each for each, _, _ in self._taking[place + 1 :]]
                    break
        except MemoryError as error:
            memory.tell(error, phase_of(state.circuit.nodes[at]))
            raise
        if left:
            assert walk is not None
            for source in changes:
                self._batch(source, walk, changes)
            for at, growth in running.growths.items():
                walk.results[at] = growth.batches()
            walk.run(left)
        if walk is not None:
            found = ((name, self._batch(source, walk, changes)) for name, source in self._outputs)
            return {name: change for name, change in found if change is not None}
        return {name: changes[source] for name, source in self._outputs if source in changes}

    def _batch(self, at: NodeId, walk: CircuitWalk[Batch | None], changes: Changes) -> Batch | None:
        """The change of a node as a batch."""
        known = walk.changes
        if at not in known and at in changes:
            known[at] = few_rows(*changes[at], len(self._state.circuit.nodes[at].schema))
        return known.get(at)

    def _in_general(self, at: NodeId, walk: CircuitWalk[Batch | None], changes: Changes) -> bool:
        """Visits a node in the general way. False: many rows of it change, or rows that have times."""
        for source in self._state.circuit.nodes[at].reads():
            self._batch(source, walk, changes)
        walk.run((at,))
        change = walk.changes.get(at)
        if change is None or not change.length:
            return True
        if change.length > thresholds.ROWS_ONE_BY_ONE or change.times is not None:
            return False
        changes[at] = change.rows(), change.weight_list()
        return True


# ------------------------------------------------------------------ operators


def _may_take_long(node: Node) -> bool:
    """Whether a node calls functions of Python even for a few rows."""
    if isinstance(node, Fixpoint):
        return any(map(_may_take_long, node.body.nodes))
    return isinstance(node, Join | DeltaJoin) and any(expression(step).arrays is None for step in node.steps)


def _keeping(state: State, at: NodeId) -> Keep | None:
    """As `EpochOperators.keep`; None: the node has no store, or the store has the change when it is known."""
    node, stores = state.circuit.nodes[at], state.stores
    if at not in stores or node.__class__ in KEPT_ALREADY or not isinstance(stores[at], Store):
        return None
    is_group, is_unread = isinstance(node, DeltaGroup), at in state.unread

    def keep(change: Rows, running: RunningEpoch) -> None:
        if is_unread and not running.epoch.tried:
            running.late.append((at, change))
            return
        store = stores[at]
        assert isinstance(store, Store)
        running.changed.append(store)
        store.keep_rows(*change, is_group)

    return keep


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
            return _sum(at, node)
        case Fixpoint() if isinstance(state.recursions[at], Recursion):
            return _recursion(state, at, node)
        case FixpointResult() if isinstance(state.recursions[node.fixpoint], Recursion):
            return _result(at, node)
        case Negate():
            return _negate(at, node)
    return None


def _input(state: State, at: NodeId, node: Input) -> Take:
    relation, stores = node.relation, state.stores

    def take(changes: Changes, running: RunningEpoch) -> bool:
        parts = running.epoch.changes.get(relation, ())
        if len(parts) != 1 or parts[0][0].length != 1 or parts[0][0].weights is not None or node.multiset:
            change = running.input(at, node)
            if change is not None:
                changes[at] = change.rows(), change.weight_list()
            return True
        (batch, sign) = parts[0]
        store = stores[at]
        assert isinstance(store, Store)
        running.changed.append(store)
        rows = batch.rows()
        if store.set_one(rows[0], sign):
            changes[at] = rows, [sign]
            running.taken[at] = batch if sign > 0 else batch.negated()
        else:
            running.taken[at] = no_rows(node.schema)
        return True

    return take


def _join(state: State, at: NodeId, node: Join | DeltaJoin) -> Take:
    joiner, sources = state.joiners[at], [term.source for term in node.terms]
    is_alone = len(sources) == 1

    def take(changes: Changes, running: RunningEpoch) -> bool:
        start = -1
        for place, source in enumerate(sources):
            if source in changes:
                if start >= 0:
                    return False  # rows of several terms change
                start = place
        if start < 0:
            return True
        rows, weights = changes[sources[start]]
        if len(rows) > 1:
            rows, weights = joiner.net_rows(start, rows, weights)
            if not rows:
                return True
        views = ALONE if is_alone else state.views_from(at, node, start)
        found = joiner.of_rows(start, rows, weights, None, views)
        if found is None or found[2]:
            return False
        if found[0]:
            changes[at] = found[0], found[1]
        return True

    return take


def _distinct(state: State, at: NodeId, node: DeltaDistinct) -> Take:
    source, stores = node.source, state.stores

    def take(changes: Changes, running: RunningEpoch) -> bool:
        if source not in changes:
            return True
        rows, weights = changes[source]
        store = stores[at]
        assert isinstance(store, Store)
        running.changed.append(store)
        if len(rows) == 1:
            sign = store.add_one(rows[0], weights[0])
            if sign:
                changes[at] = rows, [sign]
            return True
        signs = store.add_rows(rows, weights)
        if signs:
            if len(signs) != len(rows):
                rows = [store.table.row(each) for each in signs]
            changes[at] = rows, [*signs.values()]
        return True

    return take


def _group(state: State, at: NodeId, node: DeltaGroup) -> Take:
    source, groups = node.source, state.groups

    def take(changes: Changes, running: RunningEpoch) -> bool:
        if source not in changes:
            return True
        rows, weights = changes[source]
        if len(rows) != 1:
            return False
        group = groups[at]
        running.changed.append(group)
        found = group.change_one(rows[0], weights[0])
        if found[0]:
            changes[at] = found
        return True

    return take


def _recursion(state: State, at: NodeId, node: Fixpoint) -> Take:
    sources, stores = node.reads(), state.stores
    known: tuple[list[object], Starts] = [], Starts({}, {})  # the tables and stores that the starts know

    def take(changes: Changes, running: RunningEpoch) -> bool:
        nonlocal known
        recursion, given = state.recursions[at], {each: changes[each] for each in sources if each in changes}
        assert isinstance(recursion, Recursion)
        if not given:
            running.growths[at] = GrowthByRows(recursion, {}, Starts({}, {}), 0)
            return True
        if (
            running.epoch.limit is not None
            or recursion.maintaining.mode == "never"
            or not recursion.only_grows(given)
            or min([min(weights) for _, weights in given.values()]) < 0
        ):
            return False
        tables = [relation.table for relation in recursion.sets.values()]
        parts: list[object] = [*tables, *(stores[each] for each in sources)]
        if parts != known[0]:
            views = {each: StoreView(stores[each], state.weighted(each)) for each in sources}
            known = parts, starts_of(recursion, views)
        growth = running.growths[at] = GrowthByRows(recursion, given, known[1], running.epoch.number)
        return growth.run()

    return take


def _result(at: NodeId, node: FixpointResult) -> Take:
    fixpoint, relation = node.fixpoint, node.relation

    def take(changes: Changes, running: RunningEpoch) -> bool:
        growth = running.growths.get(fixpoint)
        if growth is None:
            return False
        if relation in growth.came:
            rows = growth.came[relation]
            changes[at] = rows, [1] * len(rows)
        return True

    return take


def _sum(at: NodeId, node: Sum) -> Take:
    sources = node.sources

    def take(changes: Changes, running: RunningEpoch) -> bool:
        some = [changes[source] for source in sources if source in changes]
        if len(some) == 1:
            changes[at] = some[0]
        elif some:
            changes[at] = (
                [row for rows, _ in some for row in rows],
                [w for _, weights in some for w in weights],
            )
        return True

    return take


def _negate(at: NodeId, node: Negate) -> Take:
    source = node.source

    def take(changes: Changes, running: RunningEpoch) -> bool:
        if source in changes:
            rows, weights = changes[source]
            changes[at] = rows, [-weight for weight in weights]
        return True

    return take
