"""Errors about names and declarations."""

from __future__ import annotations

from .diagnostics import Diagnostic


class UnknownVariable(Diagnostic):
    """A variable that is not declared in its scope."""

    title = "Unknown variable `{name}`"
    label = "not declared here"
    name: str


class UnknownFunction(Diagnostic):
    """A call of a function that is not declared."""

    title = "Unknown function `{name}`"
    name: str


class UnknownType(Diagnostic):
    """A type that is not declared."""

    title = "Unknown type `{name}`"
    name: str


class UnknownTypeVariable(Diagnostic):
    """A type variable that the declaration does not introduce."""

    title = "Unknown type variable `'{name}`"
    name: str


class UnknownConstructor(Diagnostic):
    """A constructor that is not declared."""

    title = "Unknown constructor `{name}`"
    name: str


class UnknownRelation(Diagnostic):
    """A relation that is not declared."""

    title = "Unknown relation `{name}`"
    name: str


class UnknownField(Diagnostic):
    """An argument for a field that does not exist."""

    title = "`{owner}` has no field `{name}`"
    name: str
    owner: str


class MultipleDefinitions(Diagnostic):
    """Two declarations of one name."""

    title = "Multiple definitions of {name}"
    name: str


class VariableDefined(Diagnostic):
    """A variable declared twice in a scope."""

    title = "Variable '{name}' already defined in this scope"
    name: str


class UnusedVariable(Diagnostic):
    """A variable of a rule that is never read."""

    severity = "warning"
    title = "unused variable `{name}`"
    suggestion = "write `_` for a value that is not needed, or begin the name with `_`"
    name: str


class UnusedRelation(Diagnostic):
    """A relation that is neither an output nor read by a rule."""

    severity = "warning"
    title = "relation `{name}` is never read"
    suggestion = "declare it `output relation` if its contents are wanted"
    name: str


class EmptyRelation(Diagnostic):
    """A relation that is read but never filled."""

    severity = "warning"
    title = "relation `{name}` is always empty: it is not an input relation and has no rules"
    name: str


class UnknownTransformer(Diagnostic):
    """An application of a transformer that is not declared."""

    title = "Unknown transformer `{name}`"
    name: str
