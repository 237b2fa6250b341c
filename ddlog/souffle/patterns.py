"""Values that are taken apart: the arguments of terms, and the sides of equalities that define variables."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

from .. import syntax
from ..syntax.templates import arguments, tree
from . import syntax as ast
from .clauses import names_of
from .expressions import ArgumentWriter


@dataclass
class Patterns:
    """Writes the patterns of one rule. `bound` are the variables that have values so far; `uses` says how
    often each occurs in the rule. `deferred` are equalities that no pattern can express. `known`, if it is
    given, are all variables that will have values: what depends on others is left open."""

    writer: ArgumentWriter
    uses: Counter[str]
    bound: set[str] = field(default_factory=set)
    deferred: list[ast.Compare] = field(default_factory=list)
    known: Set[str] | None = None
    number: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def is_ground(self, expr: ast.Expr) -> bool:
        """Whether the value of the expression is known."""
        return names_of(expr) <= self.bound and not has_wildcard(expr)

    def is_known(self, expr: ast.Expr) -> bool:
        """Whether all variables of the expression will have values, as far as that is said."""
        return self.known is None or names_of(expr) <= self.known

    def of_term(self, expr: ast.Expr) -> syntax.Expr:
        """The pattern of a column of a term."""
        return self._pattern(expr, False)

    def _pattern(self, expr: ast.Expr, new: bool) -> syntax.Expr:
        """A pattern; where it is `new`, its variables are declared as they are bound."""
        match expr:
            case ast.Unnamed(span):
                return syntax.Wildcard(span)
            case ast.Named(span, name) if name not in self.bound:
                if self.uses[name] < 2:
                    return syntax.Wildcard(span)
                self.bound.add(name)
                return self._variable(expr, new)
            case ast.Nil() | ast.Number() | ast.Text() | ast.Boolean() if not new:
                return self.writer.value(expr)
            case ast.RecordValue() | ast.Branch() if not self.is_ground(expr):
                if not new or not self._is_reference(expr):
                    return self.taken_apart(expr, new)
        if not new and self.is_ground(expr):
            return self.writer.value(expr)
        if not self.is_known(expr):
            return syntax.Wildcard(expr.span)
        return self._variable(self._later(expr), new)

    def _variable(self, var: ast.Named, new: bool) -> syntax.Expr:
        if new:
            return syntax.VarDecl(self.writer.naming.name(var.name), var.span)
        return self.writer.value(var)

    def _is_reference(self, expr: ast.RecordValue | ast.Branch) -> bool:
        return self.writer.kinds.of(expr) in self.writer.types.recursive

    def taken_apart(self, expr: ast.RecordValue | ast.Branch, new: bool) -> syntax.Expr:
        """The pattern of a record or a branch; only in terms may it stand in a reference."""
        kind, types, at = self.writer.kinds.of(expr), self.writer.types, expr.span
        parts = arguments(self._pattern(item, new) for item in expr.items)
        whole: syntax.Expr = syntax.Struct(self.writer.constructor(expr), parts, at)
        is_reference = kind in types.recursive
        if is_reference and not new:
            whole = syntax.Unary("&", whole, at)
        if kind in types.optional and not (is_reference and new):
            whole = tree("Some{$}", whole, at=at)
        return whole

    def _later(self, expr: ast.Expr) -> ast.Named:
        """A new variable in the place of an expression, which it must be equal to."""
        hint = expr.name if isinstance(expr, ast.Named) else "value"
        name = f"%{hint}#{next(self.number)}"
        self.bound.add(name)
        self.uses[name] = 2
        made = ast.Named(expr.span, name)
        self.deferred.append(ast.Compare(expr.span, "=", made, expr))
        return made


def has_wildcard(expr: ast.Expr) -> bool:
    """Whether a part of the expression is `_`."""
    match expr:
        case ast.Unnamed():
            return True
        case ast.RecordValue(_, items) | ast.Branch(_, _, items):
            return any(map(has_wildcard, items))
    return False
