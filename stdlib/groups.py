"""Groups: their key, and their distinct values in order."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ..values import Group, Map, Set, Struct, Vec
from .options import item


def group_key(g: Group) -> Any:
    return g[0]


def group_count_distinct(g: Group) -> int:
    return len(set(g[1]))


def group_first(g: Group) -> Any:
    return g[1][0]


def group_nth(g: Group, n: int) -> Struct:
    return item(g[1], n)


def group_to_set(g: Group) -> Set:
    return Set.ordered(dict.fromkeys(g[1]))


def group_to_vec(g: Group) -> Vec:
    return Vec(g[1])


def group_present(g: Group) -> Vec:
    """The contents of the values that are Some."""
    return Vec(value[1] for value in g[1] if value[0])


def group_to_map(g: Group) -> Map:
    return Map(g[1])


def group_to_setmap(g: Group) -> Map:
    """The second parts of the pairs by the first."""
    found: dict[Any, list[Any]] = {}
    for key, value in g[1]:
        found.setdefault(key, []).append(value)
    return Map.ordered((key, Set.ordered(dict.fromkeys(values))) for key, values in found.items())


def group_set_unions(g: Group) -> Set:
    return Set(chain.from_iterable(g[1]))


group_setref_unions = group_set_unions


def group_min(g: Group) -> Any:
    return g[1][0]


def group_max(g: Group) -> Any:
    return g[1][-1]
