"""Errors about the types of expressions, their fields and operators."""

from __future__ import annotations

from .diagnostics import Diagnostic


class TypeMismatch(Diagnostic):
    """An expression whose type is not the type that its context expects."""

    title = "Type mismatch: expected `{expected}`, found `{actual}`"
    label = "this is `{actual}`"
    expected: str
    actual: str


class LiteralMismatch(Diagnostic):
    """A number where another type is expected."""

    title = "{sort} value '{value}' is used in a context where type '{type}' is expected"
    sort: str
    value: str
    type: str


class LiteralTooBig(Diagnostic):
    """An integer literal outside of the range of its type."""

    title = "{value} is not a value of type {type}"
    label = "out of range"
    value: str
    type: str


class WrongOperand(Diagnostic):
    """An operator with an operand of a wrong type."""

    title = "operator `{op}` takes {wanted}, but this is `{actual}`"
    label = "this is `{actual}`"
    op: str
    wanted: str
    actual: str


class BadCast(Diagnostic):
    """A cast that the language does not have."""

    title = "{reason}"
    label = "from `{source}` to `{target}`"
    source: str
    target: str
    reason: str


class SliceTooHigh(Diagnostic):
    """A bit slice beyond the width."""

    title = "Upper bound of the slice exceeds argument width: bit {high} of `{type}`"
    high: int
    type: str


class SliceReversed(Diagnostic):
    """A bit slice whose upper bound is less than its lower bound."""

    title = "a slice is written `[upper:lower]`, but {high} is less than {low}"
    high: int
    low: int


class NoField(Diagnostic):
    """An access to a field that the type does not have."""

    title = "expression `{expression}` must have a field named `{field}`, but its type `{type}` doesn't"
    expression: str
    field: str
    type: str


class GuardedField(Diagnostic):
    """An access to a field that only some constructors have."""

    title = "Access to guarded field `{field}`: not every constructor of `{type}` has it"
    label = "`{lacking}` has no such field"
    suggestion = "take the value apart with `match`"
    field: str
    type: str
    lacking: str


class NotIterable(Diagnostic):
    """A loop or FlatMap over a value that is not a collection."""

    title = "{use} needs a Vec, Set, Map or Group, but this is `{type}`"
    use: str
    type: str


class NoReference(Diagnostic):
    """`&` before a term of a relation that holds neither Ref nor Intern."""

    title = "`&` needs a relation of Ref or Intern, but `{name}` is {what}"
    name: str
    what: str


class NoToString(Diagnostic):
    """A value in a string whose type has no function `to_string`."""

    title = "Cannot find declaration of function 'to_string({type}): string'"
    label = "this is `{type}`"
    suggestion = "declare `function to_string(x: {type}): string {{ ... }}`"
    type: str


class NotAssignable(Diagnostic):
    """An assignment to an expression that is neither a variable nor a part of one."""

    title = "Expression is not an l-value: {reason}"
    reason: str


class MissingField(Diagnostic):
    """A struct expression without one of its fields."""

    title = "Missing field '{field}' in constructor {constructor}"
    field: str
    constructor: str


class WrongFieldCount(Diagnostic):
    """Too few or too many arguments of a constructor or relation."""

    title = "`{name}` has {wanted}, not {given}"
    name: str
    wanted: str
    given: str


class RepeatedField(Diagnostic):
    """An argument given twice."""

    title = "field `{field}` is given twice"
    field: str


class OutsideLoop(Diagnostic):
    """`break` or `continue` outside of a loop."""

    title = '"{word}" outside of a loop'
    word: str


class ExpressionTooDeep(Diagnostic):
    """An expression that is nested too deeply."""

    title = "this expression is nested in more than {limit} others"
    suggestion = "name a part of it with `var`, or make it a function"
    limit: int
