"""Operators and functions of numbers of Spark's SQL, where they differ from DuckDB's.

A decimal has digits and places, by which Spark chooses those of a sum, a product, a quotient and a mean: at
most 38, of which 6 places are kept. Here only the places count, and a number may have any digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax.templates import tree
from . import arithmetic
from . import conversions as c
from .calls import call, of_arguments
from .intervals import multiple
from .scalars import Scalars, Translate
from .types import (
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    LEAST_PLACES,
    MOST_PLACES,
    NULL,
    TIMESTAMP,
    VARCHAR,
    SqlValue,
    bounded,
    common,
    decimal,
    null,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

DAY = 86_400_000_000


def _is_decimal(*values: SqlValue) -> bool:
    return any(v.type.kind == "decimal" for v in values) and all(v.type.is_exact for v in values)


def sum_of(s: Scalars, node: Expression) -> SqlValue:
    """`+` and `-`: the difference of days is an interval, and a day plus whole days or months is a day."""
    a, b = s.value(node.this), s.value(node.expression)
    minus = isinstance(node, sql.Sub)
    if minus and (a.type, b.type) == (DATE, DATE):
        return c.strict([a, b], f"sql::between($ * {DAY}, $ * {DAY})", INTERVAL)
    made = arithmetic.sum_of(s, node)
    moved = (a, b) if a.type == DATE else (b, a)
    if made.type == TIMESTAMP and moved[0].type == DATE and moved[1].type == INTERVAL:
        if not isinstance(moved[1].constant, tuple):
            s.places.refuse("an interval that is not a constant beside a DATE", node)
        if moved[1].constant[2] == 0:
            return s.places.dialect.cast(made, DATE, may_fail=False) or made
    if _is_decimal(a, b):
        digits = 1 + made.type.scale + max(v.type.digits - v.type.scale for v in (a, b))
        return c.strict([made], lambda x: x, decimal(made.type.scale, min(digits, MOST_PLACES)))
    return made


def product(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.value(node.this), s.value(node.expression)
    if not _is_decimal(a, b):
        return arithmetic.product(s, node)
    scale = a.type.scale + b.type.scale
    type = bounded(a.type.digits + b.type.digits + 1, scale)
    drop = 10 ** (scale - type.scale)
    return c.strict([a, b], f"sql::rounded($ * $, {drop})" if drop > 1 else "$ * $", type)


def quotient(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.value(node.this), s.value(node.expression)
    if a.type == INTERVAL:
        return multiple(s, a, b, node)
    a, b = s.as_number(a, node.this), s.as_number(b, node.expression)
    if not _is_decimal(a, b):
        brought = [v if v.type == NULL else c.convert(v, DOUBLE) for v in (a, b)]
        return c.strict([v for v in brought if v is not None], "sparksql::ratio($, $)", DOUBLE)
    scale = max(LEAST_PLACES, a.type.scale + b.type.digits + 1)
    type = bounded(a.type.digits - a.type.scale + b.type.scale + scale, scale)
    by = type.scale - a.type.scale + b.type.scale
    form = f"$ * {10**by}, $" if by >= 0 else f"$, $ * {10**-by}"
    return c.strict([a, b], f"sparksql::quotient({form})", type)


@of_arguments
def safe_quotient(s: Scalars, node: Expression, first: Expression, second: Expression) -> SqlValue:
    """TRY_DIVIDE: NULL for a divisor of 0."""
    divisor = s.value(second)
    checked = sql.Nullif(this=second.copy(), expression=sql.Literal.number(0))
    if not divisor.type.is_number:
        s.places.mistyped(s.places.called(node), str(divisor.type), second)
    return quotient(s, sql.Div(this=first.copy(), expression=checked))


def whole_quotient(s: Scalars, node: Expression) -> SqlValue:
    """`div`, towards 0."""
    a, b = s.number(node.this), s.number(node.expression)
    type = common([a.type, b.type]) or NULL
    if type == NULL:
        return null(INTEGER)
    x, y = c.convert(a, type), c.convert(b, type)
    if type == DOUBLE or x is None or y is None:
        s.places.mistyped("div", f"{a.type} and {b.type}", node)
    return c.strict([x, y], "sql::trunc_div($, $)", INTEGER)


def remainder(s: Scalars, node: Expression) -> SqlValue:
    """`%`, a fault for 0."""
    a, b = s.number(node.this), s.number(node.expression)
    if DOUBLE not in (a.type, b.type) or NULL in (a.type, b.type):
        return arithmetic.remainder(s, node)
    brought = [c.convert(v, DOUBLE) for v in (a, b)]
    values = [v for v in brought if v is not None]
    checked = c.strict([values[1]], "if ($0 == 0.0) sparksql::ratio(1.0, $0) else $0", DOUBLE)
    return c.strict([values[0], checked], "sql::double_mod($, $)", DOUBLE)


@of_arguments
def positive_remainder(s: Scalars, node: Expression, of: Expression, by: Expression) -> SqlValue:
    """PMOD: a remainder that is not negative for a positive divisor."""
    a, b = s.number(of), s.number(by)
    type = common([a.type, b.type])
    x, y = (c.convert(v, type) if type is not None else None for v in (a, b))
    if type is None or not type.is_exact or x is None or y is None:
        s.places.mistyped(s.places.called(node), f"{a.type} and {b.type}", node)
    return c.strict([x, y], "{var r = $0 % $1; if (r < 0) ((r + $1) % $1) else r}", type)


def rounding(name: str) -> Translate:
    """ROUND and BROUND: doubles by their shortest texts."""

    @of_arguments
    def translate(s: Scalars, node: Expression, of: Expression, places: Expression | None = None) -> SqlValue:
        value, digits = s.number(of), 0 if places is None else s.value(places).constant
        if isinstance(digits, bool) or not isinstance(digits, int):
            s.places.refuse("a number of places that is not a constant", node)
        if value.type in (DOUBLE, NULL):
            made = c.strict(
                [value], lambda x: tree(f"sparksql::{name}($, $)", x, c.integer(digits).tree), DOUBLE
            )
            return made
        scale = value.type.scale
        if digits >= scale:
            return value
        drop, again = 10 ** (scale - digits), 10 ** max(-digits, 0)
        type = decimal(max(digits, 0), value.type.digits - scale + max(digits, 0) + 1)
        exact = "sql::rounded" if name == "round_up" else "sparksql::rounded_even"
        return c.strict([value], f"{exact}($, {drop}) * {again}", type)

    return translate


def towards(name: str) -> Translate:
    """FLOOR and CEIL: whole numbers."""

    @of_arguments
    def translate(s: Scalars, node: Expression, of: Expression, places: Expression | None = None) -> SqlValue:
        if places is not None:
            s.places.refuse(f"{s.places.called(node)} with a number of places", node)
        value = s.number(of)
        if value.type == DOUBLE:
            return c.strict([value], f"sql::from_double(sql::double_{name}($), 0)", INTEGER)
        scale = 10**value.type.scale
        return value if scale == 1 else c.strict([value], f"sql::{name}_div($, {scale})", INTEGER)

    return translate


@of_arguments
def _logarithm(s: Scalars, node: Expression, base: Expression, of: Expression | None = None) -> SqlValue:
    """LOG(x), LOG(base, x): NULL for what has none."""
    if of is None:
        return NUMBERS["ln"](s, node)
    values = [s.brought(each, DOUBLE, node) for each in (of, base)]
    parts = [c.strict([each], "sparksql::logarithm($)", DOUBLE, optional=True) for each in values]
    return c.strict(parts, "sparksql::ratio($, $)", DOUBLE)


def _positive(form: str) -> Translate:
    return call(f"if ($0 > 0.0) Some{{{form}}} else None", DOUBLE, "0 double", optional=True)


def _sign(s: Scalars, node: Expression) -> SqlValue:
    """SIGN and SIGNUM, as a double."""
    form = "if ($0 > 0.0 and not sql::is_nan($0)) 1.0 else if ($0 < 0.0) (-1.0) else $0"
    return call(form, DOUBLE, "0 double")(s, node)


@of_arguments
def _sum_or_null(s: Scalars, node: Expression, a: Expression, b: Expression) -> SqlValue:
    """TRY_ADD and the like: nothing overflows here."""
    kind = {"try_add": sql.Add, "try_subtract": sql.Sub, "try_multiply": sql.Mul}[node.name.lower()]
    return s.value(kind(this=a.copy(), expression=b.copy()))


NUMBERS: dict[str, Translate] = {
    "bin": call("sparksql::binary($)", VARCHAR, "0 integer"),
    "bit_count": call(f'sql::bit_count(sql::bits("&", $, {(1 << 64) - 1}))', INTEGER, "0 integer"),
    "bround": rounding("round_even"),
    "ceil": towards("ceil"),
    "ceiling": towards("ceil"),
    "conv": call("sparksql::converted($, $, $)", VARCHAR, "0 text", "1 integer", "2 integer", optional=True),
    "cot": call("sparksql::ratio(1.0, sql::double_of(\"tan\", $))", DOUBLE, "0 double"),
    "e": of_arguments(lambda s, node: c.double(math.e)),
    "expm1": call("sql::double_exp($) - 1.0", DOUBLE, "0 double"),
    "factorial": call("sparksql::factorial($)", INTEGER, "0 integer", optional=True),
    "floor": towards("floor"),
    "format_number": call("sparksql::format_number($, $)", VARCHAR, "0 double", "1 integer"),
    "hypot": call("sql::double_sqrt($0 * $0 + $1 * $1)", DOUBLE, "0 double", "1 double"),
    "ln": call("sparksql::logarithm($)", DOUBLE, "0 double", optional=True),
    "log": _logarithm,
    "log10": _positive('sql::double_of("log10", $0)'),
    "log1p": call("sparksql::logarithm($ + 1.0)", DOUBLE, "0 double", optional=True),
    "log2": _positive('sql::double_of("log2", $0)'),
    "mod": of_arguments(lambda s, node, a, b: s.value(sql.Mod(this=a.copy(), expression=b.copy()))),
    "negative": of_arguments(lambda s, node, a: s.value(sql.Neg(this=a.copy()))),
    "pmod": positive_remainder,
    "positive": of_arguments(lambda s, node, a: s.number(a)),
    "rint": call("sparksql::round_even($, 0)", DOUBLE, "0 double"),
    "round": rounding("round_up"),
    "shiftleft": call("sparksql::shifted($, $)", INTEGER, "0 integer", "1 integer"),
    "shiftright": call("sparksql::shifted($0, -$1)", INTEGER, "0 integer", "1 integer"),
    "sign": _sign,
    "signum": _sign,
    "width_bucket": call("sparksql::width_bucket($, $, $, $)", INTEGER, "0 double", "1 double", "2 double",
                         "3 integer", optional=True),
    "try_add": _sum_or_null,
    "try_divide": safe_quotient,
    "try_multiply": _sum_or_null,
    "try_subtract": _sum_or_null,
}  # fmt: skip
"""The translation of each function of numbers."""
