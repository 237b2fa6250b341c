"""Which nodes are provably sets, whatever the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..circuit import (
    Circuit,
    Constant,
    DeltaJoin,
    Distinct,
    Earlier,
    Group,
    Import,
    Input,
    Join,
    Let,
    Node,
    Output,
    Result,
    Sum,
    Unnest,
    Variable,
    Window,
)


def provable_sets(circuit: Circuit, outside: Sequence[bool] = ()) -> tuple[bool, ...]:
    """For each node, whether all its weights are 1. `outside` is the answer for the nodes that a body
    imports."""
    sets: list[bool] = []
    for node in circuit.nodes:
        sets.append(_is_set(node, circuit.nodes, sets, outside))
    return tuple(sets)


def _is_set(node: Node, nodes: Sequence[Node], sets: Sequence[bool], outside: Sequence[bool]) -> bool:
    match node:
        case Input(_, _, multiset):
            return not multiset
        case Constant(rows):
            return len(set(rows)) == len(rows)
        case Distinct() | Group() | Result() | Variable() | Earlier():
            return True
        case Import(source):
            return outside[source]
        case Sum(operands):
            return len(operands) == 1 and sets[operands[0]]
        case Output(_, source):
            return sets[source]
        case Window(source):
            return sets[source] and _time_is_determined(nodes[source])
        case Join():
            return all(sets[t.source] for t in node.terms if not t.negated) and keeps_valuations(node, nodes)
        case _:
            return False


def keeps_valuations(join: Join | DeltaJoin, nodes: Sequence[Node]) -> bool:
    """Whether different valuations of the positive terms give different rows: every column of these terms (of
    a Group, every key) has a variable, and every such variable is in the output or is a function of the
    output."""
    if any(isinstance(step, Unnest) for step in join.steps):
        return False
    needed: set[str | None] = set()
    for term in join.terms:
        if not term.negated:
            source = nodes[term.source]
            needed.update(term.columns[: source.keys] if isinstance(source, Group) else term.columns)
    return needed <= _known(join, join.output)


def _known(join: Join | DeltaJoin, names: Iterable[str]) -> set[str | None]:
    """The variables that are functions of some."""
    known: set[str | None] = set(names)
    lets = [step for step in join.steps if isinstance(step, Let)]
    for _ in lets:
        known.update(step.name for step in lets if known.issuperset(step.value.inputs))
    return known


def _time_is_determined(source: Node) -> bool:
    """Whether the last column of the source of a window is a function of the others."""
    return isinstance(source, Join) and source.output[-1] in _known(source, source.output[:-1])
