"""Distinct in a recursion: Spark's driver against the definition. No Spark is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.schema import Schema
from ddlog.engine.spark.driverbirths import BEFORE, DriverBirths
from ddlog.engine.spark.tables import TIME, WEIGHT
from ddlog.spark.types.codec import SparkCodec

from ..trying import trying
from .timelines import Derived, Plain, Timeline, check, epochs

PROGRAM = ddlog.compile("input relation R(a: s32, b: string)\n")


def columns_of_r() -> Schema:
    """The columns of R as the circuit has them."""
    circuit = PROGRAM.circuit()
    return circuit.nodes[circuit.relation("R")].schema


def table(rows: list[tuple[int, int, int, int | None, int | None]]) -> pa.Table:
    """Rows by number, with their weight and iteration, beside a derivation of before."""
    fields = pa.schema(
        [
            pa.field("c0", pa.int32(), nullable=False),
            pa.field("c1", pa.string(), nullable=False),
            WEIGHT,
            TIME,
            *BEFORE,
        ]
    )
    columns = list(zip(*rows, strict=True)) or [()] * 5
    numbers = columns[0]
    arrays = [list(numbers), [f"r{n}" for n in numbers], *map(list, columns[1:])]
    return pa.Table.from_arrays(
        [pa.array(a, f.type) for a, f in zip(arrays, fields, strict=True)], schema=fields
    )


class OnDriver:
    """The one of Spark's driver. `here`: the rows whose history is there at the beginning."""

    def __init__(self, before: Sequence[Timeline], here: set[int]) -> None:
        self._before, self._here = before, here
        known = [row for row in here if row < len(before)]
        few = [(row, w, t, None, None) for row in known for t, w in before[row].items()]
        columns = ["c0", "c1", "w", "t"]
        self._births = DriverBirths(columns_of_r(), SparkCodec({}), [table(few).select(columns)])

    @property
    def times(self) -> Collection[int]:
        return list(self._births.times)

    def derive(self, derived: Derived) -> None:
        found = []
        for row, weight, time in derived:
            history = [] if row in self._here else [(w, t) for t, w in self._before[row].items()]
            found += [(row, weight, time, w, t) for w, t in history or [(None, None)]]
        assert len(self._births.learn(table(found))) == len(derived)

    def step(self, time: int) -> Mapping[int, int]:
        step = self._births.step(time)
        assert set(step.column("t").to_pylist()) <= {time}
        return weights(step)

    def net(self) -> Mapping[int, int]:
        return weights(self._births.net())


def weights(rows: pa.Table) -> dict[int, int]:
    """The weight of each row."""
    return dict(zip(rows.column("c0").to_pylist(), rows.column("w").to_pylist(), strict=True))


@trying(33)
@given(epochs(), st.sets(st.integers(0, 5)), st.integers(0, 2))
def test_distinct_in_a_recursion(rows: list[list[tuple[int, int]]], here: set[int], ahead: int) -> None:
    for begin in (Plain, lambda before: OnDriver(before, here)):
        check(rows, begin, ahead)


def test_a_row_that_waits_is_due_when_it_was_born() -> None:
    births = DriverBirths(columns_of_r(), SparkCodec({}), [])
    births.learn(table([(7, 1, 0, 1, 3)]))
    assert births.step(0).column("w").to_pylist() == [1], "born at 0 now"
    (due,) = births.appointments().items()
    assert due[0] == 3 and due[1].column("t").to_pylist() == [3] and due[1].column("c1")[0].as_py() == "r7"
    assert births.step(3).column("w").to_pylist() == [-1], "and no longer at 3"
    assert births.net().num_rows == 0


def test_a_relation_without_columns_is_born() -> None:
    births = DriverBirths((), SparkCodec({}), [])
    derived = pa.Table.from_arrays(
        [
            pa.array(a, f.type)
            for a, f in zip([[1], [2], [None], [None]], (WEIGHT, TIME, *BEFORE), strict=True)
        ],
        schema=pa.schema([WEIGHT, TIME, *BEFORE]),
    )
    assert births.learn(derived).num_rows == 1
    assert births.step(2).to_pylist() == [{"w": 1, "t": 2}] and births.net().to_pylist() == [{"w": 1}]
