"""The order of the rows of a SELECT that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import expressions as sql

from .places import SqlPlaces
from .topk import is_all

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

Key: TypeAlias = tuple[int | str, bool, bool]
"""A column by which rows are in order, by its name or its place from 1 on; whether downwards, and whether
NULL comes first."""


_OWN = ("alias", "limit", "offset", "order", "pivots", "sample", "with_")  # parts of a subquery


def in_order(node: Expression, places: SqlPlaces) -> tuple[Expression, tuple[Key, ...], int]:
    """A query, with the columns that its order needs besides its own as its last ones; its order by columns,
    of which `*` is all of its own; and how many columns it has more. Raises SqlError."""
    if isinstance(node, sql.Subquery) and not any(node.args.get(key) for key in _OWN):
        return in_order(node.this, places)
    parts = node.args["order"].expressions if node.args.get("order") is not None else ()
    columns = node.expressions if isinstance(node, sql.Select) else ()
    distinct = node.args.get("distinct")
    can_have_more = columns and (distinct is None or distinct.args.get("on"))
    keys: list[Key] = []
    more: list[Expression] = []
    for each in parts:
        of = each.this.unnest()
        how = bool(each.args.get("desc")), bool(each.args.get("nulls_first"))
        if is_all(of):
            keys.append(("*", *how))
        elif isinstance(of, sql.Literal) and not of.is_string:
            if not of.this.isdigit():
                places.wrong(f"ORDER BY {of.this}: a place is a whole number", each)
            keys.append((int(of.this), *how))
        elif isinstance(of, sql.Column) and not of.table and _is_given(of, columns):
            keys.append((of.name.lower(), *how))
        elif can_have_more:
            more.append(sql.alias_(of.copy(), added(len(more)), quoted=True))
            keys.append((more[-1].alias, *how))
        elif columns and (shown := _shown(of, node)) is not None:
            keys.append((shown, *how))
        else:
            places.wrong("these rows can be ordered only by columns of the answer", each)
    if not more:
        return node, tuple(keys), 0
    made = node.copy()
    made.set("expressions", [*made.expressions, *more])
    return made, tuple(keys), len(more)


def added(number: int) -> str:
    """The name of a column that a query gets only for its order; users hardly name a column so."""
    return f"order by {number}"


def _is_given(column: Expression, columns: Sequence[Expression]) -> bool:
    """Whether a name in ORDER BY is that of a column of the select list. A set operation has no list of its
    own here, and any name counts as one of its columns."""
    return not columns or column.name.lower() in (each.alias_or_name.lower() for each in columns)


def _shown(of: Expression, node: Expression) -> int | str | None:
    """The column of a SELECT DISTINCT that an expression is: its place, or its name where a `*` gives it."""
    if any(each.is_star or each.find(sql.Columns) for each in node.expressions):
        is_clear = isinstance(of, sql.Column) and not (of.table and node.args.get("joins"))
        return of.name.lower() if is_clear else None
    found = (at for at, each in enumerate(node.expressions, 1) if _is_same(of, each.unalias()))
    return next(found, None)


def _is_same(one: Expression, other: Expression) -> bool:
    if isinstance(one, sql.Column) and isinstance(other, sql.Column) and not (one.table and other.table):
        return one.name.lower() == other.name.lower()
    return one == other
