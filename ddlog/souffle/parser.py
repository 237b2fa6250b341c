"""Text to syntax tree, by the automaton of the grammar, which goes on after an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors.diagnostics import Diagnostic, Note, in_order
from ..errors.nearest import meant, nearest
from ..errors.source import Source, Span
from ..errors.syntax import MissingPeriod, Unexpected
from ..errors.unknown import unknown_name
from ..syntax.automaton import END, Automaton
from ..syntax.brackets import BRACKETS, CLOSING, PlacedBracket, open_bracket
from ..syntax.tables import ParseTables, tables
from . import syntax as ast
from .actions import SouffleActions
from .flowlog import as_souffle
from .flowlogtokens import as_tokens_of_souffle
from .lexer import SPELLINGS, Lexeme
from .preprocess import PreprocessorSettings, preprocess

GRAMMAR = Path(__file__).with_name("grammar.lark")

_QUALIFIERS = (
    *("inline", "no_inline", "magic", "no_magic", "brie", "btree", "btree_delete", "eqrel", "choice-domain"),
    *("overridable", "input", "output", "printsize"),
)
_KINDS = {
    "IDENT": "a name",
    "QUALIFIED": "a name",
    "BRANCH": "`$Name`",
    "NUMBER": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
}
_EXPRESSION = {"IDENT", "NUMBER", "STRING"}


def parse(
    source: Source, settings: PreprocessorSettings, dialect: str = "souffle"
) -> tuple[tuple[ast.Item, ...], list[Diagnostic]]:
    """The declarations and rules of a program, and all that is wrong with its syntax."""
    grammar = tables(GRAMMAR, ("program",))
    tokens, found = preprocess(source, grammar.words, settings)
    if dialect == "flowlog":
        tokens = as_tokens_of_souffle(tokens, grammar.words, found)
    parser = _SouffleParser(grammar, tokens, found)
    items = parser.run() if tokens else ()
    found = in_order([*found, *parser.actions.found])
    if dialect == "flowlog" and not found:
        items = as_souffle(items, found)
    return (() if found else items), found


class _SouffleParser:
    """One run of the automaton over the tokens of a program."""

    def __init__(self, grammar: ParseTables, tokens: list[Lexeme], found: list[Diagnostic]) -> None:
        self.grammar = grammar
        self.texts = {terminal: text for text, terminal in grammar.words.items()}
        self.directives = {text for text in grammar.words if text[0] == "." and text not in (".", ".plan")}
        self.period, self.declaration = grammar.words["."], grammar.words[".decl"]
        self.tokens, self.found = tokens, found
        self.actions = SouffleActions(tokens)
        reductions = [
            (each.length, each.origin, self.actions.reduction(each)) for each in grammar.productions
        ]
        numbers = range(len(tokens) + 1)
        self.automaton = Automaton(grammar, "program", reductions, numbers, numbers)
        # What follows from an error below the grammar is not reported.
        self.bad_lines = {(e.span.source.name, e.span.line) for e in found if e.span is not None}

    def run(self) -> Any:
        """The tree, or None after an error at the end."""
        at, last = 0, len(self.tokens)
        self.first = 0
        while (at := self.automaton.take(self.tokens, at)) < last:
            ended = self._lacks_period(at)
            if not ended:
                self._unexpected(at)
            at = self.first = self._resume(at, ended)
        if not self.automaton.feed(END, last):
            self._unexpected(last)
            return None
        return self.automaton.values[-1]

    def _lacks_period(self, at: int) -> bool:
        """Reports that a rule has no end, when the next one seems to begin with the token on a new line."""
        token, before = self.tokens[at], self.tokens[at - 1].span
        begins = token.kind in ("IDENT", "QUALIFIED") or token.value in self.directives
        if (
            not begins
            or token.span.line == before.end_line
            or self.period not in self.grammar.fitting(self.automaton.states)
        ):
            return False
        if self._is_bad(self.tokens[at - 1]):
            return True
        bracket, last = self.tokens[max(0, at - 2)], self.tokens[at - 1]
        if (
            last.kind == "IDENT"
            and bracket.value in (")", *_QUALIFIERS)
            and bracket.span.end_line == before.line
        ):
            self.found.append(unknown_name("qualifier", last.value, _QUALIFIERS, before))
            return True
        end = Span(before.source, before.end_line, before.end_column, before.end_line, before.end_column)
        self.found.append(MissingPeriod(span=end))
        return True

    def _is_bad(self, token: Lexeme) -> bool:
        return (token.span.source.name, token.span.line) in self.bad_lines

    def _unexpected(self, at: int) -> None:
        if any(self._is_bad(token) for token in self.tokens[max(0, at - 1) : at + 1]):
            return
        fitting = {self.texts.get(kind, kind) for kind in self.grammar.fitting(self.automaton.states)}
        tokens = self.tokens[self.first : at]
        unclosed = open_bracket(PlacedBracket(each.value, each.span) for each in tokens if _is_bracket(each))
        if at == len(self.tokens) and unclosed is not None:
            self.found.append(unclosed.error())
            return
        notes: tuple[Note, ...] = ()
        if at == len(self.tokens):
            last = self.tokens[-1].span
            span = Span(last.source, last.end_line, last.end_column, last.end_line, last.end_column)
            found, help = "end of the text", ""
        else:
            token = self.tokens[at]
            span, found = token.span, f"`{token.span.text()}`"
            near = nearest(token.value, {text for text in fitting if text.islower() and len(text) > 2})
            help = _spelling(self.tokens, at) or (meant(near) if token.kind == "IDENT" else "")
            ends = token.value in (".", ":-", *CLOSING.values(), *self.directives)
            if unclosed is not None and ends and CLOSING[unclosed.opened.mark] in fitting:
                notes = unclosed.places()
        self.found.append(Unexpected(found, _wanted(fitting), span=span, help=help, notes=notes))

    def _resume(self, at: int, begins: bool) -> int:
        """Forgets the open phrase; the number of the token with which the next one seems to begin, which is
        `at` when that `begins` one."""
        self.automaton.forget(self.declaration)
        for i in range(at, len(self.tokens)):
            if begins or (i > at and self.tokens[i - 1].kind == self.period):
                return i
            if self.texts.get(self.tokens[i].kind) in self.directives:
                return i
        return len(self.tokens)


def _is_bracket(token: Lexeme) -> bool:
    return token.value in BRACKETS and token.kind != "STRING"


def _spelling(tokens: list[Lexeme], at: int) -> str:
    """The help for a token that is a word or a part of a sign of other languages, or stands after one."""
    before, after = tokens[at - 1].value if at else "", tokens[at + 1].value if at + 1 < len(tokens) else ""
    token = tokens[at].value
    texts = (token, before, before + token, token + after, f"{token} {after}")
    return next((SPELLINGS[text] for text in texts if text in SPELLINGS), "")


def _wanted(fitting: set[str]) -> str:
    if ".decl" in fitting:
        return "a declaration or a rule"
    if fitting >= _EXPRESSION:
        return "a value" if "!" not in fitting else "a term"
    closing: list[str] = [text for text in (")", "]", "}", ",", ":", "=", ":-", ".") if text in fitting]
    shown = closing or sorted(fitting - {END})
    return " or ".join(dict.fromkeys(_KINDS.get(text, f"`{text}`") for text in shown[:5]))
