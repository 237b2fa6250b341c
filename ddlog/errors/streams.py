"""Errors about stream relations, delayed relations and differentiation."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class StreamJoin(Diagnostic):
    """A second stream in a rule body."""

    title: ClassVar[str] = "stream `{name}` cannot be joined with stream `{other}`"
    suggestion: ClassVar[str] = "`{held}(..)` is a relation of the same elements, which can be joined"
    name: str
    other: str
    held: str


@declared(kw_only=True)
class NegatedStream(Diagnostic):
    """A negated stream: `not S(..)`."""

    title: ClassVar[str] = "stream `{name}` cannot be negated"
    suggestion: ClassVar[str] = "`not {held}(..)` negates a relation of the same elements"
    name: str
    held: str


@declared(kw_only=True)
class StreamAntijoin(Diagnostic):
    """A negated term after a stream."""

    title: ClassVar[str] = "a negated term cannot follow a stream: the body up to here yields a stream"
    suggestion: ClassVar[str] = (
        "move the term before stream `{stream}`, or read `{held}(..)`, a relation of the same elements"
    )
    stream: str
    held: str


@declared(kw_only=True)
class RelationHead(Diagnostic):
    """A rule whose head is a relation but whose body yields a stream."""

    title: ClassVar[str] = (
        "`{name}` is a {kind}, but the body of the rule yields a stream: it reads stream `{stream}`"
    )
    suggestion: ClassVar[str] = (
        "declare `{name}` a stream, or read `{held}(..)`, a relation of the same elements"
    )
    name: str
    kind: str
    stream: str
    held: str


@declared(kw_only=True)
class StreamHead(Diagnostic):
    """A rule whose head is a stream but whose body yields a relation."""

    title: ClassVar[str] = "`{name}` is a stream, but the body of the rule yields a relation"
    suggestion: ClassVar[str] = "declare `{name}` a relation, or let the body read a stream"
    name: str


@declared(kw_only=True)
class StreamFact(Diagnostic):
    """A fact of a stream."""

    title: ClassVar[str] = (
        "stream `{name}` cannot have facts: an element of a stream is gone after its transaction"
    )
    suggestion: ClassVar[str] = "make `{name}` a relation, or insert the element in a transaction"
    name: str


@declared(kw_only=True)
class StreamRecursion(Diagnostic):
    """A stream that depends on itself within one transaction."""

    title: ClassVar[str] = "Stream '{name}' occurs inside a recursive fragment consisting of: [{fragment}]"
    suggestion: ClassVar[str] = "a delayed term such as `{name}-1(..)` may close a cycle"
    name: str
    fragment: str


@declared(kw_only=True)
class StreamKey(Diagnostic):
    """A stream with a primary key."""

    title: ClassVar[str] = "stream `{name}` cannot have a primary key: it keeps no rows between transactions"
    name: str


@declared(kw_only=True)
class NotAStream(Diagnostic):
    """`R'` where `R` is not a stream."""

    title: ClassVar[str] = "`{name}'` needs a stream, but `{name}` is a {kind}"
    suggestion: ClassVar[str] = "write `{name}(..)` to read the {kind}"
    name: str
    kind: str


@declared(kw_only=True)
class NoDelay(Diagnostic):
    """A delay of 0: `R-0`."""

    title: ClassVar[str] = "a delay is at least 1: `{name}-1` is `{name}` one {unit} ago"
    suggestion: ClassVar[str] = "write `{name}(..)` to read `{name}` as it is now"
    name: str
    unit: str


@declared(kw_only=True)
class HeadInTime(Diagnostic):
    """A head that is delayed or differentiated."""

    title: ClassVar[str] = "a head cannot be {how}: a rule says what `{name}` holds now"
    how: str
    name: str
