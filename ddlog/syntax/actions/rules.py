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

    def located(self, span: Span, atom: ast.Atom, location: ast.Expr) -> ast.Atom:
        return replace(atom, location=location, span=span)

    def negated(self, span: Span, atom: ast.Atom) -> ast.Atom:
        return replace(atom, negated=True, span=span)

    def bound(self, span: Span, name: Token, atom: ast.Atom) -> ast.Atom:
        return replace(atom, binder=name.value, span=span)

    def by_ref(self, span: Span, atom: ast.Atom) -> ast.Atom:
        return replace(atom, by_ref=True, span=span)

    def atom_of_args(self, span: Span, name: Token, prime: Any, delay: Token | None, args: Any) -> ast.Atom:
        return self._atom(span, name, prime, delay, self._named_last(args), None)

    def atom_of_element(
        self, span: Span, name: Token, prime: Any, delay: Token | None, element: ast.Expr | None = None
    ) -> ast.Atom:
        return self._atom(span, name, prime, delay, None, element)

    bare_atom = atom_of_element

    def _atom(
        self, span: Span, name: Token, prime: Any, delay: Token | None, args: Any, element: Any
    ) -> ast.Atom:
        return ast.Atom(
            name.value, args, element, span, self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def rest(self, member: Token) -> ast.Argument | None:
        if member.value != "_":
            found = f"`.{member.value}` without a value"
            self.found.append(Unexpected(found, f"`.{member.value} = ...`", span=self._at(member)))
        return None

    # ----------------------------------------------------------------- loops

    def initial_rule(self, span: Span, rule: ast.RuleDecl) -> ast.Declaration:
        return ast.RuleDecl(rule.heads, rule.body, rule.attributes, span, initial=True)

    def counted_end(self, span: Span, word: Token, number: Token) -> _End:
        if word.value not in ("rounds", "limit"):
            self.found.append(UnknownEnd(word.value, span=self._at(word)))
        return _End(word.value, int(number.value), span)

    def until_end(self, span: Span, until: Token, word: Token, relation: Token | None) -> _End:
        if until.value != "until":
            self.found.append(UnknownEnd(until.value, span=self._at(until)))
        elif word.value not in ("empty", "unchanged") or (word.value == "empty") != (relation is not None):
            self.found.append(UnknownEnd(span.text(), span=span))
        place = span if relation is None else self._at(relation)
        return _End("until", relation and relation.value, place)

    def loop(
        self, span: Span, name: Token, ends: tuple[_End, ...], *declarations: ast.Declaration
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
            span, self._at(name), None if last is None else last.span,
        )  # fmt: skip

    # ------------------------------------------------- statements of `for` rules

    def guard_statement(self, span: Span, condition: ast.Expr, body: ast.Statement) -> ast.Statement:
        return ast.IfStatement(condition, body, None, span)

    def let_statement(
        self, span: Span, definitions: tuple[tuple[ast.Expr, ast.Expr], ...], body: ast.Statement
    ) -> ast.Statement:
        for pattern, value in reversed(definitions):
            body = ast.LetStatement(pattern, value, body, span)
        return body
