"""The places, the errors and the lists of the actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import syntax as ast
from ...errors import syntax as errors
from ...errors.diagnostics import Diagnostic
from ...errors.source import Span
from ..lexer import Places, Token

WIDEST = 1 << 16  # bits of an integer


class TreeBuilder:
    """The base of all actions; `found` are the errors that are not about grammar."""

    def __init__(self, places: Places) -> None:
        self.span = places.span
        self.found: list[Diagnostic] = []
        self._too_wide: dict[Span, errors.LiteralTooWide] = {}

    def errors(self) -> list[Diagnostic]:
        """The errors in the text that are not about grammar."""
        return [*self.found, *self._too_wide.values()]

    def _at(self, token: Token) -> Span:
        return self.span(token.start, token.end)

    def _uniform(self, args: Sequence[ast.Argument | None] | None) -> tuple[ast.Argument, ...]:
        """The arguments without `._`, which says what holds anyhow: the other fields do not matter."""
        given = tuple(arg for arg in args or () if arg is not None)
        if given and any((arg.name is None) != (given[0].name is None) for arg in given):
            other = next(arg for arg in given if (arg.name is None) != (given[0].name is None))
            self.found.append(errors.MixedArguments(span=other.span))
        return given

    def _named_last(self, args: Sequence[ast.Argument | None] | None) -> tuple[ast.Argument, ...]:
        """The arguments of a relation without `._`: by position, by name, or some by position first."""
        given = tuple(arg for arg in args or () if arg is not None)
        named = next((place for place, arg in enumerate(given) if arg.name is not None), len(given))
        after = next((arg for arg in given[named:] if arg.name is None), None)
        if after is not None:
            self.found.append(errors.PositionAfterName(span=after.span))
        return given

    def _declared(self, name: Token) -> str:
        if "::" in name.value:
            self.found.append(errors.QualifiedDeclaration(name.value, span=self._at(name)))
        return name.value

    def _width(self, width: int, span: Span) -> int:
        if width == 0:
            self.found.append(errors.ZeroWidth(span=span))
        elif width > WIDEST:
            self.found.append(errors.GreatWidth(WIDEST, span=span))
        return min(max(1, width), WIDEST)

    def module(self, span: Span, *declarations: ast.Declaration) -> ast.Module:
        return ast.Module(declarations, span)

    def query(self, span: Span, attributes: Any, clauses: tuple[ast.Clause, ...]) -> ast.Query:
        return ast.Query(clauses, attributes or (), span)

    def listing(self, *items: Any) -> tuple[Any, ...]:
        return items

    attributes = heads = clauses = listing

    def pair(self, left: Any, right: Any) -> tuple[Any, Any]:
        return left, right

    def _mark(self, token: Token) -> str:
        return token.value

    mut = role = kind = reference_mark = prime = semicolon = _mark


def last_sign(span: Span) -> Span:
    """The last character of a phrase."""
    return Span(span.source, span.end_line, span.end_column - 1, span.end_line, span.end_column)


def names(tokens: Sequence[Token] | None) -> tuple[str, ...]:
    """The names of tokens, without the tick of a type variable."""
    return tuple(token.value.removeprefix("'") for token in tokens or ())
