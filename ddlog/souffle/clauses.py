"""Rules in the form from which they are translated: heads, and a conjunction of plain literals.

A rule with alternatives has become several. Aggregates and ranges stand alone, as literals that define a
variable; variables that are local to an aggregate have names that nothing outside has (`x#2`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

from ..errors.source import Span
from . import syntax as ast

# The aggregates that count every way in which their body holds, and so every column of it.
OF_WITNESSES = ("count", "sum", "mean")


@dataclass(frozen=True, slots=True)
class Negated(ast.Node):
    """`!A(..)`, `!match(..)` or `!contains(..)`"""

    term: ast.Atom | ast.Test


@dataclass(frozen=True, slots=True)
class Range(ast.Node):
    """`x = range(a, b, c)`: every value of the range."""

    var: str
    args: tuple[ast.Expr, ...]


@dataclass(frozen=True, slots=True)
class Summary(ast.Node):
    """`x = sum e : { body; body }`; `outer` are its variables that are bound outside it."""

    var: str
    function: str
    target: ast.Expr | None
    bodies: tuple[tuple[Literal, ...], ...]
    outer: tuple[str, ...]


Literal: TypeAlias = ast.Atom | Negated | ast.Compare | ast.Test | Range | Summary


@dataclass(frozen=True, slots=True)
class HornClause:
    """One alternative of a rule."""

    heads: tuple[ast.Atom, ...]
    body: tuple[Literal, ...]
    span: Span


def variables(node: Any) -> Iterator[ast.Var]:
    """The variables of an expression or a literal with their places, those inside a summary's bodies left
    out."""
    match node:
        case ast.Var():
            yield node
        case Range(span, name, args):
            yield ast.Var(span, name)
            yield from variables(args)
        case Summary(span, name, _, _, _, outer):
            yield ast.Var(span, name)
            yield from (ast.Var(span, each) for each in outer)
        case tuple():
            for each in node:
                yield from variables(each)
        case _ if is_dataclass(node) and not isinstance(node, Span):
            for each in fields(node):
                if each.name != "span":
                    yield from variables(getattr(node, each.name))


def names_of(node: Any) -> set[str]:
    """The names of `variables`."""
    return {var.name for var in variables(node)}


def rebuilt(node: Any, change: Callable[[Any], Any], into_aggregates: bool = False) -> Any:
    """The node with every expression in it changed, the inner ones first."""
    if isinstance(node, tuple):
        return tuple(rebuilt(each, change, into_aggregates) for each in node)
    if not is_dataclass(node) or isinstance(node, Span):
        return node
    if isinstance(node, ast.Aggregate) and not into_aggregates:
        return change(node)
    changes = {
        each.name: rebuilt(getattr(node, each.name), change, into_aggregates)
        for each in fields(node)
        if each.name not in ("span", "plan")
    }
    return change(replace(node, **changes))  # type: ignore[type-var]
