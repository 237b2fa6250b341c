"""The plans of a program's joins as text, by rule with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...engine.labels import one_line
from ...engine.plans import JoinPlan, plan_lines
from ..program import Program


def plans_text(program: Program, plans: Iterable[JoinPlan]) -> Iterator[str]:
    """Lines for each rule in order of the plans: its text, its place, and its plans by start."""
    places = {one_line(rule.text): str(rule.span) for rule in program.checked.rules}
    by_rule: dict[str, list[JoinPlan]] = {}
    for plan in plans:
        by_rule.setdefault(plan.rule, []).append(plan)
    for rule, found in by_rule.items():
        place = places.get(rule)
        yield f"{rule}  // {place}" if place else rule
        for plan in found:
            yield from plan_lines(plan)
