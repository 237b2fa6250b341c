"""Calls that are written as others before they are translated: aggregates as functions of a LIST, several
quantiles as a list of one each, and COLUMNS as the columns that it means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .jsons import members_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces

SHARES = (sql.PercentRank, sql.CumeDist)
_QUANTILES = (sql.PercentileCont, sql.PercentileDisc, sql.Quantile)
OF_LISTS = ("product", "histogram", "kurtosis", "kurtosis_pop", "skewness", "mad", "entropy")
"""The aggregates that are functions of the list of the values that are not NULL, by names as LIST_PRODUCT."""

_SYNONYMS: dict[str, type[Expression]] = {
    **dict.fromkeys(("fsum", "sumkahan", "kahan_sum"), sql.Sum), **dict.fromkeys(("mean", "favg"), sql.Avg),
    "every": sql.LogicalAnd,
}  # fmt: skip


def as_others(node: Expression, places: SqlPlaces) -> None:
    """Writes the aggregates of a SELECT that others stand for. Raises SqlError."""
    for distinct in list(node.find_all(sql.ApproxDistinct)):
        distinct.replace(sql.Count(this=sql.Distinct(expressions=[distinct.this])))
    for grouping in list(node.find_all(sql.GroupingId)):
        grouping.replace(sql.Grouping(expressions=grouping.expressions))
    for share in list(node.find_all(*SHARES)):
        if isinstance(share.parent, sql.Window) and not share.expressions:
            share.parent.replace(_share(share, share.parent))
    if places.dialect.is_ansi:
        return
    for several in list(node.find_all(sql.Max, sql.Min, sql.ArgMax, sql.ArgMin)):
        number = _number_of(several)
        if number is not None and not isinstance(_outside(several), sql.Window):
            if not (isinstance(number, sql.Literal) and number.is_int and int(number.this) > 0):
                places.refuse("a number of values that is not a constant of at least 1", number)
            _firsts(several)
    for call in list(node.find_all(sql.Anonymous, sql.Kurtosis, sql.Skewness)):
        name = call.name.lower() if isinstance(call, sql.Anonymous) else type(call).__name__.lower()
        values = call.expressions if isinstance(call, sql.Anonymous) else [call.this]
        if name in OF_LISTS and len(values) == 1:
            _of_list(call, name, values[0])
        elif name in _SYNONYMS and len(values) == 1:
            call.replace(_SYNONYMS[name](this=values[0]))
    for quantile in list(node.find_all(*_QUANTILES)):
        if isinstance(_shares(quantile), sql.Array):
            _of_each(quantile)
    for count in list(node.find_all(sql.RegrCount)):
        if count.expression is None:
            places.wrong("REGR_COUNT takes two arguments", count)
        both = sql.and_(*(_there(part) for part in (count.this, count.expression)))
        count.replace(sql.Count(this=sql.Case(ifs=[sql.If(this=both, true=sql.true())])))


def _share(node: Expression, window: Expression) -> Expression:
    """PERCENT_RANK or CUME_DIST as a quotient of ranks and counts over the same window."""
    everything = {
        "start": "UNBOUNDED",
        "start_side": "PRECEDING",
        "end": "UNBOUNDED",
        "end_side": "FOLLOWING",
    }

    def over(function: Expression, **spec: str) -> Expression:
        made = window.copy()
        made.set("this", function)
        if spec:
            made.set("spec", sql.WindowSpec(kind="RANGE", **spec))
        return made

    count, one = over(sql.Count(this=sql.Star()), **everything), sql.Literal.number(1)
    if isinstance(node, sql.CumeDist):
        now = everything | {"end": "CURRENT ROW", "end_side": ""}
        return sql.Div(this=over(sql.Count(this=sql.Star()), **now), expression=count)
    before, others = (
        sql.Sub(this=over(sql.Rank()), expression=one),
        sql.Sub(this=count, expression=one.copy()),
    )
    below = sql.Greatest(this=others, expressions=[one.copy()])
    return sql.Div(this=sql.paren(before, copy=False), expression=below)


def _there(node: Expression) -> Expression:
    return sql.Not(this=sql.Is(this=sql.paren(node.copy(), copy=False), expression=sql.Null()))


def _number_of(node: Expression) -> Expression | None:
    """The number of values that MAX(x, n) and the like ask for."""
    more = node.expressions
    found: Expression | None = node.args.get("count") or (more[0] if len(more) == 1 else None)
    return found


def _firsts(node: Expression) -> None:
    """Writes MAX(x, n) and the like as the first elements of a LIST in an order."""
    whole, value, by = _outside(node), node.this, node.args.get("expression") or node.this
    tests = [_there(value), _there(by)]
    if isinstance(node.parent, sql.Filter):
        tests.append(node.parent.expression.this.copy())
    down = isinstance(node, sql.Max | sql.ArgMax)
    order = sql.Order(
        this=value.copy(), expressions=[sql.Ordered(this=by.copy(), desc=down, nulls_first=False)]
    )
    listed = sql.Filter(this=sql.ArrayAgg(this=order), expression=sql.Where(this=sql.and_(*tests)))
    one, number = sql.Literal.number(1), _number_of(node)
    whole.replace(sql.Anonymous(this="list_slice", expressions=[listed, one, number]))


def _outside(node: Expression) -> Expression:
    """An aggregate with its FILTER and its window."""
    while isinstance(node.parent, sql.Filter | sql.WithinGroup | sql.Window) and node.arg_key == "this":
        node = node.parent
    return node


def _of_list(node: Expression, name: str, value: Expression) -> None:
    whole = _outside(node)
    tests, parent = [_there(value)], node.parent
    if isinstance(parent, sql.Filter):
        tests.append(parent.expression.this.copy())
    listed: Expression = sql.Filter(
        this=sql.ArrayAgg(this=value.copy()), expression=sql.Where(this=sql.and_(*tests))
    )
    if isinstance(whole, sql.Window):
        window = whole.copy()
        window.set("this", listed)
        listed = window
    made: Expression = sql.Anonymous(this=f"list_{name}", expressions=[listed])
    if name == "entropy":
        made = sql.Coalesce(this=made, expressions=[sql.Literal.number("0e0")])
    whole.replace(made)


def _shares(node: Expression) -> Expression | None:
    """The quantiles that are asked for."""
    found: Expression | None = node.args.get("expression") or node.args.get("quantile")
    return node.this if isinstance(node.parent, sql.WithinGroup) else found


def _of_each(node: Expression) -> None:
    """Several quantiles as a list; NULL where the first one is."""
    whole, shares = _outside(node), _shares(node)
    assert shares is not None
    made: list[Expression] = []
    for share in shares.expressions:
        for key, value in list(node.args.items()):
            if value is shares:
                node.set(key, share.copy())
                shares = node.args[key]
        made.append(whole.copy())
    if made:
        values = sql.Anonymous(this="list_value", expressions=made)
        whole.replace(sql.Case(ifs=[sql.If(this=_there(made[0]), true=values)]))


# ------------------------------------------------------------------------ COLUMNS


def with_columns(node: Expression, names: Sequence[tuple[str, str]], places: SqlPlaces) -> list[Expression]:
    """The expressions that an expression of a select list with COLUMNS stands for, each for one of the tables
    and columns; the expression itself if it has none. Raises SqlError."""
    inner = node.this if isinstance(node, sql.Aliases) else node
    is_tuple = isinstance(inner, sql.Anonymous) and inner.name.lower() == "json_tuple"
    if places.dialect.is_ansi and is_tuple and len(inner.expressions) > 1:
        found = [each.name for each in node.args.get("expressions") or ()] if inner is not node else []
        if found and len(found) != len(inner.expressions) - 1:
            places.wrong(f"{len(found)} names are given to {len(inner.expressions) - 1} keys", node)
        return members_of(inner, places, found)
    stars = list(node.find_all(sql.Columns))
    if not stars:
        return [node]
    chosen = [_chosen(each.this, names, places, each) for each in stars]
    if len({tuple(each) for each in chosen}) > 1:
        places.wrong("COLUMNS of one expression do not mean the same columns", node)
    made: list[Expression] = []
    for table, name in chosen[0]:
        copied = node.copy()
        for each in list(copied.find_all(sql.Columns)):
            column = sql.column(name, table or None, quoted=True)
            if each is copied:
                copied = column
            else:
                each.replace(column)
        named = isinstance(copied, sql.Alias | sql.Column)
        made.append(copied if named else sql.alias_(copied, name, quoted=True, copy=False))
    return made


def _chosen(
    what: Expression, names: Sequence[tuple[str, str]], places: SqlPlaces, node: Expression
) -> list[tuple[str, str]]:
    match what:
        case sql.Star():
            if what.args.get("replace") or what.args.get("rename"):
                places.refuse("COLUMNS(*) with REPLACE or RENAME", node)
            left_out = {each.name.lower() for each in what.args.get("except_") or ()}
            found = [each for each in names if each[1] not in left_out]
        case sql.Literal(is_string=True):
            try:
                pattern = re.compile(what.name, re.IGNORECASE)
            except re.error as error:
                places.wrong(f"`{what.name}` is no regular expression: {error}", node)
            found = [each for each in names if pattern.search(each[1])]
        case sql.Array() if all(isinstance(each, sql.Literal) for each in what.expressions):
            wanted = [each.name.lower() for each in what.expressions]
            found = [each for name in wanted for each in names if each[1] == name]
        case _:
            places.refuse("COLUMNS of something else than *, a pattern or a list of names", node)
    if not found:
        places.wrong("COLUMNS means no column", node)
    return found
