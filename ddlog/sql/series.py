"""GENERATE_SERIES and RANGE, as tables and as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import tree
from . import conversions as c
from .types import INTEGER, TIMESTAMP, TIMESTAMPTZ, SqlType, SqlValue, list_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .scalars import Scalars


def series_of(s: Scalars, call: Expression) -> tuple[Sequence[SqlValue], str, SqlType]:
    """The values on which a series depends, a template for these that gives its vector, and the type of its
    elements. Raises SqlError."""
    ends = [s.value(call.args[key]) for key in ("start", "end")]
    step = c.integer(1) if call.args.get("step") is None else s.value(call.args["step"])
    is_open = "true" if call.args.get("is_end_exclusive") else "false"
    if not isinstance(step.constant, tuple):
        if any(each.type != INTEGER for each in (*ends, step)):
            wrong = next(each for each in (*ends, step) if each.type != INTEGER)
            s.places.mistyped(s.places.called(call), str(wrong.type), call)
        return [*ends, step], f"sql::series($, $, $, {is_open})", INTEGER
    type = TIMESTAMPTZ if TIMESTAMPTZ in [each.type for each in ends] else TIMESTAMP
    zone = c.zone() if type == TIMESTAMPTZ else c.UTC
    moments = [made for each in ends if (made := c.convert(each, type)) is not None]
    if len(moments) < 2:
        s.places.mistyped(s.places.called(call), str(ends[0].type), call)
    return [*moments, step], f'sql::moments($, $, $, {is_open}, "{zone}")', type


def listed(s: Scalars, node: Expression) -> SqlValue:
    """A series as a list."""
    if node.args.get("end") is None:
        node = node.copy()
        node.set("end", node.args["start"])
        node.set("start", sql.Literal.number(0))
    values, template, type = series_of(s, node)
    cell = c.outside(SqlValue(tree("x"), type)).tree

    def made(*plain: Expr) -> Expr:
        return tree("$.map(|x| Some{$})", tree(template, *plain), cell)

    return c.strict(values, made, list_of(type))
