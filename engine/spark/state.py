"""The state of a circuit on a Spark session: the spines, texts and recursions of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..circuit import (
    Circuit,
    Clock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Import,
    Input,
    Join,
    Late,
    NodeId,
    Output,
    Trace,
    Window,
)
from ..forgetting import forgetful_nodes
from ..integrals import shown, weighted
from ..maintaining import Maintaining
from ..schedule import readers
from ..schema import Schema
from .accumulating import Accumulators, accumulating
from .clocked import Memories
from .drivergroups import DriverGroups
from .expressions import SparkExpressions
from .grouping import GroupText
from .joins import JoinText
from .membergroups import MemberGroups
from .recursion import Recursion
from .spine import Spine
from .tables import Table, Tables
from .windows import ClockState, WindowSpine


class State:
    """The state of one circuit. `spines` holds the integrals of nodes, `counts` those of the sources of
    distinct nodes, `windows` those of windows with the times of their rows, all by node."""

    def __init__(
        self,
        circuit: Circuit,
        tables: Tables,
        expressions: SparkExpressions,
        nan: float,
        driver_rows: int,
        maintaining: Maintaining,
        given: Mapping[str, Spine] | None = None,
    ) -> None:
        """`given`: the spines of the inputs, if another runtime holds them."""
        self.maintaining = maintaining
        self.elsewhere: Callable[[NodeId], Spine | None] = lambda at: None
        self.lent: Callable[[], Iterable[Table]] = tuple
        self.circuit, self.tables, self.expressions = circuit, tables, expressions
        self.nan, self.driver_rows = nan, driver_rows
        self.earlier = 0
        """The epochs before the first one of this state, for rows that are told their number."""
        nodes = circuit.nodes
        self.outputs = {node.relation: at for at, node in enumerate(nodes) if isinstance(node, Output)}
        self.relations = self.outputs | dict(circuit.relations)
        self.inputs = {node.relation: at for at, node in enumerate(nodes) if isinstance(node, Input)}
        self.read_by = readers(circuit)
        self.accumulating = accumulating(circuit, expressions)
        self.ungrouped = self._read_by_groups()
        self.kept_static = self._kept(static=True)
        self.spines: dict[NodeId, Spine] = {}
        for at in self._kept():
            node = nodes[at]
            if given is not None and isinstance(node, Input):
                self.spines[at] = given[node.relation]
            elif not isinstance(node, Fixpoint | Output):
                self.spines[at] = Spine(tables, node.schema)
        self.counts: dict[NodeId, Spine] = {}
        self.memories = Memories(circuit, tables)
        self.windows: dict[NodeId, WindowSpine] = {}
        self.clocks: dict[NodeId, ClockState] = {}
        self.given: dict[NodeId, Table] = {}
        """The rows with which nodes begin, until the first epoch is committed. See `remembered`."""
        self.forgetful = forgetful_nodes(circuit)
        self.joins: dict[NodeId, JoinText] = {}
        self.groups: dict[NodeId, GroupText] = {}
        self.accumulators: dict[NodeId, Accumulators] = {}
        self.driver_groups: dict[NodeId, DriverGroups] = {}
        self.member_groups: dict[NodeId, MemberGroups] = {}
        self.recursions: dict[NodeId, Recursion] = {}
        for at, node in enumerate(nodes):
            match node:
                case Join() | DeltaJoin():
                    schemas = [nodes[term.source].schema for term in node.terms]
                    self.joins[at] = JoinText(node, schemas, expressions, tables.most_sent)
                case DeltaDistinct():
                    self.counts[at] = Spine(tables, node.schema)
                case DeltaGroup():
                    source = nodes[node.source].schema
                    self.groups[at] = GroupText(node, source, expressions)
                    if at in self.accumulating:
                        self._accumulate(at, node, source)
                    else:
                        self.member_groups[at] = MemberGroups(node, source, tables)
                case Fixpoint():
                    self.recursions[at] = self.new_recursion(node)
                case Window():
                    self.windows[at] = WindowSpine(tables, nodes[node.source].schema)
                case Clock():
                    self.clocks[at] = ClockState(tables)

    def _accumulate(self, at: NodeId, node: DeltaGroup, source: Schema) -> None:
        accumulators = Accumulators(node, source, self.tables, self.expressions)
        members = self.spines.get(node.source) if self.accumulating[at] else None
        self.accumulators[at] = accumulators
        self.driver_groups[at] = DriverGroups(node, source, accumulators, self.spines[at], members)

    def new_recursion(self, node: Fixpoint) -> Recursion:
        """The state of a fixpoint, without rows."""
        imports = {n.node: n.schema for n in node.body.nodes if isinstance(n, Import)}
        counted = {n for n in imports if weighted(self.circuit, n)}
        return Recursion(
            node,
            imports,
            counted,
            self.tables,
            self.expressions,
            self.nan,
            self.driver_rows,
            self.maintaining,
        )

    def _kept(self, static: bool = False) -> set[NodeId]:
        """The nodes whose integrals an operator or a reader needs; `static`: in an epoch that is the only
        one."""
        kept = {shown(self.circuit, node) for _, node in self.circuit.relations}
        for at, node in enumerate(self.circuit.nodes):
            match node:
                case Input() | Late():
                    kept.add(at)
                case DeltaGroup():
                    members = {node.source} if self.accumulating.get(at, True) else set()
                    kept.update(set() if static else {*members, at} - self.ungrouped)
                case Output():
                    kept.add(shown(self.circuit, node.source))
                case _:
                    kept.update(node.looked_up())
        return kept

    def _read_by_groups(self) -> set[NodeId]:
        """The distinct nodes that only groups read. A group looks up the members of its keys and sees by
        their counts which are present, so that looking up the rows of the change first would be for
        nothing: these nodes pass the counts on."""
        nodes = self.circuit.nodes
        found = {at for at, node in enumerate(nodes) if isinstance(node, DeltaDistinct)}
        found -= {shown(self.circuit, node) for _, node in self.circuit.relations}
        return {
            at
            for at in found
            if all(
                isinstance(nodes[k], DeltaGroup) and k not in self.accumulating
                for k in self.read_by[at]
                if not isinstance(nodes[k], Trace)
            )
        }

    def at(self, relation: str) -> NodeId:
        """The node of a relation; of an input relation, the input."""
        return self.inputs[relation] if relation in self.inputs else self.relations[relation]

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""
        return self.circuit.nodes[self.at(relation)].schema

    def named(self, relation: str) -> Schema:
        """The columns of a relation under the names that its users know."""
        return self.circuit.nodes[self.outputs.get(relation, self.at(relation))].schema

    def stored_at(self, relation: str) -> NodeId:
        """The node whose integral a relation is."""
        return shown(self.circuit, self.relations[relation])

    def spine(self, relation: str) -> Spine:
        """The integral of a relation."""
        at = self.stored_at(relation)
        return self.elsewhere(at) or self.spines[at]

    def weighted(self, relation: str) -> bool:
        """Whether rows of a relation may have weights other than 1."""
        return weighted(self.circuit, self.stored_at(relation))

    def integrals(self) -> Iterator[Spine]:
        """All spines."""
        yield from self.spines.values()
        yield from self.counts.values()
        yield from (each.spine for each in self.accumulators.values())
        yield from self.memories.sums.values()
        yield from self.windows.values()

    def every_spine(self) -> Iterator[Spine]:
        """All spines, those of recursions on the cluster, too."""
        yield from self.integrals()
        for recursion in self.recursions.values():
            if recursion.cluster is not None:
                yield from recursion.cluster.spines()

    def held(self) -> list[Table]:
        """The tables that the state needs."""
        held = [table for spine in self.integrals() for table in spine.held()]
        held += [*self.memories.held(), *self.given.values()]
        return [*held, *(table for each in self.recursions.values() for table in each.held())]

    def sweep(self) -> None:
        """Forgets the tables that no state needs."""
        self.tables.release_but([*self.held(), *self.lent()])

    def forget(self) -> None:
        """Drops the state."""
        self.spines.clear()
        self.counts.clear()
        self.accumulators.clear()
        self.driver_groups.clear()
        self.memories = Memories(Circuit(()), self.tables)
        self.windows.clear()
        self.recursions.clear()
        self.tables.close()

    def whole(self, spine: Spine) -> Table:
        """The contents of a spine as one table, a row perhaps more than once."""
        seen = spine.seen()
        if all(table.small for table in seen):
            return self.tables.concatenated(seen)
        return self.tables.lazy(seen, spine.columns)
