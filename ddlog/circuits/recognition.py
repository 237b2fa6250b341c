"""Fixpoints in nested time: the bracket of dbsp-spec, part 7, as a Fixpoint.

    imports ──► δ₀ ──► I ──► rules ──► distinct ──► D ──► ∫
                        ▲                  │
                        └────── z⁻¹ ◄──────┘

I(δ₀(a)) is a at all iterations, and ∫(D(o)) is the last o: an Import and a FixpointResult mean just this. A
Fixpoint is kept up to date in nested time; other brackets are evaluated anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..engine import circuit as c
from ..engine.node import provable_sets
from ..engine.schedule import readers

_RULES = c.Join | c.Sum | c.Distinct | c.Group | c.Constant | c.Import


def with_fixpoints(circuit: c.Circuit) -> c.Circuit:
    """The circuit with a Fixpoint in the place of each Bracket that is one."""
    sets = provable_sets(circuit)
    return replace(circuit, nodes=tuple(_fixpoint(node, sets) for node in circuit.nodes))


def _fixpoint(node: c.Node, sets: Sequence[bool]) -> c.Node:
    if not isinstance(node, c.Bracket) or not all(sets[source] for source in node.reads()):
        return node
    body = node.body
    feeds = {each.name: each.source for each in body.nodes if isinstance(each, c.Feed)}
    ends = _limits(node)
    if ends is None or len(set(ends.values())) != len(ends) or not set(ends.values()) <= set(feeds.values()):
        return node
    if len(set(feeds.values())) != len(feeds) or not _is_recursion(body):
        return node
    names = {at: name for name, at in ends.items()}
    relations = {name: names.get(at, name) for name, at in feeds.items()}
    nodes: list[c.Node] = []
    new: dict[int, int] = {}
    for at, each in enumerate(body.nodes):
        match each:
            case c.Integrate(source):
                new[at] = new[source]
            case c.Feed() | c.Differentiate():
                pass
            case _:
                if isinstance(each, c.Feedback):
                    each = c.Variable(relations[each.name], each.schema, each.text)
                nodes.append(each.reading(new.__getitem__))
                new[at] = len(nodes) - 1
    results = tuple((relations[name], new[at]) for name, at in feeds.items())
    return c.Fixpoint(c.Circuit(tuple(nodes)), results, text=node.text)


def _limits(node: c.Bracket) -> dict[str, int] | None:
    """For each result ∫(D(o)) the node o, a Distinct; None if some result is another."""
    nodes, limits = node.body.nodes, dict[str, int]()
    for name, at in node.results:
        end = nodes[at]
        if not isinstance(end, c.Differentiate) or not isinstance(nodes[end.source], c.Distinct):
            return None
        limits[name] = end.source
    return limits


def _is_recursion(body: c.Circuit) -> bool:
    """Whether a body has only rules, which read imports and delayed results."""
    nodes, read_by = body.nodes, readers(body)
    for at, each in enumerate(nodes):
        match each:
            case c.Import():
                if not all(isinstance(nodes[reader], c.Integrate) for reader in read_by[at]):
                    return False
            case c.Integrate(source):
                if not isinstance(nodes[source], c.Import):
                    return False
            case c.Differentiate():
                if read_by[at]:
                    return False
            case c.Feed(_, source):
                if not isinstance(nodes[source], c.Distinct):
                    return False
            case c.Feedback():
                pass
            case _:
                if not isinstance(each, _RULES) or (isinstance(each, c.Group) and each.bag):
                    return False
    return True
