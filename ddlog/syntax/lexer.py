"""Text to tokens: comments, names, numbers, and strings with code inside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import NamedTuple

from ..errors import syntax as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source, Span
from .hidden import begins_declaration, hidden_names, next_declaration
from .strings import Literal, Sort, next_piece, quote_level, unescaped
from .tables import tables


class Token(NamedTuple):
    """A token: its terminal in the grammar, its value, and where it is in the text."""

    kind: str
    value: str
    start: int
    end: int


class Places:
    """Offsets in a text to spans."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = [0, *(match.end() for match in re.finditer("\n", source.text))]

    def span(self, start: int, end: int) -> Span:
        lines = self._lines
        first = last = bisect_right(lines, start)
        if first < len(lines) and lines[first] < end:
            last = bisect_right(lines, end - 1, first)
        return Span(self.source, first, start - lines[first - 1] + 1, last, end - lines[last - 1] + 1)


RESERVED = frozenset(
    """
    Aggregate and apply as bigint bit bool break continue double else extern false FlatMap float for
    function if import in input Inspect multiset mut not or output relation return signed skip stream
    string transformer true typedef var
    abstract async await become box const crate do dyn final fn impl let loop macro match mod move
    override priv pub ref self Self static struct super trait try type typeof unsafe unsized use virtual
    where while yield
    """.split()  # noqa: SIM905
)

SPELLINGS = {"Flatmap": "FlatMap"}

_TOKEN = re.compile(
    r"""
    (?P<SPACE>      (?: [\s]+ | //[^\n]* )+ )
  | (?P<COMMENT>    /\* )
  | (?P<INTERN>     i (?= \\* " | \[\| | \$\[\| ) )
  | (?P<PRIMARY>    primary \s+ key \b )
  | (?P<INDEX>      index (?= \s+ [A-Z] ) )
  | (?P<INITIAL>    initial (?= \s+ &? [A-Z] ) )
  | (?P<FUNCTION>   function (?= \s+ [A-Za-z_] ) )
  | (?P<NAME>       (?: [A-Za-z_][A-Za-z0-9_]* :: )* [A-Za-z_][A-Za-z0-9_]* )
  | (?P<MEMBER>     \. (?P<gap> \s* ) (?P<member> (?: [A-Za-z_][A-Za-z0-9_]* :: )* [a-z_][A-Za-z0-9_]* ) )
  | (?P<ITEM>       \. [0-9]+ )
  | (?P<SIZED>      (?: [0-9][0-9_]* )? ' s? [dhob] [0-9A-Fa-f_]+ \b )
  | (?P<DECIMAL>      [0-9][0-9_]* (?: 'f [0-9][0-9_]* (?: \.[0-9][0-9_]* )? (?: [eE][+-]?[0-9]+ )?
                      | \.[0-9][0-9_]* (?: [eE][+-]?[0-9]+ )? | [eE][+-]?[0-9]+ ) )
  | (?P<INTEGER>    [0-9][0-9_]* )
  | (?P<TYPEVAR>    ' [A-Z_][A-Za-z0-9_]* )
  | (?P<RAW>        \[\| )
  | (?P<OPEN>       " | \$\[\| )
  | (?P<ESCAPED>    (?P<run> \\+ ) (?: ["nrt] | \s* \n \s* (?: (?P=run) (?!") )? ) )
  | (?P<SIGN>       :- | => | == | != | <= | << | >= | -> | \+\+ | . )
    """,
    re.VERBOSE,
)

_COMMENT_MARK = re.compile(r"/\*|\*/")


@cache
def _words() -> dict[str, str]:
    """The terminal of each fixed word and sign, and of each reserved word."""
    words = dict.fromkeys(RESERVED, "RESERVED") | tables().words
    for spelling, word in SPELLINGS.items():
        words[spelling] = words[word]
    for soft in ("index", "initial", "on"):
        del words[soft]
    return words


@cache
def _plain() -> dict[str, str]:
    """The terminal of each kind of token that is taken as it stands."""
    same = {kind: kind for kind in ("ITEM", "SIZED", "DECIMAL", "INTEGER", "TYPEVAR")}
    words = tables().words
    named = {"PRIMARY": "primary key", "INDEX": "index", "INITIAL": "initial", "FUNCTION": "function name"}
    return same | {"INTERN": "_INTERN"} | {kind: words[text] for kind, text in named.items()}


class Tokens(NamedTuple):
    """The tokens of a text without its spaces and comments, the errors of spelling in it, and the names
    whose declarations these errors hide."""

    tokens: list[Token]
    found: list[Diagnostic]
    hidden: dict[str, Diagnostic]


def tokenize(places: Places) -> Tokens:
    """The tokens of a text."""
    lexer = _Lexer(places)
    lexer.run()
    return Tokens(lexer.tokens, lexer.found, lexer.hidden)


class _Lexer:
    def __init__(self, places: Places) -> None:
        self.places = places
        self.text = places.source.text
        self.tokens: list[Token] = []
        self.found: list[Diagnostic] = []
        self.hidden: dict[str, Diagnostic] = {}
        self.open: list[Literal] = []  # the strings that enclose the current place

    def run(self) -> None:
        text, tokens, size, match = self.text, self.tokens, len(self.text), _TOKEN.match
        words, plain = _words(), _plain()
        at = 0
        while at < size:
            found = match(text, at)
            assert found is not None, "the last alternative matches any character but a newline"
            kind, end = found.lastgroup or "", found.end()
            if kind == "NAME":
                word = found.group()
                terminal = words.get(word)
                if terminal is None:
                    terminal = self._name(word)
                tokens.append(Token(terminal, word, at, end))
            elif kind == "SIGN":
                sign = found.group()
                terminal = words.get(sign)
                if terminal is None or self.open:
                    end = self._sign(sign, at, words)
                else:
                    tokens.append(Token(terminal, sign, at, end))
            elif kind in plain:
                tokens.append(Token(plain[kind], found.group(), at, end))
            elif kind != "SPACE":
                end = self._special(kind, found, at)
            elif self.open and text[end - 1] == "\n" and begins_declaration(text, end):
                self._unclosed(self.open[0])
            at = end
        if self.open:
            self._unclosed(self.open[-1])

    def _name(self, word: str) -> str:
        if word == "on" and self.tokens and self.tokens[-1].value == ")":
            return "ON"
        return "UPPER" if word.rpartition("::")[2].lstrip("_")[:1].isupper() else "LOWER"

    def _sign(self, sign: str, at: int, words: dict[str, str]) -> int:
        end = at + len(sign)
        terminal = words.get(sign)
        if terminal is None:
            self.found.append(errors.BadCharacter(sign, span=self.places.span(at, end)))
            return end
        if self.open:
            innermost = self.open[-1]
            if sign == "}" and not innermost.braces:
                self.tokens.append(Token(terminal, sign, at, end))
                return self._pieces(end)
            innermost.braces += {"{": 1, "}": -1}.get(sign, 0)
        self.tokens.append(Token(terminal, sign, at, end))
        return end

    def _special(self, kind: str, found: re.Match[str], at: int) -> int:
        if kind == "COMMENT":
            return self._comment(at)
        if kind == "MEMBER":
            return self._member(found, at)
        if kind == "RAW":
            return self._raw(at)
        if kind == "ESCAPED":
            return self._escaped(found, at)
        raw = found.group() != '"'
        return self._open(Literal(at, raw, self._level() if raw else 1), found.end())

    def _level(self) -> int:
        """The number of times that the text at the current place is unescaped: see strings.py."""
        return self.open[-1].level if self.open else 0

    def _open(self, literal: Literal, end: int) -> int:
        self.open.append(literal)
        self.tokens.append(Token("_OPEN_STRING", "", literal.start, end))
        return self._pieces(end)

    def _escaped(self, found: re.Match[str], at: int) -> int:
        """Reads a backslash in code inside a string: before a quote it opens a string, a space stays one."""
        run, level, end = len(found.group("run")), self._level(), found.end()
        if self.text[at + run] == '"':
            quote = quote_level(run)
            if quote is None or quote > level:
                span = self.places.span(at, end)
                self.found.append(errors.BadQuote(found.group(), level, span=span))
            return end if quote is None else self._open(Literal(at, False, quote + 1), end)
        if run.bit_count() > 1 or run.bit_length() > level:
            self.found.append(errors.BadCharacter("\\", span=self.places.span(at, at + 1)))
        return end

    def _comment(self, at: int) -> int:
        depth, end = 1, at + 2
        while depth:
            mark = _COMMENT_MARK.search(self.text, end)
            if mark is None:
                unclosed = errors.UnclosedComment(span=self.places.span(at, at + 2))
                self.found.append(unclosed)
                self.hidden |= hidden_names(self.text[at:], unclosed)
                return len(self.text)
            depth += 1 if mark.group() == "/*" else -1
            end = mark.end()
        return end

    def _member(self, found: re.Match[str], at: int) -> int:
        """A period ends a declaration rather than begin a member when a reserved word, the word `index` or
        `initial` of a declaration, or a name at the start of a line comes next."""
        name, gap = found.group("member"), found.group("gap")
        ends = name in RESERVED or (name == "_" and gap) or gap.endswith("\n")
        soft = name in ("index", "initial") and gap
        if ends or (soft and re.match(r"\s+&?[A-Z]", self.text[found.end() :][:9])):
            self.tokens.append(Token("_PERIOD", ".", at, at + 1))
            return at + 1
        self.tokens.append(Token("MEMBER", name, at, found.end()))
        return found.end()

    def _raw(self, at: int) -> int:
        close = self.text.find("|]", at + 2)
        if close < 0:
            return self._unclosed(Literal(at, True, 0), at)
        if next_declaration(self.text, at, close) is not None:
            self._hide(at, close)
        self.tokens.append(Token("QUOTED", self._plain_text(at + 2, close), at, close + 2))
        return close + 2

    def _plain_text(self, start: int, end: int) -> str:
        """The text of `[| ... |]`, which is unescaped like all code in a string."""
        piece = self.text[start:end]
        plain = unescaped(piece, self._level())
        if plain is None:
            span = self.places.span(start, end)
            self.found.append(errors.BadEscape(piece, self._level(), span=span))
        return piece if plain is None else plain

    def _pieces(self, at: int) -> int:
        """Reads on in the innermost open string, up to its end or the next code in it."""
        literal = self.open[-1]
        while True:
            found = next_piece(self.text, at, literal)
            if found is None:
                return self._unclosed(literal, at)
            sort, piece, end = found
            if sort is Sort.SPLICE:
                self.tokens.append(Token("_OPEN_SPLICE", piece, at, end))
                return end
            if sort is Sort.CLOSE:
                self.open.pop()
                self.tokens.append(Token("_CLOSE_STRING", piece, at, end))
                return end
            if sort is Sort.BAD:
                span = self.places.span(at, end)
                self.found.append(errors.BadEscape(piece, literal.level, span=span))
            self.tokens.append(Token("TEXT", piece, at, end))
            at = end

    def _unclosed(self, literal: Literal, at: int | None = None) -> int:
        """Reports a string without end. Reading goes on outside all strings: at the end of the line, and at
        the next declaration for `[|`."""
        start = literal.start
        mark = "|]" if literal.raw else "\\" * ((1 << (literal.level - 1)) - 1) + '"'
        span = self.places.span(start, start + (1 if literal.raw else len(mark)))
        self.found.append(errors.UnclosedString(mark, span=span))
        while self.open:
            self.open.pop()
            self.tokens.append(Token("_CLOSE_STRING", "", start, start + 1))
        if at is None:
            return len(self.text)
        end = next_declaration(self.text, start) if literal.raw else self.text.find("\n", at)
        end = len(self.text) if end is None or end < 0 else end
        while self.tokens and self.tokens[-1].start >= end:  # of code that `${` in a text without end begins
            self.tokens.pop()
        return end

    def _hide(self, start: int, close: int) -> None:
        """Notes what a string of several lines declares: if it is missing, the end of the string may be."""
        span = self.places.span(start, start + 2)
        cause = errors.HidingString(self.places.span(close, close + 2).line, span=span)
        self.hidden |= hidden_names(self.text[start:close], cause)
