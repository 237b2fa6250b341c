"""Trees by templates: text with holes, parsed once and filled with trees.

    tree("sql::rounded($, $)", value, 100)
    tree("match ($) {Some{$1} -> $1, None -> 0}", value, VarDecl("x", NOWHERE))

`$` is the next of the trees that are given, `$1` the one with that number, from 0 on; where a type must
stand, it is a type. A filled tree stands `at` the place of what it was made for. It may also stand nowhere
until `placed` gives it that place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Any, TypeAlias, TypeVar

from .. import syntax as ast
from ..errors.source import Source, Span
from .parser import parse_query
from .walk import field_names, nodes, rebuilt

NOWHERE = Span(Source("", ""), 1, 1, 1, 1)
_HOLE = re.compile(r"\$(\d?)")
_TEMPLATES = 4096  # as many as are kept parsed

T = TypeVar("T")
Filler: TypeAlias = Callable[[Sequence[ast.Expr | ast.Type], Span], Any]


def tree(template: str, *given: ast.Expr | ast.Type | int, at: Span = NOWHERE) -> ast.Expr:
    """The expression of a template, with trees and whole numbers in its holes."""
    made: ast.Expr = _filler(template)([integer(e, at) if isinstance(e, int) else e for e in given], at)
    return made


@lru_cache(_TEMPLATES)
def _filler(template: str) -> Filler:
    numbers = count()
    text = _HOLE.sub(lambda hole: f"hole__{hole[1] or next(numbers)}", template)
    return _filling(_parsed(text))


def _parsed(text: str) -> ast.Expr:
    query, wrong = parse_query(Source("", text))
    (clause,) = query.body
    assert not wrong and isinstance(clause, ast.Condition), text
    return clause.expr


def _filling(part: Any) -> Filler:
    match part:
        case ast.Name(name) | ast.NamedType(name) if name.startswith("hole__"):
            number = int(name.removeprefix("hole__"))
            return lambda given, at: given[number]
        case Span():
            return lambda given, at: at
        case tuple():
            items = [_filling(each) for each in part]
            return lambda given, at: tuple([each(given, at) for each in items])
    kind: Any = type(part)
    if not field_names(kind):
        return lambda given, at: part
    parts = [_filling(getattr(part, name)) for name in field_names(kind)]
    return lambda given, at: kind(*[each(given, at) for each in parts])


@cache
def written_type(text: str) -> ast.Type:
    """A type by its text."""
    typed = tree(f"x: {text}")
    assert isinstance(typed, ast.TypedExpr)
    return typed.type


def placed(part: T, span: Span) -> T:
    """The tree with a place for all of it that stands nowhere."""
    made: T = rebuilt(part, lambda each: span if each is NOWHERE else each)
    return made


def name(text: str, at: Span = NOWHERE) -> ast.Expr:
    """A variable."""
    return ast.Name(text, at)


def integer(number: int, at: Span = NOWHERE) -> ast.Expr:
    """A whole number."""
    return ast.IntLit(number, None, None, at)


def string(text: str, at: Span = NOWHERE) -> ast.Expr:
    """A text."""
    return ast.StringLit(text, at)


def items(*parts: ast.Expr, at: Span = NOWHERE) -> ast.Expr:
    """The tuple of some values; a single one is itself."""
    return parts[0] if len(parts) == 1 else ast.TupleExpr(parts, at)


def tuple_type(parts: Sequence[ast.Type]) -> ast.Type:
    """The type of a tuple of values; a single one has its own."""
    return parts[0] if len(parts) == 1 else ast.TupleType(tuple(parts), NOWHERE)


def let(variable: str, value: ast.Expr, at: Span = NOWHERE, type: ast.Type | None = None) -> ast.Expr:
    """`var variable = value`, or `var variable: type = value`."""
    target: ast.Expr = ast.VarDecl(variable, at)
    return ast.Assign(target if type is None else ast.TypedExpr(target, type, at), value, at)


def arguments(parts: Iterable[ast.Expr]) -> tuple[ast.Argument, ...]:
    """Arguments by position."""
    return tuple([ast.Argument(None, each, each.span) for each in parts])


def atom(
    relation: str, args: tuple[ast.Argument, ...], at: Span = NOWHERE, *, negated: bool = False
) -> ast.Atom:
    """A term, or a head."""
    return ast.Atom(relation, args, None, at, at, negated=negated)


def names_in(part: Any) -> Iterator[str]:
    """The variables that a tree mentions or binds, from left to right."""
    return (each.name for each in nodes(part) if isinstance(each, ast.Name | ast.VarDecl))
