"""Errors about patterns."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class NotAnExpression(Diagnostic):
    """A pattern in the place of an expression."""

    title: ClassVar[str] = "`{text}` is a pattern, not an expression"
    text: str


@declared(kw_only=True)
class NotAPattern(Diagnostic):
    """An expression in the place of a pattern."""

    title: ClassVar[str] = "this cannot be a pattern"
    suggestion: ClassVar[str] = (
        "a pattern is a variable, `_`, a literal, a tuple or a constructor of patterns"
    )


@declared(kw_only=True)
class NonExhaustive(Diagnostic):
    """A match that does not cover every value."""

    title: ClassVar[str] = "Non-exhaustive match patterns: {missing} is not covered"
    suggestion: ClassVar[str] = "add an arm for this pattern, or `_ -> ...`"
    missing: str


@declared(kw_only=True)
class Unsatisfiable(Diagnostic):
    """A pattern whose values all match earlier patterns."""

    title: ClassVar[str] = "Unsatisfiable match pattern"
    label: ClassVar[str] = "the patterns above match all of its values"


@declared(kw_only=True)
class Refutable(Diagnostic):
    """A pattern that does not match every value, where it must."""

    title: ClassVar[str] = "{use} needs a pattern that matches every value: {missing} is not covered"
    use: str
    missing: str


@declared(kw_only=True)
class AssignedConstructor(Diagnostic):
    """An assignment to a constructor of a type that has several."""

    title: ClassVar[str] = (
        "Type constructor in the left-hand side of an assignment is only allowed for types with one "
        "constructor: {missing} is not covered"
    )
    suggestion: ClassVar[str] = "take the value apart with `match`"
    missing: str
