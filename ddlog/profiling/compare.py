"""Two profiles of one program, side by side: where the time and the rows differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .costs import Measurements, by_rule, seconds_text

_SHOWN = 20  # rules that are listed
_LEAST = 0.001  # the part of the longer time by which a rule must differ to be shown


@dataclass(frozen=True)
class Difference:
    """The seconds and the rows of one rule or relation in two profiles; None where a profile lacks it."""

    name: str
    before: float | None
    after: float | None
    rows_before: int | None
    rows_after: int | None

    @property
    def more(self) -> float:
        """The seconds that the second has more."""
        return (self.after or 0.0) - (self.before or 0.0)


def differences(before: Measurements, after: Measurements) -> list[Difference]:
    """The rules of two profiles, those whose times differ most first."""
    old, new = by_rule(before.operators), by_rule(after.operators)
    found = []
    for key in dict.fromkeys((*old, *new)):
        a, b = old.get(key), new.get(key)
        name = key[1] if "(" in key[1] else f"{key[0]}: {key[1]}" if key[0] != key[1] else key[0]
        found.append(
            Difference(
                name,
                None if a is None else a[0],
                None if b is None else b[0],
                None if a is None else a[1],
                None if b is None else b[1],
            )
        )
    return sorted(found, key=lambda each: -abs(each.more))


def stratum_differences(before: Measurements, after: Measurements) -> list[Difference]:
    """The strata of two profiles, those whose times differ most first; rows are the new ones, where they are
    known."""
    old, new = ({each.name: each for each in profile.strata} for profile in (before, after))
    return sorted(
        (
            Difference(
                name,
                old[name].seconds if name in old else None,
                new[name].seconds if name in new else None,
                old[name].rows_out if name in old else None,
                new[name].rows_out if name in new else None,
            )
            for name in dict.fromkeys((*old, *new))
        ),
        key=lambda each: -abs(each.more),
    )


def comparison(before: Measurements, after: Measurements) -> Iterator[str]:
    """Lines that compare two profiles."""
    yield f"{before.program} ({before.engine}) and {after.program} ({after.engine})"
    yield f"commits: {before.commits:,} and {after.commits:,}"
    yield f"time: {_times(before.seconds, after.seconds)}"
    if before.memory is not None and after.memory is not None:
        old, new = (sum(each.bytes for each in held) for held in (before.memory, after.memory))
        yield f"bytes stored: {old:,} and {new:,}{_ratio(old, new)}"
    longer = max(before.seconds, after.seconds)
    yield from _part("Strata, by the difference of their times:", stratum_differences(before, after), longer)
    yield from _part("Rules, by the difference of their times:", differences(before, after), longer)
    yield from _sizes(before, after)


def _part(title: str, found: list[Difference], longer: float) -> Iterator[str]:
    shown = [each for each in found if abs(each.more) >= _LEAST * longer]
    if not shown:
        return
    yield title
    for each in shown[:_SHOWN]:
        yield f"  {_change(each.more):>12}  {each.name}"
        yield f"  {'':>12}    {_times(each.before, each.after)}{_rows(each)}"
    if len(shown) > _SHOWN:
        yield f"  and {len(shown) - _SHOWN} more"


def _sizes(before: Measurements, after: Measurements) -> Iterator[str]:
    old, new = ({each.name: each.rows for each in profile.relations} for profile in (before, after))
    differing = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    if differing:
        yield "Relations with other numbers of rows:"
    for name in differing:
        yield f"  {name}: {_number(old.get(name))} and {_number(new.get(name))}"


def _times(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return f"{'none' if before is None else seconds_text(before)} and " + (
            "none" if after is None else seconds_text(after)
        )
    return f"{seconds_text(before)} and {seconds_text(after)}{_ratio(before, after)}"


def _ratio(before: float, after: float) -> str:
    return f" (x{after / before:,.2f})" if before > 0 else ""


def _rows(each: Difference) -> str:
    if each.rows_before is None and each.rows_after is None:
        return ""
    if each.rows_before == each.rows_after:
        return f", {each.rows_before:,} rows"
    return f", {_number(each.rows_before)} and {_number(each.rows_after)} rows"


def _number(number: int | None) -> str:
    return "none" if number is None else f"{number:,}"


def _change(seconds: float) -> str:
    return f"{'+' if seconds >= 0 else '-'}{seconds_text(abs(seconds))}"
