"""Types as written."""

from __future__ import annotations

from collections.abc import Sequence

from ... import syntax as ast
from ...errors.source import Span
from ..lexer import Token
from .builder import TreeBuilder


class Types(TreeBuilder):
    """Types as written."""

    def bit_type(self, span: Span, width: Token) -> ast.Type:
        return self._int_type(span, width, False)

    def signed_type(self, span: Span, width: Token) -> ast.Type:
        return self._int_type(span, width, True)

    def _int_type(self, span: Span, token: Token, signed: bool) -> ast.Type:
        width = self._width(int(token.value.replace("_", "")), self._at(token))
        return ast.IntType(width, signed, span)

    def var_type(self, span: Span, name: Token) -> ast.Type:
        return ast.VarType(name.value[1:], span)

    def tuple_type(self, span: Span, items: tuple[ast.Type, ...] | None) -> ast.Type:
        if items and len(items) == 1:
            return items[0]
        return ast.TupleType(items or (), span)

    def mut_type(self, name: Token | None, mut: str | None, type: ast.Type) -> tuple[ast.Type, bool]:
        return type, mut is not None

    def function_type(
        self, span: Span, given: Sequence[tuple[ast.Type, bool]] | None, result: ast.Type | None
    ) -> ast.Type:
        types = tuple(type for type, _ in given or ())
        mutable = tuple(mut for _, mut in given or ())
        return ast.FunctionType(types, mutable, result, span)
