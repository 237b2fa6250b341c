"""Sums of groups are exact, whatever comes and goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import thresholds
from ddlog.engine.circuit import Aggregate, Circuit, Group, Input, Ordered, Output
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.runtime import Runtime
from ddlog.engine.schema import Column, Kind

from ..trying import trying
from .random_circuits import Numbers, int_column, schema
from .test_oracle import commit

quick = trying(20)


def totals(kind: Kind, domain: str) -> Runtime:
    """count, sum and avg of v by k, over Row(k, id, v)."""
    key, number = Column("k", Kind.INT, "bigint"), Column("v", kind, domain)
    source = (key, Column("id", Kind.INT, "bigint"), number)
    out = (key, Column("n", Kind.INT, "bigint"), number, Column("avg", Kind.FLOAT, "double"))
    aggregates = (Aggregate("count", ()), Aggregate("sum", (2,)), Aggregate("avg", (2,)))
    nodes = (Input("Row", source), Group(0, 1, aggregates, out), Output("Totals", 1, out))
    return InProcess(incrementalize(Circuit(nodes, (("Row", 0),))))


def follow(runtime: Runtime, values: list, gone: list[bool]) -> tuple[list, list]:
    """Inserts all rows, then deletes some in a second epoch; the totals and the values that stay."""
    rows = [(1, k, v) for k, v in enumerate(values)]
    runtime.commit({"Row": [(runtime.batch("Row", rows), 1)]})
    leave = [row for row, go in zip(rows, gone, strict=False) if go]
    if leave:
        runtime.commit({"Row": [(runtime.batch("Row", leave), -1)]})
    return list(runtime.rows("Totals")), [row[2] for row in rows if row not in leave]


big = st.one_of(st.integers(-(2**200), 2**200), st.integers(2**62 - 2, 2**62 + 2), st.integers(-9, 9))


@quick
@given(st.lists(big, min_size=1, max_size=12), st.lists(st.booleans(), max_size=12))
def test_integer_sums_have_no_limit(values: list[int], gone: list[bool]) -> None:
    got, left = follow(totals(Kind.INT, "bigint"), values, gone)
    assert got == ([(1, len(left), sum(left), sum(left) / len(left))] if left else [])


doubles = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@quick
@given(st.lists(doubles, min_size=1, max_size=12), st.lists(st.booleans(), max_size=12))
def test_double_sums_are_rounded_once(values: list[float], gone: list[bool]) -> None:
    got, left = follow(totals(Kind.FLOAT, "double"), values, gone)
    assert [row[:3] for row in got] == ([(1, len(left), math.fsum(left))] if left else [])


def test_a_function_of_some_columns_gets_a_value_for_each_row() -> None:
    row, listed = Column("v", Kind.INT, "bigint"), Column("listed", Kind.OBJECT, "values")
    values = Aggregate("group", (1,), make=lambda key, rows: tuple(value for (value,) in rows))
    nodes = (Input("Row", (row, row)), Group(0, 0, (values,), (listed,)), Output("Listed", 1, (listed,)))
    runtime = InProcess(incrementalize(Circuit(nodes, (("Row", 0),))))
    runtime.commit({"Row": [(runtime.batch("Row", [(2, 1), (1, 0), (0, 0)]), 1)]})
    assert list(runtime.rows("Listed")) == [((0, 0, 1),)]
    runtime.commit({"Row": [(runtime.batch("Row", [(1, 0)]), -1)]})
    assert list(runtime.rows("Listed")) == [((0, 1),)]


@pytest.mark.parametrize("bag", [False, True])
def test_rows_are_numbered_apart_where_they_differ_in_other_columns(bag: bool) -> None:
    numbers = Aggregate("group", (1,), key="numbers", ordered=Numbers())
    out = (int_column("o"),)
    nodes = (Input("Row", schema(2), multiset=bag), Ordered(0, 0, numbers, out, bag=bag), Output("O", 1, out))
    runtime = InProcess(incrementalize(Circuit(nodes, (("Row", 0),))))
    assert commit(runtime, {"Row": [((1, 0), 1), ((2, 0), 1), ((2, 5), 1)]}) == {
        "O": {(0,): 1, (1,): 1, (7,): 1}
    }
    assert commit(runtime, {"Row": [((3, 0), 1)]}) == {"O": {(2,): 1, (7,): -1, (8,): 1}}
    assert commit(runtime, {"Row": [((1, 0), -1)]}) == {"O": {(2,): -1, (8,): -1, (7,): 1}}


def test_infinities_cancel_to_nan_and_leave_again() -> None:
    runtime = totals(Kind.FLOAT, "double")
    rows = [(1, 0, math.inf), (1, 1, -math.inf), (1, 2, 1.5)]
    runtime.commit({"Row": [(runtime.batch("Row", rows), 1)]})
    ((_, _, total, _),) = runtime.rows("Totals")
    assert math.isnan(total)
    runtime.commit({"Row": [(runtime.batch("Row", rows[:2]), -1)]})
    assert list(runtime.rows("Totals")) == [(1, 1, 1.5, 1.5)]


def test_columns_of_a_batch_may_be_arrays_or_dictionaries() -> None:
    runtime = totals(Kind.INT, "bigint")
    batch = runtime.batch_from_columns(
        "Row", [np.array([1, 1, 2]), [7, 8, 9], ([10, 2**70], np.array([0, 1, 0]))]
    )
    runtime.commit({"Row": [(batch, 1)]})
    assert list(runtime.rows("Row")) == [(1, 7, 10), (1, 8, 2**70), (2, 9, 10)]
    assert runtime.contains("Row", [(1, 8, 2**70), (1, 8, 3)]) == [True, False]
    assert runtime.find("Row", {0: 1}) == [(1, 7, 10), (1, 8, 2**70)]


@pytest.mark.parametrize(("kind", "domain"), [(Kind.INT, "bigint"), (Kind.FLOAT, "double")])
def test_keys_that_come_and_go_are_forgotten_in_the_end(kind: Kind, domain: str) -> None:
    runtime = totals(kind, domain)
    number: Callable[[int], Any] = float if kind is Kind.FLOAT else lambda n: n << 60
    stay = [(-1, 0, number(3)), (-1, 1, number(4)), (-2, 0, number(5))]
    runtime.commit({"Row": [(runtime.batch("Row", stay), 1)]})
    for start in range(0, 30_000, 3_000):
        rows = [(key, 0, number(key)) for key in range(start, start + 3_000)]
        runtime.commit({"Row": [(runtime.batch("Row", rows), 1)]})
        runtime.commit({"Row": [(runtime.batch("Row", rows), -1)]})
    (group,) = runtime._state.groups.values()
    assert group.alive == 2
    assert group.keys.size < 10_000
    runtime.commit({"Row": [(runtime.batch("Row", [(-2, 1, number(6)), (7, 7, number(7))]), 1)]})
    runtime.commit({"Row": [(runtime.batch("Row", stay[1:2]), -1)]})
    assert [row[:3] for row in runtime.rows("Totals")] == [
        (-2, 2, number(11)),
        (-1, 1, number(3)),
        (7, 1, number(7)),
    ]


mixed = st.tuples(st.integers(0, 3), big, st.floats(allow_nan=False))


@quick
@given(st.lists(st.lists(mixed, max_size=12), min_size=1, max_size=3))
def test_whole_groups_are_in_order(commits: list[list[Any]]) -> None:
    """A function of whole groups is given their rows in order, also where their columns were sorted."""
    kinds = (("k", Kind.INT), ("i", Kind.INT), ("f", Kind.FLOAT))
    source = tuple(Column(name, kind, name) for name, kind in kinds)
    out = (source[0], Column("n", Kind.INT, "bigint"))
    made = Aggregate("group", (1, 2), make=lambda key, rows: len(rows) if rows == sorted(rows) else -1)
    nodes = (Input("Row", source), Group(0, 1, (made,), out), Output("Made", 1, out))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "SORTED_COLUMNS", 0)
        runtime = InProcess(incrementalize(Circuit(nodes, (("Row", 0),))))
        given = set[Any]()
        for rows in commits:
            new = {*rows} - given
            runtime.commit({"Row": [(runtime.batch("Row", sorted(new)), 1)]})
            given |= new
            counts = Counter(row[0] for row in given)
            assert list(runtime.rows("Made")) == sorted(counts.items())
