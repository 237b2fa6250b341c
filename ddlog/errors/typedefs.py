"""Errors about type definitions and type names."""

from __future__ import annotations

from .diagnostics import Diagnostic


class RepeatedParameter(Diagnostic):
    """Two type parameters with the same name."""

    title = "type variable '{parameter} is given twice in type definition `{name}`"
    name: str
    parameter: str


class WrongTypeArguments(Diagnostic):
    """A type with too few or too many arguments."""

    title = "type `{name}` takes {wanted}, not {given}"
    name: str
    wanted: str
    given: int


class RecursiveAlias(Diagnostic):
    """An alias that contains itself."""

    title = "Recursive alias types: {cycle}"
    cycle: str


class RecursiveType(Diagnostic):
    """A type whose values would be infinitely large."""

    title = "type `{name}` contains itself: {cycle}"
    suggestion = "a type may contain itself only inside a Ref, an Intern, a Vec, a Set or a Map"
    name: str
    cycle: str


class UnusedTypeVariables(Diagnostic):
    """Type parameters that their typedef does not use."""

    title = "The following type variables are not used in type definition `{name}`: {variables}"
    name: str
    variables: str


class TypeTooDeep(Diagnostic):
    """A type that is nested too deeply."""

    title = "this type is nested in more than {limit} others"
    limit: int


class FieldsTooDeep(Diagnostic):
    """A type whose fields have fields, and so on, too deeply."""

    title = "`{name}` has fields within fields on more than {limit} levels"
    suggestion = "refer to some of them by an id, in a relation of their own"
    name: str
    limit: int


class TypeTooLarge(Diagnostic):
    """A type of too many fields, with the fields of its fields."""

    title = "`{name}` has more than {limit} parts when all of its types are written out"
    suggestion = "refer to some of them by an id, in a relation of their own"
    name: str
    limit: int


class FieldTypes(Diagnostic):
    """A field with different types in the constructors of a type."""

    title = "Field {field} is declared with different types"
    field: str
