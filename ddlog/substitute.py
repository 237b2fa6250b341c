"""Walks over core expressions: rebuilding one from new children, and replacing parts of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
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
    fields = {f.name: getattr(expr, f.name) for f in dataclasses.fields(expr)}
    new = {name: _transform_field(value, change) for name, value in fields.items()}
    return dataclasses.replace(
        expr, **{name: value for name, value in new.items() if value is not fields[name]}
    )


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and all expressions in it."""
    yield expr
    for field in dataclasses.fields(expr):
        value = getattr(expr, field.name)
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
        return tuple(transform(item, change) for item in value)
    return value


def _is_expr(value: Any) -> TypeGuard[Expr]:
    return isinstance(value, _NODES)
