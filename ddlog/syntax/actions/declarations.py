"""Declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import syntax as ast
from ...errors.source import Span
from ..lexer import Token
from .builder import TreeBuilder, names


class Declarations(TreeBuilder):
    """Declarations."""

    def declaration(self, attributes: Any, declared: ast.Declaration) -> ast.Declaration:
        if attributes and not isinstance(declared, ast.ImportDecl):
            declared = replace(declared, attributes=attributes)
        return declared

    def alias(
        self, span: Span, name: Token, given: Sequence[Token] | None, type: ast.Type
    ) -> ast.Declaration:
        parameters = names(given)
        itself = isinstance(type, ast.NamedType) and type.name == name.value and not type.args
        if itself and name.kind == "UPPER":
            only = ast.ConstructorDecl(name.value, (), (), type.span)
            return ast.TypeDecl(self._declared(name), parameters, (only,), (), span, self._at(name))
        return ast.AliasDecl(self._declared(name), parameters, type, (), span, self._at(name))

    def typedef(
        self, span: Span, name: Token, given: Sequence[Token] | None, constructors: Any
    ) -> ast.Declaration:
        parameters = names(given)
        return ast.TypeDecl(self._declared(name), parameters, constructors, (), span, self._at(name))

    def constructor(
        self, span: Span, attributes: Any, name: Token, fields: tuple[ast.Field, ...] | None
    ) -> ast.ConstructorDecl:
        return ast.ConstructorDecl(self._declared(name), fields or (), attributes or (), span)

    def plain_constructor(
        self, span: Span, name: Token, fields: tuple[ast.Field, ...] | None = None
    ) -> ast.ConstructorDecl:
        return self.constructor(span, None, name, fields)

    def field(self, span: Span, attributes: Any, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, attributes or (), span)

    def extern_type(self, span: Span, name: Token, given: Sequence[Token] | None) -> ast.Declaration:
        return ast.ExternTypeDecl(self._declared(name), names(given), (), span, self._at(name))

    def function(
        self, span: Span, name: Token, given: Any, result: ast.Type | None, body: ast.Expr | None
    ) -> ast.Declaration:
        return ast.FunctionDecl(self._declared(name), given or (), result, body, (), span, self._at(name))

    def extern_function(
        self, span: Span, name: Token, given: Any, result: ast.Type | None
    ) -> ast.Declaration:
        return self.function(span, name, given, result, None)

    def argument(
        self, span: Span, attributes: Any, name: Token, mut: str | None, type: ast.Type
    ) -> ast.Parameter:
        return ast.Parameter(self._declared(name), type, mut is not None, attributes or (), span)

    def transformer(self, span: Span, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        return ast.TransformerDecl(
            self._declared(name), inputs or (), outputs or (), (), span, self._at(name)
        )

    def port(self, span: Span, name: Token, type: ast.Type) -> ast.Field:
        return ast.Field(self._declared(name), type, (), span)

    def apply(self, span: Span, name: Token, inputs: Any, outputs: Any) -> ast.Declaration:
        given = tuple(map(_argument, inputs or ()))
        return ast.ApplyDecl(name.value, given, names(outputs), (), span)

    def relation_of_fields(
        self, span: Span, role: str | None, kind: str, ref: Any, name: Token, given: Any, key: Any
    ) -> ast.Declaration:
        fields = tuple(
            column if isinstance(column, ast.Field) else ast.Field(str(i), column, (), column.span)
            for i, column in enumerate(given or ())
        )
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, fields, None, key, (),
            span, self._at(name),
        )  # fmt: skip

    def relation_of_type(
        self, span: Span, role: str | None, kind: str, ref: Any, name: Token, type: Any, key: Any
    ) -> ast.Declaration:
        return ast.RelationDecl(
            self._declared(name), role or "internal", kind, ref is not None, None, type, key, (),
            span, self._at(name),
        )  # fmt: skip

    def unnamed_column(self, type: ast.Type) -> ast.Type:
        return type

    def index(self, span: Span, name: Token, fields: Any, atom: ast.Atom) -> ast.Declaration:
        return ast.IndexDecl(self._declared(name), fields or (), atom, (), span, self._at(name))


def _argument(given: ast.Expr) -> str | ast.Expr:
    """An argument of a transformer: the name of a relation or a function, or another expression."""
    match given:
        case ast.Name(name) | ast.Struct(name, None):
            return name
    return given
