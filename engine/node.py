"""Nodes and circuits: graphs of operators over Z-sets (dbsp-spec, parts 3 to 7 and 9).

A circuit is a tuple of nodes in topological order; a node names its sources by their position. The operators
are in `operators/`, a family a file; `circuit` has them all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

from .schema import Schema
from .zset import Zset

NodeId: TypeAlias = int
Name: TypeAlias = Callable[[NodeId], str]
Moment: TypeAlias = tuple[int, int]
"""The epoch and the iteration, both from 0."""
Signs: TypeAlias = frozenset[tuple[str, int]]
"""Changes of inputs: relations, each with +1 for what comes or -1 for what goes."""

ENDING = "", -1
"""A change that comes of an earlier epoch, and needs no change of an input: the end of a stream that the
circuit makes of its own, and what a delay gives."""


def flipped(signs: Signs) -> Signs:
    """The opposite changes."""
    return frozenset((name, -sign) for name, sign in signs)


class Node:
    """An operator of a circuit: its sources, its meaning, its incremental version, its text and what makes it
    well formed.

    `text` is the source text that the node stands for (a rule), for people.
    """

    __slots__ = ()
    sign: ClassVar[str] = ""
    makes_set: ClassVar[bool] = False  # of whatever it reads
    turns: ClassVar[bool] = False  # whether more rows of a source may leave fewer rows
    kept: ClassVar[bool] = False  # whether a runtime keeps the integral for the operator itself
    remembers: ClassVar[bool] = False  # more of earlier epochs than integrals say
    schema: Schema
    text: str

    @abstractmethod
    def reads(self) -> tuple[NodeId, ...]:
        """The nodes of the same circuit that this node reads."""

    @abstractmethod
    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        """This node, reading `new(s)` wherever it reads the node s. An Import reads a node of the circuit
        outside, which its Fixpoint renames."""

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        """The meaning: the node's value from the values of the nodes that it reads. `reference` gives the
        meaning of the nodes that need more: of inputs, memories and fixpoints."""
        raise TypeError(f"the value of {type(self).__name__} is not a function of its sources")

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        """The incremental version, which reads changes. `trace` gives the Trace of a source. Linear operators
        are their own incremental version (Theorem 4.4)."""
        return self

    def looked_up(self) -> tuple[NodeId, ...]:
        """The nodes of which an operator of an incremental circuit reads the integrals."""
        return ()

    def title(self) -> str:
        """The operator alone, for people."""
        return self.sign

    def details(self, name: Name) -> str:
        """The operands of the operator, for people, with its sources by `name`."""
        return ", ".join(map(name, self.reads()))

    def problems(self, scope: Surroundings) -> Iterator[str]:
        """The rules of construction that the node breaks; its sources come before it."""
        return iter(())

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        """Whether all weights are provably 1, given the same of the nodes before and, in a body, of the nodes
        outside."""
        return self.makes_set

    def has_weights(self, nodes: Sequence[Node]) -> bool:
        """Whether rows of the integral may have weights other than 1."""
        return not self.makes_set

    def may_be_negative(self, sources: Sequence[bool]) -> bool:
        """Whether rows of the integral may have negative weights, given the same of the sources."""
        return not self.makes_set and any(sources)

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        """The changes of inputs that may take rows away, given those `of` a source: a deletion goes through
        with its sign, unless the operator turns it round."""
        signs = frozenset[tuple[str, int]]().union(*map(of, self.reads()))
        return signs | flipped(signs) if self.turns else signs


class Stateful(Node):
    """An operator whose value depends on the epochs before, and that keeps what it needs of them."""

    __slots__ = ()
    remembers: ClassVar[bool] = True

    @abstractmethod
    def step(self, sources: list[Zset], memory: Any) -> tuple[Zset, Any]:
        """The value in an epoch, and the memory for the next one; the first memory is None."""


class SingleSource(Node):
    """An operator of one source, with the columns of that source."""

    __slots__ = ()
    source: NodeId

    def reads(self) -> tuple[NodeId, ...]:
        return (self.source,)

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        changed: Any = self
        return self if new(self.source) == self.source else replace(changed, source=new(self.source))

    def problems(self, scope: Surroundings) -> Iterator[str]:
        return fits(scope.nodes[self.source].schema, self.schema, f"source {self.source}")


@dataclass(frozen=True, slots=True)
class SourceOnly(SingleSource):
    """An operator that is its source and nothing else."""

    source: NodeId
    schema: Schema
    text: str = field(default="", compare=False)


class NoSource(Node):
    """A node that reads none of its circuit."""

    __slots__ = ()

    def reads(self) -> tuple[NodeId, ...]:
        return ()

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Circuit:
    """Nodes in topological order: every node's sources come before it. `relations` names the node that is
    each declared relation's value, for queries."""

    nodes: tuple[Node, ...]
    relations: tuple[tuple[str, NodeId], ...] = ()

    def relation(self, name: str) -> NodeId:
        """The node of a relation. Raises KeyError when the circuit does not compute it."""
        for relation, node in self.relations:
            if relation == name:
                return node
        raise KeyError(name)


def provable_sets(circuit: Circuit, outside: Sequence[bool] = ()) -> tuple[bool, ...]:
    """For each node, whether all its weights are 1. `outside` is the answer for the nodes that a body
    imports."""
    sets: list[bool] = []
    for node in circuit.nodes:
        sets.append(node.is_set(sets, circuit.nodes, outside))
    return tuple(sets)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The nodes around a node: those of its circuit, and in a body those before the fixpoint or loop."""

    nodes: tuple[Node, ...]
    outside: tuple[Node, ...] | None
    nested: bool = False  # whether the circuit is a body in nested time, not one of a fixpoint


def fits(given: Schema, expected: Schema, what: str) -> Iterator[str]:
    """A problem where the columns of two schemas are not of the same domains."""
    if [(c.kind, c.domain) for c in given] != [(c.kind, c.domain) for c in expected]:
        yield f"{what} has the columns ({_columns(given)}), not ({_columns(expected)})"


def not_inside(scope: Surroundings) -> Iterator[str]:
    """A problem of a node that stands inside a fixpoint."""
    if scope.outside is not None:
        yield "does not belong inside a fixpoint"


def _columns(schema: Schema) -> str:
    return ", ".join(f"{column.name}: {column.domain}" for column in schema)
