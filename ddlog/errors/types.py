"""Errors about the types of expressions, their fields and operators."""

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
class OutsideLoop(Diagnostic):
    """`break` or `continue` outside of a loop."""

    title: ClassVar[str] = '"{word}" outside of a loop'
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooDeep(Diagnostic):
    """An expression within too many others."""

    title: ClassVar[str] = "this expression is inside of more than {limit} others"
    suggestion: ClassVar[str] = "name a part of it with `var`, or make it a function"
    limit: int
