"""Errors of the lexer and of the parser."""

from __future__ import annotations

from .diagnostics import Diagnostic


class BadCharacter(Diagnostic):
    """A character that begins no token."""

    title = "unexpected character `{character}`"
    character: str

    @property
    def hint(self) -> str:
        """The right spelling of the character, or the letters that names may have."""
        letter = (
            "names have the letters a to z and A to Z, digits and `_`" if self.character.isalpha() else ""
        )
        return self.help or _CHARACTERS.get(self.character, letter)


_QUOTES = 'a string begins and ends with `"`'
_CHARACTERS = {"!": "`!` is written `not`", "$": '`${...}` stands in a string, which begins with `"`'}
_CHARACTERS |= dict.fromkeys("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", _QUOTES)
_CHARACTERS |= {
    each: f"`{each}` is written `{word}`"
    for each, word in {
        "\u2212": "-", "\u2013": "-", "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2190": ":-",
        "\u2192": "->", "\u00ac": "not", "\u2227": "and", "\u2228": "or", "\u00d7": "*", "\u2026": "...",
    }.items()
}  # fmt: skip


class UnclosedComment(Diagnostic):
    """A comment without an end."""

    title = "this comment has no closing `*/`"
    label = "opened here"
    suggestion = "comments nest: every `/*` needs its own `*/`"


class UnclosedString(Diagnostic):
    """A string without an end."""

    title = "this string has no closing `{mark}`"
    label = "opened here"
    mark: str

    @property
    def hint(self) -> str:
        return "a text of several lines is written `[| ... |]`" if self.mark == '"' else ""


class UnclosedBracket(Diagnostic):
    """A bracket without an end in the rest of the text."""

    title = "this `{mark}` has no closing `{closing}`"
    label = "opened here"
    mark: str
    closing: str


class HidingString(Diagnostic):
    """A string of several lines that holds a declaration which the program misses."""

    title = "this string ends in line {line}, and hides declarations"
    label = "opened here"
    suggestion = "write `|]` where it should end"
    line: int


class BadEscape(Diagnostic):
    """An unknown escape in a string; `level` says how often the text is unescaped there."""

    title = "unknown escape `{escape}` in a string"
    suggestion = "write `{backslash}` for a backslash"
    escape: str
    level: int = 1

    @property
    def backslash(self) -> str:
        return "\\" * (1 << self.level)


class BadQuote(Diagnostic):
    """A quote after backslashes that are not right for its place, where code is unescaped `level` times."""

    title = "`{quote}` does not open a string here"
    suggestion = "write `{right}`"
    quote: str
    level: int

    @property
    def right(self) -> str:
        return "\\" * ((1 << self.level) - 1) + '"'


class BadDigits(Diagnostic):
    """Digits that are not of the base of the number."""

    title = "`{text}` is not {base}"
    text: str
    base: str


class ZeroWidth(Diagnostic):
    """An integer literal of 0 bits."""

    title = "the width of an integer must be at least 1"


class GreatWidth(Diagnostic):
    """An integer literal of too many bits."""

    title = "the width of an integer must be at most {limit}"
    suggestion = "an integer without limits is a `bigint`"
    limit: int


class LiteralTooWide(Diagnostic):
    """A value that its literal's width does not hold."""

    title = "the value {value} does not fit {type}"
    label = "the values of {type} are {least} to {greatest}"
    value: int
    type: str
    least: int
    greatest: int


class PatternTooWide(Diagnostic):
    """A bit pattern of a signed number with more bits than its width."""

    title = "a pattern of {bits} bits does not fit signed<{width}>"
    bits: int
    width: int


class BadFloatWidth(Diagnostic):
    """A floating-point literal whose width is neither 32 nor 64."""

    title = "a floating-point literal has 32 or 64 bits, not {width}"
    width: int


class PositionAfterName(Diagnostic):
    """An argument of a relation by position after one by name."""

    title = "an argument by position cannot follow one by name"
    suggestion = "write the arguments by position first, or `.name = value`"


class MixedArguments(Diagnostic):
    """Arguments by position beside arguments by name."""

    title = "arguments by position and by name cannot be mixed"


class NotAssociative(Diagnostic):
    """A chain of comparisons, as in `a < b < c`."""

    title = "comparisons cannot be chained"
    suggestion = "write `a < b and b < c`"


class SplitShift(Diagnostic):
    """The operator `>>` written with a space."""

    title = "unexpected `>`; the shift operator `>>` is written without a space"


class QualifiedDeclaration(Diagnostic):
    """A declared name with a module prefix."""

    title = "the name `{name}` of a declaration cannot have a module prefix"
    name: str


class ReservedWord(Diagnostic):
    """A reserved word as a name."""

    title = "`{word}` is a reserved word and cannot be used as a name"
    suggestion = "write another name, such as `{word}_`"
    word: str


class Unexpected(Diagnostic):
    """A token that the grammar does not allow at its place."""

    title = "unexpected {found}{wanted:; expected %}"
    found: str
    wanted: str


class MissingPeriod(Diagnostic):
    """A rule without its final period."""

    title = "expected `.` at the end of the rule"


class EqualsInHead(Diagnostic):
    """Another sign in the place of `:-`."""

    title = "unexpected `{sign}` after the head of a rule"
    suggestion = "a rule is written `Head(...) :- Body.`"
    sign: str


class CallOfUpper(Diagnostic):
    """A relation in the place of an expression."""

    title = "`{name}(...)` is not an expression"
    label = "a relation can only be a clause of its own"
    suggestion = "a value of a constructor is written `{name}{{...}}`"
    name: str


class OperatorAfterElse(Diagnostic):
    """An operator after an `if` without parentheses."""

    severity = "warning"
    title = "the whole `if` is the left operand of `{operator}`"
    suggestion = "write `if (c) a else (b {operator} ...)`, or `(if (c) a else b) {operator} ...`"
    operator: str


class DoubledSign(Diagnostic):
    """`&&` in the place of `and`."""

    title = "`&&` is written `and`"
