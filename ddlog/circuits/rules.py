"""The bodies of monotone fixpoints as rules, which is the form that runtimes iterate.

A runtime takes a recursion as joins of imports and variables, each with heads among the variables. A join
that reads another join is one join of the terms of both: weights multiply, and a projection adds them up,
in one step or in two. Any other node that a join reads becomes a relation of the recursion itself: its set
is what the join would see one iteration later, and the least fixpoint is the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..engine import circuit as c
from ..engine.circuit import NodeId, Term
from ..engine.operators.distinct import summands
from ..engine.passes.chains import joined

_MOST_TERMS = 8  # of a join that is written as one rule


def in_rules(circuit: c.Circuit) -> c.Circuit:
    """The circuit with the body of each monotone Fixpoint in rules."""
    return replace(circuit, nodes=tuple(map(_fixpoint, circuit.nodes)))


def _fixpoint(node: c.Node) -> c.Node:
    if isinstance(node, c.Bracket) or not isinstance(node, c.Fixpoint) or not node.monotone:
        return node
    rules = _BodyRules(node.body)
    results = [(name, rules.relation(at)) for name, at in node.results]
    while rules.waiting:
        name, at = rules.waiting.pop(0)
        results.append((name, rules.relation(at)))
    return replace(node, body=c.Circuit(tuple(rules.nodes)), results=tuple(results))


@dataclass
class _BodyRules:
    body: c.Circuit
    nodes: list[c.Node] = field(default_factory=list)
    leaves: dict[NodeId, NodeId] = field(default_factory=dict)  # imports and variables, where they are now
    waiting: list[tuple[str, NodeId]] = field(default_factory=list)  # relations to be made
    number: int = 0

    def add(self, node: c.Node) -> NodeId:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def relation(self, at: NodeId) -> NodeId:
        """The Distinct of the sum of the rules for a node."""
        schema, text = self.body.nodes[at].schema, self.body.nodes[at].text
        rules = tuple(self.rule(each) for each in summands(self.body.nodes, at))
        return self.add(c.Distinct(self.add(c.Sum(rules, schema, text)), schema, text))

    def rule(self, at: NodeId) -> NodeId:
        node = self.body.nodes[at]
        if isinstance(node, c.Join):
            return self.add(self.flat(node))
        return self.add(node) if isinstance(node, c.Constant) else self.leaf(at)

    def leaf(self, at: NodeId) -> NodeId:
        """The import or variable of a node; of any other node a new variable."""
        if at not in self.leaves:
            node = self.body.nodes[at]
            if not isinstance(node, c.Import | c.Variable):
                name = f"step {at}"
                self.waiting.append((name, at))
                node = c.Variable(name, node.schema, node.text)
            self.leaves[at] = self.add(node)
        return self.leaves[at]

    def flat(self, join: c.Join) -> c.Join:
        """The join over imports and variables only."""
        terms: list[Term] = []
        inner: dict[int, c.Join] = {}
        count = 0
        for number, term in enumerate(join.terms):
            source = self.body.nodes[term.source]
            found = self.flat(source) if isinstance(source, c.Join) and not term.negated else None
            if found is None or count + len(found.terms) > _MOST_TERMS:
                found, term = None, replace(term, source=self.leaf(term.source))
            else:
                inner[number] = found
            terms.append(term)
            count += 1 if found is None else len(found.terms)
        self.number += 1
        return joined(replace(join, terms=tuple(terms)), inner, f"${self.number}.")
