"""Which changes of the inputs may make a recursion's relations shrink."""

from __future__ import annotations

from collections.abc import Callable

from ..circuit import (
    Circuit,
    Clock,
    Delay,
    DeltaGroup,
    DeltaJoin,
    Differentiate,
    Feedback,
    Fixpoint,
    Group,
    Import,
    Input,
    Integrate,
    Join,
    Late,
    Negate,
    Result,
    Window,
)

Signs = frozenset[tuple[str, int]]
"""Input relations with the sign of the change that makes something shrink: (relation, +1 or -1)."""

ENDING = "", -1
"""What comes of an earlier epoch, and needs no change of an input: the end of a stream that the circuit makes
of its own, and what a delay gives."""


def shrinking_inputs(circuit: Circuit, fixpoint: int) -> Signs:
    """The input changes that may retract a row of the fixpoint.

    A deletion travels with its sign through positive terms, turns round in negated terms and
    Negate, and a group changes in both directions. A row leaves a window when the clock changes.
    """
    memo: dict[int, Signs] = {}

    def of(at: int) -> Signs:
        if at not in memo:
            memo[at] = _shrinks(circuit, at, of)
        return memo[at]

    return of(fixpoint)


def _flip(signs: Signs) -> Signs:
    return frozenset((name, -sign) for name, sign in signs)


def _shrinks(circuit: Circuit, at: int, of: Callable[[int], Signs]) -> Signs:
    node = circuit.nodes[at]
    match node:
        case Input():
            return frozenset({(node.relation, -1)})
        case Negate():
            return _flip(of(node.source))
        case Late():
            return frozenset({ENDING})
        case Delay() | Differentiate() | Feedback():
            signs = frozenset[tuple[str, int]]().union(*map(of, node.reads()))
            return signs | _flip(signs) | {ENDING}
        case Window():
            return of(node.source) | of(node.clock)
        case Group() | DeltaGroup() | Clock() | Integrate():
            signs = of(node.source)
            return signs | _flip(signs)
        case Join() | DeltaJoin():
            out: Signs = frozenset()
            for term in node.terms:
                out |= _flip(of(term.source)) if term.negated else of(term.source)
            return out
        case Fixpoint() if node.monotone:
            return _body(node, of)
        case Fixpoint():
            signs = frozenset[tuple[str, int]]().union(*map(of, node.reads()))
            return signs | _flip(signs)
        case Result():
            return of(node.fixpoint)
        case _:
            found: Signs = frozenset()
            for source in node.reads():
                found |= of(source)
            return found


def _body(node: Fixpoint, of: Callable[[int], Signs]) -> Signs:
    """Of a fixpoint's body: as a circuit, with the imports in place of inputs."""
    out: Signs = frozenset()
    for inner in node.body.nodes:
        if isinstance(inner, Import):
            out |= of(inner.node)
        if isinstance(inner, Join | DeltaJoin):
            for term in inner.terms:
                source = node.body.nodes[term.source]
                if term.negated and isinstance(source, Import):
                    out |= _flip(of(source.node))
    return out
