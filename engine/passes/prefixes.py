"""Shared prefixes: rules with the same terms and conditions are joined once.

The steps in which the rules differ (expressions, flatmaps, projections) are linear, so each rule applies its
own to the shared valuations without storing them. A prefix that one of the rules joins with further terms is
not shared: that join would store the valuations of the prefix.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from ..circuit import Circuit, Guard, Join, Let, Node, NodeId, Step, Term, Unnest
from ..operators.steps import binds, expression, has_effect, variables
from ..schema import Column
from .canonical import canonical_names, rename_term, step_key
from .scopes import everywhere


def share_prefixes(circuit: Circuit) -> Circuit:
    """The circuit in which joins of two or more terms that differ only after their last condition read one
    join of these terms and conditions."""
    return everywhere(circuit, _share)


def _share(circuit: Circuit) -> Circuit:
    groups: dict[Hashable, list[NodeId]] = {}
    for i, node in enumerate(circuit.nodes):
        if isinstance(node, Join) and len(node.terms) > 1 and _may_share(node):
            groups.setdefault(_prefix_key(node), []).append(i)
    shared = {i: members for members in groups.values() if len(members) > 1 for i in members}
    nodes: list[Node] = []
    new: list[NodeId] = []
    prefixes: dict[NodeId, tuple[NodeId, tuple[str, ...]]] = {}
    for i, node in enumerate(circuit.nodes):
        node = node.reading(new.__getitem__)
        if isinstance(node, Join) and i in shared:
            first = shared[i][0]
            if first not in prefixes:
                joins = [circuit.nodes[member] for member in shared[i]]
                read = [_read(join) for join in joins if isinstance(join, Join)]
                prefix, output = _prefix(node, frozenset[str]().union(*read), nodes)
                nodes.append(prefix)
                prefixes[first] = len(nodes) - 1, output
            node = _rest(node, *prefixes[first])
        nodes.append(node)
        new.append(len(nodes) - 1)
    return Circuit(tuple(nodes), tuple((relation, new[node]) for relation, node in circuit.relations))


def _may_share(join: Join) -> bool:
    """Whether the terms can be joined before anything is unnested, and nothing has an effect."""
    return _derived(join).isdisjoint(_columns(join)) and not any(map(has_effect, join.steps))


def _columns(join: Join) -> set[str | None]:
    return {name for term in join.terms for name in term.columns}


def _derived(join: Join) -> set[str]:
    """The variables that a flatmap binds, and the variables computed from these."""
    derived: set[str] = set()
    for step in join.steps:
        name = binds(step)
        if name and (isinstance(step, Unnest) or not derived.isdisjoint(expression(step).inputs)):
            derived.add(name)
    return derived


def _filled(join: Join) -> tuple[Term, ...]:
    """The terms with a variable in every column."""
    return tuple(
        replace(term, columns=tuple(name or f"_{i}.{k}" for k, name in enumerate(term.columns)))
        for i, term in enumerate(join.terms)
    )


def _split(join: Join) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps that restrict the valuations, with the definitions that they need; and the other steps."""
    derived = _derived(join)
    bound = [binds(step) for step in join.steps]
    needed = _columns(join) | {name for name in bound if bound.count(name) > 1}
    inside: set[int] = set()
    for i in reversed(range(len(join.steps))):
        step = join.steps[i]
        test = isinstance(step, Guard) or (isinstance(step, Let) and step.name in needed)
        if test and derived.isdisjoint(variables(step)):
            inside.add(i)
            needed.update(expression(step).inputs)
    return (
        tuple(step for i, step in enumerate(join.steps) if i in inside),
        tuple(step for i, step in enumerate(join.steps) if i not in inside),
    )


def _prefix_key(join: Join) -> Hashable:
    """Equal for joins with the same terms and conditions, up to the names of variables."""
    terms, (inside, _) = _filled(join), _split(join)
    names = canonical_names(terms, inside)
    return tuple(rename_term(t, names.__getitem__) for t in terms), tuple(step_key(s, names) for s in inside)


def _read(join: Join) -> frozenset[str]:
    """The canonical names of the prefix's variables that the rest of the join reads."""
    inside, outside = _split(join)
    names = canonical_names(_filled(join), inside)
    read = {*join.output} | {name for step in outside for name in variables(step)}
    return frozenset(names[name] for name in read if name in names)


def _prefix(join: Join, read: frozenset[str], nodes: list[Node]) -> tuple[Join, tuple[str, ...]]:
    """The join of the terms and conditions alone; its output is `read`, given in order beside it."""
    inside, _ = _split(join)
    filled = _filled(join)
    names = canonical_names(filled, inside)
    columns: dict[str, Column] = {}
    for term in filled:
        for name, column in zip(term.columns, nodes[term.source].schema, strict=True):
            columns.setdefault(name or "", column)
    for step in inside:
        columns.setdefault(binds(step) or "", expression(step).column)
    output = tuple(name for name in names if names[name] in read)
    used = {*output} | {name for step in inside for name in variables(step)}
    occurrences = [name for term in filled for name in term.columns]
    used |= {name for name in occurrences if name and occurrences.count(name) > 1}
    terms = tuple(
        replace(term, columns=tuple(name if name in used else None for name in term.columns))
        for term in filled
    )
    schema = tuple(replace(columns[name], name=name) for name in output)
    return Join(terms, inside, output, schema, join.text), tuple(names[name] for name in output)


def _rest(join: Join, source: NodeId, output: tuple[str, ...]) -> Join:
    """The join over the shared valuations: its remaining steps and its output."""
    inside, outside = _split(join)
    back = {new: old for old, new in canonical_names(_filled(join), inside).items()}
    read = _read(join)
    columns = tuple(back[name] if name in read else None for name in output)
    return replace(join, terms=(Term(source, columns),), steps=outside)
