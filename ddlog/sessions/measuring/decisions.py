"""Whether recursive relations were, or would be, maintained in a commit, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.maintaining import Decision, Expectation

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
