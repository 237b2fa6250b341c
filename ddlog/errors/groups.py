"""Warnings about groups."""

from __future__ import annotations

from .diagnostics import Diagnostic
from .source import Span

_DOES = {
    "sum": "adds",
    "sum_of": "adds",
    "avg": "averages",
    "avg_of": "averages",
    "count": "counts",
    "fold": "takes",
}


class EqualValues(Diagnostic):
    """A group whose equal values come from different rows, and a function to which that matters."""

    severity = "warning"
    title = "`{function}` {does} equal values once, {but} rows with the same {same}"
    function: str
    same: str
    missing: tuple[str, ...]
    instead: str
    what: str
    owner: str
    rule: Span

    @property
    def does(self) -> str:
        """The use that the function makes of a value."""
        return _DOES.get(self.function, "takes")

    @property
    def but(self) -> str:
        """The variables that the group leaves out."""
        *names, last = (f"`{name}`" for name in self.missing)
        return f"but {', '.join(names)} and {last} can tell apart" if names else f"but {last} can tell apart"

    @property
    def hint(self) -> str:
        """The rule, query or group that looks at every row, and how to say that this one is meant."""
        mark = f"`#[distinct]` before the {self.owner}"
        meant = f"{mark}, or `count_distinct`," if self.function == "count" else mark
        lines = "\n      ".join(self.instead.splitlines())
        return (
            f"a group is a set; the {self.what} that takes every row is\n      {lines}\n    "
            f"{meant} says that equal values are meant to be taken once"
        )


class UnknownWeights(Diagnostic):
    """An expression that reads the weights of a group where they are not known: inside a recursion; beside
    `others`, variables that are not the group or its keys; or in a value that holds the group."""

    severity = "warning"
    title = "the weight of a value in the group is always 1 here"
    inside: bool
    others: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The help: where the weights of a group are known, and how the rule can be written."""
        if self.inside:
            return "in a recursion a group is a set"
        if not self.others:
            return "a value that holds a group holds a set: read its weights in an expression of their own"
        names = " and ".join(f"`{name}`" for name in self.others)
        return (
            "weights are known to an expression of nothing but the variable of a group_by and its keys: "
            f"give its value to a variable, and use {names} after that"
        )
