"""Loops: stretches of the text whose rules are run round by round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..errors.source import Span


@dataclass(frozen=True, slots=True)
class LoopBlock:
    """A loop. Its end: `rounds`, `empty`, the full name of a relation, or neither; `most` is its limit."""

    name: str
    rounds: int | None
    empty: str | None
    most: int | None
    span: Span = field(repr=False)


def loops_around(loops: Iterable[LoopBlock], span: Span) -> list[LoopBlock]:
    """The loops around a place, the outermost first."""
    found = [each for each in loops if span.within(each.span)]
    return sorted(found, key=lambda each: (each.span.line, each.span.column))
