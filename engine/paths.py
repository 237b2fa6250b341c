"""Recursions over paths: the best value of each key, where steps carry values from key to key.

Shortest paths, components by least label and widest ways are such recursions: a group takes the least (or
greatest) of the values offered to a key, and each rule that offers reads the best value v of one other key,
which it keeps, adds something to, or bounds. Rules make *steps* of their other terms, outside the recursion:

    Offer(n, 0) :- Start(n).                                         start --0--> n
    Offer(to, v + c) :- Best(n, v), Edge(n, to, c).                  n --c--> to
    Best(n, v) :- Offer(n, each), var v = each.group_by(n).min().

For `max` all is mirrored: below, values are such that less is better. The function f of a step is one of
v + c with c >= 0, max(v, c), or c for a step from the start. It is *monotone*: a better v gives a better
f(v). So the rounds x' = F(x), from no values, give each key better and better values, until none changes:
then they are the least fixpoint of F, and so is what any other order of offers comes to, as long as each
value is that of some path. And f never betters: f(v) >= v. So the best of all offers that wait is final
(Dijkstra, "A Note on Two Problems in Connexion with Graphs", 1959), and each key is looked at once.

Each key has its value v, and a rank r among equal ones: the steps with f(v) = v since the value was new.

    start --3--> a --+0--> b --+0--> c --+4--> d          f is v + c
                 3,0       3,1       3,2       7,0

**The law.** A key has (v, r) if and only if some step into it, from a key with (v', r') < (v, r), gives
f(v') = v, and none gives less. A derivation by keys with lesser pairs is well founded. So when steps are
taken away, a key that still has such a step stays as it is, whatever becomes of the others; and those that
have none get the best offer of the keys that stay, and so on in the order of values (Ramalingam and Reps,
"An Incremental Algorithm for a Generalization of the Shortest-Path Problem", 1996, with ranks for steps
that cost nothing). When steps come, what they better is bettered. An epoch looks at no other keys.

A sum that leaves the range of its type wraps around, or is no machine integer. No sum of a round does while
the greatest start plus a step more than there are keys to pass, each as dear as the dearest, is in range.
Where it may, and where a step betters what it carries, rounds are what they are: see `engine.time`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from .circuit import (
    Circuit,
    Constant,
    Distinct,
    Exchange,
    Fixpoint,
    Group,
    Import,
    Input,
    Join,
    Let,
    Node,
    NodeId,
    Term,
    Variable,
)
from .incremental import incrementalize
from .operators.distinct import summands
from .operators.fixpoint import import_name
from .operators.steps import Step, binds, has_effect, inputs
from .schema import INLINE_LIMIT, Array, Carried, Column, Kind, RowExpr, Schema

N = TypeVar("N", bound=Node)
T = TypeVar("T")

PLUS, BOUND, START = 0, 1, 2
"""The kinds of steps: v + c, max(v, c) where less is better, and c whatever v."""

_OPERATORS = {("+", False): PLUS, ("+", True): PLUS, ("max", False): BOUND, ("min", True): BOUND}


@dataclass(frozen=True, slots=True)
class Steps:
    """A node whose rows are steps of one kind: the key that a step leads from, unless it is from the start,
    the key that it leads to, and c. `low` and `high` are the limits of sums."""

    node: NodeId
    kind: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class PathPlan:
    """A recursion over paths. `circuit` is the incremental circuit of the steps, over the imports. `best` and
    `offers` are the relations; `best_places` and `offer_places` say of each of their columns where it stands
    in the row of a key and its value. `offer_places` is None where offers have more columns."""

    circuit: Circuit
    steps: tuple[Steps, ...]
    keys: Schema
    value: Column
    greatest: bool
    best: str
    best_places: tuple[int, ...]
    offers: str
    offer_places: tuple[int, ...] | None


class _Other(Exception):
    """The recursion is not one over paths."""


def path_plan(recursion: Fixpoint, weighted: Callable[[NodeId], bool]) -> PathPlan | None:
    """The plan of a recursion that is one over paths; None of others. `weighted` says of which
    imported nodes the rows have weights."""
    try:
        return _Reading(recursion, weighted).plan()
    except _Other:
        return None


class _Reading:
    """The body of a recursion, taken apart."""

    def __init__(self, recursion: Fixpoint, weighted: Callable[[NodeId], bool]) -> None:
        self.nodes, self.results, self.weighted = recursion.body.nodes, dict(recursion.results), weighted
        groups = [at for at, node in enumerate(self.nodes) if isinstance(node, Group)]
        self.group_at = _only(groups)
        self.group = self._node(self.group_at, Group)
        self.made: list[Node] = []
        self.imported: dict[NodeId, NodeId] = {}

    def _node(self, at: NodeId, kind: type[N]) -> N:
        node = self.nodes[at]
        if not isinstance(node, kind):
            raise _Other
        return node

    def plan(self) -> PathPlan:
        """The plan. Raises _Other."""
        group, keys = self.group, self.group.keys
        one = _only(group.aggregates)
        value = group.schema[keys]
        if one.function not in ("min", "max") or value.kind is not Kind.INT or not keys:
            raise _Other
        greatest = one.function == "max"
        source, columns = self._renamed(group.source)
        offers = self._node(source, Variable).relation
        places = [*columns[:keys], columns[one.columns[0]]]
        best = _only([name for name in self.results if name != offers])
        best_places = self._best_places(best)
        steps = [
            self._steps(summand, places, best, best_places, greatest)
            for summand in summands(self.nodes, self.results[offers])
        ]
        width = len(self.nodes[source].schema)
        if len(set(places)) < len(places):
            raise _Other
        plain = tuple(places.index(k) for k in range(width)) if len(places) == width else None
        named = tuple((str(number), each.node) for number, each in enumerate(steps))
        circuit = incrementalize(Circuit(tuple(self.made), named))
        found = tuple(replace(steps[int(number)], node=node) for number, node in circuit.relations)
        circuit = Circuit(circuit.nodes)
        return PathPlan(
            circuit, found, group.schema[:keys], value, greatest, best, best_places, offers, plain
        )

    def _renamed(self, at: NodeId) -> tuple[NodeId, list[int]]:
        """The node of which this one has the rows, with columns left out or in another order, and the column
        there of each one here."""
        node = self.nodes[at]
        match node:
            case Distinct(source) | Exchange(source):
                return self._renamed(source)
            case Join((term,), (), output) if not term.negated:
                if len({*filter(None, term.columns)}) < len([*filter(None, term.columns)]):
                    raise _Other
                source, columns = self._renamed(term.source)
                return source, [columns[term.columns.index(name)] for name in output]
        return at, list(range(len(node.schema)))

    def _best_places(self, best: str) -> tuple[int, ...]:
        source, places = self._renamed(self.results[best])
        if source != self.group_at or sorted(places) != list(range(len(self.group.schema))):
            raise _Other
        return tuple(places)

    # ------------------------------------------------------------- steps

    def _steps(
        self, at: NodeId, places: list[int], best: str, best_places: tuple[int, ...], greatest: bool
    ) -> Steps:
        """Adds the steps that a rule for the offers makes."""
        node = self.nodes[at]
        if isinstance(node, Import | Constant):
            names = tuple(f"c{k}" for k in range(len(node.schema)))
            node = Join((Term(at, names),), (), names, node.schema, node.text)
        if not isinstance(node, Join) or any(map(has_effect, node.steps)):
            raise _Other
        inside = [term for term in node.terms if isinstance(self.nodes[term.source], Variable)]
        outside = [term for term in node.terms if not isinstance(self.nodes[term.source], Variable)]
        *to, value = [node.output[place] for place in places]
        schema = [node.schema[place] for place in places]
        if not inside:
            joined = self._join(outside, node.steps, (*to, value), tuple(schema), node.text)
            return Steps(joined, START, 0, 0)
        term = _only(inside)
        if term.negated or self._node(term.source, Variable).relation != best:
            raise _Other
        of_best = dict(zip(best_places, term.columns, strict=True))  # by place in key and value
        *keys, carried = [of_best[k] for k in range(len(best_places))]
        if carried is None or None in keys or keys.count(carried) or len({*keys}) < len(keys):
            raise _Other
        if any(carried in each.columns for each in outside) or carried in to:
            raise _Other
        how = _carrying(node.steps, carried, value)
        kind = _OPERATORS.get((how.operator, greatest))
        if kind is None:
            raise _Other
        neutral = {"+": 0, "min": how.high, "max": how.low}[how.operator]
        column = self.nodes[term.source].schema[best_places.index(len(best_places) - 1)]
        start = Let(carried, _constant(column, neutral))
        output = (*(name for name in keys if name is not None), *to, value)
        whole = (*self.group.schema[: len(keys)], *schema)
        return Steps(
            self._join(outside, (start, *node.steps), output, whole, node.text), kind, how.low, how.high
        )

    def _join(
        self, terms: list[Term], steps: tuple[Step, ...], output: tuple[str, ...], schema: Schema, text: str
    ) -> NodeId:
        """Adds a join of imports."""
        positive = [term for term in terms if not term.negated]
        bound = {name for term in positive for name in term.columns} | {binds(step) for step in steps}
        wanted = {*output, *(name for step in steps for name in inputs(step))}
        wanted |= {name for term in terms if term.negated for name in term.named}
        if not positive or not wanted <= bound or not _connected(positive):
            raise _Other
        if len(terms) > 1 and any(isinstance(self.nodes[term.source], Constant) for term in terms):
            raise _Other
        terms = [replace(term, source=self._import(term.source)) for term in terms]
        self.made.append(Join(tuple(terms), steps, output, schema, text))
        return len(self.made) - 1

    def _import(self, at: NodeId) -> NodeId:
        """The place of an import, or of facts, in the circuit of the steps."""
        node = self.nodes[at]
        if at not in self.imported:
            match node:
                case Import(source, schema):
                    self.made.append(Input(import_name(source), schema, self.weighted(source), node.text))
                case Constant():
                    self.made.append(node)
                case _:
                    raise _Other
            self.imported[at] = len(self.made) - 1
        return self.imported[at]


def _only(found: Sequence[T]) -> T:
    if len(found) != 1:
        raise _Other
    return found[0]


def _connected(terms: list[Term]) -> bool:
    """Whether each term shares a variable with those before it, in some order."""
    first, *rest = terms
    known = {*first.columns} - {None}
    while rest:
        near = [term for term in rest if known & {*term.columns}]
        if not near:
            return False
        known |= {name for term in near for name in term.named}
        rest = [term for term in rest if term not in near]
    return True


def _carrying(steps: tuple[Step, ...], carried: str, value: str) -> Carried:
    """The way in which a rule carries the variable `carried` to the value that it offers."""
    readers = [step for step in steps if carried in inputs(step) or binds(step) == carried]
    if not readers:
        if value != carried:
            raise _Other
        return Carried(0, "+", -INLINE_LIMIT, INLINE_LIMIT - 1)
    step = _only(readers)
    if not isinstance(step, Let) or step.name != value or step.name == carried:
        raise _Other
    if any(value in inputs(each) for each in steps) or sum(binds(each) == value for each in steps) > 1:
        raise _Other
    if step.value.inputs.count(carried) != 1:
        raise _Other
    at = step.value.inputs.index(carried)
    return _only([how for how in step.value.carried if how.position == at])


def _constant(column: Column, value: int) -> RowExpr:
    def scalar() -> int:
        return value

    def arrays(encoder: object) -> Array:
        return np.full(1, value, np.int64)

    return RowExpr((), column, ("constant", value), str(value), None, scalar, arrays)
