"""Nested time: the law in plain Python against its definition, and the columns against the law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import thresholds, zset
from ddlog.engine.circuit import DeltaGroup
from ddlog.engine.inprocess.arrangements.timeline import Timeline as Columns
from ddlog.engine.inprocess.arrangements.timeline import TimelineBeforeView, TimelineView, forget_ghosts
from ddlog.engine.inprocess.groups.roundgroup import RoundGroup
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.inprocess.storage.interner import Values, decode_rows, encode_rows
from ddlog.engine.nestedtime import added, maintain, maintain_sums, missing, product, upto
from ddlog.engine.operators.group import Aggregate, group
from ddlog.engine.schema import Column, Kind
from ddlog.engine.zset import Zset

from ..trying import trying
from .random_circuits import schema

Rounds = dict[int, Zset]
ROUNDS = 6

rows = st.tuples(st.integers(0, 2), st.integers(0, 3))
zsets = st.dictionaries(rows, st.sampled_from([-1, 1, 1, 2]), max_size=4)
timelines = st.dictionaries(st.integers(0, ROUNDS - 1), zsets, max_size=4)


def groups(function: str) -> Callable[[Zset], Zset]:
    """A group by the first column."""
    make = (lambda key, values: tuple(values)) if function == "group" else None
    one = Aggregate(function, () if function == "count" else (1,), make=make)
    return lambda value: group(value, 1, (one,))


OPERATORS = {"distinct": (zset.distinct, 2)} | {
    name: (groups(name), 1) for name in ("min", "max", "count", "sum", "group")
}


def by_rounds(operator: Callable[[Zset], Zset], source: Rounds) -> Rounds:
    """The output of an operator for its input, by the definition."""
    return differences([operator(upto(source, time)) for time in range(ROUNDS)])


def differences(values: list[Zset]) -> Rounds:
    """The changes from each round to the next."""
    changes = [zset.subtract(now, old) for old, now in zip([{}, *values[:-1]], values, strict=True)]
    return {time: change for time, change in enumerate(changes) if change}


@trying(100)
@given(st.sampled_from(sorted(OPERATORS)), timelines, timelines)
def test_the_law(name: str, source: Rounds, change: Rounds) -> None:
    """What an epoch tells is the difference of the outputs."""
    operator, arity = OPERATORS[name]
    told = by_rounds(operator, source)
    emitted = maintain(operator, arity, source, told, change)
    assert added(told, emitted) == by_rounds(operator, added(source, change))


@trying(100)
@given(timelines, timelines, timelines, timelines)
def test_joins(left: Rounds, right: Rounds, left_change: Rounds, right_change: Rounds) -> None:
    """Changes joined one after another, each with what the other side has then, make the change of the
    join."""

    def joined(a: Zset, b: Zset) -> Zset:
        return zset.zset(((x, z), v * w) for (x, y), v in a.items() for (k, z), w in b.items() if y == k)

    def whole(a: Rounds, b: Rounds) -> Rounds:
        return differences([joined(upto(a, time), upto(b, time)) for time in range(ROUNDS)])

    found = whole(left, right)
    for time in range(ROUNDS):
        found = added(found, product({time: left_change.get(time, {})}, right, joined, time))
        left = added(left, {time: left_change.get(time, {})})
        turned = product({time: right_change.get(time, {})}, left, lambda b, a: joined(a, b), time)
        found = added(found, turned)
        right = added(right, {time: right_change.get(time, {})})
    assert found == whole(left, right)


sets = st.dictionaries(rows, st.lists(st.booleans(), min_size=ROUNDS, max_size=ROUNDS), max_size=8)
"""Rows that are there in some rounds."""


def timeline_of(there: dict[tuple[int, int], list[bool]]) -> Rounds:
    """The timeline of a set."""
    return differences([{row: 1 for row, at in there.items() if at[time]} for time in range(ROUNDS)])


def difference(new: Rounds, old: Rounds) -> Rounds:
    """What an epoch changes."""
    return added(new, {time: zset.negate(change) for time, change in old.items()})


@trying(100)
@given(sets, sets)
def test_sums_by_round(before: dict[Any, Any], after: dict[Any, Any]) -> None:
    """Groups with accumulators tell the difference of the outputs."""
    source, change = timeline_of(before), difference(timeline_of(after), timeline_of(before))
    for name in ("count", "sum"):
        told, now = (by_rounds(groups(name), each) for each in (source, timeline_of(after)))

        def result(key: Any, sums: tuple[int, int], name: str = name) -> Any:
            return (*key, sums[name == "sum"])

        assert maintain_sums(result, 1, 1, source, told, change) == difference(now, told)


AGGREGATES = [["sum"], ["count", "avg"], ["min"], ["max", "sum"], ["min", "max"], ["group"], ["max", "group"]]


@trying(100)
@given(st.sampled_from(AGGREGATES), st.lists(st.tuples(sets, st.booleans()), min_size=2), st.booleans())
def test_groups_in_columns(
    functions: list[str], epochs: list[tuple[dict[Any, Any], bool]], large: bool
) -> None:
    """Groups as columns follow the law, epoch by epoch, also when epochs are rolled back and what is gone is
    forgotten; members of large groups are held in order."""
    node, operator = group_node(functions)
    source = timeline_of(epochs[0][0])
    members = columns_of(source) if {"min", "max", "group"} & {*functions} else None
    shown = Columns(node.schema).load([(t, encoded(rows)) for t, rows in by_rounds(operator, source).items()])
    state = RoundGroup(node, schema(2), members, shown, 0, VALUES)
    state.load([] if members else [(time, batch(rows)) for time, rows in source.items()])
    parts = [shown, state.groups] + ([members] if members else [])
    for part in parts:
        part.commit()
    with mock.patch.object(thresholds, "LARGE_GROUP", 0 if large else 1024):
        for there, stays in epochs[1:]:
            change = difference(timeline_of(there), source)
            run_epoch(state, members, shown, change)
            told = added({}, decoded(shown))
            assert told == by_rounds(operator, added(source, change))
            state.commit() if stays else state.rollback()
            for part in parts:
                part.commit() if stays else part.rollback()
                if stays:
                    part.compact()
                    forget_ghosts([part], 0)
            if stays:
                source = added(source, change)


VALUES = Values()


def group_node(functions: list[str]) -> tuple[DeltaGroup, Callable[[Zset], Zset]]:
    """A group by the first column, with some aggregates of the second one."""
    aggregates = tuple(
        Aggregate(
            name, () if name == "count" else (1,), make=(lambda k, v: str(v)) if name == "group" else None
        )
        for name in functions
    )
    kinds = {"avg": Kind.FLOAT, "group": Kind.OBJECT}
    outs = [Column(f"r{k}", kinds.get(name, Kind.INT), "text") for k, name in enumerate(functions)]
    node = DeltaGroup(0, 0, 1, aggregates, (*schema(2)[:1], *outs))
    return node, lambda value: group(value, 1, aggregates)


def encoded(value: Zset) -> Batch:
    """Rows of a group's output as columns."""
    node_schema = [Column("k", Kind.INT, ""), *(_column(v) for v in next(iter(value))[1:])]
    columns = encode_rows(VALUES, node_schema, list(value))
    return Batch(columns, len(value), np.array(list(value.values()), np.int64))


def _column(value: Any) -> Column:
    kind = Kind.INT if isinstance(value, int) else Kind.FLOAT if isinstance(value, float) else Kind.OBJECT
    return Column("r", kind, "text")


def decoded(timeline: Columns) -> Rounds:
    """A timeline as Z-sets."""
    everything = np.arange(timeline.table.size, dtype=np.int64)
    at, times, weights = timeline.entries(everything, -1)
    rows = decode_rows(VALUES, timeline.schema, timeline.table.columns_at(at), len(at))
    found: Rounds = {}
    for row, time, weight in zip(rows, times.tolist(), weights.tolist(), strict=True):
        found = added(found, {time: {row: weight}})
    return found


def run_epoch(state: RoundGroup, members: Columns | None, shown: Columns, change: Rounds) -> None:
    """Visits groups round by round, as they ask for it."""
    waiting: dict[int, set[int]] = {}
    for time in range(ROUNDS):
        if time in change:
            if members is not None:
                members.add(batch(change[time]), time)
            waiting.setdefault(time, set()).update(state.change(batch(change[time]), time).tolist())
        if waiting.get(time):
            visit = state.visit(np.array(sorted(waiting.pop(time)), np.int64), time)
            shown.add_rows(visit.missing, visit.change, time)
            for key, later in zip(visit.again.tolist(), visit.times.tolist(), strict=True):
                waiting.setdefault(later, set()).add(key)


def batch(value: Zset) -> Batch:
    """A Z-set as columns."""
    listed = list(value)
    columns = [np.array([row[k] for row in listed], np.int64) for k in range(2)]
    return Batch(tuple(columns), len(listed), np.array(list(value.values()), np.int64))


def columns_of(source: Rounds, *sharing: Columns) -> Columns:
    """A timeline as columns."""
    made = Columns(schema(2), *(each.table for each in sharing))
    for time, change in source.items():
        made.add(batch(change), time)
    return made


def rows_of(timeline: Columns, at: Any, weights: Any) -> Zset:
    """Rows of a table with weights as a Z-set."""
    listed = zip(*(c.tolist() for c in timeline.table.columns_at(at)), strict=True)
    return zset.zset(zip(listed, weights.tolist(), strict=True))


@trying(100)
@given(timelines, timelines, st.integers(0, ROUNDS - 1))
def test_distinct_in_columns(source: Rounds, change: Rounds, time: int) -> None:
    """The kernel of *distinct* agrees with the law, and says in which rounds to visit rows again; what was
    rolled back, committed and forgotten makes no difference."""
    told = by_rounds(zset.distinct, source)
    sums = columns_of(source)
    shown = columns_of(told, sums)
    for timeline in (sums, shown):
        timeline.commit()
    for _ in range(2):
        for at, rows in change.items():
            sums.add(batch(rows), at)
        sums.rollback() if _ == 0 else sums.commit()
    forget_ghosts([sums, shown])
    now = added(source, change)
    everything = np.arange(sums.table.size, dtype=np.int64)
    out, weights, later, times = sums.missing_presence(shown, everything, time)
    assert rows_of(sums, out, weights) == missing(zset.distinct, now, told, time)
    soonest = {row: min(t for t in now if t > time and row in now[t]) for _, row in _later(now, time)}
    assert rows_of(sums, later, times) == soonest
    there, _ = sums.at(everything, time)
    assert rows_of(sums, everything, there) == upto(now, time)


def _later(timeline: Rounds, time: int) -> list[tuple[int, Any]]:
    return [(t, row) for t, rows in timeline.items() if t > time for row in rows]


@trying(100)
@given(timelines, zsets, st.integers(0, ROUNDS - 1))
def test_views_of_timelines(source: Rounds, change: Zset, time: int) -> None:
    """Look-ups by column, by row and by absence see a timeline with a change of the round, or without."""
    now = added(source, {time: change})
    timeline = columns_of(now)
    views = [(TimelineView(timeline, time), now), (TimelineBeforeView(timeline, time, batch(change)), source)]
    for view, seen in views:
        expected = {time: upto(seen, time)} | {t: rows for t, rows in seen.items() if t > time}
        keys = [np.arange(3, dtype=np.int64)]
        groups, total = view.groups((0,), keys, 3)
        found: Rounds = {}
        for part in view.expand((0,), groups, total):
            assert part.weights is not None and part.times is not None
            for left, row, t, weight in zip(part.left, part.rows, part.times, part.weights, strict=True):
                columns = tuple(int(c[0]) for c in timeline.table.columns_at(np.array([row])))
                columns = columns if part.table is timeline.table else _row(part.table, row)
                assert columns[0] == left
                found = added(found, {int(t): {columns: int(weight)}})
        assert found == {t: rows for t, rows in expected.items() if rows}
        full = [np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)]
        listed = list(zip(*(c.tolist() for c in full), strict=True))
        absent: Rounds = {}
        for left, t, weight in zip(*view.absence(full, 12), strict=True):
            absent = added(absent, {int(t): {listed[left]: int(weight)}})
        one = {time: dict.fromkeys(listed, 1)}
        negated = {t: {row: -weight for row, weight in rows.items()} for t, rows in expected.items()}
        assert absent == added(one, negated)


def _row(table: Any, row: int) -> tuple[int, ...]:
    return tuple(int(c[0]) for c in table.columns_at(np.array([row])))
