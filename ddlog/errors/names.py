"""Errors about names and declarations."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class UnknownVariable(Diagnostic):
    """A variable that is not declared in its scope."""

    title: ClassVar[str] = "Unknown variable `{name}`"
    label: ClassVar[str] = "not declared here"
    name: str


@declared(kw_only=True)
class UnknownFunction(Diagnostic):
    """A call of a function that is not declared."""

    title: ClassVar[str] = "Unknown function `{name}`"
    name: str


@declared(kw_only=True)
class UnknownType(Diagnostic):
    """A type that is not declared."""

    title: ClassVar[str] = "Unknown type `{name}`"
    name: str


@declared(kw_only=True)
class UnknownTypeVariable(Diagnostic):
    """A type variable that the declaration does not introduce."""

    title: ClassVar[str] = "Unknown type variable `'{name}`"
    name: str


@declared(kw_only=True)
class UnknownConstructor(Diagnostic):
    """A constructor that is not declared."""

    title: ClassVar[str] = "Unknown constructor `{name}`"
    name: str


@declared(kw_only=True)
class UnknownRelation(Diagnostic):
    """A relation that is not declared."""

    title: ClassVar[str] = "Unknown relation `{name}`"
    name: str


@declared(kw_only=True)
class UnknownField(Diagnostic):
    """An argument for a field that does not exist."""

    title: ClassVar[str] = "`{owner}` has no field `{name}`"
    name: str
    owner: str


@declared(kw_only=True)
class MultipleDefinitions(Diagnostic):
    """Two declarations of one name."""

    title: ClassVar[str] = "Multiple definitions of {name}"
    name: str


@declared(kw_only=True)
class VariableDefined(Diagnostic):
    """A variable declared twice in a scope."""

    title: ClassVar[str] = "Variable '{name}' already defined in this scope"
    name: str


@declared(kw_only=True)
class UnusedVariable(Diagnostic):
    """A variable of a rule that is never read."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "unused variable `{name}`"
    suggestion: ClassVar[str] = "write `_` for a value that is not needed, or begin the name with `_`"
    name: str


@declared(kw_only=True)
class UnusedRelation(Diagnostic):
    """A relation that is neither an output nor read by a rule."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "relation `{name}` is never read"
    suggestion: ClassVar[str] = "declare it `output relation` if its contents are wanted"
    name: str


@declared(kw_only=True)
class EmptyRelation(Diagnostic):
    """A relation that is read but never filled."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "relation `{name}` is always empty: it is not an input relation and has no rules"
    name: str


@declared(kw_only=True)
class UnknownTransformer(Diagnostic):
    """An application of a transformer that is not declared."""

    title: ClassVar[str] = "Unknown transformer `{name}`"
    name: str
