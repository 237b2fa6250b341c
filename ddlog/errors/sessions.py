"""Errors about the state of a session, about faults in rules, and about packages that are missing."""

from __future__ import annotations

from .diagnostics import Diagnostic


class InTransaction(Diagnostic):
    """An operation that a session allows only between transactions."""

    title = "there are changes that are neither committed nor rolled back"
    suggestion = "commit or roll back first"


class UncommittedChanges(Diagnostic):
    """The end of a session that has changes, which are lost."""

    severity = "warning"
    title = "the session is closed with changes that were not committed, which are lost"
    suggestion = "`commit()` keeps them; `rollback()` drops them without this warning"


class NoFurtherChanges(Diagnostic):
    """A change after a load with `static=True`."""

    title = "this session was loaded as static: it takes no changes"


class SessionClosed(Diagnostic):
    """A use of a session after its end."""

    title = "the session is closed"


class FaultInRule(Diagnostic):
    """An expression of a rule that failed on a row."""

    title = "{problem}, in the rule `{shown}`{row:, for %}"
    problem: str
    rule: str
    row: str

    @property
    def shown(self) -> str:
        """The rule on one line."""
        return " ".join(self.rule.split())


class FaultInStatement(Diagnostic):
    """An expression of a statement that failed on a row."""

    title = "{problem}, in this statement"
    problem: str


class FaultInView(Diagnostic):
    """An expression of a view of SQL that failed on a row."""

    title = "{problem}, in this view"
    problem: str


BROKEN = "the constraint "
"""The first words of faults about constraints."""


class ConstraintBroken(Diagnostic):
    """A commit that gives a row which breaks a constraint of its table."""

    title = "{problem}"
    problem: str


class NestedTooDeeply(Diagnostic):
    """A value that is nested more deeply than can be compared, stored or written."""

    title = "a value is nested too deeply to be compared or written"
    suggestion = "1,000 levels fit; a relation with a row a level has no limit"


class NotInstalled(Diagnostic):
    """An optional package that is not installed."""

    title = "{package} is not installed"
    suggestion = "pip install '{package}'"
    package: str


class NoTable(Diagnostic):
    """Values that a table of Arrow or pandas cannot hold."""

    title = "{problem}"
    problem: str


class ProgramStays(Diagnostic):
    """A change of the program of a session that cannot be made."""

    title = "the program of this session cannot change: {reason}"
    suggestion = "open a session of the changed program"
    reason: str


class NothingToDrop(Diagnostic):
    """A name, or a rule, that the text of a program does not have."""

    title = "the program has no {what}"
    suggestion = "{near:did you mean `%`?}"
    what: str
    near: str | None = None


class StillUsed(Diagnostic):
    """A declaration that cannot be dropped, since another part of the program uses it."""

    title = "{name} cannot be dropped: {users} {verb} it"
    label = "used here"
    suggestion = "drop {users} first"
    name: str
    users: str

    @property
    def verb(self) -> str:
        """The verb for one user, or for several."""
        return "use" if " and " in self.users else "uses"


class RuleOfSeveral(Diagnostic):
    """A relation that cannot be dropped with its rules, since one of them has a further head."""

    title = "{name} cannot be dropped: a rule of {name} is also one of {others}"
    label = "this rule"
    suggestion = "drop the rule first, by its text: `drop {rule}`"
    name: str
    others: str
    rule: str


class NotMigratedHere(Diagnostic):
    """Rows that a session cannot take over to another program while it goes on."""

    title = (
        "the rows of {what} cannot be taken over: the program {reads}, and the session has no durable state"
    )
    suggestion = "begin a session of the new program; with a state (--state) it would go on"
    what: str
    reads: str


class TypeWithValues(Diagnostic):
    """A type that is declared anew while values of the dropped type of its name are still in use."""

    title = "values of the dropped type {name} are still in use"
    suggestion = "choose another name, or open a session of the changed program"
    name: str


class RowsGone(Diagnostic):
    """An input relation, or a column of one, that a new text of the program no longer has."""

    severity = "warning"
    title = "{what} is gone, with what {rows} held"
    suggestion = "to keep it, run the cell once more with the text that it had, and load the facts again"
    what: str
    rows: str
