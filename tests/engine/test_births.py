"""The births that the Spark runtime's driver follows, against their definition. No Spark is needed."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.engine.schema import Schema
from ddlog.engine.spark.driverbirths import BEFORE, DriverBirths
from ddlog.engine.spark.tables import TIME, WEIGHT
from ddlog.spark.types.codec import SparkCodec

PROGRAM = ddlog.compile("input relation R(a: s32, b: string)\n")
TIMES = 5

# The derivations of a row by iteration: how many there were, and how many there are now.
Derivations = list[tuple[int, int]]


def columns_of_r() -> Schema:
    """The columns of R as the circuit has them."""
    circuit = PROGRAM.circuit()
    return circuit.nodes[circuit.relation("R")].schema


def table(rows: list[tuple[int, int, int, int | None, int | None]]) -> pa.Table:
    """Rows by number, with their weight and iteration, beside a derivation of before."""
    schema = pa.schema(
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
        [pa.array(a, f.type) for a, f in zip(arrays, schema, strict=True)], schema=schema
    )


def birth(derivations: Derivations, which: int) -> int | None:
    """The first iteration with a derivation."""
    return next((t for t, pair in enumerate(derivations) if pair[which]), None)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=TIMES, max_size=TIMES), max_size=6
    ),
    st.sets(st.integers(0, 5)),
    st.integers(0, 2),
)
def test_steps_lead_from_the_births_of_before_to_those_of_now(
    rows: list[Derivations], here: set[int], ahead: int
) -> None:
    """`here`: the rows whose history is on the driver; `ahead`: by how many iterations derivations are known
    before they count."""
    few = [
        (row, before, time, None, None)
        for row in here & set(range(len(rows)))
        for time, (before, _) in enumerate(rows[row])
        if before
    ]
    births = DriverBirths(columns_of_r(), SparkCodec({}), [table(few).select(["c0", "c1", "w", "t"])])

    def learn(time: int) -> None:
        found = []
        for row, derivations in enumerate(rows):
            before, now = derivations[time]
            history = [] if row in here else [(w, t) for t, (w, _) in enumerate(derivations) if w]
            if before != now:
                found += [(row, now - before, time, w, t) for w, t in history or [(None, None)]]
        once = births.learn(table(found))
        assert len(once) == sum(pairs[time][0] != pairs[time][1] for pairs in rows)

    changes: dict[tuple[int, int], int] = {}
    for time in range(-ahead, TIMES):
        if time + ahead < TIMES:
            learn(time + ahead)
        if time in births.times:
            step = births.step(time)
            for row, weight, at in zip(*(step.column(c).to_pylist() for c in ("c0", "w", "t")), strict=True):
                assert at == time
                changes[row, at] = changes.get((row, at), 0) + weight
    wanted: dict[tuple[int, int], int] = {}
    for row, derivations in enumerate(rows):
        for which, weight in ((0, -1), (1, 1)):
            born = birth(derivations, which)
            if born is not None:
                wanted[row, born] = wanted.get((row, born), 0) + weight
    assert {key: w for key, w in changes.items() if w} == {key: w for key, w in wanted.items() if w}
    net = births.net()
    gone_or_come = {row: (birth(d, 1) is not None) - (birth(d, 0) is not None) for row, d in enumerate(rows)}
    assert dict(zip(*(net.column(name).to_pylist() for name in ("c0", "w")), strict=True)) == {
        row: weight for row, weight in gone_or_come.items() if weight
    }
    assert not list(births.times)


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
