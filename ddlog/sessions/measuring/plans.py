"""The plans of a program's joins as text, by rule with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...engine.joinplan import JoinPlan
from ...engine.labels import one_line
from ...engine.maintenance import Decision, Expectation
from ...engine.plans import plan_lines
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


_SHOWN = 50  # decisions

_DONE = {"maintained": "maintained", "recomputed": "evaluated anew", "given up": "given up, evaluated anew"}


def decision_lines(decisions: Sequence[Decision]) -> Iterator[str]:
    """The last decisions, by commit; nothing if there are none."""
    if not decisions:
        return
    yield "Recursive relations by commit, maintained or evaluated anew, and why:"
    if len(decisions) > _SHOWN:
        ways = [sum(each.way == way for each in decisions[:-_SHOWN]) for way in _DONE]
        yield "   before: " + ", ".join(f"{n}x {_DONE[way]}" for n, way in zip(ways, _DONE, strict=True))
    for each in decisions[-_SHOWN:]:
        yield f"{each.epoch:>9,}  {_names(each)}: {_DONE[each.way]}; {each.why}{_figures(each)}"


def expectation_lines(expected: Sequence[Expectation]) -> Iterator[str]:
    """The way that each recursion would go."""
    for each in expected:
        if each.why:
            yield f"  {_names(each)}: maintained by each commit, as {each.why}"
            continue
        yield (
            f"  {_names(each)}: maintained by a commit that deletes up to about {each.gone:,} of the "
            f"{each.imported:,} rows that it reads, or inserts {each.come:,}; evaluated anew by others"
        )


def _names(told: Decision | Expectation) -> str:
    names = (name.partition("$")[0] or "(internal)" for name in told.relations)
    return ", ".join(dict.fromkeys(names))


def _figures(decision: Decision) -> str:
    situation, estimate = decision.situation, decision.estimate
    some = f"{situation.changed:,} of {max(situation.before, situation.imported):,} rows changed"
    expected = (
        "" if estimate is None else f"expected {_ms(estimate.maintain)}, anew {_ms(estimate.recompute)}; "
    )
    return f" ({some}; {expected}took {_ms(decision.seconds)})"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
