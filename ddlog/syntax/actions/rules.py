"""Rules: their atoms and clauses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import syntax as ast
from ...errors import syntax as errors
from ..lexer import Token
from .builder import TreeBuilder


class Rules(TreeBuilder):
    """Rules: their atoms and clauses."""

    def rule(self, start: int, end: int, heads: tuple[ast.Atom, ...], body: Any) -> ast.Declaration:
        return ast.RuleDecl(heads, body or (), (), self.span(start, end))

    def heads(self, start: int, end: int, *heads: ast.Atom) -> tuple[ast.Atom, ...]:
        return heads

    def clauses(self, start: int, end: int, *clauses: ast.Clause) -> tuple[ast.Clause, ...]:
        return clauses

    def located(self, start: int, end: int, atom: ast.Atom, location: ast.Expr) -> ast.Atom:
        return replace(atom, location=location, span=self.span(start, end))

    def negated(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, negated=True, span=self.span(start, end))

    def bound(self, start: int, end: int, name: Token, atom: ast.Atom) -> ast.Atom:
        return replace(atom, binder=name.value, span=self.span(start, end))

    def by_ref(self, start: int, end: int, atom: ast.Atom) -> ast.Atom:
        return replace(atom, by_ref=True, span=self.span(start, end))

    def filter(self, start: int, end: int, expr: ast.Expr) -> ast.Clause:
        return ast.Condition(expr, self.span(start, end))

    def inspect(self, start: int, end: int, expr: ast.Expr) -> ast.Clause:
        return ast.Inspect(expr, self.span(start, end))

    def atom_of_args(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, args: Any
    ) -> ast.Atom:
        return ast.Atom(
            name.value, self._named_last(args), None, self.span(start, end), self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def atom_of_element(
        self, start: int, end: int, name: Token, prime: Any, delay: Token | None, element: ast.Expr
    ) -> ast.Atom:
        return ast.Atom(
            name.value, None, element, self.span(start, end), self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def bare_atom(self, start: int, end: int, name: Token, prime: Any, delay: Token | None) -> ast.Atom:
        return ast.Atom(
            name.value, None, None, self.span(start, end), self._at(name),
            differentiated=prime is not None, delay=int(delay.value) if delay else None,
        )  # fmt: skip

    def positional(self, start: int, end: int, value: ast.Expr) -> ast.Argument:
        return ast.Argument(None, value, self.span(start, end))

    def named(self, start: int, end: int, member: Token, value: ast.Expr) -> ast.Argument:
        return ast.Argument(member.value, value, self.span(start, end))

    def rest(self, start: int, end: int, member: Token) -> ast.Argument | None:
        if member.value != "_":
            found = f"`.{member.value}` without a value"
            self.found.append(errors.Unexpected(found, f"`.{member.value} = ...`", span=self._at(member)))
        return None
