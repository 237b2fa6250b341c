"""The expressions that are the present moment, and the table of the clock that gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

NAME = "now"
"""The table of the clock."""

_PRESENT = sql.CurrentTimestamp | sql.CurrentDate | sql.CurrentTime | sql.Localtimestamp | sql.Localtime
_CALLED = ("now", "get_current_timestamp", "transaction_timestamp")


def is_present(node: Expression) -> bool:
    """Whether an expression is the present moment, day or time of day."""
    named = isinstance(node, sql.Anonymous) and node.name.lower() in _CALLED and not node.expressions
    return named or (isinstance(node, _PRESENT) and not node.this)


def reads_clock(node: Expression) -> bool:
    """Whether the clock is part of an expression."""
    return any(is_present(each) for each in node.walk())
