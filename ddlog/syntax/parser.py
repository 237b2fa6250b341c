"""Text to syntax tree: an LALR automaton over the tables of the grammar, which goes on after an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import syntax as ast
from ..errors.diagnostics import Diagnostic, in_order
from ..errors.source import Source
from .actions import Actions
from .lexer import Places, Token, tokenize
from .mistakes import diagnose
from .reductions import Build, reduction
from .tables import ParseTables, Production, tables


def parse_program(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The declarations of a program that could be read, and all errors of syntax."""
    parser = _Parser(source, "module")
    parser.run()
    span = parser.places.span(0, len(source.text))
    return ast.Module(tuple(parser.declarations), span), parser.errors()


def parse_query(source: Source) -> tuple[ast.Query, list[Diagnostic]]:
    """The clauses of a query (empty when it cannot be read), and the errors of syntax."""
    parser = _Parser(source, "query")
    query = parser.run()
    span = parser.places.span(0, len(source.text))
    return query if isinstance(query, ast.Query) else ast.Query((), span), parser.errors()


# A token of these kinds that is the first of its line begins a declaration, whatever came before.
_STARTERS = frozenset(
    "typedef input output relation stream multiset function extern import apply index #".split()  # noqa: SIM905
)


class _Parser:
    def __init__(self, source: Source, start: str) -> None:
        self.places = Places(source)
        self.tables: ParseTables = tables()
        self.actions = Actions(self.places)
        self.tokens, self._lexical = tokenize(self.places)
        self.found = list(self._lexical)
        self.declarations: list[ast.Declaration] = []
        self.start = start
        self._steps = [self._step(production) for production in self.tables.productions]

    def errors(self) -> list[Diagnostic]:
        return in_order([*self.found, *self.actions.errors()])

    def run(self) -> Any:
        """The result of the start symbol, or None after an error in a query."""
        size = len(self.source_text)
        tokens = [*self.tokens, Token("$END", "", size, size)]
        at, result = 0, None
        while at < len(tokens):
            stop, states, result = self._parse(tokens, at)
            if stop == len(tokens):
                break
            if not self._follows_bad_token(tokens[at], tokens[stop]):
                self.found.append(diagnose(self.tables, states, tokens, stop, self.places))
            if self.start != "module":
                return None
            at = self._resume(tokens, max(stop, at), stop == at)
        return result

    def _follows_bad_token(self, first: Token, token: Token) -> bool:
        """Whether the declaration that holds the token has an error below the grammar, which explains
        that the token does not fit. It begins with the first token or after the last declaration."""
        place, begin = self.places.span(token.start, token.end), self.places.span(first.start, first.end)
        low = (begin.line, begin.column)
        if self.declarations:
            done = self.declarations[-1].span
            low = max(low, (done.end_line, done.end_column))
        spans = (error.span for error in self._lexical if error.span is not None)
        return any(low <= (span.line, span.column) <= (place.line, place.column) for span in spans)

    @property
    def source_text(self) -> str:
        return self.places.source.text

    def _parse(self, tokens: list[Token], at: int) -> tuple[int, list[int], Any]:
        """Parses from a token on. The token that did not fit (or the number of tokens), the states
        then, and the result."""
        moves, steps = self.tables.moves, self._steps
        accept = self.tables.ends[self.start]
        states = [self.tables.starts[self.start]]
        values: list[Any] = []
        starts: list[int] = []
        last = 0
        failed: list[int] | None = None
        for i in range(at, len(tokens)):
            token = tokens[i]
            kind = token[0]
            while True:
                move = moves[states[-1]].get(kind)
                if move is None:
                    if kind == "$END" and states[-1] == accept:
                        return (len(tokens) if failed is None else i), failed or states, values[-1]
                    if failed is not None:
                        return i, failed, None
                    # The text before may still be a whole declaration: finish it.
                    failed, kind = list(states), "$END"
                    continue
                if move >= 0:
                    break
                length, origin, build = steps[~move]
                if build is None:  # one symbol stands for another, with its value and place
                    states[-1] = moves[states[-2]][origin]
                    continue
                end = last or token[2]
                if length:
                    start = starts[-length]
                    value = build(start, end, values[-length:])
                    del states[-length:], values[-length:], starts[-length:]
                else:
                    start = end
                    value = build(start, end, [])
                states.append(moves[states[-1]][origin])
                values.append(value)
                starts.append(start)
            states.append(move)
            values.append(token)
            starts.append(token[2])
            last = token[3]
        return len(tokens), states, None

    def _step(self, production: Production) -> tuple[int, str, Build | None]:
        action = getattr(self.actions, production.action, None)
        if action is not None and production.origin == "declaration":
            action = self._declaring(action)
        return production.length, production.origin, reduction(production, action)

    def _declaring(self, action: Callable[..., ast.Declaration]) -> Callable[..., ast.Declaration]:
        """Keeps each declaration, so that an error in a later one does not lose it."""

        def keep(*parts: Any) -> ast.Declaration:
            declared = action(*parts)
            self.declarations.append(declared)
            return declared

        return keep

    def _resume(self, tokens: list[Token], stop: int, stuck: bool) -> int:
        """The token at which the next declaration seems to begin, after an error at the token `stop`."""
        if not stuck and stop and tokens[stop].kind == "UPPER" and self._first_of_line(tokens, stop):
            return stop
        for i in range(stop, len(tokens)):
            if tokens[i].kind == "_PERIOD":
                return i + 1
            if i == stop and stuck:
                continue
            if self._is_starter(tokens[i]) and self._first_of_line(tokens, i):
                return i
            closed = i > 0 and tokens[i - 1].value in (")", "]", "}")
            if closed and tokens[i].kind in ("UPPER", "LOWER") and self._column(tokens[i]) == 1:
                return i
        return len(tokens)

    def _is_starter(self, token: Token) -> bool:
        return token.value in _STARTERS and token.kind not in ("QUOTED", "TEXT")

    def _first_of_line(self, tokens: list[Token], i: int) -> bool:
        return i == 0 or "\n" in self.source_text[tokens[i - 1].end : tokens[i].start]

    def _column(self, token: Token) -> int:
        return self.places.span(token.start, token.end).column
