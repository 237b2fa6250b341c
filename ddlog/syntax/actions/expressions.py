"""Expressions and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import syntax as ast
from ...errors import syntax as errors
from ...errors.source import Span
from ..lexer import Token
from ..operators import climb
from .builder import TreeBuilder, last_sign
from .literals import wrapped


class Expressions(TreeBuilder):
    """Expressions and patterns."""

    def operator(self, *signs: Token) -> Token:
        if len(signs) == 2 and signs[0].end != signs[1].start:
            self.found.append(errors.SplitShift(span=self._at(signs[1])))
        return Token("", "".join(sign.value for sign in signs), signs[0].start, signs[-1].end)

    def operation(self, *parts: Any) -> ast.Expr:
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

    def negative(self, span: Span, arg: ast.Expr) -> ast.Expr:
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

    def method(self, span: Span, arg: ast.Expr, member: Token, args: Any) -> ast.Expr:
        name_span = self.span(member.end - len(member.value), member.end)
        return ast.MethodCall(arg, member.value, args or (), span, name_span)

    def call(self, span: Span, function: ast.Expr, args: Any) -> ast.Expr:
        if isinstance(function, ast.Struct) and function.args is None:
            self.found.append(errors.CallOfUpper(function.constructor, span=span))
            given = tuple(ast.Argument(None, each, each.span) for each in args or ())
            return ast.Struct(function.constructor, given, span)
        return ast.Call(function, args or (), span)

    def get_item(self, span: Span, arg: ast.Expr, item: Token) -> ast.Expr:
        return ast.GetItem(arg, int(item.value[1:]), span)

    def variable(self, span: Span, name: Token) -> ast.Expr:
        return ast.VarDecl(self._declared(name), span)

    def binding(self, span: Span, name: Token, pattern: ast.Expr) -> ast.Expr:
        return ast.Binding(self._declared(name), pattern, span, self._at(name))

    def struct(self, span: Span, name: Token, args: Any) -> ast.Expr:
        return ast.Struct(name.value, self._uniform(args), span)

    def tuple(self, span: Span, items: tuple[ast.Expr, ...] | None) -> ast.Expr:
        if items and len(items) == 1:
            return replace(items[0], span=span)
        return ast.TupleExpr(items or (), span)

    def tuple_condition(self, span: Span, first: ast.Expr, others: Sequence[ast.Expr]) -> ast.Expr:
        return ast.TupleExpr((first, *others), span)

    def block(self, span: Span, *parts: Any) -> ast.Expr:
        *items, semicolon = parts
        given = [item for item in items if item is not None]
        if semicolon or not given:
            given.append(ast.TupleExpr((), last_sign(span)))
        return ast.Block(tuple(given), span)

    def closure_parameter(
        self, span: Span, name: Token, mut: str | None, type: ast.Type | None
    ) -> ast.ClosureParameter:
        return ast.ClosureParameter(self._declared(name), type, mut is not None, span)
