"""JSON with places: each value knows the stretch of the text that it was read from. And the questions
that all readers ask of values."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import ovsdb as errors
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.nearest import meant, nearest
from ..errors.source import Source, Span
from ..syntax.lexer import Places

Plain: TypeAlias = "str | int | float | bool | dict[str, Located] | list[Located] | None"

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_WORD = re.compile("|".join(_WORDS))
MOST_NESTED = 100  # levels


@dataclass(frozen=True, slots=True)
class Located:
    """A value of JSON with its place, and with the place of its name if it is a member of an object."""

    value: Plain
    span: Span
    name_span: Span


def read_json(source: Source) -> Located:
    """The value that a text holds. Raises DDlogError."""
    reader = _JsonReader(source)
    end, found = reader.value(0, None, MOST_NESTED)
    end = reader.space(end)
    if end < len(source.text):
        raise reader.error(end, "expected the end")
    return found


class _JsonReader:
    """Reads one text; each method takes an offset and returns the one behind what it read."""

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.places = Places(source)

    def error(self, at: int, reason: str) -> DDlogError:
        return DDlogError([errors.NotJson(span=self.places.span(at, at + 1), reason=reason)])

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, name: Span | None, levels: int) -> tuple[int, Located]:
        at = self.space(at)
        if not levels:
            raise self.error(at, f"more than {MOST_NESTED} levels")
        end, found = self.plain(at, levels)
        span = self.places.span(at, end)
        return end, Located(found, span, name or span)

    def plain(self, at: int, levels: int) -> tuple[int, Plain]:
        match self.text[at : at + 1]:
            case "{":
                return self.members(at, levels)
            case "[":
                return self.items(at, levels)
            case '"':
                return self.string(at)
        if word := _WORD.match(self.text, at):
            return word.end(), _WORDS[word[0]]
        if number := _NUMBER.match(self.text, at):
            whole = number[1] is None and number[2] is None
            return number.end(), int(number[0]) if whole else float(number[0])
        raise self.error(at, "expected a value")

    def string(self, at: int) -> tuple[int, str]:
        if self.text[at : at + 1] != '"':
            raise self.error(at, 'expected a text in "')
        found = _STRING.match(self.text, at)
        if found is None:
            raise self.error(at, "the text does not end")
        try:
            text: str = json.loads(found[0])
        except json.JSONDecodeError as error:
            raise self.error(at + error.pos, error.msg[0].lower() + error.msg[1:]) from None
        return found.end(), text

    def members(self, at: int, levels: int) -> tuple[int, Plain]:
        found: dict[str, Located] = {}
        while (at := self.next(at, "}", first=not found)) and self.text[at - 1] != "}":
            begin = self.space(at)
            at, name = self.string(begin)
            span = self.places.span(begin, at)
            if name in found:
                raise DDlogError([errors.MemberTwice(span=span, name=name)])
            at = self.space(at)
            if self.text[at : at + 1] != ":":
                raise self.error(at, "expected :")
            at, found[name] = self.value(at + 1, span, levels - 1)
        return at, found

    def items(self, at: int, levels: int) -> tuple[int, Plain]:
        found: list[Located] = []
        while (at := self.next(at, "]", first=not found)) and self.text[at - 1] != "]":
            at, item = self.value(at, None, levels - 1)
            found.append(item)
        return at, found

    def next(self, at: int, closing: str, first: bool) -> int:
        """Skips the bracket that opens, the comma between two items, or the bracket that closes."""
        if first:
            at = self.space(at + 1)
            return at + 1 if self.text[at : at + 1] == closing else at
        at = self.space(at)
        if self.text[at : at + 1] not in (",", closing):
            raise self.error(at, f"expected , or {closing}")
        return at + 1


class LocatedReader:
    """Reads values of JSON, and collects what is wrong in them."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []

    def end(self) -> None:
        """Raises DDlogError with all that is wrong, by place."""
        if self.errors:
            raise DDlogError(sorted(self.errors, key=_place))

    def object(
        self, given: Located, what: str, known: tuple[str, ...], needed: tuple[str, ...]
    ) -> dict[str, Located]:
        """The members of an object; names that begin with _ are remarks."""
        members = self.members(given, what)
        for name, each in members.items():
            if name not in known and not name.startswith("_"):
                help = meant(nearest(name, known))
                self.errors.append(errors.UnknownMember(span=each.name_span, what=what, name=name, help=help))
        if isinstance(given.value, dict):
            missing = (name for name in needed if name not in members)
            self.errors += (errors.NoMember(span=given.name_span, what=what, name=name) for name in missing)
        return members

    def members(self, given: Located, what: str) -> dict[str, Located]:
        """The members of an object, whatever their names are."""
        if isinstance(given.value, dict):
            return given.value
        self.wrong(given, what, "an object")
        return {}

    def text(self, given: Located | None, what: str) -> str:
        """A text; empty if it is none."""
        if given is not None and isinstance(given.value, str):
            return given.value
        if given is not None:
            self.wrong(given, what, "a text")
        return ""

    def wrong(self, given: Located, what: str, wanted: str) -> None:
        """Notes that a value is of another form."""
        self.errors.append(errors.WrongForm(span=given.span, what=what, wanted=wanted))


def _place(error: Diagnostic) -> tuple[int, int]:
    return (error.span.line, error.span.column) if error.span else (0, 0)
