"""Text to syntax tree, by the automaton of the grammar, which goes on after an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import syntax as ast
from ..errors import syntax as errors
from ..errors.diagnostics import Diagnostic, in_order
from ..errors.source import Source
from .actions import Actions
from .actions.nodes import node_action
from .automaton import END, Automaton, Reduction, Reductions
from .hidden import hidden_names
from .lexer import Places, Token, tokenize
from .mistakes import diagnose
from .reductions import Build, reduction
from .tables import ParseTables, Production, tables


def parse_program(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The declarations of a program that could be read, and all errors of syntax."""
    parser = _Parser(source, "module")
    parser.run()
    parser.tokens.clear()  # many, in a cycle of objects, while the collector pauses
    span = parser.places.span(0, len(source.text))
    return ast.Module(tuple(parser.declarations), span, parser.hidden), parser.errors()


def parse_query(source: Source) -> tuple[ast.Query, list[Diagnostic]]:
    """The clauses of a query (empty when it cannot be read), and the errors of syntax."""
    parser = _Parser(source, "query")
    query = parser.run()
    span = parser.places.span(0, len(source.text))
    return query if isinstance(query, ast.Query) else ast.Query((), (), span), parser.errors()


class Phrase(NamedTuple):
    """A phrase of the grammar: the action of its production, and its parts, phrases and tokens in the order
    of the text. Where one part stands for the whole, there is no phrase."""

    action: str
    parts: list[Any]


def parse_phrases(source: Source) -> tuple[list[Any], list[Token], list[Diagnostic]]:
    """The phrases of a program with all tokens, then these tokens, and the errors of syntax. Only texts that
    the grammar does not take have errors here."""
    parser = _Parser(source, "module")
    parser._steps = [(each.length, each.origin, _phrase(each)) for each in parser.tables.productions]
    module = parser.run()
    return (module.parts if isinstance(module, Phrase) else []), parser.tokens, parser.errors()


def _phrase(production: Production) -> Build | None:
    """The function that builds the phrase of a production."""
    if production.passes and production.length == 1:
        return None
    action, inline = production.action, production.inline

    def build(start: int, end: int, values: list[Any]) -> Any:
        parts = _spliced(values) if list in map(type, values) else values
        return parts if inline else Phrase(action, parts)

    return build


def _spliced(values: list[Any]) -> list[Any]:
    """Values with those of the lists in their places. A list that comes first grows in place."""
    parts: list[Any] = values[0] if type(values[0]) is list else [values[0]]
    for each in values[1:]:
        if type(each) is list:
            parts += each
        else:
            parts.append(each)
    return parts


# A token of these kinds that is the first of its line begins a declaration, whatever came before.
_STARTERS = frozenset(
    "typedef input output relation stream multiset function extern import apply index #".split()  # noqa: SIM905
)


def _of_quotes(error: Diagnostic) -> bool:
    """Whether an error is one of quotes. In a line that has gone wrong before it says nothing: text and code
    are then in each other's place."""
    return isinstance(error, errors.UnclosedString) or (
        isinstance(error, errors.BadCharacter) and error.character == "$"
    )


class _Needed(dict[int, Reduction]):
    """Reductions that are made when they are first asked for: a short text needs few."""

    def __init__(self, make: Callable[[int], Reduction]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, at: int) -> Reduction:
        self[at] = made = self._make(at)
        return made


class _Parser:
    def __init__(self, source: Source, start: str) -> None:
        self.places = Places(source)
        self.tables: ParseTables = tables()
        self.actions = Actions(self.places)
        self.tokens, self._lexical, self.hidden = tokenize(self.places)
        self.found = list(self._lexical)
        self.declarations: list[ast.Declaration] = []
        self._done = 0  # the end of the last declaration
        self._noted = 0  # the number of errors of the actions then
        self.start = start
        self._steps: Reductions = _Needed(lambda at: self._step(self.tables.productions[at]))

    def errors(self) -> list[Diagnostic]:
        wrong = errors.UnclosedString | errors.BadCharacter | errors.Unexpected
        kept, lines = list[Diagnostic](), set[int]()
        for each in in_order([*self.found, *self.actions.errors()]):
            if not (_of_quotes(each) and each.span is not None and each.span.line in lines):
                kept.append(each)
            if isinstance(each, wrong) and each.span is not None:
                lines.add(each.span.line)
        return kept

    def run(self) -> Any:
        """The result of the start symbol, or None after an error in a query."""
        size = len(self.source_text)
        tokens = [*self.tokens, Token(END, "", size, size)]
        begins = [each.start for each in tokens]
        ends = [begins[0], *(each.end for each in self.tokens)]
        at, result = 0, None
        while at < len(tokens):
            automaton = Automaton(self.tables, self.start, self._steps, begins, ends)
            stop = automaton.take(self.tokens, at)
            states = list(automaton.states)
            # The text before an error may still be a whole declaration: finish it.
            whole = automaton.feed(END, stop)
            result = automaton.values[-1] if whole else None
            if stop == len(self.tokens):
                if whole:
                    break
                states = automaton.states
            begin = max(tokens[at].start, self._done)
            error = self._bad_token(begin, tokens[stop])
            if error is None:
                error = diagnose(self.tables, states, tokens, at, stop, self.places)
                self.found.append(error)
                self._forget_calls()
            if self.start != "module":
                return None
            at = self._resume(tokens, max(stop, at), stop == at)
            end = tokens[at].start if at < len(tokens) else size
            self.hidden |= hidden_names(self.source_text[begin:end], error)
        return result

    def _forget_calls(self) -> None:
        """Drops the errors about relations where expressions stand, of a declaration that does not parse: a
        missing parenthesis may have put them there."""
        found = self.actions.found
        found[self._noted :] = [
            each for each in found[self._noted :] if not isinstance(each, errors.CallOfUpper)
        ]

    def _bad_token(self, begin: int, token: Token) -> Diagnostic | None:
        """The error below the grammar in the declaration that holds the token, from its beginning on: it
        explains that the token does not fit."""
        place, low = self.places.span(token.start, token.end), self.places.span(begin, begin)
        for error in self._lexical:
            span = error.span
            if span is not None and (low.line, low.column) <= (span.line, span.column) <= (
                place.line, place.column,
            ):  # fmt: skip
                return error
        return None

    @property
    def source_text(self) -> str:
        return self.places.source.text

    def _step(self, production: Production) -> Reduction:
        action = node_action(production.action) or getattr(self.actions, production.action, None)
        build = reduction(production, action, self.places.span)
        if build is not None and production.origin == "declaration":
            build = self._declaring(build)
        return production.length, production.origin, build

    def _declaring(self, build: Build) -> Build:
        """Keeps each declaration, so that an error in a later one does not lose it."""

        def keep(start: int, end: int, values: list[Any]) -> ast.Declaration:
            declared: ast.Declaration = build(start, end, values)
            self.declarations.append(declared)
            self._done, self._noted = end, len(self.actions.found)
            return declared

        return keep

    def _resume(self, tokens: list[Token], stop: int, stuck: bool) -> int:
        """The token at which the next declaration seems to begin, after an error at the token `stop`."""
        if not stuck and stop and tokens[stop].kind == "UPPER" and self._first_of_line(tokens, stop):
            return stop
        for i in range(stop, len(tokens)):
            if tokens[i].kind == "_PERIOD" and not self._is_one_of_two(tokens[i]):
                return i + 1
            if i == stop and stuck:
                continue
            if self._is_starter(tokens[i]) and self._first_of_line(tokens, i):
                return i
            if tokens[i].kind == "FOR" and self._column(tokens[i]) == 1:
                return i
            closed = i > 0 and tokens[i - 1].value in (")", "]", "}")
            if closed and tokens[i].kind in ("UPPER", "LOWER") and self._column(tokens[i]) == 1:
                return i
        return len(tokens)

    def _is_one_of_two(self, period: Token) -> bool:
        """Whether a period belongs to `..`. Such a period ends no declaration."""
        text = self.source_text
        return "." in (text[period.start - 1 : period.start], text[period.end : period.end + 1])

    def _is_starter(self, token: Token) -> bool:
        return token.value in _STARTERS and token.kind not in ("QUOTED", "TEXT")

    def _first_of_line(self, tokens: list[Token], i: int) -> bool:
        return i == 0 or "\n" in self.source_text[tokens[i - 1].end : tokens[i].start]

    def _column(self, token: Token) -> int:
        return self.places.span(token.start, token.end).column
