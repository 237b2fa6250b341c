"""What derives the relations of a fixpoint: its body taken apart into joins and facts, for runtimes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaJoin,
    Distinct,
    Fixpoint,
    Import,
    Join,
    NodeId,
    Sum,
    Term,
    Variable,
)
from .schema import Schema


@dataclass(frozen=True, slots=True)
class Derivation:
    """A join of the body, and the linear joins that its valuations go through on the way to a head, each
    with the schema that it reads.

    `at` is the join's node, `sources[k]` term k's import (a node outside) or variable (a relation of the
    recursion), `schemas[k]` the term's columns.
    """

    head: str
    at: NodeId
    node: Join | DeltaJoin
    sources: tuple[int | str, ...]
    schemas: tuple[Schema, ...]
    linear: tuple[tuple[Join, Schema], ...]


def derivations(fixpoint: Fixpoint) -> tuple[list[Derivation], list[tuple[str, Constant]]]:
    """The joins of a fixpoint's body by head, and its facts. A join that heads share comes for each."""
    body = fixpoint.body
    found: list[Derivation] = []
    facts: list[tuple[str, Constant]] = []
    for head, result in fixpoint.results:
        for leaf in _leaves(body, result):
            node = body.nodes[leaf]
            if isinstance(node, Constant):
                facts.append((head, node))
                continue
            linear: list[tuple[Join, Schema]] = []
            while isinstance(node, Join) and isinstance(body.nodes[node.terms[0].source], Join | DeltaJoin):
                leaf = node.terms[0].source
                linear.insert(0, (node, body.nodes[leaf].schema))
                node = body.nodes[leaf]
            joined = _as_join(body, leaf)
            sources = tuple(_source(body, term.source) for term in joined.terms)
            schemas = tuple(body.nodes[term.source].schema for term in joined.terms)
            found.append(Derivation(head, leaf, joined, sources, schemas, tuple(linear)))
    return found, facts


def _as_join(body: Circuit, at: NodeId) -> Join | DeltaJoin:
    """The node, or a join that copies it."""
    node = body.nodes[at]
    if isinstance(node, Join | DeltaJoin):
        return node
    names = tuple(column.name for column in node.schema)
    return Join((Term(at, names),), (), names, node.schema, node.text)


def _leaves(body: Circuit, at: NodeId) -> Iterator[NodeId]:
    node = body.nodes[at]
    if isinstance(node, Distinct | DeltaDistinct):
        yield from _leaves(body, node.source)
    elif isinstance(node, Sum):
        for source in node.sources:
            yield from _leaves(body, source)
    else:
        yield at


def _source(body: Circuit, at: NodeId) -> int | str:
    node = body.nodes[at]
    if isinstance(node, Import):
        return node.node
    if isinstance(node, Variable):
        return node.relation
    raise ValueError(f"a rule of a recursion reads {type(node).__name__}, not an import or a variable")
