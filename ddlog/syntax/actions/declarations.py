"""Declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import syntax as ast
from ..lexer import Token
from .builder import TreeBuilder, names


class Declarations(TreeBuilder):
    """Declarations."""

    def declaration(
        self, start: int, end: int, attributes: Any, declared: ast.Declaration
    ) -> ast.Declaration:
        if attributes and not isinstance(declared, ast.ImportDecl):
            declared = replace(declared, attributes=attributes)
        return declared

    def alias(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None, type: ast.Type
    ) -> ast.Declaration:
        span, parameters = self.span(start, end), names(given)
        itself = isinstance(type, ast.NamedType) and type.name == name.value and not type.args
        if itself and name.kind == "UPPER":
            only = ast.ConstructorDecl(name.value, (), (), type.span)
            return ast.TypeDecl(self._declared(name), parameters, (only,), (), span, self._at(name))
        return ast.AliasDecl(self._declared(name), parameters, type, (), span, self._at(name))

    def typedef(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None, constructors: Any
    ) -> ast.Declaration:
        span, parameters = self.span(start, end), names(given)
        return ast.TypeDecl(self._declared(name), parameters, constructors, (), span, self._at(name))

    def constructor(
        self, start: int, end: int, attributes: Any, name: Token, fields: tuple[ast.Field, ...] | None
    ) -> ast.ConstructorDecl:
        span = self.span(start, end)
        return ast.ConstructorDecl(self._declared(name), fields or (), attributes or (), span)

    def plain_constructor(
        self, start: int, end: int, name: Token, fields: tuple[ast.Field, ...] | None = None
    ) -> ast.ConstructorDecl:
        return self.constructor(start, end, None, name, fields)

    def field(self, start: int, end: int, attributes: Any, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, attributes or (), self.span(start, end))

    def extern_type(
        self, start: int, end: int, name: Token, given: Sequence[Token] | None
    ) -> ast.Declaration:
        span = self.span(start, end)
        return ast.ExternTypeDecl(self._declared(name), names(given), (), span, self._at(name))

    def function(
        self, start: int, end: int, name: Token, given: Any, result: ast.Type | None, body: ast.Expr | None
    ) -> ast.Declaration:
        span = self.span(start, end)
        return ast.FunctionDecl(self._declared(name), given or (), result, body, (), span, self._at(name))

    def extern_function(
        self, start: int, end: int, name: Token, given: Any, result: ast.Type | None
    ) -> ast.Declaration:
        return self.function(start, end, name, given, result, None)

    def argument(
        self, start: int, end: int, attributes: Any, name: Token, mut: str | None, type: ast.Type
    ) -> ast.Parameter:
        span = self.span(start, end)
        return ast.Parameter(self._declared(name), type, mut is not None, attributes or (), span)

    def transformer(self, start: int, end: int, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        span = self.span(start, end)
        return ast.TransformerDecl(
            self._declared(name), inputs or (), outputs or (), (), span, self._at(name)
        )

    def port(self, start: int, end: int, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, (), self.span(start, end))

    def apply(self, start: int, end: int, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        given = tuple(map(_argument, inputs or ()))
        return ast.ApplyDecl(name.value, given, names(outputs), (), self.span(start, end))

    def relation_of_fields(
        self, start: int, end: int, role: str | None, kind: str, ref: Any, name: Token, given: Any, key: Any
    ) -> ast.Declaration:
        fields = tuple(
            column if isinstance(column, ast.Field) else ast.Field(str(i), column, (), column.span)
            for i, column in enumerate(given or ())
        )
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, fields, None, key, (),
            self.span(start, end), self._at(name),
        )  # fmt: skip

    def relation_of_type(
        self, start: int, end: int, role: str | None, kind: str, ref: Any, name: Token, type: Any, key: Any
    ) -> ast.Declaration:
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, None, type, key, (),
            self.span(start, end), self._at(name),
        )  # fmt: skip

    def unnamed_column(self, start: int, end: int, type: ast.Type) -> ast.Type:
        return type

    def index(self, start: int, end: int, name: Token, fields: Any, atom: ast.Atom) -> ast.Declaration:
        span = self.span(start, end)
        return ast.IndexDecl(self._declared(name), fields or (), atom, (), span, self._at(name))


def _argument(given: ast.Expr) -> str | ast.Expr:
    """An argument of a transformer: the name of a relation or a function, or another expression."""
    match given:
        case ast.Name(name) | ast.Struct(name, None):
            return name
    return given
