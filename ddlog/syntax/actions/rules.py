"""Rules, their atoms and clauses, and loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ... import syntax as ast
from ...errors.loops import SecondEnd, UnknownEnd
from ...errors.source import Span
from ...errors.syntax import Unexpected
from ..lexer import Token
from .builder import TreeBuilder


class _End(NamedTuple):
    """One end of a loop, between its name and its body: a word, and the number or relation after it."""

    word: str
    value: Any
    span: Span


class Rules(TreeBuilder):
    """Rules: their atoms and clauses, the statements of those that are written with `for`, and loops."""

    def located(self, start: int, end: int, atom: ast.Atom, location: ast.Expr) -> ast.Atom:
        return replace(atom, location=location, span=self.span(start, end))

    def negated(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, negated=True, span=self.span(start, end))

    def bound(self, start: int, end: int, name: Token, atom: ast.Atom) -> ast.Atom:
        return replace(atom, binder=name.value, span=self.span(start, end))

    def by_ref(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, by_ref=True, span=self.span(start, end))

    def atom_of_args(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, args: Any
    ) -> ast.Atom:
        return self._atom(self.span(start, end), name, prime, delay, self._named_last(args), None)

    def atom_of_element(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, element: ast.Expr
    ) -> ast.Atom:
        return self._atom(self.span(start, end), name, prime, delay, None, element)

    def bare_atom(self, start: int, end: int, name: Token, prime: Any, delay: Token | None) -> ast.Atom:
        return self._atom(self.span(start, end), name, prime, delay, None, None)

    def _atom(
        self, span: Span, name: Token, prime: Any, delay: Token | None, args: Any, element: Any
    ) -> ast.Atom:
        return ast.Atom(
            name.value, args, element, span, self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def rest(self, start: int, end: int, member: Token) -> ast.Argument | None:
        if member.value != "_":
            found = f"`.{member.value}` without a value"
            self.found.append(Unexpected(found, f"`.{member.value} = ...`", span=self._at(member)))
        return None

    # ----------------------------------------------------------------- loops

    def initial_rule(self, start: int, end: int, rule: ast.RuleDecl) -> ast.Declaration:
        return ast.RuleDecl(rule.heads, rule.body, rule.attributes, self.span(start, end), initial=True)

    def counted_end(self, start: int, end: int, word: Token, number: Token) -> _End:
        if word.value not in ("rounds", "limit"):
            self.found.append(UnknownEnd(word.value, span=self._at(word)))
        return _End(word.value, int(number.value), self.span(start, end))

    def until_end(self, start: int, end: int, until: Token, word: Token, relation: Token | None) -> _End:
        span = self.span(start, end)
        if until.value != "until":
            self.found.append(UnknownEnd(until.value, span=self._at(until)))
        elif word.value not in ("empty", "unchanged") or (word.value == "empty") != (relation is not None):
            self.found.append(UnknownEnd(span.text(), span=span))
        place = span if relation is None else self._at(relation)
        return _End("until", relation and relation.value, place)

    def loop(
        self, start: int, end: int, name: Token, ends: tuple[_End, ...], *declarations: ast.Declaration
    ) -> ast.Declaration:
        said: dict[str, _End] = {}
        for each in ends:
            kind = "limit" if each.word == "limit" else "end"
            if kind in said:
                self.found.append(SecondEnd(kind, span=each.span))
            said[kind] = each
        last, most = said.get("end"), said.get("limit")
        rounds = last.value if last is not None and last.word == "rounds" else None
        empty = last.value if last is not None and last.word == "until" else None
        return ast.LoopDecl(
            self._declared(name), rounds, empty, None if most is None else most.value, declarations, (),
            self.span(start, end), self._at(name), None if last is None else last.span,
        )  # fmt: skip

    # ------------------------------------------------- statements of `for` rules

    def guard_statement(
        self, start: int, end: int, condition: ast.Expr, body: ast.Statement
    ) -> ast.Statement:
        return ast.IfStatement(condition, body, None, self.span(start, end))

    def let_statement(
        self, start: int, end: int, definitions: tuple[tuple[ast.Expr, ast.Expr], ...], body: ast.Statement
    ) -> ast.Statement:
        for pattern, value in reversed(definitions):
            body = ast.LetStatement(pattern, value, body, self.span(start, end))
        return body
