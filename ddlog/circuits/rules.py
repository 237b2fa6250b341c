"""The bodies of monotone fixpoints as rules, which is the form that runtimes iterate.

A runtime takes a recursion as joins of imports and variables, each with heads among the variables. A join
that reads another join is one join of the terms of both: weights multiply, and a projection adds them up,
in one step or in two. Any other node that a join reads becomes a relation of the recursion itself: its set
is what the join would see one iteration later, and the least fixpoint is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from ..engine import circuit as c
from ..engine.circuit import NodeId, Step, Term
from ..engine.operators.steps import rename_step, variables

_MOST_TERMS = 8


def in_rules(circuit: c.Circuit) -> c.Circuit:
    """The circuit with the body of each monotone Fixpoint in rules."""
    return replace(circuit, nodes=tuple(map(_fixpoint, circuit.nodes)))


def _fixpoint(node: c.Node) -> c.Node:
    if isinstance(node, c.Bracket) or not isinstance(node, c.Fixpoint) or not node.monotone:
        return node
    rules = _Rules(node.body)
    results = [(name, rules.relation(at)) for name, at in node.results]
    while rules.waiting:
        name, at = rules.waiting.pop(0)
        results.append((name, rules.relation(at)))
    return replace(node, body=c.Circuit(tuple(rules.nodes)), results=tuple(results))


@dataclass
class _Rules:
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
        summands = tuple(self.rule(leaf) for leaf in self.summands(at))
        return self.add(c.Distinct(self.add(c.Sum(summands, schema, text)), schema, text))

    def summands(self, at: NodeId) -> Iterator[NodeId]:
        node = self.body.nodes[at]
        match node:
            case c.Distinct(source):
                yield from self.summands(source)
            case c.Sum(sources):
                for source in sources:
                    yield from self.summands(source)
            case _:
                yield at

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
        steps: list[Step] = []
        same: dict[str, str] = {}
        for term in join.terms:
            source = self.body.nodes[term.source]
            inner = self.flat(source) if isinstance(source, c.Join) and not term.negated else None
            if inner is None or len(terms) + len(inner.terms) > _MOST_TERMS:
                terms.append(replace(term, source=self.leaf(term.source)))
                continue
            self.number += 1
            inner = _named_apart(inner, f"${self.number}.")
            names: dict[str, str] = {}
            for own, outer in zip(inner.output, term.columns, strict=True):
                if outer is not None and names.setdefault(own, outer) != outer:
                    _unify(same, names[own], outer)
            new = _renaming(names)
            terms += [_renamed(each, new) for each in inner.terms]
            steps += [rename_step(each, new) for each in inner.steps]
        final = _renaming({name: _end(same, name) for name in same})
        whole = replace(join, terms=tuple(terms), steps=(*steps, *join.steps))
        return _all_renamed(whole, final)


def _named_apart(join: c.Join, prefix: str) -> c.Join:
    """The join with variables that occur nowhere else."""
    own = {name for term in join.terms for name in term.columns if name is not None}
    own |= {name for step in join.steps for name in variables(step)}
    return _all_renamed(join, _renaming({name: prefix + name for name in own}))


def _all_renamed(join: c.Join, new: Callable[[str], str]) -> c.Join:
    terms = tuple(_renamed(term, new) for term in join.terms)
    steps = tuple(rename_step(step, new) for step in join.steps)
    return replace(join, terms=terms, steps=steps, output=tuple(map(new, join.output)))


def _renaming(names: dict[str, str]) -> Callable[[str], str]:
    return lambda name: names.get(name, name)


def _renamed(term: Term, new: Callable[[str], str]) -> Term:
    return replace(term, columns=tuple(name and new(name) for name in term.columns))


def _unify(same: dict[str, str], left: str, right: str) -> None:
    """Notes that two variables are one."""
    left, right = _end(same, left), _end(same, right)
    if left != right:
        same[right] = left


def _end(same: dict[str, str], name: str) -> str:
    while name in same:
        name = same[name]
    return name
