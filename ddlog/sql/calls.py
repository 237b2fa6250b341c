"""Functions that are a template over arguments of known kinds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .scalars import Scalars, Translate
from .types import BOOLEAN, DATE, DOUBLE, INTEGER, TIMESTAMP, VARCHAR, SqlType, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

KINDS = {
    "text": VARCHAR, "integer": INTEGER, "double": DOUBLE, "timestamp": TIMESTAMP, "date": DATE,
    "boolean": BOOLEAN,
}  # fmt: skip


def call(template: str, type: SqlType, *arguments: str, optional: bool = False) -> Translate:
    """A function, by a template and the names and kinds of its arguments, `this text`; `0 text` is the first
    one of a function without a class, and `for_ integer=-1` one that may be left out. `optional`: the
    template is an Option."""
    named = [(name, *kind.partition("=")[::2]) for name, kind in (each.split() for each in arguments)]
    least = sum(not default for _, _, default in named)

    def translate(s: Scalars, node: Expression) -> SqlValue:
        there = len(list(node.iter_expressions()))
        given = [
            (argument(node, name) or (sql.Literal.number(default) if default else None), KINDS[kind])
            for name, kind, default in named
        ]
        if any(each is None for each, _ in given):
            there = 0
        check_arguments(s, node, there, least, len(named))
        values = [s.brought(each, kind, node) for each, kind in given if each is not None]
        return c.strict(values, template, type, optional=optional)

    return translate


def of_arguments(function: Callable[..., SqlValue]) -> Translate:
    """A call by name whose arguments `function` takes after the node. Other numbers of them are an error."""
    given = list(inspect.signature(function).parameters.values())[2:]
    least = sum(each.default is each.empty and each.kind != each.VAR_POSITIONAL for each in given)
    most = None if any(each.kind == each.VAR_POSITIONAL for each in given) else len(given)

    def translate(s: Scalars, node: Expression) -> SqlValue:
        check_arguments(s, node, len(node.expressions), least, most)
        return function(s, node, *node.expressions)

    return translate


def renamed(kind: type[Expression], count: int) -> Translate:
    """A function of so many arguments that the parser knows by its name alone, as the node of another."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        check_arguments(s, node, len(node.expressions), count, count)
        return s.value(kind.from_arg_list(node.expressions))  # type: ignore[attr-defined]

    return translate


def check_arguments(s: Scalars, node: Expression, there: int, least: int, most: int | None) -> None:
    """Raises SqlError for a call that does not have from `least` to `most` arguments."""
    if least <= there and (most is None or there <= most):
        return
    wanted = f"{least} or more" if most is None else f"{least} to {most}" if least < most else str(least)
    s.places.wrong(f"{s.places.called(node)} takes {wanted} argument{'' if wanted == '1' else 's'}", node)


def either(count: int, shorter: Translate, longer: Translate) -> Translate:
    """A function with two forms, of at most `count` arguments and of more."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        return (longer if len(node.expressions) > count else shorter)(s, node)

    return translate


def argument(node: Expression, name: str) -> Expression | None:
    """The argument of a function by its name, or by its place for one without a class."""
    if not name.isdigit():
        found: Expression | None = node.args.get(name)
        return found
    return node.expressions[int(name)] if int(name) < len(node.expressions) else None
