"""Walks over core expressions: the parts of one, and one rebuilt from changed parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import is_
from typing import Any, TypeGuard, get_args

from . import expressions as core
from .expressions import Expr, Match, Var

_NODES: tuple[type, ...] = get_args(Expr)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly in an expression, in the order of evaluation."""
    match expr:
        case core.Op() | core.MakeStruct() | core.Call():
            return expr.args
        case core.Apply(function, args):
            return function, *args
        case core.Cast() | core.Slice() | core.GetField() | core.GetItem() | core.Try():
            return (expr.arg,)
        case core.MakeTuple(items) | core.Block(items):
            return items
        case core.If(condition, then, otherwise):
            return condition, then, otherwise
        case core.Match(arg, arms):
            return (arg, *(body for _, body in arms))
        case core.Declare(_, value) | core.Return(value):
            return (value,)
        case core.Closure(_, captured):
            return captured
        case core.Assign(target, value):
            return target, value
        case core.For(_, collection, body):
            return collection, body
    return ()


def descendants(expr: Expr) -> Iterator[Expr]:
    """The expression and all expressions in it, each before its parts."""
    waiting = [expr]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(children(each))


def mentions(expr: Expr, name: str) -> bool:
    """Whether the variable occurs in the expression."""
    return any(isinstance(each, Var) and each.name == name for each in descendants(expr))


def called(expr: Expr) -> set[str]:
    """The keys of the functions that the expression calls itself, or makes closures of."""
    return {each.function for each in descendants(expr) if isinstance(each, core.Call | core.Closure)}


def transform(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with each outermost part for which `change` gives an expression replaced by it."""
    changed = change(expr)
    if changed is not None:
        return changed
    if isinstance(expr, Match):
        arms = tuple((pattern, transform(arm, change)) for pattern, arm in expr.arms)
        return dataclasses.replace(expr, arg=transform(expr.arg, change), arms=arms)
    kind: type = type(expr)
    new: dict[str, Any] = {}
    for name in _field_names(kind):
        before = getattr(expr, name)
        after = _transform_field(before, change)
        if after is not before:
            new[name] = after
    return dataclasses.replace(expr, **new) if new else expr


def resolved(expr: Expr, made: Mapping[str, core.MakeStruct]) -> Expr:
    """The expression with fields of variables that are such structs as what they were made of."""

    def change(part: Expr) -> Expr | None:
        match part:
            case core.GetField(Var(name), field) if name in made:
                whole = made[name]
                names = [each for each, _ in whole.constructor.fields]
                return whole.args[names.index(field)] if field in names else None
        return None

    return transform(expr, change) if made else expr


def _transform_field(value: Any, change: Callable[[Expr], Expr | None]) -> Any:
    if _is_expr(value):
        return transform(value, change)
    if isinstance(value, tuple) and value and all(map(_is_expr, value)):
        items = tuple(transform(item, change) for item in value)
        return value if all(map(is_, items, value)) else items
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a node that may hold expressions."""
    return tuple(f.name for f in dataclasses.fields(kind) if f.name not in ("type", "span"))


def _is_expr(value: Any) -> TypeGuard[Expr]:
    return isinstance(value, _NODES)
