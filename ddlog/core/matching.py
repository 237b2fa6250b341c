"""The condition that a value matches a pattern: a Match with the arms true and false."""

from __future__ import annotations

from ..errors.source import Span
from ..types import Bool
from .expressions import Const, Expr, Match
from .patterns import AnyPattern, Pattern


def matches(value: Expr, pattern: Pattern, span: Span) -> Match:
    """The condition that a value matches a pattern."""
    arms = (
        (pattern, Const(True, Bool(), span)),
        (AnyPattern(pattern.type), Const(False, Bool(), span)),
    )
    return Match(value, arms, Bool(), span)


def matched(condition: Expr) -> tuple[Expr, Pattern] | None:
    """The value and the pattern of a condition that `matches` makes; None for another expression."""
    match condition:
        case Match(value, ((pattern, Const(True)), (AnyPattern(), Const(False)))):
            return value, pattern
    return None
