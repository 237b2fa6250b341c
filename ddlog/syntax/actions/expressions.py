"""Expressions and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import syntax as ast
from ...errors import syntax as errors
from ..lexer import Token
from ..operators import climb
from .builder import TreeBuilder
from .literals import wrapped


class Expressions(TreeBuilder):
    """Expressions and patterns."""

    def operator(self, start: int, end: int, *signs: Token) -> Token:
        if len(signs) == 2 and signs[0].end != signs[1].start:
            self.found.append(errors.SplitShift(span=self._at(signs[1])))
        return Token("", "".join(sign.value for sign in signs), start, end)

    def operation(self, start: int, end: int, *parts: Any) -> ast.Expr:
        return climb(self._connectives(parts), self.found)

    def _connectives(self, parts: Sequence[Any]) -> Sequence[Any]:
        """The operands and operators; `a && b` is an error, and read as `a and b`."""
        read = list(parts)
        for i in range(1, len(read), 2):
            if read[i].value == "&" and self._touching(read[i], read[i + 1]):
                self.found.append(errors.DoubledSign(span=self._at(read[i])))
                read[i : i + 2] = read[i]._replace(value="and"), read[i + 1].arg
        return read

    def _touching(self, sign: Token, operand: ast.Expr) -> bool:
        """Whether the operand is a reference, and its `&` touches the sign."""
        if not isinstance(operand, ast.Unary) or operand.op != "&":
            return False
        span = self._at(sign)
        return (operand.span.line, operand.span.column) == (span.end_line, span.end_column)

    def negative(self, start: int, end: int, arg: ast.Expr) -> ast.Expr:
        span = self.span(start, end)
        if isinstance(arg, ast.IntLit) and arg.value >= 0:
            wide = self._too_wide.get(arg.span)
            if wide is not None and -arg.value >= wide.least and arg.signed:
                del self._too_wide[arg.span]
            return replace(arg, value=-arg.value, span=span)
        if isinstance(arg, ast.IntLit) and arg.width is not None and arg.signed:
            return replace(arg, value=wrapped(-arg.value, arg.width), span=span)
        if isinstance(arg, ast.FloatLit):
            return replace(arg, value=-arg.value, span=span)
        return ast.Unary("-", arg, span)

    def method(self, start: int, end: int, arg: ast.Expr, member: Token, args: Any) -> ast.Expr:
        name_span = self.span(member.end - len(member.value), member.end)
        return ast.MethodCall(arg, member.value, args or (), self.span(start, end), name_span)

    def call(self, start: int, end: int, function: ast.Expr, args: Any) -> ast.Expr:
        span = self.span(start, end)
        if isinstance(function, ast.Struct) and function.args is None:
            self.found.append(errors.CallOfUpper(function.constructor, span=span))
            given = tuple(ast.Argument(None, each, each.span) for each in args or ())
            return ast.Struct(function.constructor, given, span)
        return ast.Call(function, args or (), span)

    def get_item(self, start: int, end: int, arg: ast.Expr, item: Token) -> ast.Expr:
        return ast.GetItem(arg, int(item.value[1:]), self.span(start, end))

    def variable(self, start: int, end: int, name: Token) -> ast.Expr:
        return ast.VarDecl(self._declared(name), self.span(start, end))

    def binding(self, start: int, end: int, name: Token, pattern: ast.Expr) -> ast.Expr:
        return ast.Binding(self._declared(name), pattern, self.span(start, end), self._at(name))

    def struct(self, start: int, end: int, name: Token, args: Any) -> ast.Expr:
        return ast.Struct(name.value, self._uniform(args), self.span(start, end))

    def tuple(self, start: int, end: int, items: tuple[ast.Expr, ...] | None) -> ast.Expr:
        if items and len(items) == 1:
            return replace(items[0], span=self.span(start, end))
        return ast.TupleExpr(items or (), self.span(start, end))

    def tuple_condition(self, start: int, end: int, first: ast.Expr, others: Sequence[ast.Expr]) -> ast.Expr:
        return ast.TupleExpr((first, *others), self.span(start, end))

    def block(self, start: int, end: int, *parts: Any) -> ast.Expr:
        *items, semicolon = parts
        given = [item for item in items if item is not None]
        if semicolon or not given:
            given.append(ast.TupleExpr((), self.span(end - 1, end)))
        return ast.Block(tuple(given), self.span(start, end))

    def closure_parameter(
        self, start: int, end: int, name: Token, mut: str | None, type: ast.Type | None
    ) -> ast.ClosureParameter:
        return ast.ClosureParameter(self._declared(name), type, mut is not None, self.span(start, end))
