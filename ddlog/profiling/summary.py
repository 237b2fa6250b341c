"""A profile in a few lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from .costs import Measurements, OperatorCost, StratumCost, seconds_text

_RULES = 15  # strata and operators that are listed
_ROUNDS = 8  # of a stratum that are listed


def summary(profile: Measurements) -> Iterator[str]:
    """Lines: the times of the strata, of the dearest rules, and of the slowest commits."""
    commits = f"{profile.commits:,} commit{'' if profile.commits == 1 else 's'}"
    yield f"{profile.program}: {commits} in {seconds_text(profile.seconds)} ({profile.engine})"
    if profile.phases:
        whole = sum(each.seconds for each in profile.phases)
        yield f"Time by phase, of {seconds_text(whole)}:"
        for phase in profile.phases:
            share = phase.seconds / whole if whole else 0
            yield f"{seconds_text(phase.seconds):>14}  {share:>6.1%}  {phase.name}"
    if not profile.commits:
        return
    yield "Time by relation, and for recursions the rows that each round derived, and the new ones:"
    for stratum in profile.strata[:_RULES]:
        yield f"{_time(stratum.seconds, profile)}  {stratum.name}{_of(stratum)}"
    yield "Time by rule, with the rows in and out:"
    for each in profile.operators[:_RULES]:
        yield f"{_time(each.seconds, profile)}  {each.operator}: {each.text}"
        yield f"{'':>22}  {_figures(each)}"
    yield "The slowest commits:"
    for slow in profile.slowest:
        dearest = f", most for {slow.strata[0].name}" if slow.strata else ""
        yield (
            f"{seconds_text(slow.epoch.seconds):>14}  commit {slow.epoch.number:,}{slow.epoch.rows}{dearest}"
        )


def _time(seconds: float, profile: Measurements) -> str:
    return f"{seconds_text(seconds):>14}  {seconds / profile.seconds if profile.seconds else 0:>6.1%}"


def _of(stratum: StratumCost) -> str:
    if not stratum.rounds:
        return "" if not stratum.duplicates else f" ({stratum.duplicates:,} duplicates)"
    shown = [
        f"{each.derived:,}" if each.rows is None else f"{each.derived:,}/{each.rows:,}"
        for each in stratum.rounds[:_ROUNDS]
    ]
    more = ["…"] if len(stratum.rounds) > _ROUNDS else []
    return f" ({len(stratum.rounds)} rounds: {' '.join([*shown, *more])})"


def _figures(each: OperatorCost) -> str:
    rows = "" if each.rows_out is None else f", {each.rows_out:,} out"
    twice = f", {each.duplicates:,} duplicates" if each.duplicates else ""
    place = f"  // {each.place}" if each.place else ""
    return f"{each.calls:,}x, {each.rows_in:,} in{rows}{twice}{place}"
