"""Operators and functions of SQL, a translation each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .scalars import Scalars, Translate, described, is_true
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MOST_PLACES,
    NULL,
    TIMESTAMP,
    VARCHAR,
    SqlType,
    Value,
    common,
    decimal,
    null,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

# ------------------------------------------------------------------- arithmetic


def _sum(s: Scalars, node: Expression) -> Value:
    """`+` and `-`, of numbers, of dates and days, of moments and intervals."""
    op = "+" if isinstance(node, sql.Add) else "-"
    sign = 1 if op == "+" else -1
    left, right = node.this, node.expression
    if op == "+" and isinstance(left, sql.Interval):
        left, right = right, left
    if isinstance(right, sql.Interval):
        return s.moved(s.value(left), s.interval(right, sign).constant, node)  # type: ignore[arg-type]
    a, b = s.value(left), s.value(right)
    match a.type.kind, b.type.kind:
        case "date", "integer":
            return c.strict([a, b], lambda x, y: f"({x} {op} {y})", DATE)
        case "integer", "date" if op == "+":
            return c.strict([a, b], lambda x, y: f"({x} + {y})", DATE)
        case "date", "date" if op == "-":
            return c.strict([a, b], lambda x, y: f"({x} - {y})", INTEGER)
        case ("timestamp", "timestamp") | ("date", "timestamp") | ("timestamp", "date") if op == "-":
            moments = [each for each in (c.convert(v, TIMESTAMP) for v in (a, b)) if each is not None]
            return c.strict(moments, lambda x, y: f"sql::between({x}, {y})", INTERVAL)
    a, b = s.number(left), s.number(right)
    type = common([a.type, b.type]) or DOUBLE
    x, y = c.convert(a, type), c.convert(b, type)
    assert x is not None and y is not None
    return c.strict([x, y], lambda p, q: f"({p} {op} {q})", type)


def _product(s: Scalars, node: Expression) -> Value:
    a, b = s.number(node.this), s.number(node.expression)
    if NULL in (a.type, b.type):
        return null(common([a.type, b.type]) or NULL)
    scale = a.type.scale + b.type.scale
    if a.type.is_exact and b.type.is_exact and scale <= MOST_PLACES:
        return c.strict([a, b], lambda x, y: f"({x} * {y})", decimal(scale))
    return _on_doubles(s, [a, b], lambda x, y: f"({x} * {y})")


def _on_doubles(s: Scalars, values: list[Value], build: Callable[..., str], type: SqlType = DOUBLE) -> Value:
    """A function of doubles, of numbers of any kind."""
    brought = [v if v.type == NULL else c.convert(v, DOUBLE) for v in values]
    return c.strict([v for v in brought if v is not None], build, type)


def _quotient(s: Scalars, node: Expression) -> Value:
    return _on_doubles(s, [s.number(node.this), s.number(node.expression)], lambda x, y: f"({x} / {y})")


def _whole_quotient(s: Scalars, node: Expression) -> Value:
    a, b = s.number(node.this), s.number(node.expression)
    if {a.type, b.type} <= {INTEGER, NULL}:
        return c.strict([a, b], lambda x, y: f"({x} / {y})", INTEGER)
    s.places.refuse("// of other numbers than integers", node)


def _remainder(s: Scalars, node: Expression) -> Value:
    a, b = s.number(node.this), s.number(node.expression)
    type = common([a.type, b.type]) or NULL
    if type == NULL:
        return null(INTEGER)
    if type == DOUBLE:
        return _on_doubles(s, [a, b], lambda x, y: f"sql::double_mod({x}, {y})")
    x, y = c.convert(a, type), c.convert(b, type)
    assert x is not None and y is not None
    return c.strict([x, y], lambda p, q: f"({p} % {q})", type)


def _negative(s: Scalars, node: Expression) -> Value:
    value = s.number(node.this)
    if isinstance(value.constant, int) and value.type.is_exact:
        return c.integer(-value.constant, value.type)
    if value.type == NULL:
        return null(INTEGER)
    return c.strict([value], lambda x: f"(-{x})", value.type)


def _abs(s: Scalars, node: Expression) -> Value:
    value = s.number(node.this)
    zero = "0.0" if value.type == DOUBLE else "0"
    return c.strict([value], lambda x: f"{{var y = {x}; if (y < {zero}) (-y) else y}}", value.type)


def _sign(s: Scalars, node: Expression) -> Value:
    value = s.number(node.this)
    zero = "0.0" if value.type == DOUBLE else "0"
    signs = f"if (y < {zero}) (-(1: bigint)) else if (y > {zero}) (1: bigint) else (0: bigint)"
    return c.strict([value], lambda x: f"{{var y = {x}; {signs}}}", INTEGER)


def _digits(s: Scalars, node: Expression | None, where: Expression) -> int:
    if node is None:
        return 0
    value = s.value(node)
    if not isinstance(value.constant, int) or value.type != INTEGER:
        s.places.refuse("a number of places that is not a constant", where)
    return value.constant


def _round(s: Scalars, node: Expression) -> Value:
    value = s.number(node.this)
    digits = _digits(s, node.args.get("decimals"), node)
    if value.type == DOUBLE:
        return c.strict([value], lambda x: f"sql::double_round({x}, {c.integer(digits).text})", DOUBLE)
    scale = value.type.scale
    if digits >= scale:
        return value
    drop, type = 10 ** (scale - digits), decimal(max(digits, 0))
    again = 10 ** max(-digits, 0)
    return c.strict([value], lambda x: f"(sql::rounded({x}, {drop}) * {again})", type)


def _towards(name: str) -> Translate:
    """FLOOR, CEIL and TRUNC: of integers they are doubles, as DuckDB has it."""

    def translate(s: Scalars, node: Expression) -> Value:
        value = s.number(node.this)
        if value.type == DOUBLE:
            return c.strict([value], lambda x: f"sql::double_{name}({x})", DOUBLE)
        if value.type.scale == 0:
            return _on_doubles(s, [value], lambda x: x) if name != "trunc" else value
        scale = 10**value.type.scale
        return c.strict([value], lambda x: f"sql::{name}_div({x}, {scale})", INTEGER)

    return translate


def _real(name: str, arguments: int = 1) -> Translate:
    def translate(s: Scalars, node: Expression) -> Value:
        values = [s.number(node.this), *([s.number(node.expression)] if arguments == 2 else [])]
        return _on_doubles(s, values, lambda *x: f"sql::double_{name}({', '.join(x)})")

    return translate


# ---------------------------------------------------------------------- strings


def _as_text(s: Scalars, node: Expression) -> Value:
    value = s.value(node)
    made = null(VARCHAR) if value.type == NULL else c.cast(value, VARCHAR, may_fail=False)
    if made is None:
        s.places.mistyped("||", str(value.type), node)
    return made


def _joined(s: Scalars, node: Expression) -> Value:
    parts = [_as_text(s, each) for each in (node.this, node.expression)]
    return c.strict(parts, lambda x, y: f"({x} ++ {y})", VARCHAR)


def _concat(s: Scalars, node: Expression) -> Value:
    """CONCAT leaves NULL out."""
    parts = [_as_text(s, each) for each in node.expressions]
    texts = [f'unwrap_or({p.text}, "")' if p.nullable else p.text for p in parts]
    return Value(f"({' ++ '.join(texts)})", VARCHAR)


def _concat_ws(s: Scalars, node: Expression) -> Value:
    """CONCAT_WS leaves NULL out, too, but for a separator that is NULL."""
    separator, *parts = [_as_text(s, each) for each in node.expressions]
    made = "[" + ", ".join(p.optional().text for p in parts) + "]"
    return c.strict([separator], lambda x: f"sql::concat_ws({x}, {made})", VARCHAR)


def _like(s: Scalars, node: Expression) -> Value:
    escape = ""
    if isinstance(node, sql.Escape):
        escape, node = node.expression.name, node.this
    text, pattern = s.text(node.this), s.text(node.expression)
    call = "sql::ilike" if isinstance(node, sql.ILike) else "sql::like"
    found = _simple_like(text, pattern.constant) if call == "sql::like" and not escape else None
    if found is None:
        found = c.strict([text, pattern], lambda x, y: f"{call}({x}, {y}, {c.quoted(escape)})", BOOLEAN)
    return c.strict([found], lambda x: f"(not ({x}))", BOOLEAN) if node.args.get("negate") else found


def _simple_like(text: Value, pattern: object) -> Value | None:
    """A pattern with `%` at its ends alone, as a plain test."""
    if not isinstance(pattern, str) or "_" in pattern or "\\" in pattern:
        return None
    inner = pattern.strip("%")
    if "%" in inner or not inner:
        return None
    start, end = pattern[0] == "%", pattern[-1] == "%"
    test = {(False, True): "starts_with", (True, False): "ends_with", (True, True): "contains"}.get(
        (start, end)
    )
    if test is None:
        return c.strict([text], lambda x: f"({x} == {c.quoted(inner)})", BOOLEAN)
    return c.strict([text], lambda x: f"string_{test}({x}, {c.quoted(inner)})", BOOLEAN)


def _strings(call: str, *names: str, type: SqlType = VARCHAR) -> Translate:
    """A function of strings, given by the names of its arguments."""

    def translate(s: Scalars, node: Expression) -> Value:
        args = [s.text(node.args[name]) for name in names]
        return c.strict(args, lambda *x: f"{call}({', '.join(x)})", type)

    return translate


def _mixed(call: str, text: str, *numbers: str, type: SqlType = VARCHAR, also: str = "") -> Translate:
    """A function of a string, of integers and perhaps of a last string."""

    def translate(s: Scalars, node: Expression) -> Value:
        args = [s.text(node.args[text]), *(s.number(node.args[name]) for name in numbers)]
        args += [s.text(node.args[also])] if also else []
        return c.strict(args, lambda *x: f"{call}({', '.join(x)})", type)

    return translate


def _substring(s: Scalars, node: Expression) -> Value:
    args = [s.text(node.this), s.number(node.args["start"])]
    length = node.args.get("length")
    if length is None:
        return c.strict(args, lambda x, y: f"sql::substring_from({x}, {y})", VARCHAR)
    return c.strict([*args, s.number(length)], lambda x, y, z: f"sql::substring({x}, {y}, {z})", VARCHAR)


def _trim(s: Scalars, node: Expression) -> Value:
    side = str(node.args.get("position") or "BOTH").lower()
    what = node.args.get("expression")
    letters = c.string(" ") if what is None else s.text(what)
    return c.strict([s.text(node.this), letters], lambda x, y: f"sql::trim_{side}({x}, {y})", VARCHAR)


def _pad(s: Scalars, node: Expression) -> Value:
    side = "left" if node.args.get("is_left") else "right"
    fill = node.args.get("fill_pattern")
    args = [s.text(node.this), s.number(node.expression), c.string(" ") if fill is None else s.text(fill)]
    return c.strict(args, lambda x, y, z: f"sql::pad_{side}({x}, {y}, {z})", VARCHAR)


def _regexp(s: Scalars, node: Expression) -> Value:
    args = [s.text(node.this), s.text(node.expression)]
    return c.strict(args, lambda x, y: f"sql::regexp_matches({x}, {y})", BOOLEAN)


# ------------------------------------------------------------------------ nulls


def _is(s: Scalars, node: Expression) -> Value:
    value, what = s.value(node.this), node.expression
    if isinstance(what, sql.Null):
        if not value.nullable:
            return c.boolean(value.type == NULL)
        return Value(f"is_none({value.text})", BOOLEAN)
    if isinstance(what, sql.Boolean):
        wanted = "true" if what.this else "false"
        value = s.boolean(node.this)
        return Value(f"({value.optional().text} == Some{{{wanted}}})", BOOLEAN)
    s.places.refuse(described(node), node)


def _same(s: Scalars, node: Expression) -> Value:
    """IS [NOT] DISTINCT FROM."""
    a, b = s.chosen([s.value(node.this), s.value(node.expression)], node, "a comparison")
    a, b = c.span(a), c.span(b)
    return Value(f"({a.text} {'==' if isinstance(node, sql.NullSafeEQ) else '!='} {b.text})", BOOLEAN)


def _coalesce(s: Scalars, node: Expression) -> Value:
    values = s.alike([s.value(each) for each in (node.this, *node.expressions)], node, "COALESCE")
    found = values[-1]
    for value in reversed(values[:-1]):
        if not value.nullable:
            found = value
        elif found.nullable:
            found = Value(f"sql::first_of({value.text}, {found.text})", value.type, True)
        else:
            found = Value(f"unwrap_or({value.text}, {found.text})", value.type)
    return found


def _nullif(s: Scalars, node: Expression) -> Value:
    a, b = s.value(node.this), s.value(node.expression)
    equal = is_true(s.compared("==", a, b, node))
    if a.type == NULL:
        return a
    return Value(f"(if ({equal}) (None: Option<{a.type.plain}>) else {a.optional().text})", a.type, True)


def _if(s: Scalars, node: Expression) -> Value:
    otherwise = node.args.get("false")
    results = [s.value(node.args["true"]), null(NULL) if otherwise is None else s.value(otherwise)]
    return s.choice([s.true(node.this)], results, node)


def _extreme(call: str) -> Translate:
    """GREATEST and LEAST leave NULL out."""

    def translate(s: Scalars, node: Expression) -> Value:
        values = s.alike([s.value(each) for each in (node.this, *node.expressions)], node, call.upper())
        found = values[0]
        for each in values[1:]:
            if found.nullable or each.nullable:
                text = f"sql::{call}({found.optional().text}, {each.optional().text})"
                found = Value(text, found.type, True)
            else:
                found = Value(
                    f"{'max' if call == 'greatest' else 'min'}({found.text}, {each.text})", found.type
                )
        return found

    return translate


def _between(s: Scalars, node: Expression) -> Value:
    if node.args.get("symmetric"):
        s.places.refuse("BETWEEN SYMMETRIC", node)
    from .scalars import conjoined

    value = s.value(node.this)
    low = s.compared(">=", value, s.value(node.args["low"]), node)
    return conjoined(low, s.compared("<=", value, s.value(node.args["high"]), node))


# ------------------------------------------------------------------------ dates

_PARTS = {
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DOW", "ISODOW", "DAYOFYEAR", "DOY", "HOUR", "MINUTE", "SECOND",  # noqa: E501
    "CENTURY", "DECADE", "EPOCH",
}  # fmt: skip


def _part_of(s: Scalars, name: str, of: Expression, node: Expression) -> Value:
    value, name = s.value(of), name.upper()
    if value.type.kind not in ("date", "timestamp", "time", "null"):
        s.places.mistyped(f"EXTRACT of {name}", str(value.type), node)
    if value.type.kind == "time" and name not in ("HOUR", "MINUTE", "SECOND"):
        s.places.mistyped(f"EXTRACT of {name}", "TIME", node)
    if name not in _PARTS or name == "EPOCH":
        s.places.refuse(f"the part {name} of a date", node)
    if value.type == DATE:
        return c.strict([value], lambda x: f"sql::date_part({c.quoted(name)}, {x})", INTEGER)
    return c.strict([value], lambda x: f"sql::timestamp_part({c.quoted(name)}, {x})", INTEGER)


def _extract(s: Scalars, node: Expression) -> Value:
    return _part_of(s, node.this.name, node.expression, node)


def _part(name: str) -> Translate:
    return lambda s, node: _part_of(s, name, node.this, node)


def _truncated(s: Scalars, node: Expression) -> Value:
    value, unit = s.value(node.this), node.args["unit"].name.upper()
    if value.type not in (DATE, TIMESTAMP):
        s.places.mistyped("DATE_TRUNC", str(value.type), node)
    if unit not in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_TRUNC to {unit}", node)
    moment = c.convert(value, TIMESTAMP)
    assert moment is not None
    return c.strict([moment], lambda x: f"sql::truncated({c.quoted(unit)}, {x})", TIMESTAMP)


def _difference(s: Scalars, node: Expression) -> Value:
    later, earlier = s.value(node.this), s.value(node.expression)
    unit = node.args["unit"].name.upper() if node.args.get("unit") is not None else "DAY"
    if unit not in ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"):
        s.places.refuse(f"DATE_DIFF in {unit}", node)
    moments = [c.convert(each, TIMESTAMP) for each in (earlier, later)]
    if None in moments:
        s.places.mistyped("DATE_DIFF", f"{earlier.type} and {later.type}", node)
    kept = [each for each in moments if each is not None]
    return c.strict(kept, lambda x, y: f"sql::date_diff({c.quoted(unit)}, {x}, {y})", INTEGER)


def _shifted(sign: int) -> Translate:
    def translate(s: Scalars, node: Expression) -> Value:
        if not isinstance(node.expression, sql.Interval):
            s.places.refuse("a shift of a date by other than an interval", node)
        return s.moved(s.value(node.this), s.interval(node.expression, sign).constant, node)  # type: ignore[arg-type]

    return translate


def _anonymous(s: Scalars, node: Expression) -> Value:
    name, args = node.name.lower(), node.expressions
    if name == "date_part" and len(args) == 2 and isinstance(args[0], sql.Literal):
        return _part_of(s, args[0].name, args[1], node)
    if name in ("ends_with", "suffix") and len(args) == 2:
        return c.strict([s.text(a) for a in args], lambda x, y: f"string_ends_with({x}, {y})", BOOLEAN)
    s.places.refuse(described(node), node)


FUNCTIONS: dict[type[Expression], Translate] = {
    sql.Add: _sum,
    sql.Sub: _sum,
    sql.Mul: _product,
    sql.Div: _quotient,
    sql.IntDiv: _whole_quotient,
    sql.Mod: _remainder,
    sql.Neg: _negative,
    sql.Abs: _abs,
    sql.Sign: _sign,
    sql.Round: _round,
    sql.Floor: _towards("floor"),
    sql.Ceil: _towards("ceil"),
    sql.Trunc: _towards("trunc"),
    sql.Sqrt: _real("sqrt"),
    sql.Ln: _real("ln"),
    sql.Exp: _real("exp"),
    sql.Pow: _real("pow", 2),
    sql.DPipe: _joined,
    sql.Concat: _concat,
    sql.ConcatWs: _concat_ws,
    sql.Like: _like,
    sql.ILike: _like,
    sql.Escape: _like,
    sql.RegexpLike: _regexp,
    sql.Upper: _strings("sql::upper", "this"),
    sql.Lower: _strings("sql::lower", "this"),
    sql.Length: _strings("sql::length", "this", type=INTEGER),
    sql.Reverse: _strings("sql::reversed", "this"),
    sql.Replace: _strings("sql::replaced", "this", "expression", "replacement"),
    sql.StartsWith: _strings("string_starts_with", "this", "expression", type=BOOLEAN),
    sql.EndsWith: _strings("string_ends_with", "this", "expression", type=BOOLEAN),
    sql.Contains: _strings("string_contains", "this", "expression", type=BOOLEAN),
    sql.StrPosition: _strings("sql::position", "this", "substr", type=INTEGER),
    sql.Left: _mixed("sql::left", "this", "expression"),
    sql.Right: _mixed("sql::right", "this", "expression"),
    sql.Repeat: _mixed("sql::repeated", "this", "times"),
    sql.Substring: _substring,
    sql.Trim: _trim,
    sql.Pad: _pad,
    sql.Is: _is,
    sql.NullSafeEQ: _same,
    sql.NullSafeNEQ: _same,
    sql.Coalesce: _coalesce,
    sql.Nullif: _nullif,
    sql.If: _if,
    sql.Greatest: _extreme("greatest"),
    sql.Least: _extreme("least"),
    sql.Between: _between,
    sql.Extract: _extract,
    sql.Year: _part("YEAR"),
    sql.Quarter: _part("QUARTER"),
    sql.Month: _part("MONTH"),
    sql.Week: _part("WEEK"),
    sql.Day: _part("DAY"),
    sql.DayOfWeek: _part("DOW"),
    sql.DayOfYear: _part("DOY"),
    sql.Hour: _part("HOUR"),
    sql.Minute: _part("MINUTE"),
    sql.Second: _part("SECOND"),
    sql.TimestampTrunc: _truncated,
    sql.DateTrunc: _truncated,
    sql.DateDiff: _difference,
    sql.DateAdd: _shifted(1),
    sql.DateSub: _shifted(-1),
    sql.Anonymous: _anonymous,
}
"""The translation of each kind of node."""
