"""Operators and functions of SQL, a translation each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax.templates import tree
from . import conversions as c
from .arithmetic import NUMBERS
from .calls import call, either, renamed
from .datefunctions import DATES, NAMED_DATES
from .formats import formatted, printed
from .jsons import JSONS, NAMED_JSONS
from .lists import LISTS, NAMED_LISTS, bracket
from .nested import NAMED_NESTED, NESTED, at
from .regexps import NAMED_REGEXPS, REGEXPS
from .scalars import Scalars, Translate, conjoined, connected, is_true
from .series import listed
from .textfunctions import TEXTS
from .types import BOOLEAN, DATE, DOUBLE, INTEGER, NULL, VARCHAR, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def _is(s: Scalars, node: Expression) -> SqlValue:
    value, what = s.value(node.this), node.expression
    if isinstance(what, sql.Null):
        if not value.nullable:
            return c.boolean(value.type == NULL)
        return SqlValue(tree("is_none($)", value.tree), BOOLEAN)
    if isinstance(what, sql.Boolean):
        wanted = "true" if what.this else "false"
        value = s.boolean(node.this)
        return SqlValue(tree(f"$ == Some{{{wanted}}}", value.optional().tree), BOOLEAN)
    s.places.refuse(s.places.called(node), node)


def _same(s: Scalars, node: Expression) -> SqlValue:
    """IS [NOT] DISTINCT FROM."""
    a, b = s.chosen([s.value(node.this), s.value(node.expression)], node, "a comparison")
    a, b = c.span(a), c.span(b)
    op = "==" if isinstance(node, sql.NullSafeEQ) else "!="
    return SqlValue(tree(f"$ {op} $", a.tree, b.tree), BOOLEAN)


def _coalesce(s: Scalars, node: Expression) -> SqlValue:
    values = s.alike([s.value(each) for each in (node.this, *node.expressions)], node, "COALESCE")
    found = values[-1]
    for value in reversed(values[:-1]):
        if not value.nullable:
            found = value
        elif found.nullable:
            found = SqlValue(tree("sql::first_of($, $)", value.tree, found.tree), value.type, True)
        else:
            found = SqlValue(tree("unwrap_or($, $)", value.tree, found.tree), value.type)
    return found


def _nullif(s: Scalars, node: Expression) -> SqlValue:
    a, b = s.value(node.this), s.value(node.expression)
    equal = is_true(s.compared("==", a, b, node))
    if a.type == NULL:
        return a
    made = tree("if ($) $ else $", equal, null(a.type).tree, a.optional().tree)
    return SqlValue(made, a.type, True)


def _if(s: Scalars, node: Expression) -> SqlValue:
    otherwise = node.args.get("false")
    results = [s.value(node.args["true"]), null(NULL) if otherwise is None else s.value(otherwise)]
    return s.choice([s.true(node.this)], results, node)


def _extreme(call: str) -> Translate:
    """GREATEST and LEAST leave NULL out."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        values = s.alike([s.value(each) for each in (node.this, *node.expressions)], node, call.upper())
        found, plain = values[0], "max" if call == "greatest" else "min"
        for each in values[1:]:
            if found.nullable or each.nullable:
                both = tree(f"sql::{call}($, $)", found.optional().tree, each.optional().tree)
                found = SqlValue(both, found.type, True)
            else:
                found = SqlValue(tree(f"{plain}($, $)", found.tree, each.tree), found.type)
        return found

    return translate


def _between(s: Scalars, node: Expression) -> SqlValue:
    value, low, high = (s.value(each) for each in (node.this, node.args["low"], node.args["high"]))

    def within(first: SqlValue, last: SqlValue) -> SqlValue:
        return conjoined(s.compared(">=", value, first, node), s.compared("<=", value, last, node))

    if node.args.get("symmetric"):
        return connected("or", within(low, high), within(high, low))
    return within(low, high)


def _anonymous(s: Scalars, node: Expression) -> SqlValue:
    translate = s.places.dialect.named.get(node.name.lower())
    return s.refuse(node) if translate is None else translate(s, node)


_OF_DOUBLES = (
    sql.Sin, sql.Cos, sql.Tan, sql.Asin, sql.Acos, sql.Atan, sql.Sinh, sql.Cosh, sql.Tanh, sql.Cbrt,
    sql.Degrees, sql.Radians,
)  # fmt: skip


def _math(name: str) -> Translate:
    return call(f'sql::double_of("{name}", $)', DOUBLE, "this double")


def _log(s: Scalars, node: Expression) -> SqlValue:
    """LOG of one number has the base 10; of two, the first is the base."""
    if node.expression is None:
        return _math("log10")(s, node)
    base = s.value(node.this).constant
    if base not in (2, 10):
        return call("sql::double_ln($1) / sql::double_ln($0)", DOUBLE, "this double", "expression double")(
            s, node
        )
    values = "expression double", "this double"
    return call(f'sql::double_of("log{base}", $0)', DOUBLE, *values)(s, node)


def _bits_turned(s: Scalars, node: Expression) -> SqlValue:
    """`~x`, which DuckDB reads as weaker than arithmetic, and the parser as stronger."""
    above = node.parent
    if isinstance(above, sql.Add | sql.Sub | sql.Mul | sql.Div | sql.IntDiv | sql.Mod) and above.this is node:
        s.places.refuse("`~` before arithmetic without parentheses", node, "write (~x) + 1 or ~(x + 1)")
    return call("-$ - 1", INTEGER, "this integer")(s, node)


def _sha256(s: Scalars, node: Expression) -> SqlValue:
    length = node.args.get("length")
    if length is not None and s.value(length).constant != 256:
        s.places.refuse("SHA2 of another length than 256", node)
    return c.strict([s.text(node.this)], "sql::sha256($)", VARCHAR)


NAMED: dict[str, Translate] = {
    **NAMED_DATES,
    "initcap": call("sql::initcap($)", VARCHAR, "0 text"),
    **dict.fromkeys(("ends_with", "suffix"), call("string_ends_with($, $)", BOOLEAN, "0 text", "1 text")),
    "prefix": call("string_starts_with($, $)", BOOLEAN, "0 text", "1 text"),
    "printf": printed,
    "gcd": call("sql::gcd($, $)", INTEGER, "0 integer", "1 integer"),
    "lcm": call("sql::lcm($, $)", INTEGER, "0 integer", "1 integer"),
    "bit_count": call("sql::bit_count($)", INTEGER, "0 integer"),
    "isfinite": call("sql::is_finite($)", BOOLEAN, "0 double"),
    **NAMED_LISTS,
    **NAMED_NESTED,
    **NAMED_JSONS,
    **NAMED_REGEXPS,
    "btrim": either(1, renamed(sql.Trim, 1), renamed(sql.Trim, 2)),
    "ord": renamed(sql.Unicode, 1),
    "strlen": call("string_len($) as bigint", INTEGER, "0 text"),
}
"""The translation of each function that the parser knows by its name alone."""

FUNCTIONS: dict[type[Expression], Translate] = {
    **NUMBERS,
    **DATES,
    **TEXTS,
    sql.Sqrt: call("sql::double_sqrt($)", DOUBLE, "this double"),
    sql.Ln: call("sql::double_ln($)", DOUBLE, "this double"),
    sql.Exp: call("sql::double_exp($)", DOUBLE, "this double"),
    sql.Pow: call("sql::double_pow($, $)", DOUBLE, "this double", "expression double"),
    sql.Glob: call("sql::glob($, $)", BOOLEAN, "this text", "expression text"),
    sql.Upper: call("sql::upper($)", VARCHAR, "this text"),
    sql.Lower: call("sql::lower($)", VARCHAR, "this text"),
    sql.Reverse: call("sql::reversed($)", VARCHAR, "this text"),
    sql.Replace: call("sql::replaced($, $, $)", VARCHAR, "this text", "expression text", "replacement text"),
    sql.StartsWith: call("string_starts_with($, $)", BOOLEAN, "this text", "expression text"),
    sql.EndsWith: call("string_ends_with($, $)", BOOLEAN, "this text", "expression text"),
    sql.StrPosition: call("sql::position($, $)", INTEGER, "this text", "substr text"),
    sql.Left: call("sql::left($, $)", VARCHAR, "this text", "expression integer"),
    sql.Right: call("sql::right($, $)", VARCHAR, "this text", "expression integer"),
    sql.Repeat: call("sql::repeated($, $)", VARCHAR, "this text", "times integer"),
    sql.Is: _is,
    sql.NullSafeEQ: _same,
    sql.NullSafeNEQ: _same,
    sql.Coalesce: _coalesce,
    sql.Nullif: _nullif,
    sql.If: _if,
    sql.Greatest: _extreme("greatest"),
    sql.Least: _extreme("least"),
    sql.Between: _between,
    **{each: _math(each.__name__.lower()) for each in _OF_DOUBLES},
    sql.Pi: lambda s, node: c.double(math.pi),
    sql.Atan2: call("sql::atan2($, $)", DOUBLE, "this double", "expression double"),
    sql.Log: _log,
    sql.IsNan: call("sql::is_nan($)", BOOLEAN, "this double"),
    sql.IsInf: call("not sql::is_finite($0) and not sql::is_nan($0)", BOOLEAN, "this double"),
    sql.BitwiseAnd: call('sql::bits("&", $, $)', INTEGER, "this integer", "expression integer"),
    sql.BitwiseOr: call('sql::bits("|", $, $)', INTEGER, "this integer", "expression integer"),
    sql.BitwiseNot: _bits_turned,
    sql.BitwiseLeftShift: call('sql::bits("<", $, $)', INTEGER, "this integer", "expression integer"),
    sql.BitwiseRightShift: call('sql::bits(">", $, $)', INTEGER, "this integer", "expression integer"),
    sql.BitwiseXor: call('sql::bits("^", $, $)', INTEGER, "this integer", "expression integer"),
    sql.SplitPart: call(
        "sql::split_part($, $, $)", VARCHAR, "this text", "delimiter text", "part_index integer"
    ),
    sql.Translate: call("sql::translated($, $, $)", VARCHAR, "this text", "from_ text", "to text"),
    sql.Chr: call("sql::chr($)", VARCHAR, "0 integer"),
    sql.Ascii: call("sql::ascii($)", INTEGER, "this text"),
    sql.Unicode: call('if ($0 == "") -1 else sql::ascii($0)', INTEGER, "this text"),
    sql.BitLength: call("8 * (string_len($) as bigint)", INTEGER, "this text"),
    sql.MD5: call("sql::md5($)", VARCHAR, "this text"),
    sql.SHA2: _sha256,
    sql.Levenshtein: call("sql::levenshtein($, $)", INTEGER, "this text", "expression text"),
    sql.LastDay: call("sql::last_day($)", DATE, "this timestamp"),
    sql.DateFromParts: call("sql::make_date($, $, $)", DATE, "year integer", "month integer", "day integer"),
    sql.Format: formatted,
    sql.GenerateSeries: listed,
    sql.Anonymous: _anonymous,
    **LISTS,
    sql.Bracket: at(bracket),
    **NESTED,
    **JSONS,
    **REGEXPS,
}
"""The translation of each kind of node."""
