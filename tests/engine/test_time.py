"""Product time: timelines in columns against the law in plain Python."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import thresholds, zset
from ddlog.engine.inprocess.arrangements.timeline import (
    Timeline,
    TimelineBeforeView,
    TimelineView,
    forget_ghosts,
)
from ddlog.engine.inprocess.recursion.missing import missing_presence
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.zset import Zset

from ..trying import trying
from .differential import Changes, Lattice, differential, upto
from .random_circuits import schema

LATTICES = [Lattice(1), Lattice(2)]

rows = st.tuples(st.integers(0, 2), st.integers(0, 3))
zsets = st.dictionaries(rows, st.sampled_from([-1, 1, 1, 2]), max_size=4)
vectors = st.tuples(st.integers(0, 3), st.integers(0, 2))
timelines = st.dictionaries(vectors, zsets, max_size=4)
Vectors = dict[tuple[int, int], Zset]


def packed(lattice: Lattice, changes: Vectors) -> dict[int, Zset]:
    """Changes by packed time."""
    found: dict[int, Zset] = {}
    for vector, change in changes.items():
        found = added(found, {lattice.pack(vector[: lattice.depth]): change})
    return found


def added(one: Changes, other: Changes) -> dict[int, Zset]:
    """The sum of changes by time."""
    sums = {t: zset.add(one.get(t, {}), other.get(t, {})) for t in {*one, *other}}
    return {t: each for t, each in sums.items() if each}


def seen_from(lattice: Lattice, changes: Changes, time: int) -> dict[int, Zset]:
    """Changes as a time sees them: at the join with it."""
    found: dict[int, Zset] = {}
    for t, change in changes.items():
        found = added(found, {lattice.join(t, time): change})
    return found


def batch(value: Zset) -> Batch:
    """A Z-set as columns."""
    listed = list(value)
    columns = [np.array([row[k] for row in listed], np.int64) for k in range(2)]
    return Batch(tuple(columns), len(listed), np.array(list(value.values()), np.int64))


def columns_of(lattice: Lattice, changes: Changes, *sharing: Timeline) -> Timeline:
    """A timeline as columns."""
    made = Timeline(schema(2), lattice, *(each.table for each in sharing))
    for time, change in changes.items():
        made.add(batch(change), time)
    return made


def row_of(table: Any, row: int) -> tuple[int, ...]:
    """A row of a table."""
    return tuple(int(c[0]) for c in table.columns_at(np.array([row])))


@trying(33)
@given(st.sampled_from(LATTICES), timelines, timelines)
def test_distinct(lattice: Lattice, before: Vectors, change: Vectors) -> None:
    """Visits as the kernel asks for them tell what the law tells; what was rolled back, committed and
    forgotten makes no difference."""
    source, changes = packed(lattice, before), packed(lattice, change)
    told = differential(lattice, lambda values: zset.distinct(values[0]), [source])
    sums = columns_of(lattice, source)
    shown = columns_of(lattice, told, sums)
    for timeline in (sums, shown):
        timeline.commit()
    for at, each in changes.items():
        sums.add(batch(each), at)
    sums.rollback()
    with mock.patch.object(thresholds, "GHOSTS", 0):
        forget_ghosts([sums, shown])
    emitted: dict[int, Zset] = {}
    waiting: dict[int, set[int]] = {time: set() for time in changes}
    while waiting:
        time = min(waiting)
        visits = waiting.pop(time)
        if time in changes:
            visits |= {*sums.add(batch(changes[time]), time).tolist()}
        missing = missing_presence(sums, shown, np.array(sorted(visits), np.int64), time)
        shown.add_rows(missing.rows, missing.change, time)
        for row, weight in zip(missing.rows.tolist(), missing.change.tolist(), strict=True):
            emitted = added(emitted, {time: {row_of(sums.table, row): weight}})
        for row, later in zip(missing.again.tolist(), missing.times.tolist(), strict=True):
            waiting.setdefault(later, set()).add(row)
    now = differential(lattice, lambda values: zset.distinct(values[0]), [added(source, changes)])
    assert added(told, emitted) == now


@trying(33)
@given(st.sampled_from(LATTICES), timelines, zsets, vectors)
def test_views(lattice: Lattice, before: Vectors, change: Zset, vector: tuple[int, int]) -> None:
    """Look-ups by column, by row and by absence see a timeline with a change at the time, or without."""
    time, source = lattice.pack(vector[: lattice.depth]), packed(lattice, before)
    now = added(source, {time: change})
    timeline = columns_of(lattice, now)
    views = [(TimelineView(timeline, time), now), (TimelineBeforeView(timeline, time, batch(change)), source)]
    for view, seen in views:
        expected = seen_from(lattice, seen, time)
        assert expected.get(time, {}) == upto(lattice, seen, time)
        keys = [np.arange(3, dtype=np.int64)]
        groups, total = view.groups((0,), keys, 3)
        found: dict[int, Zset] = {}
        for part in view.expand((0,), groups, total):
            assert part.weights is not None and part.times is not None
            for left, row, t, weight in zip(part.left, part.rows, part.times, part.weights, strict=True):
                columns = row_of(part.table, row)
                assert columns[0] == left
                found = added(found, {int(t): {columns: int(weight)}})
        assert found == expected
        full = [np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)]
        listed = list(zip(*(c.tolist() for c in full), strict=True))
        absent: dict[int, Zset] = {}
        for left, t, weight in zip(*view.absence(full, 12), strict=True):
            absent = added(absent, {int(t): {listed[left]: int(weight)}})
        negated = {t: {row: -weight for row, weight in each.items()} for t, each in expected.items()}
        assert absent == added({time: dict.fromkeys(listed, 1)}, negated)
