"""Errors about type definitions and type names."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class RepeatedParameter(Diagnostic):
    """Two type parameters with the same name."""

    title: ClassVar[str] = "type variable '{parameter} is given twice in type definition `{name}`"
    name: str
    parameter: str


@declared(kw_only=True)
class WrongTypeArguments(Diagnostic):
    """A type with too few or too many arguments."""

    title: ClassVar[str] = "type `{name}` takes {wanted}, not {given}"
    name: str
    wanted: str
    given: int


@declared(kw_only=True)
class RecursiveAlias(Diagnostic):
    """An alias that contains itself."""

    title: ClassVar[str] = "Recursive alias types: {cycle}"
    cycle: str


@declared(kw_only=True)
class RecursiveType(Diagnostic):
    """A type whose values would be infinitely large."""

    title: ClassVar[str] = "type `{name}` contains itself: {cycle}"
    suggestion: ClassVar[str] = (
        "a type may contain itself only inside a Ref, an Intern, a Vec, a Set or a Map"
    )
    name: str
    cycle: str


@declared(kw_only=True)
class UnusedTypeVariables(Diagnostic):
    """Type parameters that their typedef does not use."""

    title: ClassVar[str] = (
        "The following type variables are not used in type definition `{name}`: {variables}"
    )
    name: str
    variables: str


@declared(kw_only=True)
class FieldTypes(Diagnostic):
    """A field with different types in the constructors of a type."""

    title: ClassVar[str] = "Field {field} is declared with different types"
    field: str


@declared(kw_only=True)
class BadWidth(Diagnostic):
    """A number type of 0 bits."""

    title: ClassVar[str] = "`{type}` has no values: a width is at least 1"
    type: str
