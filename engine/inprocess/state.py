"""The state of a circuit in process: the stores, accumulators and recursions of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial

from ..circuit import (
    Circuit,
    Clock,
    DeltaBracket,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaOrdered,
    Fixpoint,
    FixpointResult,
    Import,
    Input,
    Join,
    NodeId,
    Output,
    Sum,
    Trace,
    Window,
)
from ..incremental import relational
from ..integrals import shown, signed_nodes, weighted
from ..maintenance import Maintaining
from ..schedule import readers
from ..windowonly import forgetful_nodes
from .arrangements.signedstore import SignedStore
from .arrangements.store import Store
from .arrangements.views import Readable, StoreView
from .arrangements.windows import ClockState, WindowStore
from .clockoperators import Memories
from .groups.group import GroupState
from .groups.orderedgroups import OrderedState
from .joins.join import Joiner
from .recursion.bracket import Bracketed
from .recursion.loops import LoopRecursion
from .recursion.rankedrelation import Ranked
from .recursion.recursion import Recursion
from .storage.batch import Batch, Rows, consolidate, few_rows, no_rows
from .storage.interner import Values
from .storage.marks import Marks
from .storage.rows import ArrayDelta
from .storage.steps import Evaluator

ALONE = (None,)
"""The views of a join of one term."""


class State:
    """The state of one circuit. `stores` holds the integrals of the nodes that something reads, by node."""

    def __init__(
        self,
        circuit: Circuit,
        values: Values,
        given: Mapping[str, Readable] | None = None,
        evaluator: Evaluator | None = None,
        maintaining: Maintaining | None = None,
        marks_more: Callable[[], Callable[[Marks], None] | None] = lambda: None,
    ) -> None:
        """`given`: the stores of inputs that another state holds; `evaluator`: the one to share with it;
        `maintaining` decides how recursions change; `marks_more` gives a function that marks the ids that
        are kept beside the state."""
        self.circuit, self.values = circuit, values
        self.evaluator = evaluator or Evaluator(values)
        self.maintaining = maintaining or Maintaining()
        self.weighted = cache(partial(weighted, circuit))
        """True if a node's rows may have weights other than 1."""
        nodes = circuit.nodes
        self.outputs = {node.relation: at for at, node in enumerate(nodes) if isinstance(node, Output)}
        outputs = [node for node in nodes if isinstance(node, Output)]
        self.streams = [node.relation for node in outputs if node.stream]
        self.recursions = {
            at: self.new_recursion(at, node) for at, node in enumerate(nodes) if isinstance(node, Fixpoint)
        }
        self.unchanged = {
            name: ArrayDelta(values, nodes[at].schema, no_rows(nodes[at].schema), True)
            for name, at in self.outputs.items()
        }
        self.stores: dict[NodeId, Readable] = {}
        self._views: dict[tuple[NodeId, int], tuple[StoreView | None, ...]] = {}  # see `views_from`
        streams = {shown(circuit, node.source) for node in outputs if node.stream}
        self.unread = frozenset(self._kept() - self._read() - streams)
        """The nodes whose stores no operator reads, but only who asks for the contents of a relation."""
        self.late: dict[NodeId, Rows] = {}
        """Changes of their stores that are to be taken in before somebody asks."""
        self.late_rows = 0
        self.memories = Memories(circuit)
        self._marks_more = marks_more
        self._signed = signed_nodes(circuit)
        for at in sorted(self._kept()):
            node = nodes[at]
            if isinstance(node, FixpointResult):
                self.stores[at] = self.recursions[node.fixpoint].relations[node.relation]
            elif isinstance(node, Input) and given and node.relation in given:
                self.stores[at] = given[node.relation]
            elif isinstance(node, Window):
                self.stores[at] = WindowStore(node.schema)
            elif not isinstance(node, Fixpoint | Output | Trace):
                self.stores[at] = self.new_store(at)
        self.clocks = {at: ClockState() for at, node in enumerate(nodes) if isinstance(node, Clock)}
        self.forgetful = {
            at: holders for at, holders in forgetful_nodes(circuit).items() if at in self.stores
        }
        self.held_by: dict[NodeId, list[tuple[NodeId, tuple[int, ...]]]] = {}  # windows, to forgetful nodes
        for at, holders in self.forgetful.items():
            for holder in holders:
                self.held_by.setdefault(holder.window, []).append((at, holder.columns))
        self.remembering = frozenset[NodeId]()
        """The nodes whose changes are kept beyond the process. See `remembering`."""
        self.given: dict[NodeId, Batch] = {}
        """The rows with which nodes of windows began, until the first epoch is over."""
        self.joiners: dict[NodeId, Joiner] = {}
        self.groups: dict[NodeId, GroupState] = {}
        self.ordered: dict[NodeId, OrderedState] = {}
        for at, node in enumerate(nodes):
            if isinstance(node, Join | DeltaJoin):
                schemas = [nodes[term.source].schema for term in node.terms]
                self.joiners[at] = Joiner(node, schemas, self.evaluator)
            elif isinstance(node, DeltaGroup):
                store = self.stores[node.source] if node.reads_members else None
                self.groups[at] = self.new_group(node, store)
            elif isinstance(node, DeltaOrdered):
                self.ordered[at] = OrderedState(node, nodes[node.source].schema, values)

    @cached_property
    def takers(self) -> dict[NodeId, NodeId]:
        """By joins, the one node that takes in all rows of the join, if there is one: the join, if its rows
        are kept, or a sum with it, or the *distinct* of either, or a group that reads no members."""
        nodes, read_by = self.circuit.nodes, readers(self.circuit)
        found = {}
        for at in self.joiners:
            into = at
            while into not in self.stores and into not in self.groups:
                reading = [k for k in read_by[into] if not isinstance(nodes[k], Trace)]
                if len(reading) != 1 or not isinstance(nodes[reading[0]], Sum | DeltaDistinct | DeltaGroup):
                    break
                (into,) = reading
            if into in self.groups:
                fits = not self.groups[into].node.reads_members
            else:
                fits = self.stores.get(into).__class__ is Store and into not in self.forgetful
            if fits and self.memories.counts(into) is None:
                found[at] = into
        return found

    def new_store(self, at: NodeId) -> Store:
        """A store for the rows of a node, without rows."""
        schema = self.circuit.nodes[at].schema
        return SignedStore(schema) if self._signed[at] else Store(schema, not self.weighted(at))

    def new_group(self, node: DeltaGroup, members: Readable | None) -> GroupState:
        """The state of a group, without members. `members` will have them, if the group reads members."""
        source = self.circuit.nodes[node.source]
        net = isinstance(source, DeltaDistinct | DeltaGroup | FixpointResult) or (
            isinstance(source, Input) and not source.multiset
        )
        return GroupState(node, source.schema, members, self.values, net)

    def new_recursion(self, at: NodeId, node: Fixpoint) -> Recursion | Bracketed | LoopRecursion:
        """The state of a fixpoint, without rows."""
        if isinstance(node, DeltaBracket):
            return Bracketed(node, self.evaluator)
        if not node.lifted:
            recursion = Recursion(node, self.evaluator, self.maintaining)
            if recursion.searches is not None:
                return recursion
            node = relational(node)
        is_weighted, reads = self.weighted, partial(self._reads, at)
        return LoopRecursion(node, is_weighted, self.evaluator, self.maintaining, reads)

    def _reads(self, fixpoint: NodeId, relation: str) -> bool:
        """Whether something reads a relation of a recursion, or may ask for it."""
        return (fixpoint, relation) in self._read_results

    @cached_property
    def _read_results(self) -> set[tuple[NodeId, str]]:
        """The relations of recursions that something reads, or may ask for."""
        nodes = self.circuit.nodes
        asked = {shown(self.circuit, at) for _, at in self.circuit.relations}
        imports = (
            n.node
            for node in nodes
            if isinstance(node, Fixpoint)
            for n in node.body.nodes
            if isinstance(n, Import)
        )
        read = {source for node in nodes for source in node.reads()}.union(imports, asked)
        return {
            (node.fixpoint, node.relation)
            for at, node in enumerate(nodes)
            if isinstance(node, FixpointResult) and at in read
        }

    def _read(self) -> set[NodeId]:
        """The nodes whose integrals an operator needs."""
        nodes = enumerate(self.circuit.nodes)
        return {k for at, node in nodes for k in ((at,) if node.kept else ()) + node.looked_up()}

    def _kept(self) -> set[NodeId]:
        """The nodes whose integrals an operator or a reader needs."""
        outputs = [node.source for node in self.circuit.nodes if isinstance(node, Output)]
        asked = [node for _, node in self.circuit.relations]
        return self._read() | {shown(self.circuit, at) for at in (*outputs, *asked)}

    def keep_late(self, at: NodeId, change: Rows) -> None:
        """Takes the change of an unread node in later."""
        rows, weights = self.late.setdefault(at, ([], []))
        rows += change[0]
        weights += change[1]
        self.late_rows += len(change[0])

    def take_in(self) -> None:
        """Takes in what was to be taken in later. Raises MemoryError; then the rest still is."""
        for at, change in [*self.late.items()]:
            store, node = self.own_store(at), self.circuit.nodes[at]
            try:
                store.keep(consolidate(few_rows(*change, len(node.schema))), isinstance(node, DeltaGroup))
            except BaseException:
                store.rollback()
                raise
            store.commit()
            del self.late[at]
            self.late_rows -= len(change[0])

    def views_from(self, at: NodeId, node: Join | DeltaJoin, start: int) -> tuple[StoreView | None, ...]:
        """The views that a join has, from a term, of the contents of the others, the same tuple until a store
        is another one."""
        if len(node.terms) == 1:
            return ALONE
        stores, found = self.stores, self._views.get((at, start))
        if found is None:
            found = self._views[at, start] = tuple(
                None if k == start else StoreView(stores[term.source], self.weighted(term.source))
                for k, term in enumerate(node.terms)
            )
        return found

    def replace(self, at: NodeId, store: Readable) -> None:
        """Lets a node have another store."""
        if self.stores[at] is not store:
            self.stores[at] = store
            self._views.clear()

    def own_store(self, at: NodeId) -> Store:
        """The store of a node outside recursions."""
        store = self.stores[at]
        assert isinstance(store, Store)
        return store

    def output(self, relation: str) -> Readable:
        """The store that an output shows."""
        return self.stores[shown(self.circuit, self.outputs[relation])]

    def relations(self) -> list[Readable]:
        """The stores that this state holds, and the relations of its recursions, each once."""
        inside = (store for recursion in self.recursions.values() for store in recursion.relations.values())
        every = (*self.stores.values(), *inside, *self.memories.stores())
        return list({id(store): store for store in every}.values())

    def mark(self, marks: Marks) -> None:
        """Marks the ids in all rows that are present."""
        for store in self.relations():
            if isinstance(store, Ranked):
                store.forget_ghosts()  # keys that were derived of other values
            marks.rows(store.schema, store.table, None if store.weights is None else store.rows())
        for at, change in self.late.items():
            schema = self.circuit.nodes[at].schema
            marks.columns(schema, few_rows(*change, len(schema)).columns)
        more = self._marks_more()
        if more is not None:
            more(marks)
        for group in self.groups.values():
            group.mark(marks)
        for recursion in self.recursions.values():
            if isinstance(recursion, LoopRecursion):
                recursion.mark(marks)

    def give_back(self) -> None:
        """Gives back the room that an epoch took which was rolled back. Indexes are built again on demand."""
        for store in self.relations():
            store.indexes.clear()
            if isinstance(store, Store):
                store.give_back()
        for group in self.groups.values():
            group.commit()

    def prepare_to_shrink(self, at: NodeId, changed: int, limited: bool) -> None:
        """Prepares the growing sets of a fixpoint, unless that was done, for an epoch in which something may
        shrink, with so many `changed` rows of inputs. `limited`: it has a limit of iterations."""
        recursion = self.recursions[at]
        if not isinstance(recursion, Recursion) or recursion.ranked is not None:
            return
        if self.maintaining.mode == "never" and not limited:
            return  # it is evaluated from empty relations
        imported = sum(self.stores[node].present for node in recursion.fixpoint.reads())
        recursion.prepare_to_shrink(imported, changed)
        if recursion.ranked is not None:
            self.reread(at)

    def reread(self, at: NodeId) -> None:
        """Lets all that reads a recursion read the relations that it has now."""
        recursion = self.recursions[at]
        results = {
            k: node.relation
            for k, node in enumerate(self.circuit.nodes)
            if isinstance(node, FixpointResult) and node.fixpoint == at and k in self.stores
        }
        for k, relation in results.items():
            self.replace(k, recursion.relations[relation])
        for k, group in self.groups.items():
            node = self.circuit.nodes[k]
            assert isinstance(node, DeltaGroup)
            if node.source in results:
                group.read_from(self.stores[node.source])
