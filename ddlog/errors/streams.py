"""Errors about stream relations, delayed relations and differentiation."""

from __future__ import annotations

from .diagnostics import Diagnostic


class StreamJoin(Diagnostic):
    """A second stream in a rule body."""

    title = "stream `{name}` cannot be joined with stream `{other}`"
    suggestion = "`{held}(..)` is a relation of the same elements, which can be joined"
    name: str
    other: str
    held: str


class NegatedStream(Diagnostic):
    """A negated stream: `not S(..)`."""

    title = "stream `{name}` cannot be negated"
    suggestion = "`not {held}(..)` negates a relation of the same elements"
    name: str
    held: str


class StreamAntijoin(Diagnostic):
    """A negated term after a stream."""

    title = "a negated term cannot follow a stream: the body up to here yields a stream"
    suggestion = (
        "move the term before stream `{stream}`, or read `{held}(..)`, a relation of the same elements"
    )
    stream: str
    held: str


class RelationHead(Diagnostic):
    """A rule whose head is a relation but whose body yields a stream."""

    title = "`{name}` is a {kind}, but the body of the rule yields a stream: it reads stream `{stream}`"
    suggestion = "declare `{name}` a stream, or read `{held}(..)`, a relation of the same elements"
    name: str
    kind: str
    stream: str
    held: str


class StreamHead(Diagnostic):
    """A rule whose head is a stream but whose body yields a relation."""

    title = "`{name}` is a stream, but the body of the rule yields a relation"
    suggestion = "declare `{name}` a relation, or let the body read a stream"
    name: str


class StreamFact(Diagnostic):
    """A fact of a stream."""

    title = "stream `{name}` cannot have facts: an element of a stream is gone after its transaction"
    suggestion = "make `{name}` a relation, or insert the element in a transaction"
    name: str


class StreamRecursion(Diagnostic):
    """A stream that depends on itself within one transaction."""

    title = "Stream '{name}' occurs inside a recursive fragment consisting of: [{fragment}]"
    suggestion = "a delayed term such as `{name}-1(..)` may close a cycle"
    name: str
    fragment: str


class StreamKey(Diagnostic):
    """A stream with a primary key."""

    title = "stream `{name}` cannot have a primary key: it keeps no rows between transactions"
    name: str


class NotAStream(Diagnostic):
    """`R'` where `R` is not a stream."""

    title = "`{name}'` needs a stream, but `{name}` is a {kind}"
    suggestion = "write `{name}(..)` to read the {kind}"
    name: str
    kind: str


class NoDelay(Diagnostic):
    """A delay of 0: `R-0`."""

    title = "a delay is at least 1: `{name}-1` is `{name}` one {unit} ago"
    suggestion = "write `{name}(..)` to read `{name}` as it is now"
    name: str
    unit: str


class HeadInTime(Diagnostic):
    """A head that is delayed or differentiated."""

    title = "a head cannot be {how}: a rule says what `{name}` holds now"
    how: str
    name: str
