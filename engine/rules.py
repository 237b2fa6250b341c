"""The rules of a fixpoint: its body taken apart into joins and facts, by head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from .circuit import (
    Circuit,
    Constant,
    DeltaJoin,
    Fixpoint,
    Import,
    Join,
    NodeId,
    Term,
    Variable,
)
from .operators.distinct import summands
from .schema import Schema
from .versions import Seen, inner_versions

J = TypeVar("J")  # a runtime's compiled join

Source: TypeAlias = int | str
"""The source of a term's rows: an import, as the node outside, or a variable, as the name of its relation."""


@dataclass(frozen=True, slots=True)
class FixpointRule(Generic[J]):
    """A join inside a recursion. `sources[k]` is term k's source, `starts` are the variables among them
    with the versions that their delta joins see. The join's valuations go to one head or several, each by
    way of linear joins.
    """

    node: Join | DeltaJoin
    sources: tuple[Source, ...]
    starts: tuple[tuple[int, str, Seen], ...]
    join: J
    heads: tuple[tuple[str, tuple[J, ...]], ...]


def rules_of(
    fixpoint: Fixpoint, compiled: Callable[[Join | DeltaJoin, Sequence[Schema]], J]
) -> tuple[list[FixpointRule[J]], list[tuple[str, Constant]]]:
    """The rules of a fixpoint and its facts, by head. Heads that share a join make one rule. `compiled`
    makes a runtime's join of a node and the columns of its terms."""
    body = fixpoint.body
    heads: dict[NodeId, list[tuple[str, tuple[J, ...]]]] = {}
    facts: list[tuple[str, Constant]] = []
    for head, result in fixpoint.results:
        for leaf in summands(body.nodes, result):
            node = body.nodes[leaf]
            if isinstance(node, Constant):
                facts.append((head, node))
                continue
            at, linear = _linear(body, leaf)
            joins = tuple(compiled(join, [schema]) for join, schema in linear)
            heads.setdefault(at, []).append((head, joins))
    return [_rule(body, at, tuple(reached), compiled) for at, reached in heads.items()], facts


def _rule(
    body: Circuit,
    at: NodeId,
    heads: tuple[tuple[str, tuple[J, ...]], ...],
    compiled: Callable[[Join | DeltaJoin, Sequence[Schema]], J],
) -> FixpointRule[J]:
    node = _as_join(body, at)
    sources = tuple(_source(body, term.source) for term in node.terms)
    schemas = [body.nodes[term.source].schema for term in node.terms]
    return FixpointRule(node, sources, inner_versions(sources), compiled(node, schemas), heads)


def _linear(body: Circuit, leaf: NodeId) -> tuple[NodeId, list[tuple[Join, Schema]]]:
    """The join that a leaf's rows come from, and the linear joins from there to the leaf, each with the
    columns that it reads."""
    linear: list[tuple[Join, Schema]] = []
    node = body.nodes[leaf]
    while isinstance(node, Join) and isinstance(body.nodes[node.terms[0].source], Join | DeltaJoin):
        leaf = node.terms[0].source
        linear.insert(0, (node, body.nodes[leaf].schema))
        node = body.nodes[leaf]
    return leaf, linear


def _as_join(body: Circuit, at: NodeId) -> Join | DeltaJoin:
    """The node, or a join that copies it."""
    node = body.nodes[at]
    if isinstance(node, Join | DeltaJoin):
        return node
    names = tuple(column.name for column in node.schema)
    return Join((Term(at, names),), (), names, node.schema, node.text)


def _source(body: Circuit, at: NodeId) -> Source:
    node = body.nodes[at]
    if isinstance(node, Import):
        return node.node
    if isinstance(node, Variable):
        return node.relation
    raise ValueError(f"a rule of a recursion reads {type(node).__name__}, not an import or a variable")


def schemas_of(fixpoint: Fixpoint) -> dict[str, Schema]:
    """The columns of each relation of a fixpoint."""
    return {head: fixpoint.body.nodes[node].schema for head, node in fixpoint.results}
