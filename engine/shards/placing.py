"""The owners of the rows of a circuit's relations, and the Exchanges that rows reach them by.

Of the columns of a relation one is chosen whose values decide on the owner: the one that most joins look rows
up by, or else all. Rules of a recursion count more, since they are run in each iteration. A group is by its
key, where nothing else is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..circuit import (
    Bracket,
    Circuit,
    Clock,
    Constant,
    DeltaBracket,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaOrdered,
    Distinct,
    Exchange,
    Fixpoint,
    Group,
    Import,
    Input,
    Join,
    Late,
    Node,
    NodeId,
    Ordered,
    Output,
    Result,
    Variable,
    Window,
)
from ..incremental import incrementalize
from ..inprocess.joins.join import Joiner
from ..inprocess.recursion.searching import searches_of
from ..inprocess.storage.interner import Values
from ..inprocess.storage.steps import Evaluator
from ..operators.steps import has_effect
from ..rules import rules_of, schemas_of

Key = tuple[int, ...]
_IN_RECURSION = 4  # votes of a look-up in a recursion
_Relation = tuple[NodeId, str]
"""A node, with the name of one of its relations; of another node than a Fixpoint, with no name."""


@dataclass(frozen=True)
class Placed:
    """A circuit of changes with Exchanges. `keys` has the columns that decide on the owner of a row of each
    node, None where a row may be anywhere; `inside` the same of the relations of each recursion that runs in
    shards."""

    circuit: Circuit
    keys: tuple[Key | None, ...]
    inside: Mapping[NodeId, Mapping[str, Key]]


def may_be_placed(circuit: Circuit) -> bool:
    """True if a circuit of changes can run on workers: no rule does something beside giving rows, and nothing
    has a window or a bracket."""
    if any(has_effect(step) for join in _joins(circuit) for step in join.steps):
        return False
    return not any(isinstance(node, Clock | Window | Late | Bracket | DeltaBracket) for node in circuit.nodes)


def placed(circuit: Circuit) -> Placed:
    """A relational circuit as one of changes, with owners for the rows of its relations."""
    chosen = _chosen(circuit)
    nodes: list[Node] = []
    new: list[NodeId] = []
    sent: dict[tuple[NodeId, Key], NodeId] = {}

    def at_owners(source: NodeId, key: Key) -> NodeId:
        """The node that has the rows of another one where a key says."""
        if (source, key) not in sent:
            nodes.append(Exchange(source, key, nodes[source].schema, nodes[source].text))
            sent[source, key] = len(nodes) - 1
        return sent[source, key]

    for at, old in enumerate(circuit.nodes):
        node = old.reading(new.__getitem__)
        read = _key_of_reading(node, chosen.get((at, "")))
        if read is not None:
            only = node.source if isinstance(node, Window | Late) else None
            node = node.reading(
                lambda source, key=read, only=only: (  # type: ignore[misc]
                    at_owners(source, key) if only in (None, source) else source
                )
            )
        nodes.append(node)
        new.append(len(nodes) - 1)
    relations = tuple((name, new[at]) for name, at in circuit.relations)
    inputs = {
        node.relation: chosen[at, ""] for at, node in enumerate(circuit.nodes) if isinstance(node, Input)
    }
    inside = [
        {name: chosen[at, name] for name, _ in node.results}
        for at, node in enumerate(circuit.nodes)
        if isinstance(node, Fixpoint)
    ]
    return _with_keys(incrementalize(Circuit(tuple(nodes), relations)), inputs, inside)


def _key_of_reading(node: Node, key: Key | None) -> Key | None:
    """The columns by which a node needs the rows that it reads; None: it takes them anywhere."""
    match node:
        case Distinct():
            return key
        case Group(_, keys) | Ordered(_, keys):
            return tuple(range(keys))
        case Clock() | Window() | Late():
            return ()
        case Fixpoint() if not is_searched(node):
            return ()
    return None


def is_searched(node: Fixpoint) -> bool:
    """True if a recursion is maintained by searches for derivations, which may run in shards."""
    if node.lifted:
        return False
    evaluator = Evaluator(Values())
    rules, facts = rules_of(node, lambda join, schemas: Joiner(join, schemas, evaluator))
    return searches_of(rules, facts, schemas_of(node), evaluator) is not None


def _with_keys(
    circuit: Circuit, inputs: Mapping[str, Key], recursions: Sequence[Mapping[str, Key]]
) -> Placed:
    """A circuit of changes with the keys of its nodes, given those of inputs and of each recursion."""
    keys: list[Key | None] = []
    inside: dict[NodeId, Mapping[str, Key]] = {}
    for at, node in enumerate(circuit.nodes):
        key: Key | None = None
        match node:
            case Input(relation):
                key = inputs[relation]
            case Exchange(_, key):
                pass
            case DeltaDistinct(source) | Output(_, source) | Late(source) | Clock(source) | Window(source):
                key = keys[source]
            case DeltaGroup(source, _, of) | DeltaOrdered(source, _, of):
                key = keys[source] if set(keys[source] or ()) <= set(range(of)) else None
            case Constant():
                key = ()
            case Fixpoint():
                own, *recursions = recursions
                if is_searched(node):
                    inside[at] = own
            case Result(fixpoint, relation):
                key = inside[fixpoint][relation] if fixpoint in inside else ()
        keys.append(key)
    return Placed(circuit, tuple(keys), inside)


def _chosen(circuit: Circuit) -> dict[_Relation, Key]:
    """The columns that decide on the owners of inputs, of distinct rows and of relations of recursions."""
    votes: dict[_Relation, Counter[int]] = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Input | Distinct):
            votes[at, ""] = Counter()
        elif isinstance(node, Fixpoint):
            votes.update(((at, name), Counter()) for name, _ in node.results)
    for relation, position, weight in _votes(circuit):
        if relation in votes:
            votes[relation][position] += weight
    found: dict[_Relation, Key] = {}
    for (at, name), counted in votes.items():
        node = circuit.nodes[at]
        schema = node.schema
        if isinstance(node, Fixpoint):
            schema = node.body.nodes[dict(node.results)[name]].schema
        best = max(counted, key=lambda position: (counted[position], -position), default=None)
        found[at, name] = tuple(range(len(schema))) if best is None else (best,)
    return found


def _votes(circuit: Circuit) -> Iterator[tuple[_Relation, int, int]]:
    """The look-ups of joins: a relation, the position of a column that is bound, and what it counts."""
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Join):
            for source, position in _bound(node):
                yield _relation(circuit, source), position, 1
        elif isinstance(node, Fixpoint):
            for join in node.body.nodes:
                for source, position in _bound(join) if isinstance(join, Join) else ():
                    read = node.body.nodes[source]
                    if isinstance(read, Import):
                        yield _relation(circuit, read.node), position, _IN_RECURSION
                    elif isinstance(read, Variable):
                        yield (at, read.relation), position, _IN_RECURSION


def _bound(join: Join) -> Iterator[tuple[NodeId, int]]:
    """The columns of terms whose variables other terms have, too."""
    terms = Counter(name for term in join.terms for name in {*term.columns} if name is not None)
    for term in join.terms:
        for position, name in enumerate(term.columns):
            if name is not None and terms[name] > 1:
                yield term.source, position


def _relation(circuit: Circuit, at: NodeId) -> _Relation:
    node = circuit.nodes[at]
    return (node.fixpoint, node.relation) if isinstance(node, Result) else (at, "")


def _joins(circuit: Circuit) -> Iterator[Join | DeltaJoin]:
    for node in circuit.nodes:
        if isinstance(node, Join | DeltaJoin):
            yield node
        elif isinstance(node, Fixpoint):
            yield from _joins(node.body)
