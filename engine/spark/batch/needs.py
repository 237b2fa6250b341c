"""The needs that a query has of each node: which columns, and whether a row must come as often as it is
there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...circuit import (
    Aggregate,
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Join,
    Node,
    NodeId,
    Output,
    Sum,
    Term,
)
from ...operators.steps import variables
from .keys import Key, Tested


@dataclass(slots=True)
class ColumnNeed:
    """The columns that are read of a node. `exact`: each row as often as it is there; otherwise once or
    more."""

    columns: set[int] = field(default_factory=set)
    exact: bool = False


@dataclass(frozen=True, slots=True)
class CircuitFacts:
    """Facts about a circuit: `free` are the keys that hold without any distinct, `sets` says which nodes are
    sets, and `tested` gives the terms of a join whose rows only have to be there."""

    circuit: Circuit
    free: Sequence[Key]
    sets: Sequence[bool]
    tested: Tested

    def made_distinct(self, node: DeltaDistinct, need: ColumnNeed) -> bool:
        """Whether a distinct is one of the query, too."""
        return need.exact and self.free[node.source] is None

    def members_distinct(self, node: DeltaGroup) -> bool:
        """Whether the members of a group are made distinct for it."""
        return not (node.bag or self.sets[node.source] or self._any_number_will_do(node))

    def members_exact(self, node: DeltaGroup) -> bool:
        """Whether the members of a group must come as often as they are there."""
        return node.bag or (self.sets[node.source] and not self._any_number_will_do(node))

    def _any_number_will_do(self, node: DeltaGroup) -> bool:
        return all(map(ignores_repetition, node.aggregates))


def ignores_repetition(aggregate: Aggregate) -> bool:
    """Whether an aggregate of members that come more than once is the same."""
    return aggregate.make is None and aggregate.function in ("min", "max")


def needs_of(
    facts: CircuitFacts, roots: Collection[NodeId], held: Collection[NodeId]
) -> dict[NodeId, ColumnNeed]:
    """The needs that the whole contents of some nodes have of the nodes that they rest on. Nothing is needed
    for those that are `held`, whose rows are there."""
    nodes = facts.circuit.nodes
    needs = {at: ColumnNeed(set(range(len(nodes[at].schema))), True) for at in roots}
    for at in reversed(range(max(roots) + 1)):
        need = needs.get(at)
        if need is None or at in held:
            continue
        for source, columns, exact in _asked(nodes[at], need, facts):
            of = needs.setdefault(source, ColumnNeed())
            of.columns |= columns
            of.exact |= exact
    return needs


def _asked(node: Node, need: ColumnNeed, facts: CircuitFacts) -> Iterator[tuple[NodeId, set[int], bool]]:
    """The needs that a node has of its sources: the columns, and whether exactly."""
    match node:
        case Output(_, source):
            yield source, need.columns, need.exact
        case Sum(sources):
            for source in sources:
                yield source, need.columns, need.exact
        case DeltaDistinct(source) if facts.made_distinct(node, need):
            yield source, set(range(len(node.schema))), False
        case DeltaDistinct(source):
            yield source, need.columns, need.exact
        case DeltaGroup(source) if facts.members_distinct(node):
            yield source, set(range(len(facts.circuit.nodes[source].schema))), False
        case DeltaGroup(source):
            columns = set(range(node.keys)) | {c for each in node.aggregates for c in each.columns}
            yield source, columns, facts.members_exact(node)
        case Join() | DeltaJoin():
            read = read_variables(node, (node.output[k] for k in need.columns))
            tested = facts.tested(node)
            for number, term in enumerate(node.terms):
                exact = need.exact and not term.negated and number not in tested
                yield term.source, _columns(term, read), exact


def read_variables(node: Join | DeltaJoin, output: Iterable[str]) -> set[str]:
    """The variables of a join that a step, another column of a term, or the output reads."""
    read = set(output)
    for step in node.steps:
        read.update(variables(step))
    seen = set[str]()
    for name in (name for term in node.terms for name in term.columns if name is not None):
        (read if name in seen else seen).add(name)
    return read


def _columns(term: Term, read: set[str]) -> set[int]:
    return {k for k, name in enumerate(term.columns) if name is not None and (term.negated or name in read)}
