"""Chains of joins: a join that reads another join, as one join of the terms of both.

Weights multiply, and a projection adds them up, in one step or in two: joins are multilinear. Programs have
few such chains, as a rule is lowered to one join; circuits that are built operator by operator have many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..circuit import Circuit, Join, Let, Node, NodeId, Step, Term
from ..operators.steps import has_effect, rename_step
from .canonical import canonical_names, rename_term
from .dead_code import keep_nodes
from .scopes import everywhere


def join_chains(circuit: Circuit) -> Circuit:
    """The circuit in which a join of one term and the join that it alone reads are one.

    A condition or a flat map would keep an expression of the inner join from failing on the rows that it
    removes. So these are taken over only if the inner join has no expressions.
    """
    return everywhere(circuit, _join_chains)


def _join_chains(circuit: Circuit) -> Circuit:
    readers = Counter(source for node in circuit.nodes for source in set(node.reads()))
    readers.update(at for _, at in circuit.relations)
    nodes: list[Node] = []
    gone = set[NodeId]()
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Join) and len(node.terms) == 1:
            source = node.terms[0].source
            inner = nodes[source]
            if isinstance(inner, Join) and readers[source] == 1 and _may_join(inner, node):
                node, gone = joined(node, {0: inner}, f"${at}."), gone | {source}
        nodes.append(node)
    live = set(range(len(nodes))) - gone
    return keep_nodes(replace(circuit, nodes=tuple(nodes)), live)


def _may_join(inner: Join, outer: Join) -> bool:
    if any(map(has_effect, (*inner.steps, *outer.steps))) or outer.terms[0].negated:
        return False
    return not inner.steps or all(isinstance(step, Let) for step in outer.steps)


def joined(outer: Join, inner: Mapping[int, Join], prefix: str) -> Join:
    """The join of all terms of `outer`, with those of an inner join in place of its term of that number. The
    variables of the inner joins are renamed by the prefix, which no variable has."""
    terms, steps, same = list[Term](), list[Step](), dict[str, str]()
    for number, term in enumerate(outer.terms):
        if number not in inner:
            terms.append(term)
            continue
        join = _named_apart(inner[number], f"{prefix}{number}.")
        names: dict[str, str] = {}
        for own, name in zip(join.output, term.columns, strict=True):
            if name is not None and names.setdefault(own, name) != name:
                _unify(same, names[own], name)
        new = _renaming(names)
        terms += [rename_term(each, new) for each in join.terms]
        steps += [rename_step(each, new) for each in join.steps]
    final = _renaming({name: _end(same, name) for name in same})
    whole = replace(outer, terms=tuple(terms), steps=(*steps, *outer.steps))
    return _all_renamed(whole, final)


def _named_apart(join: Join, prefix: str) -> Join:
    """The join with variables that occur nowhere else."""
    own = canonical_names(join.terms, join.steps)
    return _all_renamed(join, _renaming({name: prefix + name for name in own}))


def _all_renamed(join: Join, new: Callable[[str], str]) -> Join:
    terms = tuple(rename_term(term, new) for term in join.terms)
    steps = tuple(rename_step(step, new) for step in join.steps)
    return replace(join, terms=terms, steps=steps, output=tuple(map(new, join.output)))


def _renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: names.get(name, name)


def _unify(same: dict[str, str], left: str, right: str) -> None:
    """Notes that two variables are one."""
    left, right = _end(same, left), _end(same, right)
    if left != right:
        same[right] = left


def _end(same: Mapping[str, str], name: str) -> str:
    while name in same:
        name = same[name]
    return name
