"""Errors about functions, calls and closures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOutsideFunction(Diagnostic):
    """`?` in a rule."""

    title: ClassVar[str] = "?-expressions are only allowed in the body of a function or closure"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadQuestion(Diagnostic):
    """`?` over, or in a function of, a type that it is not for."""

    title: ClassVar[str] = (
        "`?` cannot return from this function: the expression is `{type}`, the function's result `{result}`"
    )
    suggestion: ClassVar[str] = (
        "`?` takes an Option in a function of Option, and a Result in one of Result or Option"
    )
    type: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongArgumentCount(Diagnostic):
    """A call with too few or too many arguments."""

    title: ClassVar[str] = "function `{name}` does not take {given}"
    name: str
    given: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchOverload(Diagnostic):
    """A call for whose arguments there is no function."""

    title: ClassVar[str] = "no function `{name}` for arguments ({arguments})"
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousCall(Diagnostic):
    """A call that several functions fit."""

    title: ClassVar[str] = "ambiguous call of `{name}`: several functions fit arguments ({arguments})"
    suggestion: ClassVar[str] = "say the type of an argument, or of the result, with `: T`"
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSuchFunctionValue(Diagnostic):
    """The name of a function where a function of another type is wanted."""

    title: ClassVar[str] = "no function `{name}` is of type {type}"
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousName(Diagnostic):
    """The name of several functions as a value, and nothing says which."""

    title: ClassVar[str] = "ambiguous use of `{name}`: several functions have the name"
    suggestion: ClassVar[str] = "write a closure that calls the one that is meant"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAFunction(Diagnostic):
    """A call of something that is no function."""

    title: ClassVar[str] = "a value of type {type} cannot be called"
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFunction(Diagnostic):
    """A function where only data can be: in a relation, or in a variable of a rule."""

    title: ClassVar[str] = "{what} cannot hold a function: `{type}`"
    suggestion: ClassVar[str] = "functions are passed to functions; relations and rules hold data"
    what: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFunctions(Diagnostic):
    """A comparison of functions."""

    title: ClassVar[str] = "functions cannot be compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnOutsideFunction(Diagnostic):
    """`return` in a rule."""

    title: ClassVar[str] = "`return` outside of a function"


@dataclass(frozen=True, slots=True, kw_only=True)
class InfiniteInstances(Diagnostic):
    """A generic function that needs itself for ever larger types."""

    title: ClassVar[str] = "function `{name}` needs itself for ever larger types: {type}"
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSignature(Diagnostic):
    """Overloads that cannot be told apart."""

    title: ClassVar[str] = "function `{name}` is declared twice with these parameter types"
    name: str
