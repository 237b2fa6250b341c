"""The statements of rules that are written with `for`."""

from __future__ import annotations

from typing import Any

from ... import syntax as ast
from .builder import TreeBuilder


class Statements(TreeBuilder):
    """The statements of rules that are written with `for`."""

    def for_rule(self, start: int, end: int, statement: ast.ForStatement) -> ast.Declaration:
        return ast.ForDecl(statement, (), self.span(start, end))

    def for_statement(
        self, start: int, end: int, pattern: Any, atom: ast.Atom, condition: Any, body: ast.Statement
    ) -> ast.Statement:
        return ast.ForStatement(pattern, atom, condition, body, self.span(start, end))

    def if_statement(
        self, start: int, end: int, condition: ast.Expr, then: ast.Statement, otherwise: Any
    ) -> ast.Statement:
        return ast.IfStatement(condition, then, otherwise, self.span(start, end))

    def guard_statement(
        self, start: int, end: int, condition: ast.Expr, body: ast.Statement
    ) -> ast.Statement:
        return ast.IfStatement(condition, body, None, self.span(start, end))

    def match_statement(self, start: int, end: int, arg: ast.Expr, arms: Any) -> ast.Statement:
        return ast.MatchStatement(arg, arms or (), self.span(start, end))

    def let_statement(
        self, start: int, end: int, definitions: tuple[tuple[ast.Expr, ast.Expr], ...], body: ast.Statement
    ) -> ast.Statement:
        for pattern, value in reversed(definitions):
            body = ast.LetStatement(pattern, value, body, self.span(start, end))
        return body

    def insert_statement(self, start: int, end: int, atom: ast.Atom) -> ast.Statement:
        return ast.InsertStatement(atom, self.span(start, end))

    def block_statement(self, start: int, end: int, items: Any) -> ast.Statement:
        return ast.BlockStatement(items or (), self.span(start, end))

    def skip_statement(self, start: int, end: int) -> ast.Statement:
        return ast.BlockStatement((), self.span(start, end))
