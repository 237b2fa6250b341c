"""Circuits: graphs of operators over Z-sets (dbsp-spec, parts 3 to 7 and 9).

A circuit is a tuple of nodes in topological order; a node names its sources by their position.
Nodes say what is computed; `reference.evaluate` is their meaning and `incremental` rewrites them.
Variables of a row are named, so a node's schema is its list of columns by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from .schema import Origin, RowExpr, Schema

NodeId: TypeAlias = int


# ---------------------------------------------------------------- row steps


@dataclass(frozen=True, slots=True)
class Let:
    """Binds `name` to the expression; where `name` is bound already, keeps the rows that agree."""

    name: str
    value: RowExpr


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps the rows for which the expression is true."""

    condition: RowExpr


@dataclass(frozen=True, slots=True)
class Unnest:
    """A row for each element of the collection, bound to `name`.

    `value.scalar` gives an iterable of elements (a Map yields pairs, a Group (value, weight));
    `value.column` describes one element.
    """

    name: str
    value: RowExpr


@dataclass(frozen=True, slots=True)
class Inspect:
    """Evaluates the expression for its effect, on each row that all terms and other steps leave; keeps
    every row. The expression may read CIRCUMSTANCES, which nothing binds."""

    value: RowExpr


WEIGHT, EPOCH, ITERATION = "$weight", "$epoch", "$iteration"
CIRCUMSTANCES = frozenset((WEIGHT, EPOCH, ITERATION))
"""Of a row at a step: by how much its weight changes, the number of the epoch, and in a recursion that of the
iteration; both from 0."""


Step: TypeAlias = Let | Guard | Unnest | Inspect


def has_effect(step: Step) -> bool:
    """Whether a step does something beside what it does to the valuation."""
    return isinstance(step, Inspect) or (step.condition if isinstance(step, Guard) else step.value).effect


@dataclass(frozen=True, slots=True)
class Term:
    """One factor of a join: a source and the variable that each of its columns is.

    None is a column that nothing reads; a variable that occurs twice demands equality. A negated
    term keeps the rows for which the source has no row that agrees; it has no None and its
    variables are bound by positive terms and steps.
    """

    source: NodeId
    columns: tuple[str | None, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One result column of a Group: `function` over `columns`, positions in the source's schema.

    count: number of rows. sum, avg, min, max: of the one column given (avg a double; sum wraps as
    `wrap` says). group: `make(key, values)`, `key` the tuple of key values and `values` the sorted
    list of the rows' `columns` (each a tuple of values), which gives any value of the column `out`.
    """

    function: str
    columns: tuple[int, ...]
    make: Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Any] | None = field(default=None, compare=False)
    wrap: Callable[[int], int] | None = field(default=None, compare=False)
    key: Any = None  # identifies make and wrap for equality
    origin: Origin = field(default=None, compare=False, repr=False)


# -------------------------------------------------------------------- nodes
# Every node has `schema`; `text` is the source text that it stands for (a rule), for people.


@dataclass(frozen=True, slots=True)
class Input:
    """An input relation. `multiset`: weights are kept; otherwise the runtime is only ever given
    changes that leave it a set. `stream`: a multiset that holds the rows of one epoch: a runtime takes
    them back when the next one begins."""

    relation: str
    schema: Schema
    multiset: bool = False
    text: str = field(default="", compare=False)
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """Facts of the program: rows of values, each of weight 1. Present from the first epoch on."""

    rows: tuple[tuple[Any, ...], ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Sum:
    sources: tuple[NodeId, ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Negate:
    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Valuations that satisfy all terms and steps, projected on `output`; weights multiply.

    Multilinear in its positive terms. With a single term this is Apply: filter, map, flatmap,
    project, fused. Steps are in source order; a step may run as soon as its inputs are bound.
    """

    terms: tuple[Term, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Weight 1 for every row of positive weight."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """One row for each key (the first `keys` columns of the source, which is a set): the key
    columns followed by a column for each aggregate."""

    source: NodeId
    keys: int
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Delay:
    """z^-1: the source's value of the epoch before; zero in the first."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Integrate:
    """I: the sum of the source over all epochs so far."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Differentiate:
    """D: the source minus its value of the epoch before."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Import:
    """Inside a fixpoint's body: the value of a node of the surrounding circuit, brought in by
    delta_0 at iteration 0 and held there."""

    node: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """Inside a fixpoint's body: the relation's value of the iteration before (the z^-1 of the
    feedback); empty at iteration 0."""

    relation: str
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """Mutually recursive relations: the least fixpoint of `body`, from empty relations.

    `results` gives, for each relation, the node of `body` (a Distinct) that computes its next value.
    Its own value is nothing; `Result` nodes read the relations.
    """

    body: Circuit
    results: tuple[tuple[str, NodeId], ...]
    schema: Schema = ()
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Result:
    """A relation computed by a Fixpoint."""

    fixpoint: NodeId
    relation: str
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the circuit, under a relation's name. `stream`: an epoch gives its contents, not how
    they differ from those of the epoch before."""

    relation: str
    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    stream: bool = False


# Nodes of incremental circuits: their sources carry changes, and so do they.


@dataclass(frozen=True, slots=True)
class DeltaJoin:
    """(Join)^Δ by the multilinear rule: the sum over the terms j of Δ_j joined with the others,
    those before j with this step's change and those after without it. `traces[k]` is the node,
    z^-1 I of the source of term k, whose contents the term's lookups see."""

    terms: tuple[Term, ...]
    traces: tuple[NodeId, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class DeltaDistinct:
    """(Distinct)^Δ: the sign changes H of the integral of the source (Proposition 4.7); in a
    fixpoint, with nested time. `trace` is z^-1 I of the source."""

    source: NodeId
    trace: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class DeltaGroup:
    """(Group)^Δ: for each touched key, minus the row of before, plus the row of now."""

    source: NodeId
    trace: NodeId
    keys: int
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """z^-1 I of the source: all that it carried in the epochs before (in a fixpoint: and
    iterations). The only state of an incremental circuit."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


Node: TypeAlias = (
    Input | Constant | Sum | Negate | Join | Distinct | Group | Delay | Integrate | Differentiate
    | Import | Variable | Fixpoint | Result | Output | DeltaJoin | DeltaDistinct | DeltaGroup | Trace
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Circuit:
    """Nodes in topological order. `relations` names the node that is each declared relation's
    value (for queries); every node's sources come before it."""

    nodes: tuple[Node, ...]
    relations: tuple[tuple[str, NodeId], ...] = ()

    def relation(self, name: str) -> NodeId:
        """The node of a relation. Raises KeyError when the circuit does not compute it."""
        for relation, node in self.relations:
            if relation == name:
                return node
        raise KeyError(name)


def sources(node: Node) -> tuple[NodeId, ...]:
    """The nodes of the same circuit that a node reads (an Import's lies in the circuit outside)."""
    match node:
        case Input() | Constant() | Import() | Variable():
            return ()
        case Sum():
            return node.sources
        case Join():
            return tuple(term.source for term in node.terms)
        case DeltaJoin():
            return tuple(term.source for term in node.terms) + node.traces
        case DeltaDistinct() | DeltaGroup():
            return (node.source, node.trace)
        case Fixpoint():
            return tuple(n.node for n in node.body.nodes if isinstance(n, Import))
        case Result():
            return (node.fixpoint,)
        case _:
            return (node.source,)


def with_sources(node: Node, new: Callable[[NodeId], NodeId]) -> Node:
    """The node reading `new(s)` wherever it reads the node s (an Import, in the circuit outside)."""
    if all(new(s) == s for s in sources(node)):
        return node
    match node:
        case Input() | Constant() | Variable() | Import():
            return node
        case Sum():
            return replace(node, sources=tuple(new(s) for s in node.sources))
        case Join():
            return replace(node, terms=_read_by(node.terms, new))
        case DeltaJoin():
            traces = tuple(new(t) for t in node.traces)
            return replace(node, terms=_read_by(node.terms, new), traces=traces)
        case DeltaDistinct() | DeltaGroup():
            return replace(node, source=new(node.source), trace=new(node.trace))
        case Fixpoint():
            body = tuple(
                replace(n, node=new(n.node)) if isinstance(n, Import) else n for n in node.body.nodes
            )
            return replace(node, body=replace(node.body, nodes=body))
        case Result():
            return replace(node, fixpoint=new(node.fixpoint))
        case _:
            return replace(node, source=new(node.source))


def _read_by(terms: tuple[Term, ...], new: Callable[[NodeId], NodeId]) -> tuple[Term, ...]:
    return tuple(Term(new(term.source), term.columns, term.negated) for term in terms)


def rename_step(step: Step, new: Callable[[str], str]) -> Step:
    """The step over other variables."""
    value = step.condition if isinstance(step, Guard) else step.value
    value = replace(value, inputs=tuple(new(name) for name in value.inputs))
    match step:
        case Guard():
            return Guard(value)
        case Let() | Unnest():
            return replace(step, name=new(step.name), value=value)
        case Inspect():
            return Inspect(value)
