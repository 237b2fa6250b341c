"""Groups that are joined by their key, as one group with the aggregates of all.

    n = group a by k: count()                          g = group a by k: count(), sum(.1)
    s = group a by k: sum(.1)              becomes
    join n(k, x), s(k, y) -> (k, x, y)                 join g(k, x, y) -> (k, x, y)

So the rows of the source are grouped once, and no join is left. Between a group and the join a rule may
compute values of the group's row: these expressions move to joins over the common group, which evaluate them
on the same rows as before, so that they fail where they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..circuit import Aggregate, Circuit, Group, Join, Let, Node, NodeId, Term
from ..operators.steps import binds, expression, has_effect
from ..schema import Column

Family: TypeAlias = tuple[NodeId, int, bool]
"""What groups that can be one have in common: their source, the number of keys, and whether it is a bag.
Functions of whole groups may fault, and faults name their rule: groups of such functions have no family."""
_Places: TypeAlias = tuple[NodeId, tuple[int, ...]]
"""A common node, and the places of columns in it."""


@dataclass(frozen=True, slots=True)
class _Common:
    """A node that has the columns of all nodes of a family. `places`: by node, where each column is."""

    node: NodeId
    places: Mapping[NodeId, tuple[int, ...]]


def share_groups(circuit: Circuit) -> Circuit:
    """The circuit in which groups of one source by the same key are one, if a join reads two of them with the
    same variables for the key. Fixpoints stay as they are: recursions over paths are known by their group.
    """
    families = _families(circuit)
    joined = {family for node in circuit.nodes for family in _joined_by_key(node, families, circuit)}
    nodes: list[Node] = []
    new: list[NodeId] = []
    commons: dict[Family, _Common] = {}
    columns: dict[NodeId, _Places] = {}  # by projection
    for at, node in enumerate(circuit.nodes):
        node = node.reading(new.__getitem__)
        family = families.get(at)
        if family in joined:
            if family not in commons:
                members = [member for member, of in families.items() if of == family]
                commons[family] = _common(circuit, members, new[family[0]], nodes)
            columns[len(nodes)] = commons[family].node, commons[family].places[at]
            node = _projection(node, *columns[len(nodes)], nodes)
        elif isinstance(node, Join):
            node = _reading(node, columns, nodes)
        new.append(len(nodes))
        nodes.append(node)
    return Circuit(tuple(nodes), tuple((relation, new[node]) for relation, node in circuit.relations))


# ------------------------------------------------------------------ families


def _families(circuit: Circuit) -> dict[NodeId, Family]:
    """The nodes with one row for each group: groups, and joins that compute further columns of their rows."""
    families: dict[NodeId, Family] = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Group) and all(one.function != "group" for one in node.aggregates):
            families[at] = node.source, node.keys, node.bag
        elif isinstance(node, Join) and len(node.terms) == 1 and _only_computes(node):
            source = node.terms[0].source
            group = circuit.nodes[source]
            if source not in families or not isinstance(group, Group):
                continue
            if {*node.terms[0].columns[: group.keys]} <= {*node.output}:
                families[at] = families[source]
    return families


def _only_computes(join: Join) -> bool:
    """Whether a join of one term keeps every row, with further values."""
    (term,) = join.terms
    bound = [name for name in term.columns if name is not None]
    bound += [step.name for step in join.steps if isinstance(step, Let) and not has_effect(step)]
    named = sum(name is not None for name in term.columns)
    return not term.negated and len({*bound}) == len(bound) == named + len(join.steps)


def _joined_by_key(node: Node, families: Mapping[NodeId, Family], circuit: Circuit) -> Iterator[Family]:
    """The families of which a join reads two nodes with the same variables for the key."""
    seen = dict[tuple[Family, tuple[str | None, ...]], NodeId]()
    for term in node.terms if isinstance(node, Join) else ():
        if term.source in families and not term.negated:
            names = tuple(term.columns[place] for place in _key(circuit.nodes, term.source))
            family = families[term.source]
            if seen.setdefault((family, names), term.source) != term.source and None not in names:
                yield family


def _key(nodes: Sequence[Node], at: NodeId) -> Iterable[int]:
    """The places of the key among the columns of a node of a family."""
    node = nodes[at]
    if isinstance(node, Group):
        return range(node.keys)
    assert isinstance(node, Join)
    (term,) = node.terms
    return (node.output.index(term.columns[place] or "") for place in _key(nodes, term.source))


# -------------------------------------------------------------- the common node


def _common(circuit: Circuit, members: Iterable[NodeId], source: NodeId, nodes: list[Node]) -> _Common:
    """Adds the group of a family to the nodes, then a join for each one that computes something. These keep
    their texts and the names of their variables, which faults tell."""
    groups = {at: node for at in members if isinstance(node := circuit.nodes[at], Group)}
    joins = {at: node for at in members if isinstance(node := circuit.nodes[at], Join)}
    first = next(iter(groups.values()))
    aggregates: tuple[Aggregate, ...] = ()
    columns, places = first.schema[: first.keys], dict[NodeId, tuple[int, ...]]()
    for at, group in groups.items():
        own = range(len(columns), len(columns) + len(group.aggregates))
        places[at] = (*range(first.keys), *own)
        aggregates += group.aggregates
        columns = _told_apart(columns, group.schema[first.keys :])
    nodes.append(replace(first, source=source, aggregates=aggregates, schema=columns))
    for at, join in joins.items():
        (term,) = join.terms
        names = [f"$common.{place}" for place in range(len(columns))]
        for place, name in zip(places[term.source], term.columns, strict=True):
            names[place] = name or names[place]
        lets = [replace(expression(step).column, name=binds(step) or "") for step in join.steps]
        known = (*names, *(column.name for column in lets))
        if lets:
            columns = _told_apart(columns, lets)
            nodes.append(Join((Term(len(nodes) - 1, tuple(names)),), join.steps, known, columns, join.text))
        places[at] = tuple(map(known.index, join.output))
    return _Common(len(nodes) - 1, places)


def _told_apart(known: tuple[Column, ...], more: Iterable[Column]) -> tuple[Column, ...]:
    """The columns, the additional ones under names of their own."""
    columns = list(known)
    for column in more:
        taken = any(column.name == each.name for each in columns)
        columns.append(replace(column, name=f"{column.name}.{len(columns)}") if taken else column)
    return tuple(columns)


# ------------------------------------------------------------------- readers


def _projection(node: Node, common: NodeId, places: tuple[int, ...], nodes: list[Node]) -> Join:
    """The columns at these places of the common node, in place of a node of the family."""
    names: list[str | None] = [None] * len(nodes[common].schema)
    for place in places:
        names[place] = f"c{place}"
    output = tuple(f"c{place}" for place in places)
    return Join((Term(common, tuple(names)),), (), output, node.schema, getattr(node, "text", ""))


def _reading(join: Join, columns: Mapping[NodeId, _Places], nodes: Sequence[Node]) -> Join:
    """The join with its positive terms over common nodes, in place of projections, one for each key."""
    commons = {node: len([*_key(nodes, node)]) for node in {node for node, _ in columns.values()}}
    terms: list[Term] = []
    for term in join.terms:
        term = _over_common(term, columns, nodes)
        if term.source in commons and not term.negated:
            keys = commons[term.source]
            alike = (k for k, other in enumerate(terms) if _may_be_one(other, term, keys))
            at = next(alike, None)
            if at is not None:
                pairs = zip(terms[at].columns, term.columns, strict=True)
                terms[at] = replace(term, columns=tuple(one or other for one, other in pairs))
                continue
        terms.append(term)
    return replace(join, terms=tuple(terms))


def _over_common(term: Term, columns: Mapping[NodeId, _Places], nodes: Sequence[Node]) -> Term:
    """The term over the common node, if its source is a projection of one and no column has two variables."""
    if term.negated or term.source not in columns:
        return term
    common, places = columns[term.source]
    names: list[str | None] = [None] * len(nodes[common].schema)
    for place, name in zip(places, term.columns, strict=True):
        if name is not None and names[place] not in (None, name):
            return term
        names[place] = name or names[place]
    return Term(common, tuple(names))


def _may_be_one(one: Term, other: Term, keys: int) -> bool:
    """Whether two positive terms of a source with one row for each key have the same row."""
    if one.negated or one.source != other.source or None in one.columns[:keys]:
        return False
    if one.columns[:keys] != other.columns[:keys]:
        return False
    return all(None in pair or pair[0] == pair[1] for pair in zip(one.columns, other.columns, strict=True))
