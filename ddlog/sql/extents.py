"""Where queries begin and end in a text.

The parser notes the places of names and literals. The SELECT of a query is the one before its first name.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..errors.source import Span
from .places import SqlPlaces

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_OPEN, _CLOSE = "L_PAREN", "R_PAREN"
_COMBINING = ("UNION", "INTERSECT", "EXCEPT")


def extent(node: Expression, places: SqlPlaces) -> Span | None:
    """The stretch of a SELECT, or of a set operation; None if it cannot be told."""
    left = node
    while isinstance(left, sql.SetOperation):
        left = left.this.unnest()
    at = _select(left, places)
    if at is None:
        return None
    outer = node
    while isinstance(outer, sql.SetOperation):
        if isinstance(outer.this, sql.Subquery | sql.Paren) and at and places.kind(at - 1) == _OPEN:
            at -= 1
        outer = outer.this.unnest()
    last, depth = at, 0
    for number in range(at, len(places.tokens)):
        kind = places.kind(number)
        depth += (kind == _OPEN) - (kind == _CLOSE)
        over = kind == "SEMICOLON" or (left is node and kind in _COMBINING)
        if depth < 0 or (depth == 0 and over):
            break
        last = number
    return places.between(places.tokens[at].start, places.tokens[last].end + 1)


def _select(node: Expression, places: SqlPlaces) -> int | None:
    """The place of the token with which a SELECT begins."""
    first = _first(node)
    if first is None:
        return None
    skipped = sum(_first(each) == first for each in node.find_all(sql.Select) if each is not node)
    at = bisect_right(places.tokens, first, key=lambda token: token.start) - 1
    depth = 0
    while at >= 0:
        kind = places.kind(at)
        if kind == "SEMICOLON":
            return None
        if kind == _CLOSE:
            depth += 1
        elif kind == _OPEN:
            depth = max(depth - 1, 0)
        elif kind == "SELECT" and depth == 0:
            if not skipped:
                return at
            skipped -= 1
        at -= 1
    return None


def _first(node: Expression) -> int | None:
    """The least offset in the text that the parser gives to a part of a query, without its WITH."""
    parts = node.walk(prune=lambda each: isinstance(each, sql.With))
    return min((each.meta["start"] for each in parts if "start" in each.meta), default=None)
