"""Walks over syntax trees, of this language and others: the nodes in one, and one with changed parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from operator import is_
from typing import Any

from ..errors.source import Span

_PLAIN = frozenset(
    {"str", "int", "bool", "Span", "Span | None", "tuple[str, ...]", "tuple[tuple[str, ...], ...]"}
)
"""The types of fields that hold no nodes."""


def nodes(tree: Any, closed: type | tuple[type, ...] = ()) -> Iterator[Any]:
    """The node and all nodes in it, each before its parts, which follow in the order of the text; what nodes
    of the classes `closed` hold is left out."""
    waiting = [tree]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, tuple):
            waiting += tree[::-1]
        elif (parts := _inner[type(tree)]) is not None:
            yield tree
            if not isinstance(tree, closed):
                waiting += [getattr(tree, name) for name in parts]


def rebuilt(tree: Any, change: Callable[[Any], Any], closed: type | tuple[type, ...] = ()) -> Any:
    """The tree with each of its parts, nodes and others, as `change` makes it, the inner ones first; the same
    object if nothing changes. What nodes of the classes `closed` hold stays."""
    if isinstance(tree, tuple):
        items = [rebuilt(each, change, closed) for each in tree]
        return tree if all(map(is_, items, tree)) else tuple(items)
    kind: Any = type(tree)
    names = field_names(kind)
    if names and not isinstance(tree, closed):
        before = [getattr(tree, name) for name in names]
        after = [rebuilt(each, change, closed) for each in before]
        if not all(map(is_, before, after)):
            tree = kind(*after)
    return change(tree)


@cache
def field_names(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a class of nodes; none for another class."""
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) and kind is not Span else ()


class _Inner(dict[Any, tuple[str, ...] | None]):
    """The names of the fields that may hold nodes, last first; None for a class that is no node."""

    def __missing__(self, kind: Any) -> tuple[str, ...] | None:
        names: tuple[str, ...] | None = None
        if field_names(kind):
            names = tuple(each.name for each in reversed(fields(kind)) if each.type not in _PLAIN)
        self[kind] = names
        return names


_inner = _Inner()
