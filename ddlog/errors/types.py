"""Errors about the types of expressions, their fields and operators."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class TypeMismatch(Diagnostic):
    """An expression whose type is not the type that its context expects."""

    title: ClassVar[str] = "Type mismatch: expected `{expected}`, found `{actual}`"
    label: ClassVar[str] = "this is `{actual}`"
    expected: str
    actual: str


@declared(kw_only=True)
class LiteralMismatch(Diagnostic):
    """A number where another type is expected."""

    title: ClassVar[str] = "{sort} value '{value}' is used in a context where type '{type}' is expected"
    sort: str
    value: str
    type: str


@declared(kw_only=True)
class LiteralTooBig(Diagnostic):
    """An integer literal outside of the range of its type."""

    title: ClassVar[str] = "{value} is not a value of type {type}"
    label: ClassVar[str] = "out of range"
    value: int
    type: str


@declared(kw_only=True)
class WrongOperand(Diagnostic):
    """An operator with an operand of a wrong type."""

    title: ClassVar[str] = "operator `{op}` takes {wanted}, but this is `{actual}`"
    label: ClassVar[str] = "this is `{actual}`"
    op: str
    wanted: str
    actual: str


@declared(kw_only=True)
class BadCast(Diagnostic):
    """A cast that the language does not have."""

    title: ClassVar[str] = "{reason}"
    label: ClassVar[str] = "from `{source}` to `{target}`"
    source: str
    target: str
    reason: str


@declared(kw_only=True)
class SliceTooHigh(Diagnostic):
    """A bit slice beyond the width."""

    title: ClassVar[str] = "Upper bound of the slice exceeds argument width: bit {high} of `{type}`"
    high: int
    type: str


@declared(kw_only=True)
class SliceReversed(Diagnostic):
    """A bit slice whose upper bound is less than its lower bound."""

    title: ClassVar[str] = "a slice is written `[upper:lower]`, but {high} is less than {low}"
    high: int
    low: int


@declared(kw_only=True)
class NoField(Diagnostic):
    """An access to a field that the type does not have."""

    title: ClassVar[str] = (
        "expression `{expression}` must have a field named `{field}`, but its type `{type}` doesn't"
    )
    expression: str
    field: str
    type: str


@declared(kw_only=True)
class GuardedField(Diagnostic):
    """An access to a field that only some constructors have."""

    title: ClassVar[str] = "Access to guarded field `{field}`: not every constructor of `{type}` has it"
    label: ClassVar[str] = "`{lacking}` has no such field"
    suggestion: ClassVar[str] = "take the value apart with `match`"
    field: str
    type: str
    lacking: str


@declared(kw_only=True)
class NotIterable(Diagnostic):
    """A loop or FlatMap over a value that is not a collection."""

    title: ClassVar[str] = "{use} needs a Vec, Set, Map or Group, but this is `{type}`"
    use: str
    type: str


@declared(kw_only=True)
class NoReference(Diagnostic):
    """`&` before a term of a relation that holds neither Ref nor Intern."""

    title: ClassVar[str] = "`&` needs a relation of Ref or Intern, but `{name}` is {what}"
    name: str
    what: str


@declared(kw_only=True)
class NoToString(Diagnostic):
    """A value in a string whose type has no function `to_string`."""

    title: ClassVar[str] = "Cannot find declaration of function 'to_string({type}): string'"
    label: ClassVar[str] = "this is `{type}`"
    type: str


@declared(kw_only=True)
class NotAssignable(Diagnostic):
    """An assignment to an expression that is neither a variable nor a part of one."""

    title: ClassVar[str] = "Expression is not an l-value: {reason}"
    reason: str


@declared(kw_only=True)
class MissingField(Diagnostic):
    """A struct expression without one of its fields."""

    title: ClassVar[str] = "Missing field '{field}' in constructor {constructor}"
    field: str
    constructor: str


@declared(kw_only=True)
class WrongFieldCount(Diagnostic):
    """Too few or too many arguments of a constructor or relation."""

    title: ClassVar[str] = "`{name}` has {wanted}, not {given}"
    name: str
    wanted: str
    given: str


@declared(kw_only=True)
class RepeatedField(Diagnostic):
    """An argument given twice."""

    title: ClassVar[str] = "field `{field}` is given twice"
    field: str


@declared(kw_only=True)
class OutsideLoop(Diagnostic):
    """`break` or `continue` outside of a loop."""

    title: ClassVar[str] = '"{word}" outside of a loop'
    word: str


@declared(kw_only=True)
class TooDeep(Diagnostic):
    """An expression that is nested too deeply."""

    title: ClassVar[str] = "this expression is nested in more than {limit} others"
    suggestion: ClassVar[str] = "name a part of it with `var`, or make it a function"
    limit: int
