"""*Distinct* in a recursion, as `engine.spark.history` states it: the check of implementations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from hypothesis import strategies as st

TIMES = 5

Timeline: TypeAlias = Mapping[int, int]
"""The weight of a row's derivations by iteration."""


def present(timeline: Timeline, time: int) -> bool:
    """Whether the row is present at an iteration."""
    return sum(weight for t, weight in timeline.items() if t <= time) > 0


def birth(timeline: Timeline) -> int | None:
    """The first iteration at which the row is present; None if it is at none."""
    return min((t for t in timeline if present(timeline, t)), default=None)


def change(before: Timeline, now: Timeline, time: int) -> int:
    """The change of the row at an iteration, when its timeline becomes another."""
    return _step(now, time) - _step(before, time)


def _step(timeline: Timeline, time: int) -> int:
    return present(timeline, time) - present(timeline, time - 1)


def look_again(before: Timeline, now: Timeline, time: int) -> int | None:
    """The next iteration at which the row must be looked at, given the derivations up to `time`; None if
    the row need not be looked at before another derivation."""
    born = birth(before)
    so_far = {t: weight for t, weight in now.items() if t <= time}
    later = [t for t in before if t > time and before[t] > 0 and not present(so_far, time)]
    return min([*later, *([born] if born is not None and born > time else [])], default=None)


Derived = list[tuple[int, int, int]]  # row, weight, iteration


class Relation(Protocol):
    """An implementation's relation during one epoch. Rows are numbers."""

    @property
    def times(self) -> Collection[int]:
        """The iterations at which something is pending."""

    def derive(self, derived: Derived) -> None:
        """Adds derivations."""

    def step(self, time: int) -> Mapping[int, int]:
        """The changes at an iteration, by row."""

    def net(self) -> Mapping[int, int]:
        """The change of each row's presence in the epoch."""


class Plain:
    """The definition itself, with the iterations that it looks at."""

    def __init__(self, before: Sequence[Timeline]) -> None:
        self._before = before
        self._now = [Counter(timeline) for timeline in before]
        self._due: dict[int, set[int]] = {}

    @property
    def times(self) -> Collection[int]:
        return self._due.keys()

    def derive(self, derived: Derived) -> None:
        for row, weight, time in derived:
            self._now[row][time] += weight
            self._due.setdefault(time, set()).add(row)

    def step(self, time: int) -> Mapping[int, int]:
        rows = self._due.pop(time, set())
        for row in rows:
            again = look_again(self._before[row], self._now[row], time)
            if again is not None:
                self._due.setdefault(again, set()).add(row)
        return {row: change(self._before[row], self._now[row], time) for row in rows}

    def net(self) -> Mapping[int, int]:
        pairs = zip(self._before, self._now, strict=True)
        return {row: present(now, TIMES) - present(before, TIMES) for row, (before, now) in enumerate(pairs)}


def epochs() -> st.SearchStrategy[list[list[tuple[int, int]]]]:
    """For each row and iteration, how many derivations there were before an epoch, and how many there are
    now."""
    pair = st.tuples(st.integers(0, 2), st.integers(0, 2))
    return st.lists(st.lists(pair, min_size=TIMES, max_size=TIMES), max_size=6)


def check(
    rows: list[list[tuple[int, int]]], begin: Callable[[Sequence[Timeline]], Relation], ahead: int
) -> None:
    """Runs an epoch, and compares every change with the definition. `ahead`: by how many iterations
    derivations are known before their own."""
    before = [{t: was for t, (was, _) in enumerate(row) if was} for row in rows]
    now = [{t: count for t, (_, count) in enumerate(row) if count} for row in rows]
    relation = begin(before)
    found: Counter[tuple[int, int]] = Counter()
    for time in range(-ahead, TIMES):
        at = time + ahead
        if at < TIMES:
            relation.derive(
                [(k, row[at][1] - row[at][0], at) for k, row in enumerate(rows) if row[at][0] != row[at][1]]
            )
        if time in relation.times:
            for row, weight in relation.step(time).items():
                found[row, time] += weight
    assert not list(relation.times)
    wanted = {(row, t): change(before[row], now[row], t) for row in range(len(rows)) for t in range(TIMES)}
    assert {key: w for key, w in found.items() if w} == {key: w for key, w in wanted.items() if w}
    shown = {k: (birth(now[k]) is not None) - (birth(before[k]) is not None) for k in range(len(rows))}
    assert {k: w for k, w in relation.net().items() if w} == {k: w for k, w in shown.items() if w}
