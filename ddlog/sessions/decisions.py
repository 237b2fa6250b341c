"""What was done with recursive relations in each commit, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.maintaining import Decision

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


def _names(decision: Decision) -> str:
    names = (name.partition("$")[0] or "(internal)" for name in decision.relations)
    return ", ".join(dict.fromkeys(names))


def _figures(decision: Decision) -> str:
    situation, estimate = decision.situation, decision.estimate
    some = f"{situation.changed:,} of {max(situation.before, situation.imported):,} rows changed"
    expected = (
        "" if estimate is None else f", {_ms(estimate.maintain)} or anew {_ms(estimate.recompute)} expected"
    )
    return f" ({some}{expected}, {_ms(decision.seconds)} taken)"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
