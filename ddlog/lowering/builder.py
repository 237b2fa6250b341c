"""A circuit in the making, with the body of a fixpoint while a recursive stratum is lowered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .. import core
from ..codegen.functiontable import Functions
from ..codegen.scalar import kind_of
from ..engine.circuit import Import, Node, NodeId
from ..engine.schema import Column, Schema
from ..types import Type
from .weights import WeightReaders


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node of the circuit, or (`inside`) of the body of the fixpoint being built."""

    node: NodeId
    inside: bool = False


@dataclass
class CircuitBuilder:
    """The nodes so far, and the node of each relation that is lowered already."""

    program: core.CheckedProgram
    functions: Functions
    nodes: list[Node] = field(default_factory=list)
    body: list[Node] = field(default_factory=list)
    known: dict[str, NodeRef] = field(default_factory=dict)
    imports: dict[NodeId, NodeId] = field(default_factory=dict)

    @cached_property
    def readers(self) -> WeightReaders:
        """The functions that look at the weights of groups."""
        return WeightReaders(self.program.functions, self.program.typedefs, self.program.externs)

    def add(self, node: Node, reads: Sequence[NodeRef], inside: bool = False) -> NodeRef:
        """Adds a node, to the body when it reads a node of the body; its sources are `local` ids."""
        inside = inside or any(place.inside for place in reads)
        nodes = self.body if inside else self.nodes
        nodes.append(node)
        return NodeRef(len(nodes) - 1, inside)

    def local(self, place: NodeRef, inside: bool) -> NodeId:
        """The id of a node for a reader in the circuit or in the body; the body reads the circuit by an
        Import."""
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

    def node(self, place: NodeRef) -> Node:
        """The node at a place."""
        return (self.body if place.inside else self.nodes)[place.node]

    def begin_body(self) -> None:
        """Begins the body of the next fixpoint."""
        self.body, self.imports = [], {}


def column(name: str, type: Type) -> Column:
    """A column for values of a type."""
    kind, domain = kind_of(type)
    return Column(name, kind, domain, type)
