"""Functions that are a template over arguments of known kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import conversions as c
from .scalars import Scalars, Translate
from .types import DATE, DOUBLE, INTEGER, TIMESTAMP, VARCHAR, SqlType, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_KINDS = {"text": VARCHAR, "integer": INTEGER, "double": DOUBLE, "timestamp": TIMESTAMP, "date": DATE}


def call(template: str, type: SqlType, *arguments: str, optional: bool = False) -> Translate:
    """A function, by a template and the names and kinds of its arguments, `this text`; `0 text` is the first
    one of a function without a class. `optional`: the template is an Option."""
    named = [each.split() for each in arguments]

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = [(argument(node, name), _KINDS[kind]) for name, kind in named]
        if len(list(node.iter_expressions())) != len(named) or any(each is None for each, _ in given):
            s.places.wrong(f"{s.places.called(node)} takes {len(named)} arguments", node)
        values = [_brought(s, each, kind, node) for each, kind in given if each is not None]
        return c.strict(values, template, type, optional=optional)

    return translate


def argument(node: Expression, name: str) -> Expression | None:
    """The argument of a function by its name, or by its place for one without a class."""
    if not name.isdigit():
        found: Expression | None = node.args.get(name)
        return found
    return node.expressions[int(name)] if int(name) < len(node.expressions) else None


def _brought(s: Scalars, node: Expression, kind: SqlType, whole: Expression) -> SqlValue:
    """An argument as a value of a type. Raises SqlError."""
    value = s.value(node)
    made = null(kind) if value.type.kind == "null" else c.convert(value, kind)
    if made is None:
        s.places.mistyped(s.places.called(whole), str(value.type), node)
    return made
