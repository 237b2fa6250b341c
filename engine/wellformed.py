"""Well-formed circuits (dbsp-spec, part 9): what every circuit must be before anything runs it.

Each node reads earlier nodes, so that a cycle can only close through a Variable, the delay of a
fixpoint; schemas fit; results are distinct and have a Variable; and delays are not mixed with changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .circuit import (
    CIRCUMSTANCES,
    Circuit,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Differentiate,
    Distinct,
    Fixpoint,
    Group,
    Guard,
    Import,
    Input,
    Inspect,
    Join,
    Let,
    Node,
    NodeId,
    Output,
    Result,
    Sum,
    Trace,
    Unnest,
    Variable,
    sources,
)
from .schema import Kind, Schema


class IllFormed(Exception):
    """A circuit breaks a rule of construction; `problems` says which, and at which node."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the circuit is not well formed:\n" + "\n".join(f"  {p}" for p in problems))
        self.problems = tuple(problems)


def check_circuit(circuit: Circuit) -> None:
    """Raises IllFormed, with all problems, if the circuit breaks a rule of construction."""
    problems = list(_circuit_problems(circuit, None))
    if problems:
        raise IllFormed(problems)


def _circuit_problems(circuit: Circuit, outside: tuple[Node, ...] | None) -> Iterator[str]:
    for i, node in enumerate(circuit.nodes):
        where = f"node {i} ({type(node).__name__})" + ("" if outside is None else " of the body")
        for problem in _node_problems(circuit.nodes, i, node, outside):
            yield f"{where}: {problem}"
        if isinstance(node, Fixpoint) and outside is None:
            yield from _body_problems(node, circuit.nodes[:i])
    for relation, node_id in circuit.relations:
        if not 0 <= node_id < len(circuit.nodes):
            yield f"relation {relation}: there is no node {node_id}"
    yield from _twice([n.relation for n in circuit.nodes if isinstance(n, Output)], "outputs")
    yield from _twice([n.relation for n in circuit.nodes if isinstance(n, Input)], "inputs")


def _node_problems(
    nodes: tuple[Node, ...], i: NodeId, node: Node, outside: tuple[Node, ...] | None
) -> Iterator[str]:
    late = [source for source in sources(node) if not 0 <= source < i]
    if isinstance(node, Import):
        yield from _import_problems(node, outside)
        return
    if late:
        yield f"reads node {late[0]}, which does not come before it; only a Variable may close a cycle"
        return
    match node:
        case Input() | Output() | Fixpoint() | Result() if outside is not None:
            yield "does not belong inside a fixpoint"
        case Variable(relation) if outside is None:
            yield f"the variable {relation} stands outside a fixpoint"
        case Sum(operands):
            for source in operands:
                yield from _fits(nodes[source].schema, node.schema, f"operand {source}")
        case Join() | DeltaJoin():
            yield from _join_problems(nodes, node)
        case Group(source, keys, aggregates) | DeltaGroup(source, _, keys, aggregates):
            arity = len(nodes[source].schema)
            if keys > arity or len(node.schema) != keys + len(aggregates):
                yield f"{keys} keys and {len(aggregates)} aggregates do not make {len(node.schema)} columns"
            if any(not 0 <= c < arity for a in aggregates for c in a.columns):
                yield f"an aggregate reads a column beyond the {arity} of its source"
        case Result(fixpoint, relation):
            owner = nodes[fixpoint]
            if not isinstance(owner, Fixpoint) or relation not in dict(owner.results):
                yield f"node {fixpoint} is no fixpoint with the relation {relation}"
            else:
                yield from _fits(
                    owner.body.nodes[dict(owner.results)[relation]].schema, node.schema, relation
                )
        case _:
            for source in sources(node)[:1]:
                if not isinstance(node, Fixpoint):
                    yield from _fits(nodes[source].schema, node.schema, f"source {source}")
    if isinstance(node, DeltaDistinct | DeltaGroup | DeltaJoin):
        yield from _trace_problems(nodes, node)


def _import_problems(node: Import, outside: tuple[Node, ...] | None) -> Iterator[str]:
    if outside is None:
        yield "an import stands outside a fixpoint"
    elif not 0 <= node.node < len(outside):
        yield f"imports node {node.node}, which does not come before the fixpoint"
    else:
        yield from _fits(outside[node.node].schema, node.schema, f"node {node.node} outside")


def _join_problems(nodes: tuple[Node, ...], join: Join | DeltaJoin) -> Iterator[str]:
    bound: dict[str, tuple[Kind, str]] = {}
    for term in join.terms:
        schema = nodes[term.source].schema
        if len(schema) != len(term.columns):
            yield f"a term has {len(term.columns)} columns, its source {len(schema)}"
            return
        for name, column in zip(term.columns, schema, strict=True):
            if name is None:
                if term.negated:
                    yield "a negated term ignores a column"
            elif bound.setdefault(name, (column.kind, column.domain)) != (column.kind, column.domain):
                yield f"the variable {name} is of {bound[name][1]} and of {column.domain}"
    positive = {name for term in join.terms if not term.negated for name in term.columns}
    steps = [step for step in join.steps if isinstance(step, Let | Unnest)]
    known = positive | {step.name for step in steps}
    negative = {name for term in join.terms if term.negated for name in term.columns}
    for step in join.steps:
        expression = step.condition if isinstance(step, Guard) else step.value
        given = CIRCUMSTANCES if isinstance(step, Inspect) else frozenset()
        for name in expression.inputs:
            if name not in known | given:
                yield f"the step {expression.text or step} reads {name}, which nothing binds"
    for name in sorted(n for n in negative - known if n is not None):
        yield f"the variable {name} of a negated term is bound by nothing"
    for name in join.output:
        if name not in known:
            yield f"the output {name} is bound by nothing"
    if len(join.output) != len(join.schema):
        yield f"{len(join.output)} outputs do not make {len(join.schema)} columns"
    for name, column in zip(join.output, join.schema, strict=False):
        if name in bound and bound[name] != (column.kind, column.domain):
            yield f"the output {name} is of {bound[name][1]}, its column of {column.domain}"


def _trace_problems(nodes: tuple[Node, ...], node: DeltaDistinct | DeltaGroup | DeltaJoin) -> Iterator[str]:
    traced = sources(node)
    half = len(traced) // 2
    if isinstance(node, DeltaJoin) and len(node.traces) != len(node.terms):
        yield f"{len(node.terms)} terms have {len(node.traces)} traces"
        return
    for source, trace in zip(traced[:half], traced[half:], strict=True):
        owner = nodes[trace]
        if not isinstance(owner, Trace) or owner.source != source:
            yield f"node {trace} is not the trace of node {source}"


def _body_problems(fixpoint: Fixpoint, outside: tuple[Node, ...]) -> Iterator[str]:
    yield from _circuit_problems(fixpoint.body, outside)
    nodes, results = fixpoint.body.nodes, dict(fixpoint.results)
    for relation, node_id in fixpoint.results:
        if not 0 <= node_id < len(nodes):
            yield f"the result {relation}: the body has no node {node_id}"
        elif not isinstance(nodes[node_id], Distinct | DeltaDistinct | Differentiate):
            yield f"the result {relation} is a {type(nodes[node_id]).__name__}, not distinct"
    for node in nodes:
        if isinstance(node, Variable):
            if node.relation not in results:
                yield f"the variable {node.relation} is no result of its fixpoint"
            elif 0 <= results[node.relation] < len(nodes):
                yield from _fits(nodes[results[node.relation]].schema, node.schema, node.relation)


def _fits(given: Schema, expected: Schema, what: str) -> Iterator[str]:
    if [(c.kind, c.domain) for c in given] != [(c.kind, c.domain) for c in expected]:
        yield f"{what} has the columns ({_columns(given)}), not ({_columns(expected)})"


def _columns(schema: Schema) -> str:
    return ", ".join(f"{column.name}: {column.domain}" for column in schema)


def _twice(names: list[str], what: str) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"two {what} are called {name}"
