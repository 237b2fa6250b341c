"""Errors about patterns."""

from __future__ import annotations

from .diagnostics import Diagnostic


class NotAnExpression(Diagnostic):
    """A pattern in the place of an expression."""

    title = "`{text}` is a pattern, not an expression"
    text: str


class NotAPattern(Diagnostic):
    """An expression in the place of a pattern."""

    title = "this cannot be a pattern"
    suggestion = "a pattern is a variable, `_`, a literal, a tuple or a constructor of patterns"


class NonExhaustive(Diagnostic):
    """A match that does not cover every value."""

    title = "Non-exhaustive match patterns: {missing} is not covered"
    suggestion = "add an arm for this pattern, or `_ -> ...`"
    missing: str


class Unsatisfiable(Diagnostic):
    """A pattern whose values all match earlier patterns."""

    title = "Unsatisfiable match pattern"
    label = "the patterns above match all of its values"


class Refutable(Diagnostic):
    """A pattern that does not match every value, where it must."""

    title = "{use} needs a pattern that matches every value: {missing} is not covered"
    use: str
    missing: str


class AssignedConstructor(Diagnostic):
    """An assignment to a constructor of a type that has several."""

    title = (
        "Type constructor in the left-hand side of an assignment is only allowed for types with one "
        "constructor: {missing} is not covered"
    )
    suggestion = "take the value apart with `match`"
    missing: str
