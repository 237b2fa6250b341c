"""Errors about explanations."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class DoesNotHold(Diagnostic):
    """A question why a row holds that does not."""

    title: ClassVar[str] = "{row} does not hold"
    suggestion: ClassVar[str] = "`why not` says what it lacks"
    row: str


@declared()
class NotARow(Diagnostic):
    """A question that is not about rows of one relation."""

    title: ClassVar[str] = "a question is about a row of one relation"
    label: ClassVar[str] = "expected Relation(value, …)"
    suggestion: ClassVar[str] = 'such as `Reach("a", "d")`; a variable or `_` stands for any value'


@declared()
class NoRowMatches(Diagnostic):
    """A question about rows of which none holds."""

    title: ClassVar[str] = "no row of {relation} matches {pattern}"
    relation: str
    pattern: str


@declared()
class RowNotWhole(Diagnostic):
    """A question why not about a row that leaves values open."""

    title: ClassVar[str] = "a question why a row does not hold needs all its values"
    label: ClassVar[str] = "not all values are given"


@declared()
class Holds(Diagnostic):
    """A question why a row does not hold that holds."""

    title: ClassVar[str] = "{row} holds"
    suggestion: ClassVar[str] = "`why` gives a proof"
    row: str


@declared()
class NoAttempt(Diagnostic):
    """A search by trial in a session whose changes leave traces."""

    title: ClassVar[str] = (
        "facts cannot be changed on trial in a program with streams, windows or effects, nor after a "
        "static load"
    )


@declared()
class NotChanged(Diagnostic):
    """A question why a row changed that did not."""

    title: ClassVar[str] = "the last commit did not change {row}: it {held} before and after"
    row: str
    held: str


@declared()
class NothingChanged(Diagnostic):
    """A question why rows changed, of which none did."""

    title: ClassVar[str] = "the last commit changed no row that matches {pattern}"
    pattern: str


@declared()
class NoStateBefore(Diagnostic):
    """A question about the last commit of a session that cannot tell what was before it."""

    title: ClassVar[str] = "what the last commit changed cannot be told: {reason}"
    reason: str


@declared()
class LoopWithEffects(Diagnostic):
    """A question, other than why a row holds, about rows of a loop that cannot be run again."""

    title: ClassVar[str] = (
        "rows of {relation} are not explained: the loop has effects, which would come again with its rounds"
    )
    relation: str
