"""Errors about reading from a session: relations, look-ups in an index, subscriptions."""

from __future__ import annotations

from .diagnostics import Diagnostic, counted


class RelationNotKept(Diagnostic):
    """A relation that this session does not compute."""

    title = "{name} is not kept by this session"
    suggestion = (
        'open the session with relations="all"; `ddlog run` keeps the output relations and each --relation; '
        "a query evaluates what it asks for"
    )
    name: str


class EffectsNotKept(Diagnostic):
    """A query over a relation whose rules have effects, which the session does not compute."""

    title = "{name} is not kept by this session, and a query does not cause the effects of its rules"
    suggestion = 'open the session with relations="all"'
    name: str


class WindowNotKept(Diagnostic):
    """A query over a window that the session does not keep."""

    title = "{name} is not kept by this session, and what its window holds depends on the past"
    suggestion = 'open the session with relations="all"'
    name: str


class NotDelayed(Diagnostic):
    """A query over an earlier state that the session does not keep."""

    title = "{name} is not kept: a session keeps only the earlier states that rules read"
    suggestion = "{kept:the rules read %|no rule reads an earlier state}"
    name: str
    kept: tuple[str, ...]


class HiddenName(Diagnostic):
    """A name with `$` in a query."""

    title = "{name} is a name of ddlog's own, which a query cannot read"
    suggestion = "ask for what the program declares; `relations` in the REPL lists it"
    name: str


class NotAnOutput(Diagnostic):
    """A subscription to a relation that is not an output relation."""

    title = "{name} is not an output relation: a session reports the changes of output relations only"
    suggestion = "the output relations are {outputs:%|none}"
    name: str
    outputs: tuple[str, ...]


class WrongIndexKey(Diagnostic):
    """A key of an index with too few or too many values."""

    title = "a key of index {index} has {expected}, found {given}"
    index: str
    variables: tuple[str, ...]
    given: int

    @property
    def expected(self) -> str:
        """The number of values, and the variables."""
        wanted = counted(len(self.variables), "value")
        return f"{wanted} ({', '.join(self.variables)})" if self.variables else wanted


class BadIndexKey(Diagnostic):
    """A value in a key that does not have the type of the index's variable."""

    title = "the key of index {index}, {variable}: {problem}"
    index: str
    variable: str
    problem: str


class TakenByAnswer(Diagnostic):
    """A program with a relation or type that is named as the answer to a query."""

    title = "the answer to a query is the relation {name}, but the program declares {name}"
    name: str


class NoValue(Diagnostic):
    """A name in braces in a query that is given no value."""

    title = "`{{{name}}}` stands for a value that is given with the query, and {name} is given none"
    suggestion = "in Python: query(…, {name}=…); a variable is written without braces"
    name: str


class UnusedValue(Diagnostic):
    """A value for a name that a query does not have."""

    title = "{name} is given a value, but the query has no `{{{name}}}`"
    suggestion = "write the name in braces where the value belongs, or leave the value out"
    name: str


class WrongValue(Diagnostic):
    """A value that does not have the type of its place in a query."""

    title = "the value of {name}: {problem}"
    suggestion = "values are what `insert` takes for the type"
    name: str
    problem: str


class UnknownTypeOfValue(Diagnostic):
    """A value in a place that can have any type."""

    title = "the place of `{{{name}}}` does not tell the type of its value"
    suggestion = "write its type: `{{{name}}}: bigint`"
    name: str
