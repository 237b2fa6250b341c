"""Errors about explanations."""

from __future__ import annotations

from .diagnostics import Diagnostic


class DoesNotHold(Diagnostic):
    """A question why a row holds that does not."""

    title = "{row} does not hold"
    suggestion = "`why not` says what it lacks, on the command line `ddlog explain … --not`"
    row: str


class NotARow(Diagnostic):
    """A question that is not about rows of one relation."""

    title = "a question is about a row of one relation"
    label = "expected Relation(value, …)"
    suggestion = 'such as `Reach("a", "d")`; a variable or `_` stands for any value'


class NoRowMatches(Diagnostic):
    """A question about rows of which none holds."""

    title = "no row of {relation} matches {pattern}"
    relation: str
    pattern: str


class RowNotWhole(Diagnostic):
    """A question why not about a row that leaves values open."""

    title = "`why not` needs a value for each column of the row"
    label = "not all values are given"


class Holds(Diagnostic):
    """A question why a row does not hold that holds."""

    title = "{row} holds"
    suggestion = "`why` gives a proof"
    row: str


class NoAttempt(Diagnostic):
    """A search by trial in a session whose changes leave traces."""

    title = (
        "facts cannot be tried in a program with streams, windows or effects, nor after a static load: a "
        "trial would leave traces"
    )


class NotChanged(Diagnostic):
    """A question why a row changed that did not."""

    title = "the last commit did not change {row}: it {held} before and after"
    row: str
    held: str


class NothingChanged(Diagnostic):
    """A question why rows changed, of which none did."""

    title = "the last commit changed no row that matches {pattern}"
    pattern: str


class NoStateBefore(Diagnostic):
    """A question about the last commit of a session that cannot tell what was before it."""

    title = "the changes of the last commit are not known: {reason}"
    reason: str


class LoopWithEffects(Diagnostic):
    """A question, other than why a row holds, about rows of a loop that cannot be run again."""

    title = "rows of {relation} cannot be explained: its loop would run again, with the effects of its rules"
    relation: str
