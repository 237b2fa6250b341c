"""Errors about stratification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic, Note
from .source import Span


@dataclass(frozen=True, slots=True)
class Link:
    """A dependency of relation `target` on relation `source`; `how` is positive, negated or grouped."""

    source: str
    target: str
    how: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstratifiable(Diagnostic):
    """A negation or a grouping of a relation in a rule that the relation depends on."""

    title: ClassVar[str] = (
        "Relation '{relation}' is mutually recursive with '{head}' and therefore cannot "
        "appear {how} in this rule."
    )
    suggestion: ClassVar[str] = "break the cycle: {how} relations must be complete before this rule is used"
    relation: str
    head: str
    how: str


def unstratifiable(links: tuple[Link, ...]) -> Unstratifiable:
    """The error for a cycle of dependencies whose first link is not positive."""
    first = links[0]
    cycle = " -> ".join((first.source, *(link.target for link in links)))
    notes = [Note(f"Dependency cycle: {cycle}")]
    for link in links:
        how = "" if link.how == "positive" else f" ({link.how})"
        notes.append(Note(f"{link.target} depends on {link.source}{how}", link.span))
    return Unstratifiable(
        span=first.span, relation=first.source, head=first.target, how=first.how, notes=tuple(notes)
    )
