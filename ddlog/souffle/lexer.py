"""Text to tokens, and the lines for the preprocessor between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span
from ..errors.syntax import BadCharacter, BadEscape
from ..errors.unknown import unknown_name
from ..syntax.lexer import Places


class Lexeme(NamedTuple):
    """A token: its terminal in the grammar, its value, and where it stands."""

    kind: str
    value: str
    places: Places
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The place of the token."""
        return self.places.span(self.start, self.end)


_TOKEN = re.compile(
    r"""
    (?P<SPACE>      (?: \s+ | //[^\n]* )+ )
  | (?P<COMMENT>    /\* )
  | (?P<ANNOTATION> @!?\[ )
  | (?P<LINE>       \# (?: \\\r?\n | [^\n] )* )
  | (?P<CHOICE>     choice-domain \b )
  | (?P<DIRECTIVE>  \. [a-z_]+ \b )
  | (?P<BRANCH>     \$ [A-Za-z_?][\w?]* (?: \. [A-Za-z_?][\w?]* )* )
  | (?P<QUALIFIED>  [A-Za-z_?][\w?]* (?: \. [A-Za-z_?][\w?]* )+ )
  | (?P<IDENT>      [A-Za-z_?][\w?]* )
  | (?P<ADDRESS>    (?: PART \. ){3} PART \b )
  | (?P<FLOAT>      [0-9]+ (?: \. [0-9]+ (?: [eE][+-]?[0-9]+ )? | [eE][+-]?[0-9]+ ) \b )
  | (?P<NUMBER>     (?: 0x[0-9A-Fa-f]+ | 0b[01]+ | [0-9]+ ) u? \b )
  | (?P<OPEN>       " )
  | (?P<SIGN>       :- | -> | \*\* | <: | <= | >= | != | && | \|\| | . )
    """.replace("PART", "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"),
    re.VERBOSE | re.ASCII,
)
_FOR_PREPROCESSOR = {".include": "INCLUDE", ".once": "ONCE"}
_FOREIGN = {".extern": "a functor of Soufflé, `.functor f(x: number): number`, is a function of Python"}
SPELLINGS = {
    **dict.fromkeys(("&&", "and", "AND"), "the terms of a body are separated by `,`"),
    **dict.fromkeys(("||", "or", "OR"), "`||` and `or` are written `;`"),
    **dict.fromkeys(("not", "NOT"), "a negation is `!relation(...)`"),
    "==": "`==` is written `=`",
    "<>": "`<>` is written `!=`",
    "=<": "`=<` is written `<=`",
    "<-": "`:-` stands between the head and the body of a rule",
    ":=": "`:-` stands between the head and the body of a rule",
    ": -": "`:-` stands between the head and the body of a rule",
    "'": 'a symbol stands between `"`',
}
"""For words and signs of other languages, the help that says how Soufflé writes them."""
# A quote that no value can follow ends no text of several lines: the text before it was left open.
_STRING = re.compile(r'((?:[^"\\\n]|\\.)*|(?:[^"\\]|\\.)*(?="\s*[^\s\w"]))"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "'": "'", "0": "\0"}
_ESCAPES |= {"a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def tokens(source: Source, words: Mapping[str, str], found: list[Diagnostic]) -> Iterator[Lexeme]:
    """The tokens of a text; a line that begins with `#` is one token LINE. `words` are the grammar's fixed
    texts with their terminals. Errors go to `found`."""
    places, text, at = Places(source), source.text, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, "the last alternative matches any character but a newline"
        kind, value, start, at = match.lastgroup or "", match.group(), at, match.end()
        if kind == "COMMENT":
            at = _comment_end(places, start, found)
        elif kind == "OPEN":
            token, at = _string(places, start, found)
            yield token
        elif kind == "ANNOTATION":
            at = _annotation_end(text, at)
            if at < 0:
                at, why = len(text), "this annotation has no closing `]`"
                found.append(BadCharacter("@", span=places.span(start, start + 1), help=why))
        elif kind == "DIRECTIVE" and value not in words:
            if text[text.rfind("\n", 0, start) + 1 : start].strip():
                at = start + 1  # the period ends a rule, and a name follows it at once
                yield Lexeme(words["."], ".", places, start, at)
            elif value in _FOR_PREPROCESSOR:
                yield Lexeme(_FOR_PREPROCESSOR[value], value, places, start, at)
            elif value in _FOREIGN:
                span = places.span(start, at)
                found.append(errors.CannotTranslate(what=f"`{value}`", why=_FOREIGN[value], span=span))
            else:
                known = [word for word in words if word[0] == "." and len(word) > 1]
                found.append(unknown_name("directive", value, known, places.span(start, at)))
        elif kind == "LINE" and text[text.rfind("\n", 0, start) + 1 : start].strip():
            found.append(BadCharacter("#", span=places.span(start, start + 1)))
        elif kind == "SIGN" and value not in words:
            found.append(BadCharacter(value, span=places.span(start, at), help=SPELLINGS.get(value, "")))
        elif kind == "ADDRESS":
            number = bytes(map(int, value.split("."))).hex()
            yield Lexeme("NUMBER", f"0x{number}", places, start, at)
        elif kind != "SPACE":
            yield Lexeme(words.get(value, kind), value, places, start, at)


def _comment_end(places: Places, start: int, found: list[Diagnostic]) -> int:
    text = places.source.text
    end = text.find("*/", start + 2)
    if end < 0:
        found.append(errors.UnclosedSouffleComment(span=places.span(start, start + 2)))
        return len(text)
    return end + 2


def _annotation_end(text: str, at: int) -> int:
    """The place behind the bracket that closes an annotation, whose text begins at `at`; -1 if none does. An
    annotation may hold any tokens, comments and other brackets."""
    depth = 1
    while depth and at < len(text):
        match = _STRING.match(text, at + 1) if text[at] == '"' else _TOKEN.match(text, at)
        if match is None:
            return -1
        if match.lastgroup == "COMMENT":
            at = text.find("*/", match.end()) + 2
            if at < 2:
                return -1
            continue
        depth += (text[at] in "([{" or match.lastgroup == "ANNOTATION") - (text[at] in ")]}")
        at = match.end()
    return -1 if depth else at


def _string(places: Places, start: int, found: list[Diagnostic]) -> tuple[Lexeme, int]:
    text = places.source.text
    match = _STRING.match(text, start + 1)
    if match is None:
        found.append(errors.UnclosedText(span=places.span(start, start + 1)))
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        return Lexeme("STRING", "", places, start, end), end

    def decoded(escape: re.Match[str]) -> str:
        if escape.group(1) not in _ESCAPES:
            at = start + 1 + escape.start()
            found.append(BadEscape(escape.group(), 1, span=places.span(at, at + 2)))
        return _ESCAPES.get(escape.group(1), "")

    value = _ESCAPE.sub(decoded, match.group(1))
    return Lexeme("STRING", value, places, start, match.end()), match.end()
