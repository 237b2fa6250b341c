"""Operators and functions of numbers of SQL, a translation each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr
from ..syntax.templates import tree
from . import conversions as c
from .intervals import multiple, negated, summed
from .scalars import Scalars, Translate
from .types import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MOST_PLACES,
    NULL,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlValue,
    common,
    decimal,
    null,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def sum_of(s: Scalars, node: Expression) -> SqlValue:
    """`+` and `-`, of numbers, of dates and days, of moments and intervals."""
    op = "+" if isinstance(node, sql.Add) else "-"
    left, right = node.this, node.expression
    a, b = s.value(left), s.value(right)
    if INTERVAL in (a.type, b.type):
        return summed(s, op, a, b, node)
    if op == "-" and TIMESTAMPTZ in (a.type, b.type):
        instants = [each for each in (c.convert(v, TIMESTAMPTZ) for v in (a, b)) if each is not None]
        if len(instants) == 2:
            call = "between($, $)" if c.zone() == c.UTC else f'between_in($, $, "{c.zone()}")'
            return c.strict(instants, f"sql::{call}", INTERVAL)
    match a.type.kind, b.type.kind:
        case "date", "integer":
            return c.strict([a, b], f"$ {op} $", DATE)
        case "integer", "date" if op == "+":
            return c.strict([a, b], "$ + $", DATE)
        case "date", "date" if op == "-":
            return c.strict([a, b], "$ - $", INTEGER)
        case ("timestamp", "timestamp") | ("date", "timestamp") | ("timestamp", "date") if op == "-":
            moments = [each for each in (c.convert(v, TIMESTAMP) for v in (a, b)) if each is not None]
            return c.strict(moments, "sql::between($, $)", INTERVAL)
    a, b = s.as_number(a, left), s.as_number(b, right)
    type = common([a.type, b.type]) or DOUBLE
    x, y = c.convert(a, type), c.convert(b, type)
    assert x is not None and y is not None
    return c.strict([x, y], f"$ {op} $", type)


def product(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.value(node.this), s.value(node.expression)
    if INTERVAL in (a.type, b.type):
        return multiple(s, *((a, b) if a.type == INTERVAL else (b, a)), node)
    a, b = s.as_number(a, node.this), s.as_number(b, node.expression)
    if NULL in (a.type, b.type):
        return null(common([a.type, b.type]) or NULL)
    scale = a.type.scale + b.type.scale
    if a.type.is_exact and b.type.is_exact and scale <= MOST_PLACES:
        return c.strict([a, b], "$ * $", decimal(scale))
    return _on_doubles([a, b], "$ * $")


def _on_doubles(values: list[SqlValue], build: str | Callable[..., Expr]) -> SqlValue:
    """A double that is a function of doubles, of numbers of any kind."""
    brought = [v if v.type == NULL else c.convert(v, DOUBLE) for v in values]
    return c.strict([v for v in brought if v is not None], build, DOUBLE)


def quotient(s: Scalars, node: Expression) -> SqlValue:
    value = s.value(node.this)
    if value.type == INTERVAL:
        return multiple(s, value, s.value(node.expression), node)
    return _on_doubles([s.number(node.this), s.number(node.expression)], "$ / $")


def whole_quotient(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.number(node.this), s.number(node.expression)
    if {a.type, b.type} <= {INTEGER, NULL}:
        return c.strict([a, b], "$ / $", INTEGER)
    s.places.refuse("// of other numbers than integers", node, "write FLOOR(x / y) or TRUNC(x / y)")


def remainder(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.number(node.this), s.number(node.expression)
    type = common([a.type, b.type]) or NULL
    if type == NULL:
        return null(INTEGER)
    if type == DOUBLE:
        return _on_doubles([a, b], "sql::double_mod($, $)")
    x, y = c.convert(a, type), c.convert(b, type)
    assert x is not None and y is not None
    return c.strict([x, y], "$ % $", type)


def negative(s: Scalars, node: Expression) -> SqlValue:
    value = s.value(node.this)
    if value.type == INTERVAL:
        return negated(value)
    value = s.as_number(value, node.this)
    if isinstance(value.constant, int) and value.type.is_exact:
        return c.integer(-value.constant, value.type)
    if value.type == NULL:
        return null(INTEGER)
    return c.strict([value], "-$", value.type)


def absolute(s: Scalars, node: Expression) -> SqlValue:
    value = s.number(node.this)
    zero = "0.0" if value.type == DOUBLE else "0"
    return c.strict([value], f"{{var y = $; if (y < {zero}) (-y) else y}}", value.type)


def sign_of(s: Scalars, node: Expression) -> SqlValue:
    value = s.number(node.this)
    zero, above = ("0.0", "y > 0.0 and not sql::is_nan(y)") if value.type == DOUBLE else ("0", "y > 0")
    signs = f"if (y < {zero}) (-(1: bigint)) else if ({above}) (1: bigint) else (0: bigint)"
    return c.strict([value], f"{{var y = $; {signs}}}", INTEGER)


def _digits(s: Scalars, node: Expression | None, where: Expression) -> int:
    if node is None:
        return 0
    value = s.value(node)
    if not isinstance(value.constant, int) or value.type != INTEGER:
        s.places.refuse("a number of places that is not a constant", where)
    return value.constant


def rounded(s: Scalars, node: Expression) -> SqlValue:
    """ROUND and TRUNC, to some digits."""
    value, is_round = s.number(node.this), isinstance(node, sql.Round)
    digits = _digits(s, node.args.get("decimals"), node)
    if value.type == DOUBLE and is_round:
        return c.strict([value], lambda x: tree("sql::double_round($, $)", x, c.integer(digits).tree), DOUBLE)
    if value.type == DOUBLE:
        if abs(digits) > 300:
            s.places.refuse("TRUNC to so many places", node)
        there, back = "*/" if digits > 0 else "/*"
        made = f"sql::double_trunc(x {there} 1e{abs(digits)}) {back} 1e{abs(digits)}"
        form = f"{{var x = $; var y = {made}; if (sql::is_finite(y)) y else x}}"
        return c.strict([value], form if digits else "sql::double_trunc($)", DOUBLE)
    scale = value.type.scale
    if digits >= scale:
        return value
    drop, type = 10 ** (scale - digits), decimal(max(digits, 0))
    again = 10 ** max(-digits, 0)
    return c.strict([value], f"sql::{'rounded' if is_round else 'trunc_div'}($, {drop}) * {again}", type)


def towards(name: str) -> Translate:
    """FLOOR and CEIL: of integers they are doubles, as DuckDB has it."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        value = s.number(node.this)
        if value.type == DOUBLE:
            return c.strict([value], f"sql::double_{name}($)", DOUBLE)
        if value.type.scale == 0:
            return _on_doubles([value], lambda x: x)
        scale = 10**value.type.scale
        return c.strict([value], f"sql::{name}_div($, {scale})", INTEGER)

    return translate


NUMBERS: dict[type[Expression], Translate] = {
    sql.Add: sum_of,
    sql.Sub: sum_of,
    sql.Mul: product,
    sql.Div: quotient,
    sql.IntDiv: whole_quotient,
    sql.Mod: remainder,
    sql.Neg: negative,
    sql.Abs: absolute,
    sql.Sign: sign_of,
    sql.Round: rounded,
    sql.Floor: towards("floor"),
    sql.Ceil: towards("ceil"),
    sql.Trunc: rounded,
}
"""The translation of each kind of node about numbers."""
