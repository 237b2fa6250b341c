"""Rules in the form from which they are translated: heads, and a conjunction of plain literals.

A rule with alternatives has become several. Aggregates and ranges stand alone, as literals that define a
variable; variables that are local to an aggregate have names that nothing outside has (`x#2`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..errors.source import Span
from ..syntax.walk import nodes, rebuilt
from . import syntax as ast

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# The aggregates that count every way in which their body holds, and so every column of it.
OF_WITNESSES = ("count", "sum", "mean")


@dataclass(frozen=True, slots=True)
class Negated(ast.SouffleNode):
    """`!A(..)`, `!match(..)` or `!contains(..)`"""

    term: ast.Predicate | ast.Test


@dataclass(frozen=True, slots=True)
class Range(ast.SouffleNode):
    """`x = range(a, b, c)`: every value of the range."""

    var: str
    args: tuple[ast.Expr, ...]


@dataclass(frozen=True, slots=True)
class Summary(ast.SouffleNode):
    """`x = sum e : { body; body }`; `outer` are its variables that are bound outside it."""

    var: str
    function: str
    target: ast.Expr | None
    bodies: tuple[tuple[Literal, ...], ...]
    outer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowNumber(ast.SouffleNode):
    """`x = autoinc()`: a number for each row of the rest of the body."""

    var: str


Literal: TypeAlias = ast.Predicate | Negated | ast.Compare | ast.Test | Range | Summary | RowNumber


@dataclass(frozen=True, slots=True)
class HornClause:
    """One alternative of a rule."""

    heads: tuple[ast.Predicate, ...]
    body: tuple[Literal, ...]
    span: Span


def variables(node: Any) -> Iterator[ast.Named]:
    """The variables of an expression or a literal with their places, those inside a summary's bodies left
    out."""
    for each in nodes(node, Summary):
        match each:
            case ast.Named():
                yield each
            case Summary(span, name, outer=outer):
                yield from (ast.Named(span, one) for one in (name, *outer))
            case RowNumber(span, name) | Range(span, name):
                yield ast.Named(span, name)


def names_of(node: Any) -> set[str]:
    """The names of `variables`."""
    return {var.name for var in variables(node)}


def atoms_of(node: Any) -> Iterator[ast.Predicate]:
    """The terms of a body, also those in aggregates."""
    return (each for each in nodes(node) if isinstance(each, ast.Predicate))


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """The node with other names of variables, also in aggregates."""

    def rename(each: Any) -> Any:
        match each:
            case ast.Named(_, name):
                return replace(each, name=names.get(name, name))
            case Range(_, name) | RowNumber(_, name):
                return replace(each, var=names.get(name, name))
            case Summary(_, name):
                outer = tuple(sorted(names.get(one, one) for one in each.outer))
                return replace(each, var=names.get(name, name), outer=outer)
        return each

    return rebuilt(node, rename)
