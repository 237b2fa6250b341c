"""Names that nothing has: those that are given to a session, and those in programs of other languages."""

from __future__ import annotations

from collections.abc import Container, Iterable

from .diagnostics import Diagnostic
from .nearest import meant, meant_of, nearest
from .source import Span


class NoSuchRelation(Diagnostic):
    """A name that no relation of the program has."""

    title = "there is no relation {name}"
    suggestion = "{near:did you mean `%`?}"
    name: str
    near: str | None


class NoSuchIndex(Diagnostic):
    """A name that no index of the program has."""

    title = "there is no index {name}"
    name: str
    indexes: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The index that was perhaps meant, or the names of all indexes."""
        if not self.indexes:
            return "the program declares no index"
        return meant_of(self.name, self.indexes, "the indexes")


class UnknownName(Diagnostic):
    """A name that nothing declares: in a program of another language, or as a code."""

    title = "unknown {what} `{name}`"
    what: str
    name: str
    near: str | None = None

    @property
    def hint(self) -> str:
        """The name that was perhaps meant."""
        return meant(self.near, self.help)


def unknown_name(what: str, name: str, known: Iterable[str], span: Span | None = None) -> UnknownName:
    """The error for a name that is none of those that are known."""
    return UnknownName(what=what, name=name, near=nearest(name, known), span=span)


class NotARelation(Diagnostic):
    """The name of an index in the place of a relation."""

    title = "{name} is an index, not a relation"
    suggestion = "query it with `query_index {name}(…);`, in Python `session.index(…)[key]`"
    name: str


class NotAnIndex(Diagnostic):
    """The name of a relation in the place of an index."""

    title = "{name} is a relation, not an index"
    suggestion = "`dump {name};` prints it; `index I(x: T) on {name}(…)` declares an index on it"
    name: str


def unknown_relation(name: str, relations: Iterable[str], indexes: Container[str] = ()) -> Diagnostic:
    """The error for a name that should be the name of a relation."""
    if name in indexes:
        return NotARelation(name)
    return NoSuchRelation(name, nearest(name, relations))


def unknown_index(name: str, indexes: Iterable[str], relations: Container[str] = ()) -> Diagnostic:
    """The error for a name that should be the name of an index."""
    if name in relations:
        return NotAnIndex(name)
    return NoSuchIndex(name, tuple(sorted(indexes)))
