"""The owners of the rows of a circuit's relations, and the Exchanges that rows reach them by.

Of the columns of a relation one is chosen whose values decide on the owner: one by which the iterations of a
recursion stay on one worker (`carried`), else the one that most joins look rows up by, else all. What is in a
recursion counts more, since it runs in each iteration, and there groups count, too. But iterations change
only the relations of the recursion, so that none of these is looked up by what imports bring: columns that a
term shares with imports alone count as outside. A group is by its key. Rows that are where they are needed go
through no Exchange.

What a recursion imports has owners: elsewhere a row may come by one worker and go by another, so that no
worker knows whether it is there, which the search for a derivation has to know. So does all that a join looks
up in the body of a loop, or of a recursion that is maintained as one (`engine/time.py`), which has Exchanges
of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..circuit import (
    Bracket,
    Circuit,
    Clock,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaOrdered,
    Distinct,
    Earlier,
    Exchange,
    Fixpoint,
    FixpointResult,
    Group,
    Import,
    Input,
    Integrate,
    Join,
    Late,
    Loop,
    Negate,
    Node,
    NodeId,
    Ordered,
    Output,
    Sum,
    Trace,
    Variable,
    Window,
)
from ..incremental import incrementalize
from ..inprocess.joins.join import Joiner
from ..inprocess.recursion.search import searches_of
from ..inprocess.storage.interner import Values
from ..inprocess.storage.steps import Evaluator
from ..loopparts import Gate, LoopParts
from ..operators.steps import has_effect
from ..paths import path_plan
from ..rules import rules_of, schemas_of
from ..schema import Schema
from ..windowmemory import remembered_nodes
from .carried import Key, Keys, carried
from .paths import joins_nothing

_IN_RECURSION = 4  # votes of a look-up in a recursion
_Path: TypeAlias = tuple[NodeId, ...]
"""Fixpoints, each in the body of the one before."""
_Relation: TypeAlias = tuple[_Path, str]
"""A node, after the fixpoints around it; of a recursion that has searches, with the name of a relation."""


@dataclass(frozen=True)
class Placed:
    """A circuit of changes with Exchanges. `keys` has the columns that decide on the owner of a row of each
    node, None where a row may be anywhere; `inside` the same of the relations of each recursion, and `loops`
    those of all scopes of each recursion that is a loop, in the order of `LoopParts.scopes`. `remembered` are
    the nodes whose contents workers that are started again have to be given; see `engine.windowmemory`."""

    circuit: Circuit
    keys: tuple[Key | None, ...]
    inside: Mapping[NodeId, Mapping[str, Key]]
    loops: Mapping[NodeId, Sequence[Mapping[str, Key]]]
    remembered: frozenset[NodeId]


def may_be_placed(circuit: Circuit) -> bool:
    """True if a circuit of changes can run on workers: no rule does something beside giving rows, nothing
    has a bracket, and all that its nodes remember can be given to other workers."""
    if any(has_effect(step) for join in _joins(circuit.nodes) for step in join.steps):
        return False
    if any(isinstance(node, Bracket) for node in circuit.nodes):
        return False
    return remembered_nodes(circuit) is not None


def placed(circuit: Circuit) -> Placed:
    """A relational circuit as one of changes, with owners for the rows of its relations."""
    scope = _Scope(circuit.nodes, (), None, {}, False, {})
    placing = _Placing(scope, _Chosen(scope), None, circuit.nodes)
    relations = tuple((name, placing.new[at]) for name, at in circuit.relations)
    whole = incrementalize(Circuit(tuple(placing.nodes), relations))
    fixpoints = [at for at, node in enumerate(whole.nodes) if isinstance(node, Fixpoint)]
    inside = {at: results for at, (_, results) in zip(fixpoints, placing.recursions, strict=True)}
    loops = {at: each for at, (each, _) in zip(fixpoints, placing.recursions, strict=True) if each}
    keys: list[Key | None] = []
    for node in whole.nodes:
        if isinstance(node, FixpointResult):
            keys.append(inside[node.fixpoint].get(node.relation, ()))
        elif isinstance(node, Input):
            keys.append(placing.inputs[node.relation])
        else:
            keys.append(_key_of(node, keys))
    searched = {at: each for at, each in inside.items() if each}
    return Placed(whole, tuple(keys), searched, loops, remembered_nodes(whole) or frozenset())


def moved(before: Circuit, after: Circuit) -> dict[NodeId, NodeId]:
    """Where the nodes of a circuit of changes are in the same one with Exchanges."""
    own, others = (
        [at for at, node in enumerate(circuit.nodes) if not isinstance(node, Exchange | Trace)]
        for circuit in (before, after)
    )
    return dict(zip(own, others, strict=True))


def keys_of_parts(
    parts: LoopParts, imported: Sequence[Key | None], results: Sequence[Mapping[str, Key]]
) -> list[Key | None]:
    """The columns that decide on the owner of a row of each part of a loop, given those of the nodes outside
    and of the relations of each scope."""
    keys: list[Key | None] = []
    for part in parts.parts:
        match part.node:
            case Import(source):
                keys.append(imported[source])
            case Earlier(relation):
                keys.append(results[part.scope].get(relation, ()))  # the flag of a loop has no columns
            case FixpointResult() | Gate():
                keys.append(keys[part.sources[0]])
            case node:
                keys.append(_key_of(node, keys, part.sources))
    return keys


def carried_if_searched(node: Fixpoint) -> Keys | None:
    """The columns by which the iterations of a recursion stay on one worker, if there are such, where it is
    maintained by searches for derivations; else None."""
    if node.lifted:
        return None
    evaluator = Evaluator(Values())
    rules, facts = rules_of(node, lambda join, schemas: Joiner(join, schemas, evaluator))
    if searches_of(rules, facts, schemas_of(node), evaluator) is None:
        return None
    return carried(rules, bool(facts), schemas_of(node)) or {}


def _key_of(node: Node, keys: Sequence[Key | None], sources: Sequence[int] | None = None) -> Key | None:
    """The columns that decide on the owner of a row of a node, given those of what it reads: its sources in
    their order, if they are others than it says."""
    of = [keys[source] for source in (node.reads() if sources is None else sources)]
    match node:
        case Exchange(_, key):
            return key
        case Constant():
            return ()
        case Distinct() | DeltaDistinct() | Output() | Negate() | Integrate() | Window() | Late():
            return of[0]
        case Clock():
            return ()
        case Group() | DeltaGroup() | Ordered() | DeltaOrdered():
            return of[0] if of[0] is not None and set(of[0]) <= set(range(node.keys)) else None
        case Sum():
            return of[0] if len(set(of)) == 1 else None
        case Join() | DeltaJoin() if len(node.terms) == 1 and not node.terms[0].negated:
            return _carried(node, of[0])
    return None


def _carried(join: Join | DeltaJoin, key: Key | None) -> Key | None:
    """The key of the rows that a join of one term gives: the places in the output of the columns by which the
    rows of the term have owners. None if the output lacks one."""
    names = () if key is None else [join.terms[0].columns[position] for position in key]
    if key is None or not all(name in join.output for name in names):
        return None
    return tuple(join.output.index(name) for name in names if name is not None)


@dataclass(frozen=True)
class _Scope:
    """A circuit, or the body of a recursion in it: `results` are the nodes of its relations. `searched`: it
    is maintained by searches. `carried` are the columns by which its iterations stay on one worker."""

    nodes: Sequence[Node]
    path: _Path
    parent: _Scope | None
    results: Mapping[str, NodeId]
    searched: bool
    carried: Keys

    def inner(self, at: NodeId) -> _Scope:
        """The scope of a fixpoint in this one."""
        node, carried = self.nodes[at], None
        assert isinstance(node, Fixpoint)
        if self.parent is None and not isinstance(node, Bracket):
            carried = carried_if_searched(node)
        searched = carried is not None
        return _Scope(node.body.nodes, (*self.path, at), self, dict(node.results), searched, carried or {})


class _Chosen:
    """The columns that decide on the owners of relations, by the votes of all look-ups."""

    def __init__(self, scope: _Scope) -> None:
        self._scopes: dict[_Path, _Scope] = {}
        self._votes: dict[_Relation, Counter[int]] = {}
        self._count(scope)

    def _count(self, scope: _Scope) -> None:
        self._scopes[scope.path] = scope
        for at, node in enumerate(scope.nodes):
            for source, position, others in (
                _bound(node) if scope.path or not isinstance(node, Group | Ordered) else ()
            ):
                iterates = scope.path and not all(isinstance(scope.nodes[other], Import) for other in others)
                votes = self._votes.setdefault(self.relation(scope, source), Counter())
                votes[position] += _IN_RECURSION if iterates else 1
            if isinstance(node, Fixpoint):
                self._count(self.scope(scope, at))

    def scope(self, around: _Scope, at: NodeId) -> _Scope:
        """The scope of a fixpoint."""
        path = (*around.path, at)
        if path not in self._scopes:
            self._scopes[path] = around.inner(at)
        return self._scopes[path]

    def relation(self, scope: _Scope, at: NodeId) -> _Relation:
        """The relation that a node stands for."""
        node = scope.nodes[at]
        match node:
            case Import(source) if scope.parent is not None:
                return self.relation(scope.parent, source)
            case Variable(name) | Earlier(name):
                return self.result(scope, name)
            case FixpointResult(fixpoint, name):
                return self.result(self.scope(scope, fixpoint), name)
        return (*scope.path, at), ""

    def result(self, scope: _Scope, name: str) -> _Relation:
        """A relation of a recursion."""
        made = scope.results[name]
        if scope.searched:
            return scope.path, name
        if isinstance(scope.nodes[made], Variable | Earlier):
            return (*scope.path, made), ""
        return self.relation(scope, made)

    def is_looked_up(self, relation: _Relation) -> bool:
        """Whether a join looks a relation up by some of its columns."""
        return relation in self._votes

    def key(self, relation: _Relation, schema: Schema) -> Key:
        """The columns for a relation with these columns."""
        path, name = relation
        if name and name in self._scopes[path].carried:
            return self._scopes[path].carried[name]
        counted = self._votes.get(relation, Counter())
        best = max(counted, key=lambda position: (counted[position], -position), default=None)
        return tuple(range(len(schema))) if best is None else (best,)


class _Placing:
    """The nodes of a circuit, or of the body of a loop, with Exchanges, and where each node went. The
    `recursions` in a circuit have the keys of all scopes of a loop, and those of their relations, both empty
    where the first worker runs them."""

    def __init__(
        self,
        scope: _Scope,
        chosen: _Chosen,
        outside: _Placing | None,
        nodes: Sequence[Node],
        over_paths: bool = False,
    ) -> None:
        """`outside` has the nodes around; `nodes` are those of the scope, with these as imports.
        `over_paths`: workers look nothing up in it, unless rounds are needed after all."""
        self.nodes: list[Node] = []
        self.new: list[NodeId] = []
        self.keys: list[Key | None] = []
        self.inputs: dict[str, Key] = {}
        self.recursions: list[tuple[Sequence[Mapping[str, Key]], Mapping[str, Key]]] = []
        self._scope, self._chosen, self._outside, self._over_paths = scope, chosen, outside, over_paths
        self._sent: dict[tuple[NodeId, Key], NodeId] = {}
        for at, old in enumerate(nodes):
            self._place(at, old.reading(self.new.__getitem__) if not isinstance(old, Import) else old)

    def results(self, names: Mapping[str, NodeId]) -> tuple[dict[str, NodeId], dict[str, Key]]:
        """The nodes of the relations of a loop, each at its owners, and their keys."""
        keys = {name: self._key_of_result(name) for name in names}
        return {name: self._at_owners(self.new[at], keys[name]) for name, at in names.items()}, keys

    def _key_of_result(self, name: str) -> Key:
        made = self._scope.nodes[self._scope.results[name]]
        return self._chosen.key(self._chosen.result(self._scope, name), made.schema)

    def _add(self, node: Node, key: Key | None) -> NodeId:
        self.nodes.append(node)
        self.keys.append(key)
        return len(self.nodes) - 1

    def _at_owners(self, source: NodeId, key: Key) -> NodeId:
        """The node that has the rows of another one where a key says."""
        if self.keys[source] == key:
            return source
        if (source, key) not in self._sent:
            node = self.nodes[source]
            self._sent[source, key] = self._add(Exchange(source, key, node.schema, node.text), key)
        return self._sent[source, key]

    def _place(self, at: NodeId, node: Node) -> None:
        key: Key | None
        match node:
            case Fixpoint():
                node, key = self._recursion(at, node), None
            case FixpointResult(fixpoint, relation):
                key = self._of_recursion(fixpoint).get(relation, ())
            case Import(source):
                key = self._outside.keys[source] if self._outside else None
            case Variable(relation) | Earlier(relation):
                key = self._key_of_result(relation)
            case Input():
                key = self.inputs[node.relation] = self._wanted(at)
            case _:
                node = self._at_its_rows(at, node)
                key = _key_of(node, self.keys)
        self.new.append(self._add(node, key))

    def _wanted(self, at: NodeId, source: NodeId | None = None) -> Key:
        """The columns that decide on the owner of a row of a node. Rows that have owners at its `source` stay
        there if no join looks them up."""
        relation, schema = self._chosen.relation(self._scope, at), self._scope.nodes[at].schema
        held = None if source is None else self.keys[source]
        if held and set(held) <= set(range(len(schema))) and not self._chosen.is_looked_up(relation):
            return held
        return self._chosen.key(relation, schema)

    def _at_its_rows(self, at: NodeId, node: Node) -> Node:
        """The node, with its sources sent to other workers where it needs rows together: a distinct needs
        equal rows on one worker, a group those of one key."""
        match node:
            case Distinct(source):
                return self._reading(node, self._wanted(at, source))
            case Group(source, keys) | Ordered(source, keys):
                held = self.keys[source]
                together = held is not None and set(held) <= set(range(keys))
                return node if together else self._reading(node, tuple(range(keys)))
            case Clock():
                return self._reading(node, (0,))
            case Window(source) | Late(source):
                return replace(node, source=self._at_owners(source, self._wanted(at, source)))
            case Join() if self._scope.path and len(node.terms) > 1:
                owned = node.reading(self._owned)
                return owned if self._over_paths else self._near(owned)
        return node

    def _near(self, join: Node) -> Node:
        """A join of two relations, of which an import that is looked up by other columns than its key is
        read where it is sent by these. So a look-up asks one worker, and not all."""
        assert isinstance(join, Join)
        places = [k for k, term in enumerate(join.terms) if not term.negated]
        if len(places) != 2 or len(self._scope.path) > 1:
            return join
        terms = list(join.terms)
        for k, other in (places, reversed(places)):
            columns, others = terms[k].columns, join.terms[other].columns
            shared = [at for at, name in enumerate(columns) if name is not None and name in others]
            node, key = self.nodes[terms[k].source], self.keys[terms[k].source]
            is_near = key is not None and set(key) <= set(shared)
            if isinstance(node, Import) and self._outside is not None and shared and not is_near:
                sent = self._outside._at_owners(node.node, (shared[0],))
                terms[k] = replace(terms[k], source=self._imported(replace(node, node=sent), (shared[0],)))
        return replace(join, terms=tuple(terms))

    def _imported(self, node: Import, key: Key) -> NodeId:
        """The import of a node outside."""
        return self.nodes.index(node) if node in self.nodes else self._add(node, key)

    def _reading(self, node: Node, key: Key) -> Node:
        return node.reading(lambda source: self._at_owners(source, key))

    def _owned(self, source: NodeId) -> NodeId:
        """The node, if its rows have owners, or else one that has them there."""
        if self.keys[source] is not None:
            return source
        return self._at_owners(source, self._wanted(self.new.index(source)))

    def _of_recursion(self, fixpoint: NodeId) -> Mapping[str, Key]:
        before = sum(isinstance(node, Fixpoint) for node in self.nodes[:fixpoint])
        return self.recursions[before][1]

    def _recursion(self, at: NodeId, node: Fixpoint) -> Node:
        """A recursion, with Exchanges in its body if it is a loop."""
        if isinstance(node, Bracket):
            self.recursions.append(((), {}))
            return self._reading(node, ())
        owned = node.reading(self._owned)
        assert isinstance(owned, Fixpoint)
        node, scope = owned, self._chosen.scope(self._scope, at)
        if scope.searched:
            schemas = {name: node.body.nodes[made].schema for name, made in node.results}
            keys = {name: self._chosen.key((scope.path, name), schema) for name, schema in schemas.items()}
            self.recursions.append(((), keys))
            return node
        plan = None if isinstance(node, Loop) else path_plan(node, lambda at: True)
        over_paths = plan is not None and joins_nothing(plan)
        inner = _Placing(scope, self._chosen, self, node.body.nodes, over_paths)
        results, keys = inner.results(scope.results)
        scopes = [keys, *(each for loop, _ in inner.recursions for each in loop)]
        self.recursions.append((scopes, keys))
        return replace(
            node, body=Circuit(tuple(inner.nodes), node.body.relations), results=tuple(results.items())
        )


def _bound(node: Node) -> Iterator[tuple[NodeId, int, Sequence[NodeId]]]:
    """The columns by which a node looks up what it reads, each with the sources of what looks there: those of
    terms whose variables other terms have, too, and those of groups, which their changes look up."""
    if isinstance(node, Group | Ordered):
        yield from ((node.source, position, [node.source]) for position in range(node.keys))
    elif isinstance(node, Join):
        for k, term in enumerate(node.terms):
            rest = [*node.terms[:k], *node.terms[k + 1 :]]
            for position, name in enumerate(term.columns):
                others = [] if name is None else [each.source for each in rest if name in each.columns]
                if others:
                    yield term.source, position, others


def _joins(nodes: Collection[Node]) -> Iterator[Join | DeltaJoin]:
    for node in nodes:
        if isinstance(node, Join | DeltaJoin):
            yield node
        elif isinstance(node, Fixpoint):
            yield from _joins(node.body.nodes)
