"""Errors about functions, calls and closures."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class QuestionOutsideFunction(Diagnostic):
    """`?` outside of a function."""

    title: ClassVar[str] = "?-expressions are only allowed in the body of a function or closure"


@declared(kw_only=True)
class BadQuestion(Diagnostic):
    """`?` with an operand, or in a function with a result, of a wrong type."""

    title: ClassVar[str] = "`?` cannot be applied to `{type}` in a function whose result is `{result}`"
    suggestion: ClassVar[str] = (
        "`?` takes an Option if the function returns an Option, and a Result if the function returns "
        "a Result or an Option"
    )
    type: str
    result: str


@declared(kw_only=True)
class WrongArgumentCount(Diagnostic):
    """A call with too few or too many arguments."""

    title: ClassVar[str] = "function `{name}` does not take {given}"
    name: str
    given: str


@declared(kw_only=True)
class NoSuchOverload(Diagnostic):
    """A call with arguments that no function of the name takes."""

    title: ClassVar[str] = "no function `{name}` takes arguments ({arguments}){wanted}"
    name: str
    arguments: str
    wanted: str


@declared(kw_only=True)
class AmbiguousCall(Diagnostic):
    """A call with arguments that several functions of the name take."""

    title: ClassVar[str] = "ambiguous call of `{name}`: several functions take arguments ({arguments})"
    suggestion: ClassVar[str] = "write the type of an argument, or of the result, with `: T`"
    name: str
    arguments: str


@declared(kw_only=True)
class NoSuchFunctionValue(Diagnostic):
    """The name of a function as a value of a type that no function of the name has."""

    title: ClassVar[str] = "no function `{name}` is of type {type}"
    name: str
    type: str


@declared(kw_only=True)
class AmbiguousName(Diagnostic):
    """The name of several functions as a value whose type does not choose one."""

    title: ClassVar[str] = "ambiguous use of `{name}`: several functions have this name"
    suggestion: ClassVar[str] = "write a closure that calls one of them"
    name: str


@declared(kw_only=True)
class NotAFunction(Diagnostic):
    """A call of a value that is not a function."""

    title: ClassVar[str] = "a value of type {type} cannot be called"
    type: str


@declared(kw_only=True)
class ReturnOutsideFunction(Diagnostic):
    """`return` in a rule."""

    title: ClassVar[str] = "`return` outside of a function"


@declared(kw_only=True)
class InfiniteInstances(Diagnostic):
    """A generic function that calls itself for ever larger types."""

    title: ClassVar[str] = "function `{name}` calls itself for ever larger types: {type}"
    name: str
    type: str


@declared(kw_only=True)
class SameSignature(Diagnostic):
    """Two functions with the same name, and the same types of parameters and of the result."""

    title: ClassVar[str] = "function `{name}` is declared twice with these types"
    name: str
