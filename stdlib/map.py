"""The functions that map.dl declares `extern`."""

from __future__ import annotations

from ..values import Map
from .elements import Apply


def map_map_values(m: Map, f: Apply) -> Map:
    return Map.ordered((k, f(v)) for k, v in m)


def map_map_entries(m: Map, f: Apply) -> Map:
    return Map.ordered((k, f(k, v)) for k, v in m)


def map_map_in_place(m: Map, f: Apply) -> tuple[tuple[()], Map]:
    """Each value becomes what f leaves in its second parameter."""
    return (), Map.ordered((k, f(k, v)[1]) for k, v in m)


def map_map_keys(m: Map, f: Apply) -> Map:
    return Map((f(k), v) for k, v in m)


def map_filter_values(m: Map, f: Apply) -> Map:
    return Map.ordered((k, v) for k, v in m if f(v))


def map_filter_entries(m: Map, f: Apply) -> Map:
    return Map.ordered((k, v) for k, v in m if f(k, v))


def map_filter_map_values(m: Map, f: Apply) -> Map:
    return Map.ordered((k, found[1]) for k, v in m if (found := f(v))[0])


def map_filter_map_entries(m: Map, f: Apply) -> Map:
    return Map.ordered((k, found[1]) for k, v in m if (found := f(k, v))[0])
