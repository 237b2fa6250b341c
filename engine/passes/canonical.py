"""Joins up to the names of their variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from ..circuit import Circuit, Fixpoint, Join, Node, NodeId, Output, Step, Term
from ..operators.steps import binds, expression, has_effect, variables
from ..schema import Schema
from .scopes import everywhere


def shape(schema: Schema) -> Hashable:
    """A schema without the names of its columns."""
    return tuple((column.kind, column.domain) for column in schema)


def node_key(node: Node) -> Hashable:
    """A key that nodes share if they compute the same from the same sources. It does not depend on the names
    of columns and variables."""
    if not isinstance(node, Join):
        nameless: Any = node
        return replace(nameless, schema=()), shape(node.schema)
    names = canonical_names(node.terms, node.steps)
    terms = tuple(rename_term(term, names.__getitem__) for term in node.terms)
    steps = tuple(step_key(step, names) for step in node.steps)
    return Join, terms, steps, tuple(names[name] for name in node.output), shape(node.schema)


def canonical_names(terms: tuple[Term, ...], steps: tuple[Step, ...]) -> dict[str, str]:
    """A new name for each variable, by its first occurrence."""
    names: dict[str, str] = {}
    for term in terms:
        for column in term.columns:
            if column is not None:
                names.setdefault(column, f"v{len(names)}")
    for step in steps:
        for name in variables(step):
            names.setdefault(name, f"v{len(names)}")
    return names


def step_key(step: Step, names: dict[str, str]) -> Hashable:
    """A step up to the names of variables."""
    value = expression(step)
    inputs = tuple(names[name] for name in value.inputs)
    bound = names.get(binds(step) or "")
    return type(step), bound, inputs, value.key, value.column.kind, value.column.domain


def rename_term(term: Term, new: Callable[[str], str]) -> Term:
    """The term over other variables."""
    return replace(term, columns=tuple(None if name is None else new(name) for name in term.columns))


def share_common_nodes(circuit: Circuit) -> Circuit:
    """The circuit with equal nodes made one, from the inputs on, and in the bodies of fixpoints.

    Joins are compared up to the names of their variables; those with an effect stay apart.
    """
    return everywhere(circuit, _share)


def _share(circuit: Circuit) -> Circuit:
    nodes: list[Node] = []
    new: list[NodeId] = []
    first: dict[Hashable, NodeId] = {}
    for node in circuit.nodes:
        node = node.reading(new.__getitem__)
        key = node_key(node) if _may_be_shared(node) else len(new)
        if key not in first:
            first[key] = len(nodes)
            nodes.append(node)
        new.append(first[key])
    return Circuit(tuple(nodes), tuple((relation, new[node]) for relation, node in circuit.relations))


def _may_be_shared(node: Node) -> bool:
    match node:
        case Fixpoint() | Output():
            return False
        case Join(_, steps):
            return not any(map(has_effect, steps))
        case _:
            return True
