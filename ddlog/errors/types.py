"""Errors about types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeMismatch(Diagnostic):
    """An expression of another type than its context wants."""

    title: ClassVar[str] = "Type mismatch: expected `{expected}`, found `{actual}`"
    label: ClassVar[str] = "this is `{actual}`"
    expected: str
    actual: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralMismatch(Diagnostic):
    """A number where no number can be."""

    title: ClassVar[str] = "{sort} value '{value}' is used in a context where type '{type}' is expected"
    sort: str
    value: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralTooBig(Diagnostic):
    """An integer literal that its type does not hold."""

    title: ClassVar[str] = "{value} is not a value of type {type}"
    label: ClassVar[str] = "out of range"
    value: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongOperand(Diagnostic):
    """An operator over a type that it is not for."""

    title: ClassVar[str] = "operator `{op}` takes {wanted}, but this is `{actual}`"
    label: ClassVar[str] = "this is `{actual}`"
    op: str
    wanted: str
    actual: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCast(Diagnostic):
    """A cast that the language does not have."""

    title: ClassVar[str] = "{reason}"
    label: ClassVar[str] = "from `{source}` to `{target}`"
    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTooHigh(Diagnostic):
    """A bit slice beyond the width."""

    title: ClassVar[str] = "Upper bound of the slice exceeds argument width: bit {high} of `{type}`"
    high: int
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReversed(Diagnostic):
    """A bit slice with its bounds exchanged."""

    title: ClassVar[str] = (
        "the upper bound of a slice, {high}, comes first, and is not less than the lower one, {low}"
    )
    high: int
    low: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoField(Diagnostic):
    """An access to a field that the type does not have."""

    title: ClassVar[str] = (
        "expression `{expression}` must have a field named `{field}`, but its type `{type}` doesn't"
    )
    expression: str
    field: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedField(Diagnostic):
    """An access to a field that only some constructors have."""

    title: ClassVar[str] = "Access to guarded field `{field}`: not every constructor of `{type}` has it"
    label: ClassVar[str] = "`{lacking}` has no such field"
    suggestion: ClassVar[str] = "take the value apart with `match`"
    field: str
    type: str
    lacking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotIterable(Diagnostic):
    """A loop or FlatMap over something that is no collection."""

    title: ClassVar[str] = "{use} needs a Vec, Set, Map or Group, but this is `{type}`"
    use: str
    type: str


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
class NoReference(Diagnostic):
    """`&` where there is no Ref and no Intern."""

    title: ClassVar[str] = "`&` is for references: `{name}` is {what}"
    name: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoToString(Diagnostic):
    """A value in a string that no to_string is for."""

    title: ClassVar[str] = "Cannot find declaration of function 'to_string({type}): string'"
    label: ClassVar[str] = "this is `{type}`"
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAssignable(Diagnostic):
    """An assignment to something that is not assignable."""

    title: ClassVar[str] = "Expression is not an l-value: {reason}"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedParameter(Diagnostic):
    """Two type parameters of one name."""

    title: ClassVar[str] = "type variable '{parameter} is given twice in type definition `{name}`"
    name: str
    parameter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnExpression(Diagnostic):
    """A pattern where a value is wanted."""

    title: ClassVar[str] = "`{text}` is a pattern, not an expression"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAPattern(Diagnostic):
    """An expression where a pattern is wanted."""

    title: ClassVar[str] = "this cannot be a pattern"
    suggestion: ClassVar[str] = (
        "a pattern is a variable, `_`, a literal, a tuple or a constructor of patterns"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField(Diagnostic):
    """A struct expression without one of its fields."""

    title: ClassVar[str] = "Missing field '{field}' in constructor {constructor}"
    field: str
    constructor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongFieldCount(Diagnostic):
    """Too few or too many arguments of a constructor or relation."""

    title: ClassVar[str] = "`{name}` has {wanted}, but {given} here"
    name: str
    wanted: str
    given: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedField(Diagnostic):
    """An argument given twice."""

    title: ClassVar[str] = "field `{field}` is given twice"
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NonExhaustive(Diagnostic):
    """A match that not every value passes."""

    title: ClassVar[str] = "Non-exhaustive match patterns: {missing} is not covered"
    suggestion: ClassVar[str] = "add an arm for it, or `_ -> ...`"
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsatisfiable(Diagnostic):
    """A pattern that earlier ones leave nothing for."""

    title: ClassVar[str] = "Unsatisfiable match pattern"
    label: ClassVar[str] = "the patterns above match all of its values"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutable(Diagnostic):
    """A pattern that may fail where it must not."""

    title: ClassVar[str] = "{use} needs a pattern that matches every value: {missing} is not covered"
    use: str
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedConstructor(Diagnostic):
    """A constructor of several left of `=`."""

    title: ClassVar[str] = (
        "Type constructor in the left-hand side of an assignment is only allowed for types with one "
        "constructor: {missing} is not covered"
    )
    suggestion: ClassVar[str] = "take the value apart with `match`"
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideLoop(Diagnostic):
    """`break` or `continue` outside of a loop."""

    title: ClassVar[str] = '"{word}" outside of a loop'
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnOutsideFunction(Diagnostic):
    """`return` in a rule."""

    title: ClassVar[str] = "`return` outside of a function"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongTypeArguments(Diagnostic):
    """A type with too few or too many arguments."""

    title: ClassVar[str] = "type `{name}` takes {wanted}, not {given}"
    name: str
    wanted: str
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveAlias(Diagnostic):
    """An alias that contains itself."""

    title: ClassVar[str] = "Recursive alias types: {cycle}"
    cycle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveType(Diagnostic):
    """A type that would be infinitely large."""

    title: ClassVar[str] = "type `{name}` contains itself: {cycle}"
    suggestion: ClassVar[str] = (
        "a type may contain itself only inside a Ref, an Intern, a Vec, a Set or a Map"
    )
    name: str
    cycle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedTypeVariables(Diagnostic):
    """Type variables of a typedef that it does not use."""

    title: ClassVar[str] = (
        "The following type variables are not used in type definition `{name}`: {variables}"
    )
    name: str
    variables: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTypes(Diagnostic):
    """A field with different types in the constructors of a type."""

    title: ClassVar[str] = "Field {field} is declared with different types"
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InfiniteInstances(Diagnostic):
    """A generic function that needs itself for ever larger types."""

    title: ClassVar[str] = "function `{name}` needs itself for ever larger types: {type}"
    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadWidth(Diagnostic):
    """A number type of no bits."""

    title: ClassVar[str] = "`{type}` has no values: a width is at least 1"
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSignature(Diagnostic):
    """Overloads that cannot be told apart."""

    title: ClassVar[str] = "function `{name}` is declared twice with these parameter types"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooDeep(Diagnostic):
    """An expression within too many others."""

    title: ClassVar[str] = "this expression is inside of more than {limit} others"
    suggestion: ClassVar[str] = "name a part of it with `var`, or make it a function"
    limit: int
