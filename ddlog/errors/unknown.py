"""What is said of a name that is no relation's, or no index's."""

from __future__ import annotations

from collections.abc import Container, Iterable

from . import usage as errors
from .diagnostics import Diagnostic
from .nearest import nearest


def unknown_relation(name: str, relations: Iterable[str], indexes: Container[str] = ()) -> Diagnostic:
    """The error for a name that should be a relation's."""
    if name in indexes:
        return errors.NotARelation(name)
    return errors.UnknownRelation(name, nearest(name, relations))


def unknown_index(name: str, indexes: Iterable[str], relations: Container[str] = ()) -> Diagnostic:
    """The error for a name that should be an index's."""
    if name in relations:
        return errors.NotAnIndex(name)
    known = tuple(sorted(indexes))
    return errors.UnknownIndex(name, nearest(name, known), known)
