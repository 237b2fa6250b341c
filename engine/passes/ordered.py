"""Ordered rows: a group of which a list with an item for each row is made, and spread at once, as one
operator, which keeps the items up row by row.

    g = group of a by k: l = make(rows)                    o = ordered a by k: c, v
    join g(k, l), x in l, c = x.0, v = x.1, …              join o(k, c, v), …
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeGuard

from ..circuit import Circuit, Group, Join, Let, Node, Ordered, Step, Term, Unnest
from ..operators.steps import binds, inputs
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
    (aggregate,) = group.aggregates
    listed = term.columns[group.keys]
    if not isinstance(first, Unnest) or first.value.inputs != (listed,):
        return join
    named: list[str | None] = [None] * len(aggregate.parts)
    keys, left = [part.key for part in aggregate.parts], list[Step]()
    for step in rest:
        at = keys.index(step.value.key) if _is_part(step, first.name, keys) else -1
        if at < 0 or named[at] is not None:
            left.append(step)
        else:
            named[at] = binds(step)
    used = {name for step in left for name in inputs(step)} | {*join.output, *term.columns[: group.keys]}
    if {first.name, listed} & used:
        return join
    columns = tuple(part.column for part in aggregate.parts)
    schema = (*group.schema[: group.keys], *columns)
    nodes.append(Ordered(group.source, group.keys, aggregate, schema, group.text, group.bag))
    read = (name if name in used else None for name in named)
    term = Term(len(nodes) - 1, (*term.columns[: group.keys], *read))
    return replace(join, terms=(term,), steps=tuple(left))


def _is_part(step: Step, item: str, keys: Sequence[Hashable]) -> TypeGuard[Let]:
    return isinstance(step, Let) and step.value.inputs == (item,) and step.value.key in keys
