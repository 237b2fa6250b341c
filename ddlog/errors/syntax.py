"""Errors of the lexer and of the parser."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class BadCharacter(Diagnostic):
    """A character that begins no token."""

    title: ClassVar[str] = "unexpected character `{character}`"
    character: str

    @property
    def hint(self) -> str:
        return _CHARACTERS.get(self.character, "")


_CHARACTERS = {"!": "`!` is written `not`", "$": '`${...}` stands in a string, which begins with `"`'}


@declared()
class UnclosedComment(Diagnostic):
    """A comment without an end."""

    title: ClassVar[str] = "this comment has no closing `*/`"
    label: ClassVar[str] = "opened here"
    suggestion: ClassVar[str] = "comments nest: every `/*` needs its own `*/`"


@declared()
class UnclosedString(Diagnostic):
    """A string without an end."""

    title: ClassVar[str] = "this string has no closing `{mark}`"
    label: ClassVar[str] = "opened here"
    mark: str

    @property
    def hint(self) -> str:
        return "a text of several lines is written `[| ... |]`" if self.mark == '"' else ""


@declared()
class HidingString(Diagnostic):
    """A string of several lines that holds a declaration which the program misses."""

    title: ClassVar[str] = "this string ends in line {line}, and hides declarations"
    label: ClassVar[str] = "opened here"
    suggestion: ClassVar[str] = "write `|]` where it should end"
    line: int


@declared()
class BadEscape(Diagnostic):
    """An unknown escape in a string; `level` says how often the text is unescaped there."""

    title: ClassVar[str] = "unknown escape `{escape}` in a string"
    suggestion: ClassVar[str] = "write `{backslash}` for a backslash"
    escape: str
    level: int = 1

    @property
    def backslash(self) -> str:
        return "\\" * (1 << self.level)


@declared()
class BadQuote(Diagnostic):
    """A quote after backslashes that are not right for its place, where code is unescaped `level` times."""

    title: ClassVar[str] = "`{quote}` does not open a string here"
    suggestion: ClassVar[str] = "write `{right}`"
    quote: str
    level: int

    @property
    def right(self) -> str:
        return "\\" * ((1 << self.level) - 1) + '"'


@declared()
class BadDigits(Diagnostic):
    """Digits that are not of the base of the number."""

    title: ClassVar[str] = "`{text}` is not {base}"
    text: str
    base: str


@declared()
class ZeroWidth(Diagnostic):
    """An integer literal of 0 bits."""

    title: ClassVar[str] = "the width of an integer must be at least 1"


@declared()
class GreatWidth(Diagnostic):
    """An integer literal of too many bits."""

    title: ClassVar[str] = "the width of an integer must be at most {limit}"
    suggestion: ClassVar[str] = "an integer without limits is a `bigint`"
    limit: int


@declared()
class LiteralTooWide(Diagnostic):
    """A value that its literal's width does not hold."""

    title: ClassVar[str] = "the value {value} does not fit {type}"
    label: ClassVar[str] = "the values of {type} are {least} to {greatest}"
    value: int
    type: str
    least: int
    greatest: int


@declared()
class PatternTooWide(Diagnostic):
    """A bit pattern of a signed number with more bits than its width."""

    title: ClassVar[str] = "a pattern of {bits} bits does not fit signed<{width}>"
    bits: int
    width: int


@declared()
class BadFloatWidth(Diagnostic):
    """A floating-point literal whose width is neither 32 nor 64."""

    title: ClassVar[str] = "a floating-point literal has 32 or 64 bits, not {width}"
    width: int


@declared()
class PositionAfterName(Diagnostic):
    """An argument of a relation by position after one by name."""

    title: ClassVar[str] = "an argument by position cannot follow one by name"
    suggestion: ClassVar[str] = "write the arguments by position first, or `.name = value`"


@declared()
class MixedArguments(Diagnostic):
    """Arguments by position beside arguments by name."""

    title: ClassVar[str] = "arguments by position and by name cannot be mixed"


@declared()
class NotAssociative(Diagnostic):
    """A chain of comparisons, as in `a < b < c`."""

    title: ClassVar[str] = "comparisons cannot be chained"
    suggestion: ClassVar[str] = "write `a < b and b < c`"


@declared()
class SplitShift(Diagnostic):
    """The operator `>>` written with a space."""

    title: ClassVar[str] = "unexpected `>`; the shift operator `>>` is written without a space"


@declared()
class QualifiedDeclaration(Diagnostic):
    """A declared name with a module prefix."""

    title: ClassVar[str] = "the name `{name}` of a declaration cannot have a module prefix"
    name: str


@declared()
class ReservedWord(Diagnostic):
    """A reserved word as a name."""

    title: ClassVar[str] = "`{word}` is a reserved word and cannot be used as a name"
    suggestion: ClassVar[str] = "write another name, such as `{word}_`"
    word: str


@declared()
class Unexpected(Diagnostic):
    """A token that the grammar does not allow at its place."""

    title: ClassVar[str] = "unexpected {found}{expected}"
    found: str
    wanted: str

    @property
    def expected(self) -> str:
        return f"; expected {self.wanted}" if self.wanted else ""


@declared()
class MissingPeriod(Diagnostic):
    """A rule without its final period."""

    title: ClassVar[str] = "expected `.` at the end of the rule"


@declared()
class EqualsInHead(Diagnostic):
    """Another sign in the place of `:-`."""

    title: ClassVar[str] = "unexpected `{sign}` after the head of a rule"
    suggestion: ClassVar[str] = "a rule is written `Head(...) :- Body.`"
    sign: str


@declared()
class CallOfUpper(Diagnostic):
    """A relation in the place of an expression."""

    title: ClassVar[str] = "`{name}(...)` is not an expression"
    label: ClassVar[str] = "a relation can only be a clause of its own"
    suggestion: ClassVar[str] = "a value of a constructor is written `{name}{{...}}`"
    name: str


@declared()
class OperatorAfterElse(Diagnostic):
    """An operator after an `if` without parentheses."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "the whole `if` is the left operand of `{operator}`"
    suggestion: ClassVar[str] = (
        "write `if (c) a else (b {operator} ...)`, or `(if (c) a else b) {operator} ...`"
    )
    operator: str


@declared()
class DoubledSign(Diagnostic):
    """`&&` in the place of `and`."""

    title: ClassVar[str] = "`&&` is written `and`"
