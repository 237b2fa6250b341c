"""The order of the rows of a SELECT that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import expressions as sql

from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

Key: TypeAlias = tuple[int | str, bool, bool]
"""A column by which rows are in order, by its name or its place from 1 on; whether downwards, and whether
NULL comes first."""


def in_order(node: Expression, places: SqlPlaces) -> tuple[Expression, tuple[Key, ...], int]:
    """A query, with the columns that its order needs besides its own as its last ones; its order by columns;
    and how many columns it has more. Raises SqlError."""
    parts = node.args["order"].expressions if node.args.get("order") is not None else ()
    columns = node.expressions if isinstance(node, sql.Select) else ()
    can_have_more = columns and node.args.get("distinct") is None
    keys: list[Key] = []
    more: list[Expression] = []
    for each in parts:
        of = each.this.unnest()
        how = bool(each.args.get("desc")), bool(each.args.get("nulls_first"))
        if isinstance(of, sql.Literal) and not of.is_string:
            keys.append((int(of.this), *how))
        elif isinstance(of, sql.Column) and not of.table and _is_given(of, columns):
            keys.append((of.name.lower(), *how))
        elif can_have_more:
            more.append(sql.alias_(of.copy(), f"order__{len(more)}", quoted=True))
            keys.append((more[-1].alias, *how))
        elif of in columns and not any(column.is_star for column in columns):
            keys.append((columns.index(of) + 1, *how))
        else:
            places.wrong("this ORDER BY is one by columns of the answer, by their names or places", each)
    if not more:
        return node, tuple(keys), 0
    made = node.copy()
    made.set("expressions", [*made.expressions, *more])
    return made, tuple(keys), len(more)


def _is_given(column: Expression, columns: Sequence[Expression]) -> bool:
    """Whether a query has a column of that name, as far as its text says so; a query of other queries has."""
    return not columns or column.name.lower() in (each.alias_or_name.lower() for each in columns)
