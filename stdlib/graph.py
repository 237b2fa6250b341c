"""The transformers of graph.dl."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..values import Vec

End = Callable[[Any], Any]
Pair = tuple[Any, Any]


def SCC(edges: Vec, start: End, end: End) -> Vec:
    import networkx as nx

    pairs = {(start(edge), end(edge)) for edge in edges}
    found = []
    for component in nx.strongly_connected_components(nx.DiGraph(pairs)):
        least = min(component)
        if len(component) > 1 or (least, least) in pairs:
            found += [(node, least) for node in component]
    return Vec(sorted(found))


def ConnectedComponents(edges: Vec, start: End, end: End) -> Vec:
    """The least node reaches what it can first; a later one what is left."""
    following: dict[Any, set[Any]] = {}
    for edge in edges:
        following.setdefault(start(edge), set()).add(end(edge))
    labels: dict[Any, Any] = {}
    for least in sorted({node for nodes in following.values() for node in nodes}):
        waiting = [least] if least not in labels else []
        while waiting:
            node = waiting.pop()
            if node not in labels:
                labels[node] = least
                waiting += following.get(node, ())
    return Vec(sorted(labels.items()))


def ConnectedComponents64(edges: Vec, start: End, end: End) -> Vec:
    return ConnectedComponents(edges, start, end)


def UnsafeBidirectionalEdges(edges: Vec, start: End, end: End) -> Vec:
    pairs: Iterable[Pair] = {(start(edge), end(edge)) for edge in edges}
    return Vec(sorted((a, b) for a, b in pairs if (b, a) in pairs))
