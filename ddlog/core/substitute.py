"""Walks over core expressions: rebuilding one from new children, and replacing parts of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from operator import is_
from typing import Any, TypeGuard, get_args

from .core import Expr, Match, Var

_NODES: tuple[type, ...] = get_args(Expr)


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


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and all expressions in it."""
    yield expr
    kind: type = type(expr)
    for name in _field_names(kind):
        value = getattr(expr, name)
        for child in value if isinstance(value, tuple) else (value,):
            inner = child[1] if isinstance(child, tuple) and len(child) == 2 else child
            if _is_expr(inner):
                yield from parts(inner)


def mentions(expr: Expr, name: str) -> bool:
    """Whether the variable occurs in the expression."""
    return any(isinstance(part, Var) and part.name == name for part in parts(expr))


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
