"""Errors about functions, calls and closures."""

from __future__ import annotations

from .diagnostics import Diagnostic


class QuestionOutsideFunction(Diagnostic):
    """`?` outside of a function."""

    title = "?-expressions are only allowed in the body of a function or closure"


class BadQuestion(Diagnostic):
    """`?` with an operand, or in a function with a result, of a wrong type."""

    title = "`?` cannot be applied to `{type}` in a function whose result is `{result}`"
    suggestion = (
        "`?` takes an Option if the function returns an Option, and a Result if the function returns "
        "a Result or an Option"
    )
    type: str
    result: str


class WrongArgumentCount(Diagnostic):
    """A call with too few or too many arguments."""

    title = "function `{name}` does not take {given}"
    name: str
    given: str


class NoSuchOverload(Diagnostic):
    """A call with arguments that no function of the name takes."""

    title = "no function `{name}` takes arguments ({arguments}){wanted}"
    name: str
    arguments: str
    wanted: str


class AmbiguousCall(Diagnostic):
    """A call with arguments that several functions of the name take."""

    title = "ambiguous call of `{name}`: several functions take arguments ({arguments})"
    suggestion = "write the type of an argument, or of the result, with `: T`"
    name: str
    arguments: str


class NoSuchFunctionValue(Diagnostic):
    """The name of a function as a value of a type that no function of the name has."""

    title = "no function `{name}` is of type {type}"
    name: str
    type: str


class AmbiguousName(Diagnostic):
    """The name of several functions as a value whose type does not choose one."""

    title = "ambiguous use of `{name}`: several functions have this name"
    suggestion = "write a closure that calls one of them"
    name: str


class NotAFunction(Diagnostic):
    """A call of a value that is not a function."""

    title = "a value of type {type} cannot be called"
    type: str


class ReturnOutsideFunction(Diagnostic):
    """`return` in a rule."""

    title = "`return` outside of a function"


class InfiniteInstances(Diagnostic):
    """A generic function that calls itself for ever larger types."""

    title = "function `{name}` calls itself for ever larger types: {type}"
    name: str
    type: str


class SameSignature(Diagnostic):
    """Two functions with the same name, and the same types of parameters and of the result."""

    title = "function `{name}` is declared twice with these types"
    name: str
