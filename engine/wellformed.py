"""Well-formed circuits (dbsp-spec, part 9): the conditions that every circuit meets before it runs.

Each node reads earlier nodes, so that a cycle can only close through a Variable, the delay of a
fixpoint, or through a Feedback. The other rules of construction are in `problems` of each operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .circuit import Bracket, Circuit, Feed, Feedback, Fixpoint, Group, Input, Join, Loop, Node, Output
from .node import Surroundings, provable_sets


class IllFormed(Exception):
    """A circuit breaks a rule of construction; `problems` says which, and at which node."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the circuit is not well formed:\n" + "\n".join(f"  {p}" for p in problems))
        self.problems = tuple(problems)


def check_circuit(circuit: Circuit) -> None:
    """Raises IllFormed, with all problems, if the circuit breaks a rule of construction."""
    problems = list(_circuit_problems(circuit, None))
    problems = problems or list(_bags_read_as_sets(circuit, provable_sets(circuit)))
    if problems:
        raise IllFormed(problems)


def _circuit_problems(
    circuit: Circuit, outside: tuple[Node, ...] | None, nested: bool = False
) -> Iterator[str]:
    scope = Surroundings(circuit.nodes, outside, nested)
    for i, node in enumerate(circuit.nodes):
        where = f"node {i} ({type(node).__name__})" + ("" if outside is None else " of the body")
        late = [source for source in node.reads() if not 0 <= source < i]
        if late:
            problem = f"reads node {late[0]}, which does not come before it"
            yield f"{where}: {problem}; only a Variable or a Feedback may close a cycle"
            continue
        for problem in node.problems(scope):
            yield f"{where}: {problem}"
        if isinstance(node, Fixpoint) and (outside is None or nested):
            yield from _circuit_problems(node.body, circuit.nodes[:i], isinstance(node, Bracket | Loop))
    for relation, node_id in circuit.relations:
        if not 0 <= node_id < len(circuit.nodes):
            yield f"relation {relation}: there is no node {node_id}"
    fed = {node.name for node in circuit.nodes if isinstance(node, Feed)}
    for node in circuit.nodes:
        if isinstance(node, Feedback) and node.name not in fed:
            yield f"nothing feeds {node.name}"
    yield from _twice([n.name for n in circuit.nodes if isinstance(n, Feed)], "feeds")
    yield from _twice([n.relation for n in circuit.nodes if isinstance(n, Output)], "outputs")
    yield from _twice([n.relation for n in circuit.nodes if isinstance(n, Input)], "inputs")


def _bags_read_as_sets(circuit: Circuit, sets: Sequence[bool]) -> Iterator[str]:
    """The nodes that bodies negate or group though they may be no sets: iterations tell whether a row is
    there, not how often. `sets` says which nodes of the circuit are."""
    for fixpoint in circuit.nodes:
        if not isinstance(fixpoint, Fixpoint):
            continue
        inside = provable_sets(fixpoint.body, sets)
        for i, node in enumerate(() if isinstance(fixpoint, Bracket) else fixpoint.body.nodes):
            read = [term.source for term in node.terms if term.negated] if isinstance(node, Join) else []
            read += [node.source] if isinstance(node, Group) and not node.bag else []
            for source in read:
                if not inside[source]:
                    where = f"node {i} ({type(node).__name__}) of the body"
                    yield f"{where}: reads node {source} as a set, which it may not be; a Distinct makes one"
        yield from _bags_read_as_sets(fixpoint.body, inside)


def _twice(names: list[str], what: str) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"two {what} are called {name}"
