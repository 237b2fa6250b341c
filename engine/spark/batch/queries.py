"""The query of a node: a WITH that names the nodes on the way, down to tables that are there.

    WITH n2 AS (SELECT … FROM ddlog_1 …), n5 AS (SELECT … FROM n2 …) SELECT c0, c1 FROM n5

The tables are those of the inputs, of facts, and of what recursions gave. Spark puts each name in its place,
so that its optimizer sees one query through all strata.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    FixpointResult,
    Input,
    Join,
    Node,
    NodeId,
    Output,
    Sum,
    Trace,
)
from ...operators.bracket import DeltaBracket
from ...operators.steps import has_effect
from ..expressions import SparkExpressions
from ..sqltext import Query, Select, UnionAll
from .body import body, tested_terms
from .groups import grouped
from .keys import keys_of
from .needs import CircuitFacts, ColumnNeed, needs_of

MOST_OPERATORS = 200
"""A query with more operators, every name put in its place, has parts of it computed and kept: Spark would
take longer to plan it than to run it."""


def is_one_query(circuit: Circuit) -> bool:
    """Whether the nodes of a circuit of changes, beside recursions, have queries: no window, no clock, no
    negative weight, and no step that does something beside."""
    return all(map(_has_query, circuit.nodes))


def _has_query(node: Node) -> bool:
    match node:
        case Join() | DeltaJoin():
            return not any(map(has_effect, node.steps))
        case DeltaBracket():
            return False
        case Fixpoint():
            joins = (each for each in node.body.nodes if isinstance(each, Join | DeltaJoin))
            return not any(has_effect(step) for each in joins for step in each.steps)
        case Input(signed=signed):
            return not signed
    return isinstance(node, Constant | DeltaDistinct | DeltaGroup | Output | FixpointResult | Sum | Trace)


class Queries:
    """Writes the queries of one circuit. `held` are the tables that are there: of inputs as they are given,
    and of other nodes exactly."""

    def __init__(
        self, circuit: Circuit, declared: Mapping[str, Sequence[int]], expressions: SparkExpressions
    ) -> None:
        """`declared`: the columns of the primary keys of inputs."""
        self.circuit, self.expressions = circuit, expressions
        self.held: dict[NodeId, str] = {}
        self._found: dict[int, frozenset[int]] = {}  # what is tested, by the identity of a join
        self._sets = [key is not None for key in keys_of(circuit, declared, sets=True)]
        free = keys_of(circuit, declared, sets=False, tested=self._tested)
        self.facts = CircuitFacts(circuit, free, self._sets, self._tested)

    def _tested(self, node: Join | DeltaJoin) -> frozenset[int]:
        """The terms of a join whose rows only have to be there, also where rows are counted."""
        if id(node) not in self._found:
            schemas = [self.circuit.nodes[term.source].schema for term in node.terms]
            bound = tested_terms(node, schemas, self.expressions)
            self._found[id(node)] = frozenset(k for k in bound if self._sets[node.terms[k].source])
        return self._found[id(node)]

    def below(self, root: NodeId) -> list[NodeId]:
        """The node and the nodes that its query names, those that are read first. Stops at held ones, and at
        fixpoints."""
        found, waiting = set[NodeId](), [root]
        while waiting:
            at = waiting.pop()
            if at in found:
                continue
            found.add(at)
            if at not in self.held and not isinstance(self.circuit.nodes[at], Fixpoint):
                waiting += _reads(self.circuit.nodes[at])
        return sorted(found)

    def common(self, roots: Collection[NodeId]) -> set[NodeId]:
        """The groups, and the nodes that are made distinct, that more than one of the queries of some nodes
        name, but for those that they name in others of these only."""
        found, nodes = set[NodeId](), self.circuit.nodes
        readers = [{*self.below(root)} - {root} for root in roots]
        for at in sorted(set[NodeId]().union(*readers), reverse=True):
            node = nodes[at]
            gathers = isinstance(node, DeltaGroup) or (
                isinstance(node, DeltaDistinct) and self.facts.free[node.source] is None
            )
            if gathers and at not in roots and sum(at in each for each in readers) > 1:
                found.add(at)
                below = {*self.below(at)} - {at}
                readers = [each - below if at in each else each for each in readers] + [below]
        return found

    def most_repeated(self, root: NodeId) -> NodeId | None:
        """The node that, if it were held, would shorten the query of the root most, once every name is put in
        its place; None if the query is short enough, or nothing in it is repeated."""
        below, nodes = self.below(root), self.circuit.nodes
        lengths: dict[NodeId, int] = {}
        for at in below:
            inside = () if at in self.held else _reads(nodes[at])
            lengths[at] = 1 + sum(lengths[source] for source in inside)
        if lengths[root] <= MOST_OPERATORS:
            return None
        times = dict.fromkeys(below, 0)
        times[root] = 1
        for at in reversed(below):
            for source in () if at in self.held else _reads(nodes[at]):
                times[source] += times[at]
        saved = {at: (times[at] - 1) * (lengths[at] - 1) for at in below if at not in self.held}
        best = max(saved, key=saved.__getitem__)
        return best if saved[best] else None

    def text(self, root: NodeId, last: Select) -> str:
        """The text of a query over the exact contents of a node, which `last` selects from under its name."""
        needs = needs_of(self.facts, [root], self.held)
        named = [
            f"{_name(at)} AS ({self._query(at, needs[at])})" for at in sorted(self.below(root)) if at in needs
        ]
        return f"WITH {', '.join(named)} {last}"

    def of(self, root: NodeId, items: Sequence[str]) -> str:
        """The text of the query of a node's exact contents, with some items over its columns c0, c1, …"""
        return self.text(root, Select(items or ["1 AS one"], _name(root)))

    def _query(self, at: NodeId, need: ColumnNeed) -> Query:
        node, nodes = self.circuit.nodes[at], self.circuit.nodes
        columns = sorted(need.columns)
        items = [f"c{k}" for k in columns] or ["1 AS one"]
        if at in self.held:
            return self._held(at, node, items, need)
        match node:
            case Output(_, source):
                return Select(items, _name(source))
            case Sum(sources):
                return UnionAll([Select(items, _name(source)) for source in sources])
            case DeltaDistinct(source):
                if not self.facts.made_distinct(node, need):
                    return Select(items, _name(source))
                return Select(items, _distinct(source, len(node.schema)))
            case DeltaGroup(source):
                schema = nodes[source].schema
                members = _name(source)
                if self.facts.members_distinct(node):
                    members = f"({_distinct(source, len(schema))})"
                return grouped(node, columns, schema, members, self.expressions)
            case Join() | DeltaJoin():
                schemas = [nodes[term.source].schema for term in node.terms]
                tables = [_name(term.source) for term in node.terms]
                return body(node, columns, need.exact, self._tested(node), schemas, tables, self.expressions)
        raise TypeError(f"{type(node).__name__} has no query")

    def _held(self, at: NodeId, node: Node, items: Sequence[str], need: ColumnNeed) -> Select:
        """The rows of a table; those of a set may be given more than once."""
        table = self.held[at]
        repeated = isinstance(node, Input) and self.facts.sets[at] and self.facts.free[at] is None
        if repeated and need.exact:
            every = [f"c{k}" for k in range(len(node.schema))] or ["1 AS one"]
            return Select(items, Select(every, table, distinct=True))
        return Select(items, table)


def _reads(node: Node) -> Sequence[NodeId]:
    """The nodes that the query of a node reads: not traces."""
    match node:
        case DeltaDistinct(source) | DeltaGroup(source):
            return (source,)
        case Join() | DeltaJoin():
            return tuple(term.source for term in node.terms)
    return node.reads()


def _name(at: NodeId) -> str:
    return f"n{at}"


def _distinct(source: NodeId, width: int) -> Select:
    return Select([f"c{k}" for k in range(width)] or ["1 AS one"], _name(source), distinct=True)
