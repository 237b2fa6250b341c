"""Recursion: a circuit inside a circuit, iterated until nothing changes (dbsp-spec, part 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from ..node import Circuit, Name, Node, NodeId, NoSource, Signs, Surroundings, fits, flipped
from ..schema import Schema
from .distinct import DeltaDistinct, Distinct
from .group import DeltaGroup, Group
from .join import DeltaJoin, Join
from .linear import Differentiate


@dataclass(frozen=True, slots=True)
class Import(NoSource):
    """Inside a fixpoint's body: the value of a node of the surrounding circuit, brought in by δ₀ at iteration
    0 and held there."""

    node: NodeId
    schema: Schema
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "δ₀ import"

    def details(self, name: Name) -> str:
        return name(self.node)

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is None:
            yield "an import stands outside a fixpoint"
        elif not 0 <= self.node < len(scope.outside):
            yield f"imports node {self.node}, which does not come before the fixpoint"
        else:
            yield from fits(scope.outside[self.node].schema, self.schema, f"node {self.node} outside")

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return outside[self.node]


def import_name(node: NodeId) -> str:
    """The name of the input that an imported node is to a circuit of its own that a body becomes."""
    return f"import {node}"


@dataclass(frozen=True, slots=True)
class Variable(NoSource):
    """Inside a fixpoint's body: the relation's value of the iteration before, the z⁻¹ of the feedback; empty
    at iteration 0."""

    relation: str
    schema: Schema
    text: str = field(default="", compare=False)

    def title(self) -> str:
        return f"z⁻¹ {self.relation}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is None:
            yield f"the variable {self.relation} stands outside a fixpoint"

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Fixpoint(Node):
    """Mutually recursive relations: `body` iterated from empty relations until nothing changes. Nodes
    `FixpointResult` read them.

    `results` gives, for each relation, the node of `body` (a Distinct) that computes its next value. If the
    body is monotone, the relations are its least fixpoint, and the incremental version has the incremental
    version of the body, in nested time (the cycle rule of Proposition 4.2). Otherwise more rows may mean
    fewer: the relations are those of the last of the rounds x' = F(x), and the node is its own incremental
    version, as a Loop is.
    """

    body: Circuit
    results: tuple[tuple[str, NodeId], ...]
    schema: Schema = ()
    text: str = field(default="", compare=False)
    sign: ClassVar[str] = "fixpoint"

    @property
    def monotone(self) -> bool:
        """Whether more rows of the recursive relations give more rows of each: nothing in the body groups,
        and only imports are negated."""
        nodes = self.body.nodes
        negated = (t.source for n in nodes if isinstance(n, Join | DeltaJoin) for t in n.terms if t.negated)
        grouped = any(isinstance(node, Group | DeltaGroup) for node in nodes)
        return not grouped and all(isinstance(nodes[source], Import) for source in negated)

    @property
    def lifted(self) -> bool:
        """Whether the body stays as it is in an incremental circuit: the runtime lifts its operators to
        product time (see `engine.time`), or evaluates it anew."""
        return not self.monotone

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        return self

    def reads(self) -> tuple[NodeId, ...]:
        return tuple(node.node for node in self.body.nodes if isinstance(node, Import))

    def looked_up(self) -> tuple[NodeId, ...]:
        return self.reads()

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        nodes = tuple(replace(n, node=new(n.node)) if isinstance(n, Import) else n for n in self.body.nodes)
        return replace(self, body=replace(self.body, nodes=nodes))

    def title(self) -> str:
        return f"{self.sign} " + ", ".join(relation for relation, _ in self.results)

    def details(self, name: Name) -> str:
        return ""

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is not None and not scope.nested:
            yield "does not belong inside a fixpoint"
        nodes, results = self.body.nodes, dict(self.results)
        for relation, at in self.results:
            if not 0 <= at < len(nodes):
                yield f"the result {relation}: the body has no node {at}"
            elif not isinstance(nodes[at], Distinct | DeltaDistinct | Differentiate):
                yield f"the result {relation} is a {type(nodes[at]).__name__}, not distinct"
        for node in nodes:
            if isinstance(node, Variable):
                if node.relation not in results:
                    yield f"the variable {node.relation} is no result of its fixpoint"
                yield from self.fits_result(node.relation, node.schema)

    def fits_result(self, relation: str, schema: Schema) -> Iterator[str]:
        """The columns in which a schema differs from that of a result, if there is such a result."""
        at = dict(self.results).get(relation, -1)
        if 0 <= at < len(self.body.nodes):
            yield from fits(self.body.nodes[at].schema, schema, relation)

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        return False

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        return False

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        nodes, signs = self.body.nodes, Node.shrinking(self, of)
        if not self.monotone:
            return signs | flipped(signs)
        joins = (node for node in nodes if isinstance(node, Join | DeltaJoin))
        negated = (nodes[term.source] for node in joins for term in node.terms if term.negated)
        return signs.union(*(flipped(of(node.node)) for node in negated if isinstance(node, Import)))


@dataclass(frozen=True, slots=True)
class FixpointResult(Node):
    """A relation computed by a Fixpoint."""

    fixpoint: NodeId
    relation: str
    schema: Schema
    text: str = field(default="", compare=False)

    def reads(self) -> tuple[NodeId, ...]:
        return (self.fixpoint,)

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return replace(self, fixpoint=new(self.fixpoint))

    def title(self) -> str:
        return f"result {self.relation}"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        if scope.outside is not None and not scope.nested:
            yield "does not belong inside a fixpoint"
            return
        owner = scope.nodes[self.fixpoint]
        if not isinstance(owner, Fixpoint) or self.relation not in dict(owner.results):
            yield f"node {self.fixpoint} is no fixpoint with the relation {self.relation}"
        else:
            made = owner.body.nodes[dict(owner.results)[self.relation]]
            yield from fits(made.schema, self.schema, self.relation)

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return not self.has_weights(nodes)

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        return nodes[self.fixpoint].has_weights(nodes)
