"""The conditions whose conjunction a condition is: each can be a key of a join, or drop rows early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def conjuncts(node: Expression) -> list[Expression]:
    """The conjuncts, with those that all parts of a disjunction share: (a and b) or (a and c) is
    a and (b or c), in three-valued logic, too."""
    inner = node.unnest()
    match inner:
        case sql.EQ(this=sql.Tuple(expressions=a), expression=sql.Tuple(expressions=b)) if len(a) == len(b):
            return [sql.NullSafeEQ(this=x, expression=y) for x, y in zip(a, b, strict=True)]
        case sql.And():
            return [each for part in inner.flatten() for each in conjuncts(part)]
        case sql.Or():
            parts = [conjuncts(part) for part in inner.flatten()]
            shared = [each for each in parts[0] if all(each in part for part in parts[1:])]
            if shared:
                rest = [[each for each in part if each not in shared] for part in parts]
                return [*shared, _disjunction(rest) if all(rest) else inner]
    return [inner]


def _disjunction(parts: list[list[Expression]]) -> Expression:
    return sql.or_(*(sql.and_(*part, copy=True) for part in parts), copy=False)
