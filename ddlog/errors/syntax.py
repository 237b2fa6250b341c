"""What can be wrong with the text of a program before its meaning is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class BadCharacter(Diagnostic):
    title: ClassVar[str] = "unexpected character `{character}`"
    character: str

    @property
    def hint(self) -> str:
        return "`!` is written `not`" if self.character == "!" else ""


@dataclass(frozen=True, slots=True)
class UnclosedComment(Diagnostic):
    title: ClassVar[str] = "this comment never ends"
    label: ClassVar[str] = "opened here"
    suggestion: ClassVar[str] = "comments nest: every `/*` needs its own `*/`"


@dataclass(frozen=True, slots=True)
class UnclosedString(Diagnostic):
    title: ClassVar[str] = "this string has no closing `{mark}`"
    label: ClassVar[str] = "opened here"
    mark: str

    @property
    def hint(self) -> str:
        return "a text of several lines is written `[| ... |]`" if self.mark == '"' else ""


@dataclass(frozen=True, slots=True)
class BadEscape(Diagnostic):
    title: ClassVar[str] = "unknown escape `{escape}` in a string"
    suggestion: ClassVar[str] = "write `\\\\` for a backslash"
    escape: str


@dataclass(frozen=True, slots=True)
class BadDigits(Diagnostic):
    title: ClassVar[str] = "`{text}` is not {base}"
    text: str
    base: str


@dataclass(frozen=True, slots=True)
class ZeroWidth(Diagnostic):
    title: ClassVar[str] = "the width of an integer must be at least 1"


@dataclass(frozen=True, slots=True)
class GreatWidth(Diagnostic):
    title: ClassVar[str] = "the width of an integer must be at most {limit}"
    suggestion: ClassVar[str] = "an integer without limits is a `bigint`"
    limit: int


@dataclass(frozen=True, slots=True)
class LiteralTooWide(Diagnostic):
    title: ClassVar[str] = "the value {value} does not fit {type}"
    label: ClassVar[str] = "the values of {type} are {least} to {greatest}"
    value: int
    type: str
    least: int
    greatest: int


@dataclass(frozen=True, slots=True)
class BadFloatWidth(Diagnostic):
    title: ClassVar[str] = "a floating-point literal has 32 or 64 bits, not {width}"
    width: int


@dataclass(frozen=True, slots=True)
class MixedArguments(Diagnostic):
    title: ClassVar[str] = "arguments by position and by name cannot be mixed"


@dataclass(frozen=True, slots=True)
class NotAssociative(Diagnostic):
    title: ClassVar[str] = "comparisons cannot be chained"
    suggestion: ClassVar[str] = "write `a < b and b < c`"


@dataclass(frozen=True, slots=True)
class SplitShift(Diagnostic):
    title: ClassVar[str] = "unexpected `>`; the shift operator `>>` is written without a space"


@dataclass(frozen=True, slots=True)
class QualifiedDeclaration(Diagnostic):
    title: ClassVar[str] = "the name `{name}` of a declaration cannot have a module prefix"
    name: str


@dataclass(frozen=True, slots=True)
class ReservedWord(Diagnostic):
    title: ClassVar[str] = "`{word}` is a reserved word and cannot be used as a name"
    suggestion: ClassVar[str] = "write another name, such as `{word}_`"
    word: str


@dataclass(frozen=True, slots=True)
class Unexpected(Diagnostic):
    """A token that cannot stand where it does."""

    title: ClassVar[str] = "unexpected {found}{expected}"
    found: str
    wanted: str

    @property
    def expected(self) -> str:
        return f"; expected {self.wanted}" if self.wanted else ""


@dataclass(frozen=True, slots=True)
class MissingPeriod(Diagnostic):
    title: ClassVar[str] = "expected `.` at the end of the rule"


@dataclass(frozen=True, slots=True)
class EqualsInHead(Diagnostic):
    title: ClassVar[str] = "unexpected `{sign}` after the head of a rule"
    suggestion: ClassVar[str] = "a rule is written `Head(...) :- Body.`"
    sign: str


@dataclass(frozen=True, slots=True)
class CallOfUpper(Diagnostic):
    title: ClassVar[str] = "`{name}(...)` is no expression"
    label: ClassVar[str] = "relations stand only as a clause of their own"
    suggestion: ClassVar[str] = "a value of a constructor is written `{name}{{...}}`"
    name: str


@dataclass(frozen=True, slots=True)
class OperatorAfterElse(Diagnostic):
    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "the `if` ends before `{operator}`, which takes all of it as an operand"
    suggestion: ClassVar[str] = (
        "write `if (c) a else (b {operator} ...)`, or `(if (c) a else b) {operator} ...`"
    )
    operator: str


@dataclass(frozen=True, slots=True)
class DoubledSign(Diagnostic):
    title: ClassVar[str] = "`&&` is written `and`"
