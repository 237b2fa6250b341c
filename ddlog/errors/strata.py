"""Errors about stratification."""

from __future__ import annotations

from dataclasses import dataclass

from .diagnostics import Diagnostic, Note
from .source import Span


@dataclass(frozen=True, slots=True)
class Link:
    """A dependency of relation `target` on relation `source`; `how` is positive, negated, grouped or, where a
    transformer gathers the rows of an input, gathered."""

    source: str
    target: str
    how: str
    span: Span


class Unstratifiable(Diagnostic):
    """A negation on a cycle of relations that has an odd number of negations."""

    title = (
        "Relation '{relation}' is mutually recursive with '{head}' and therefore cannot "
        "appear negated in this rule."
    )
    suggestion = "break the cycle: negated relations must be complete before this rule is used"
    relation: str
    head: str


class TransformerInCycle(Diagnostic):
    """A transformer whose input depends on its output."""

    title = (
        "a transformer cannot be part of a recursion: its input `{source}` depends on its output `{target}`"
    )
    suggestion = "break the cycle: the inputs must be complete before a transformer is applied"
    source: str
    target: str


class BagInCycle(Diagnostic):
    """A group_all_by of a relation that depends on the head."""

    title = "group_all_by cannot be part of a recursion: `{source}` depends on `{target}`"
    suggestion = "group_by can: the relations of a recursion are sets"
    source: str
    target: str


def unstratifiable(links: tuple[Link, ...]) -> Diagnostic:
    """The error for a cycle of dependencies whose first link is negated, counted or gathered."""
    first = links[0]
    if first.how == "counted":
        return BagInCycle(span=first.span, source=first.source, target=first.target)
    if first.how == "gathered":
        between = [link for link in links if "$" not in link.source + link.target]
        ways = tuple(Note(f"{link.target} depends on {link.source}", link.span) for link in between)
        return TransformerInCycle(
            span=first.span,
            source=first.source if "$" not in first.source else links[-1].source,
            target=links[1].target,
            notes=ways,
        )
    links = _declared(links)
    first = links[0]
    cycle = " -> ".join((first.source, *(link.target for link in links)))
    steps = [Note(f"Dependency cycle: {cycle}")]
    for link in links:
        how = "" if link.how == "positive" else f" ({link.how})"
        steps.append(Note(f"{link.target} depends on {link.source}{how}", link.span))
    return Unstratifiable(span=first.span, relation=first.source, head=first.target, notes=tuple(steps))


def _declared(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The cycle without the relations that hold the matches of negated patterns, which nobody declared: each
    stands between the relation of the pattern and the negation of it."""
    kept: list[Link] = []
    for before, link in zip((links[-1], *links), links, strict=False):
        if "$not" in link.source:
            kept.append(Link(before.source, link.target, link.how, link.span))
        elif "$not" not in link.target:
            kept.append(link)
    return tuple(kept)
