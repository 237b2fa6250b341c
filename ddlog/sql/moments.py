"""The expressions that are the present moment, and the table of the clock that gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .types import DATE, TIME, TIMESTAMP, SqlType

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

NAME = "now"
"""The table of the clock."""

_KINDS: dict[type[Expression], SqlType] = {
    sql.CurrentTimestamp: TIMESTAMP, sql.CurrentDate: DATE, sql.CurrentTime: TIME,
    sql.Localtimestamp: TIMESTAMP, sql.Localtime: TIME,
}  # fmt: skip
_NAMED = {
    **dict.fromkeys(("now", "get_current_timestamp", "transaction_timestamp"), TIMESTAMP),
    **dict.fromkeys(("current_timestamp", "localtimestamp"), TIMESTAMP),
    **dict.fromkeys(("current_date", "curdate"), DATE),
}


def present_of(node: Expression) -> SqlType | None:
    """The type of the present moment, day or time of day that an expression is; None for any other one."""
    if isinstance(node, sql.Anonymous):
        return None if node.expressions else _NAMED.get(node.name.lower())
    return None if node.this else _KINDS.get(type(node))


def is_local(node: Expression) -> bool:
    """Whether a function of the present, such as CURRENT_DATE, gives a local date or time, not an instant."""
    name = node.name.lower() if isinstance(node, sql.Anonymous) else type(node).__name__.lower()
    return present_of(node) != TIMESTAMP or name == "localtimestamp"


def reads_clock(node: Expression) -> bool:
    """Whether the clock is part of an expression."""
    return any(present_of(each) is not None for each in node.walk())
