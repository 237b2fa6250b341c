"""Functions of Spark's SQL that choose between values, and casts that are written as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax.templates import tree
from . import conversions as c
from .calls import call, of_arguments
from .scalars import Scalars, Translate, is_true
from .types import BOOLEAN, DATE, DOUBLE, INTEGER, NULL, TIMESTAMP, VARCHAR, SqlType, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


@of_arguments
def _decode(s: Scalars, node: Expression, first: Expression, *others: Expression) -> SqlValue:
    """DECODE(x, a, b, …, z), in which NULL is NULL."""
    if len(others) < 2:
        s.places.refuse("DECODE of a text in a character set", node)
    pairs = list(zip(others[::2], others[1::2], strict=False))
    cases = [
        sql.If(this=sql.NullSafeEQ(this=first.copy(), expression=key.copy()), true=value.copy())
        for key, value in pairs
    ]
    default = others[-1].copy() if len(others) % 2 else None
    return s.value(sql.Case(ifs=cases, default=default))


def _chosen(test: str, first: int, second: int | None) -> Translate:
    """One of the arguments by a test of the first one."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = node.expressions
        if len(given) != max(first, second or 0) + 1:
            s.places.wrong(f"{s.places.called(node)} takes {max(first, second or 0) + 1} arguments", node)
        value = s.value(given[0])
        holds = tree(test, value.optional().tree)
        other = null(NULL) if second is None else s.value(given[second])
        return s.choice([holds], [s.value(given[first]), other], node)

    return translate


def _is_null(wanted: str) -> Translate:
    @of_arguments
    def translate(s: Scalars, node: Expression, given: Expression) -> SqlValue:
        return SqlValue(tree(f"is_{wanted}($)", s.value(given).optional().tree), BOOLEAN)

    return translate


def _is_nan(s: Scalars, node: Expression) -> SqlValue:
    """ISNAN, which NULL is not."""
    found = call("sql::is_nan($)", BOOLEAN, "0 double")(s, node)
    return SqlValue(is_true(found), BOOLEAN)


@of_arguments
def _nanvl(s: Scalars, node: Expression, value: Expression, other: Expression) -> SqlValue:
    """NANVL: another value for NaN."""
    a, b = (s.brought(each, DOUBLE, node) for each in (value, other))
    made = tree("if ($ == Some{true}) $ else $", c.strict([a], "sql::is_nan($)", BOOLEAN).optional().tree,
                b.optional().tree, a.optional().tree)  # fmt: skip
    return SqlValue(made, DOUBLE, True)


def _cast(type: SqlType) -> Translate:
    """A cast that is written as a function."""
    return of_arguments(lambda s, node, of: s.brought(of, type, node))


def _with_zero(make: Callable[[Expression, Expression], Expression]) -> Translate:
    return of_arguments(lambda s, node, a: s.value(make(a.copy(), sql.Literal.number(0))))


_CASTS = {
    "bigint": INTEGER, "boolean": BOOLEAN, "date": DATE, "double": DOUBLE, "float": DOUBLE, "int": INTEGER,
    "smallint": INTEGER, "string": VARCHAR, "timestamp": TIMESTAMP, "tinyint": INTEGER,
}  # fmt: skip

CHOICES: dict[str, Translate] = {
    "decode": _decode,
    "equal_null": of_arguments(
        lambda s, node, a, b: s.value(sql.NullSafeEQ(this=a.copy(), expression=b.copy()))
    ),
    "isnan": _is_nan,
    "isnotnull": _is_null("some"),
    "isnull": _is_null("none"),
    "nanvl": _nanvl,
    "nullifzero": _with_zero(lambda a, zero: sql.Nullif(this=a, expression=zero)),
    "nvl2": _chosen("is_some($)", 1, 2),
    "zeroifnull": _with_zero(lambda a, zero: sql.Coalesce(this=a, expressions=[zero])),
    **{name: _cast(type) for name, type in _CASTS.items()},
}  # fmt: skip
"""The translation of each function that chooses, and of each cast."""
