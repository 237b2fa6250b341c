"""TUMBLE and HOP: a table whose rows have the windows of time that they are in, a row for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import TokenType
from sqlglot import expressions as sql

from .types import MOMENTS, TIMESTAMPTZ, SqlType, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces

LENGTHS = {"tumble": 1, "hop": 2}
"""The table functions, and how many intervals they take: the length of windows, and of HOP before it the time
from the beginning of one to that of the next."""


def read_arguments(parser: Any) -> Expression:
    """The arguments of a table function, where TABLE may stand before the name of a table."""
    name = parser._tokens[parser._index - 2].text
    parser._match(TokenType.TABLE)
    given = [parser._parse_table()] if parser._curr.token_type != TokenType.R_PAREN else []
    more = parser._parse_csv(parser._parse_lambda) if parser._match(TokenType.COMMA) else []
    return sql.Anonymous(this=name, expressions=[*given, *more])


def call_of(node: Expression) -> Expression | None:
    """The call of TUMBLE or HOP that a table is, also inside of TABLE(…)."""
    call = node.this
    if isinstance(call, sql.Anonymous) and call.name.lower() == "table" and len(call.expressions) == 1:
        call = call.expressions[0]
    return call if isinstance(call, sql.Anonymous) and call.name.lower() in LENGTHS else None


def _are_lengths(parts: Sequence[object], steps: int) -> bool:
    """True for constant intervals that are all of months alone, or all without months, and of which the first
    `steps` are positive."""
    known = [each for each in parts if isinstance(each, tuple)]
    are_positive = all(min(each) >= 0 < max(each) for each in known[:steps])
    kinds = {(months != 0, (days, micros) != (0, 0)) for months, days, micros in known} - {(False, False)}
    return len(known) == len(parts) and are_positive and len(kinds) == 1 and (True, True) not in kinds


def windowed(
    node: Expression,
    types: Callable[[Expression], Mapping[str, SqlType]],
    value: Callable[[Expression], SqlValue],
    places: SqlPlaces,
) -> Expression:
    """A call of TUMBLE or HOP as a subquery: the rows with `window_start` and `window_end`. Windows begin at
    multiples of the length of a step since 1970, and contain their beginning and not their end; a row without
    a time is in none. `types` are those of the columns of a table, `value` that of an expression. Raises
    SqlError."""
    call = call_of(node)
    assert call is not None
    name, steps = call.name.lower(), LENGTHS[call.name.lower()]
    of, at, *lengths = [*call.expressions, None, None][: max(2, len(call.expressions))]
    if isinstance(at, sql.Anonymous) and at.name.lower() == "descriptor" and len(at.expressions) == 1:
        at = at.expressions[0]
    parts = [value(each).constant if isinstance(each, sql.Interval) else None for each in lengths]
    is_table = isinstance(of, sql.Table | sql.Subquery) and isinstance(at, sql.Column)
    if not (is_table and len(lengths) in (steps, steps + 1) and _are_lengths(parts, steps)):
        intervals = "the length" if steps == 1 else "the step, the length"
        what = f"a table, a column, {intervals} and, maybe, an offset"
        places.wrong(f"{name.upper()} takes {what}: constant intervals, of months alone or of none", node)
    table = of.copy()
    inner = sql.to_identifier(table.alias_or_name or "rows", quoted=True)
    table.set("alias", sql.TableAlias(this=inner))
    known = types(table)
    kind = known.get(at.name.lower())
    if kind is not None and kind.kind not in MOMENTS:
        places.mistyped(f"{name.upper()} by `{at.name}`", str(kind), at)
    if {"window_start", "window_end"} & known.keys():
        places.wrong(f"the table of {name.upper()} has a column `window_start` or `window_end`", of)
    step, length, offset = lengths[0], lengths[steps - 1], lengths[steps:]
    zone = "timestamptz" if kind == TIMESTAMPTZ else "timestamp"
    origin: Expression = sql.cast(
        sql.Literal.string("1970-01-01 00:00:00" + "+00" * (kind == TIMESTAMPTZ)), zone
    )
    for each in offset:
        origin = sql.Add(this=origin, expression=each.copy())
    moment = sql.column(at.this.copy(), inner.copy())
    before = sql.DateBin(
        this=step.copy(), expression=sql.Sub(this=moment, expression=length.copy()), unit=origin
    )
    starts = sql.GenerateSeries(
        start=sql.Add(this=before, expression=step.copy()), end=moment.copy(), step=step.copy()
    )
    begin, end = "window_start", "window_end"
    rows = sql.select(sql.Column(this=sql.Star(), table=inner.copy()))
    rows = rows.select(sql.alias_(sql.Explode(this=starts), begin), copy=False).from_(table, copy=False)
    last = sql.Add(this=sql.column(begin), expression=length.copy())
    query = sql.select("*", sql.alias_(last, end)).from_(rows.subquery("rows"))
    return sql.Subquery(this=query, alias=node.args.get("alias") or sql.TableAlias(this=inner.copy()))
