"""A circuit in the making, and inside it, while a recursive stratum is lowered, the body of a fixpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import core
from ..codegen.functiontable import Functions
from ..codegen.scalar import kind_of
from ..engine.circuit import Import, Node, NodeId
from ..engine.schema import Column, Schema
from ..types import Type


@dataclass(frozen=True, slots=True)
class Place:
    """A node: of the circuit, or of the body of the fixpoint being built."""

    node: NodeId
    inside: bool = False


@dataclass
class Builder:
    """The nodes so far, and the value of each relation that is known."""

    program: core.CheckedProgram
    functions: Functions
    nodes: list[Node] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)
    known: dict[str, Place] = field(default_factory=dict)
    imports: dict[NodeId, NodeId] = field(default_factory=dict)

    def add(self, node: Node, reads: Sequence[Place], inside: bool = False) -> Place:
        """Adds a node whose sources are `local` already; inside the body when a source is."""
        inside = inside or any(place.inside for place in reads)
        nodes = self.body if inside else self.nodes
        nodes.append(node)
        return Place(len(nodes) - 1, inside)

    def local(self, place: Place, inside: bool) -> NodeId:
        """The node seen from the circuit or from the body; there through an Import."""
        if place.inside or not inside:
            return place.node
        if place.node not in self.imports:
            outer = self.nodes[place.node]
            self.body.append(Import(place.node, outer.schema, outer.text))
            self.imports[place.node] = len(self.body) - 1
        return self.imports[place.node]

    def schema(self, relation: core.Relation) -> Schema:
        """The columns of a relation."""
        return tuple(column(c.name, c.type) for c in relation.columns)

    def kind(self, name: str) -> str:
        """relation, multiset or stream."""
        return self.program.relations[name].kind

    def node(self, place: Place) -> Node:
        """The node at a place."""
        return (self.body if place.inside else self.nodes)[place.node]

    def begin_body(self) -> None:
        """Begins the body of the next fixpoint."""
        self.body, self.imports = [], {}


def column(name: str, type: Type) -> Column:
    """A column for values of a type."""
    kind, domain = kind_of(type)
    return Column(name, kind, domain, type)
