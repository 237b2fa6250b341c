"""Ordered rows: a group of which a list with an item for each row is made, and spread at once, as one
operator, which keeps the items up row by row.

    g = group of a by k: l = make(rows)                    o = ordered a by k: x
    join g(k, l), x in l, …                                join o(k, x), …
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ..circuit import Circuit, Group, Join, Node, Ordered, Term, Unnest
from ..operators.steps import inputs
from .dead_code import remove_dead_code


def spread_ordered(circuit: Circuit) -> Circuit:
    """The circuit in which joins that spread the list of an ordered group alone read the rows of an Ordered.
    Groups that are read otherwise stay. The same circuit if it has no such group."""
    if not any(_is_ordered(node) for node in circuit.nodes):
        return circuit
    nodes: list[Node] = []
    new: list[int] = []
    for at in circuit.nodes:
        node = at.reading(new.__getitem__)
        if isinstance(node, Join):
            node = _spread(node, nodes)
        nodes.append(node)
        new.append(len(nodes) - 1)
    relations = tuple((relation, new[node]) for relation, node in circuit.relations)
    return remove_dead_code(Circuit(tuple(nodes), relations))


def _is_ordered(node: Node) -> TypeGuard[Group]:
    """Whether a node is a group of which one list is made that has an item for each row."""
    return isinstance(node, Group) and len(node.aggregates) == 1 and node.aggregates[0].ordered is not None


def _spread(join: Join, nodes: list[Node]) -> Join:
    """The join over an Ordered, which is added to the nodes; the same join if it does not spread one."""
    if len(join.terms) != 1 or not join.steps:
        return join
    (term,), (first, *rest) = join.terms, join.steps
    group = nodes[term.source]
    if not _is_ordered(group):
        return join
    listed = term.columns[group.keys]
    used = {name for step in rest for name in inputs(step)} | {*join.output, *term.columns[: group.keys]}
    if not isinstance(first, Unnest) or first.value.inputs != (listed,) or listed in used:
        return join
    schema = (*group.schema[: group.keys], first.value.column)
    nodes.append(Ordered(group.source, group.keys, group.aggregates[0], schema, group.text, group.bag))
    columns = (*term.columns[: group.keys], first.name)
    return replace(join, terms=(Term(len(nodes) - 1, columns),), steps=tuple(rest))
