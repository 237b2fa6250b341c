"""Recursions over paths: values and ranks against rounds in plain Python, over changes of the steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine.circuit import Circuit
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.recursion.paths import FoundPaths, Paths, Unsuitable
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.paths import BOUND, PLUS, START, PathPlan, Steps

from ..trying import trying
from .random_circuits import schema

NODES = 7
Values = dict[int, int]
Step = tuple[int, int, int, int]  # the kind, the key it leads from, the key it leads to, the cost

steps = st.builds(
    lambda kind, source, target, cost: (kind, 0 if kind == START else source, target, cost),
    st.sampled_from([PLUS, PLUS, BOUND, START]),
    *[st.integers(0, NODES - 1)] * 2,
    st.integers(0, 4),
)
changes = st.lists(st.lists(st.tuples(steps, st.booleans()), max_size=12), min_size=1, max_size=6)


@dataclass
class Loaded:
    """Paths, and the steps that they should have."""

    paths: Paths
    greatest: bool
    held: Counter[Step]

    def change(self, given: list[tuple[Step, bool]]) -> FoundPaths:
        """One epoch: each step comes, or goes if there is one."""
        change: Counter[Step] = Counter()
        for step, comes in given:
            if comes or self.held[step] + change[step] > 0:
                change[step] += 1 if comes else -1
        self.held.update(change)
        batches = []
        for each in self.paths.plan.steps:
            rows = [(step, weight) for step, weight in change.items() if step[0] == each.kind and weight]
            columns = [[step[k] for step, _ in rows] for k in (1, 2, 3)][each.kind == START :]
            if self.greatest and each.kind == PLUS:
                columns[-1] = [-cost for cost in columns[-1]]
            arrays = tuple(np.array(column, np.int64) for column in columns)
            batches.append((each, Batch(arrays, len(rows), np.array([w for _, w in rows], np.int64))))
        return self.paths.run(lambda: batches, False)

    def offers(self, values: Values) -> set[tuple[int, int]]:
        """What is offered to each key, given values."""
        found = set()
        for (kind, source, target, cost), count in self.held.items():
            if count > 0 and kind == START:
                found.add((target, cost))
            elif count > 0 and source in values:
                found.add((target, self.carried(kind, values[source], cost)))
        return found

    def carried(self, kind: int, value: int, cost: int) -> int:
        """What a step makes of a value."""
        if kind == PLUS:
            return value - cost if self.greatest else value + cost
        return min(value, cost) if self.greatest else max(value, cost)

    def rounds(self) -> Values:
        """The values that rounds come to."""
        values: Values = {}
        while True:
            new: Values = {}
            for key, value in sorted(self.offers(values), reverse=not self.greatest):
                new[key] = value
            if new == values:
                return values
            values = new


def loaded(greatest: bool) -> Loaded:
    """Paths over numbers."""
    limits = -(1 << 40), 1 << 40
    kinds = tuple(Steps(number, kind, *limits) for number, kind in enumerate((START, PLUS, BOUND)))
    (key, value) = schema(2)
    plan = PathPlan(Circuit(()), kinds, (key,), value, greatest, "Best", (0, 1), "Offer", (1, 0))
    return Loaded(Paths(plan, Store((value, key), is_set=True)), greatest, Counter())


def applied(rows: set[tuple[int, ...]], found: Batch | None, whole: bool) -> set[tuple[int, ...]]:
    """Rows after a change of them, each of which is one."""
    assert found is not None
    rows = set() if whole else set(rows)
    listed = zip(*(column.tolist() for column in found.columns), strict=True)
    for row, weight in sorted(zip(listed, found.weight_array().tolist(), strict=True), key=lambda e: e[1]):
        assert (row in rows) == (weight < 0)
        (rows.remove if weight < 0 else rows.add)(row)
    return rows


@trying(14)
@given(st.booleans(), changes)
def test_changes_of_steps(greatest: bool, epochs: list[list[tuple[Step, bool]]]) -> None:
    """Values, offers and changes are those of rounds, whatever comes and goes."""
    state = loaded(greatest)
    best: set[tuple[int, ...]] = set()
    offers: set[tuple[int, ...]] = set()
    for epoch in epochs:
        found = state.change(epoch)
        best = applied(best, found.best, found.whole)
        offers = applied(offers, found.offers, False)
        values = state.rounds()
        assert best == set(values.items())
        assert offers == {(value, key) for key, value in state.offers(values)}
        check_law(state, values)


def check_law(state: Loaded, values: Values) -> None:
    """Each value rests on one that is better, or as good and of lesser rank."""
    paths, sign = state.paths, -1 if state.greatest else 1
    ids = paths.keys.find([np.arange(NODES)], NODES) + 1
    ranks = {key: int(paths.rank[ids[key]]) for key in values}
    assert paths.present == len(values)
    for key, value in values.items():
        assert any(
            target == key
            and (
                cost == value
                if kind == START
                else source in values
                and state.carried(kind, values[source], cost) == value
                and (sign * values[source], ranks[source]) < (sign * value, ranks[key])
            )
            for (kind, source, target, cost), count in state.held.items()
            if count > 0
        )


def test_what_needs_rounds() -> None:
    """Steps that better what they carry are given up, and sums that may leave their range."""
    for cost, start in ((-1, 0), (3, (1 << 40) - 5)):
        state = loaded(False)
        try:
            state.change([((START, 0, 1, start), True), ((PLUS, 1, 2, cost), True)])
        except Unsuitable:
            continue
        raise AssertionError("suitable")
