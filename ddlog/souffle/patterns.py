"""Values that are taken apart: the arguments of terms, and the sides of equalities that define variables."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field

from . import syntax as ast
from .clauses import names_of
from .expressions import Writer


@dataclass
class Patterns:
    """Writes the patterns of one rule. `bound` are the variables that have values so far; `uses` says how
    often each occurs in the rule. `deferred` are equalities that no pattern can express."""

    writer: Writer
    uses: Counter[str]
    bound: set[str] = field(default_factory=set)
    deferred: list[ast.Compare] = field(default_factory=list)
    number: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def is_ground(self, expr: ast.Expr) -> bool:
        """Whether the value of the expression is known."""
        return names_of(expr) <= self.bound and not has_wildcard(expr)

    def of_term(self, expr: ast.Expr) -> str:
        """The pattern of a column of a term."""
        return self._pattern(expr, "")

    def _pattern(self, expr: ast.Expr, new: str) -> str:
        match expr:
            case ast.Wildcard():
                return "_"
            case ast.Var(_, name) if name not in self.bound:
                if self.uses[name] < 2:
                    return "_"
                self.bound.add(name)
                return new + self.writer.naming.name(name)
            case ast.Nil() | ast.Number() | ast.Text() if not new:
                return self.writer.value(expr)
            case ast.Record() | ast.Branch() if not self.is_ground(expr):
                if not new or not self._is_reference(expr):
                    return self.taken_apart(expr, new)
        if not new and self.is_ground(expr):
            return self.writer.value(expr)
        return new + self._later(expr)

    def _is_reference(self, expr: ast.Record | ast.Branch) -> bool:
        return self.writer.kinds.of(expr) in self.writer.types.recursive

    def taken_apart(self, expr: ast.Record | ast.Branch, new: str) -> str:
        """The pattern of a record or a branch; only in terms may it stand in a reference."""
        kind, types = self.writer.kinds.of(expr), self.writer.types
        constructor = self.writer.constructor(expr)
        parts = ", ".join(self._pattern(item, new) for item in expr.items)
        text = f"{constructor}{{{parts}}}"
        if kind not in types.recursive:
            return f"Some{{{text}}}" if kind in types.optional else text
        if new:
            return text
        return f"Some{{&{text}}}" if kind in types.optional else f"&{text}"

    def _later(self, expr: ast.Expr) -> str:
        """A new variable in the place of an expression, which it must be equal to."""
        name = f"%{self._hint(expr)}#{next(self.number)}"
        self.bound.add(name)
        self.uses[name] = 2
        self.deferred.append(ast.Compare(expr.span, "=", ast.Var(expr.span, name), expr))
        return self.writer.naming.name(name)

    def _hint(self, expr: ast.Expr) -> str:
        return expr.name if isinstance(expr, ast.Var) else "value"


def has_wildcard(expr: ast.Expr) -> bool:
    """Whether a part of the expression is `_`."""
    match expr:
        case ast.Wildcard():
            return True
        case ast.Record(_, items) | ast.Branch(_, _, items):
            return any(map(has_wildcard, items))
    return False
