"""PIVOT and UNPIVOT of a table, written as a query: aggregates with a FILTER for each value of the list, or a
union with a branch for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import Token, TokenType
from sqlglot import expressions as sql

from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def in_from(node: sql.Pivot, places: SqlPlaces) -> Expression:
    """The statement PIVOT or UNPIVOT as the query of a table with such a clause. Raises SqlError."""
    table, pivot = node.this.copy(), node.copy()
    if node.args.get("unpivot"):
        into = node.args.get("into")
        name = into.this.name if into is not None else "name"
        values = [each.name for each in into.expressions] if into is not None else ["value"]
        field = sql.In(this=sql.to_identifier(name), expressions=[e.copy() for e in node.expressions])
        pivot.set("expressions", list(map(sql.to_identifier, values)))
        pivot.set("fields", [field])
    else:
        pivot.set("fields", [each.copy() for each in node.expressions])
        pivot.set("expressions", [e.copy() for e in node.args.get("using") or [sql.Count(this=sql.Star())]])
    pivot.set("this", None)
    table.set("pivots", [pivot])
    for each in pivot.args["fields"]:
        _listed(each, places, node)
    return sql.select("*").from_(table, copy=False)


def in_parentheses(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with `FROM (…)` around a PIVOT or an UNPIVOT that is the query of a view."""
    made, closing = list[Token](), False
    for at, each in enumerate(tokens):
        begins = each.token_type in (TokenType.PIVOT, TokenType.UNPIVOT)
        if begins and not closing and at and tokens[at - 1].token_type == TokenType.ALIAS:
            made += [_like(each, TokenType.FROM, "FROM"), _like(each, TokenType.L_PAREN, "(")]
            closing = True
        if closing and each.token_type == TokenType.SEMICOLON:
            made.append(_like(each, TokenType.R_PAREN, ")"))
            closing = False
        made.append(each)
    return [*made, _like(tokens[-1], TokenType.R_PAREN, ")")] if closing else made


def _like(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _listed(field: Expression, places: SqlPlaces, node: Expression) -> None:
    if not isinstance(field, sql.In) or not field.expressions:
        places.refuse("PIVOT without IN and a list", node, "the columns of a view are known before its rows")


def unfolded(
    node: Expression, columns: Callable[[Expression], Sequence[str]], places: SqlPlaces
) -> Expression:
    """A table with PIVOT or UNPIVOT as a subquery; `columns` are those of the table without. Raises
    SqlError."""
    pivots, alias = node.args["pivots"], node.args.get("alias")
    source = node.copy()
    source.set("pivots", None)
    for pivot in pivots:
        made = _unpivoted if pivot.args.get("unpivot") else _pivoted
        query = made(source, pivot, columns(source), places)
        named = pivot.args.get("alias") or alias
        source = sql.Subquery(this=query, alias=None if named is None else named.copy())
    return source


def _pivoted(source: Expression, node: Expression, columns: Sequence[str], places: SqlPlaces) -> Expression:
    fields, calls = node.args["fields"], node.expressions
    for each in fields:
        _listed(each, places, node)
    group = node.args.get("group")
    used = {each.name.lower() for part in (*fields, *calls) for each in part.find_all(sql.Column)}
    keys = [sql.column(each) for each in columns if each not in used] if group is None else group.expressions
    names, items = [each.alias_or_name.lower() for each in keys], [each.copy() for each in keys]
    plainly = len(calls) == 1 and not calls[0].alias
    for chosen in product(*(each.expressions for each in fields)):
        tests = [
            sql.NullSafeEQ(this=field.this.copy(), expression=value.unalias().copy())
            for field, value in zip(fields, chosen, strict=True)
        ]
        for call in calls:
            suffix = [] if plainly else [call.alias or places.written(call).lower()]
            name = _new("_".join([*map(_text, chosen), *suffix]), names)
            cell = _only_where(call.unalias(), tests)
            if places.dialect.is_ansi:  # of no rows it is NULL
                there = sql.GT(
                    this=_only_where(sql.Count(this=sql.Star()), tests), expression=sql.Literal.number(0)
                )
                cell = sql.Case(ifs=[sql.If(this=there, true=cell)])
            items.append(sql.alias_(cell, name, quoted=True))
    made = sql.select(*items).from_(source, copy=False)
    return made.group_by(*(each.copy() for each in keys), copy=False) if keys else made


def _only_where(call: Expression, tests: Sequence[Expression]) -> Expression:
    """An expression whose aggregates are of the rows that pass tests."""

    def kept(each: Expression) -> Expression:
        if not isinstance(each, sql.AggFunc):
            return each
        where = sql.Where(this=sql.and_(*(test.copy() for test in tests)))
        return sql.Filter(this=each.copy(), expression=where)

    return call.copy().transform(kept)


def _text(value: Expression) -> str:
    return value.alias or value.name or value.sql()


def _new(name: str, names: list[str]) -> str:
    """A name like this one that no column has."""
    made, number = name, 0
    while made.lower() in names:
        number += 1
        made = f"{name}_{number}"
    names.append(made.lower())
    return made


def _unpivoted(source: Expression, node: Expression, columns: Sequence[str], places: SqlPlaces) -> Expression:
    (field,), values = node.args["fields"], node.expressions
    if len(values) != 1 or any(isinstance(each.unalias(), sql.Tuple) for each in field.expressions):
        places.refuse("UNPIVOT to several columns", node)
    taken = [each.unalias() for each in field.expressions]
    for each in taken:
        if not isinstance(each, sql.Column) or each.name.lower() not in columns:
            places.refuse("UNPIVOT of other than columns of the table", each)
    left = [sql.column(each) for each in columns if each not in {e.name.lower() for e in taken}]
    branches = []
    for each, column in zip(field.expressions, taken, strict=True):
        items = [
            *(e.copy() for e in left),
            sql.alias_(sql.Literal.string(each.alias_or_name), field.this.name),
            sql.alias_(column.copy(), values[0].name),
        ]
        branch = sql.select(*items).from_(source.copy(), copy=False)
        if not node.args.get("include_nulls"):
            branch = branch.where(sql.Not(this=sql.Is(this=column.copy(), expression=sql.Null())), copy=False)
        branches.append(branch)
    return branches[0] if len(branches) == 1 else sql.union(*branches, distinct=False, copy=False)
