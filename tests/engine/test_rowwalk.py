"""Small epochs by rows: they tell, and keep, what the general walk does, which the definition decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import permutations
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Circuit, DeltaGroup
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess import rowwalk
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.footprint import _parts
from ddlog.engine.inprocess.groups.group import GroupState
from ddlog.engine.inprocess.rowwalk import RowWalk
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.schema import Column, Kind

from ..taking import PLAIN, as_usual, take_back
from ..trying import trying
from .random_circuits import INPUTS, Changes, Definition, any_circuits, apply, modes, settling, streams
from .test_oracle import difference, legal, undo

Zsets = dict[str, dict[tuple[Any, ...], int]]


def in_steps(epochs: list[Changes], rng: Random) -> list[Changes]:
    """The epochs, some of them whole, and the others row by row or two rows at a time."""
    steps: list[Changes] = []
    for epoch in epochs:
        if rng.random() < 0.3:
            steps.append(epoch)
            continue
        single = [(name, change) for name, signed in epoch.items() for change in signed]
        while single:
            taken = [single.pop() for _ in range(min(len(single), rng.choice([1, 1, 1, 2])))]
            steps.append({name: [each for of, each in taken if of == name] for name in INPUTS})
    return steps


def general(circuit: Circuit, maintain: Mode | Coin) -> InProcess:
    """A runtime without walks by rows."""
    runtime = InProcess(circuit, maintain=maintain)
    runtime._epochs._small_walk = None
    return runtime


def batches(runtime: InProcess, changes: Changes, rng: Random) -> dict[str, Any]:
    """The changes as batches: one for each row, or of neighbours of one sign together."""
    together, found = rng.random() < 0.5, dict[str, Any]()
    for name, signed in changes.items():
        runs: list[tuple[list[tuple[int, ...]], int]] = []
        for row, sign in signed:
            if together and runs and runs[-1][1] == sign:
                runs[-1][0].append(row)
            else:
                runs.append(([row], sign))
        found[name] = [(runtime.batch(name, rows), sign) for rows, sign in runs]
    return found


def values(column: Any) -> list[Any]:
    """The values of a column of an epoch that is sealed."""
    if isinstance(column, tuple):
        dictionary, places = column
        return [dictionary[place] for place in places]
    return [*column]


def committed(runtime: InProcess, given: dict[str, Any]) -> tuple[Zsets, Any]:
    """The changes of outputs of an epoch, and those of inputs and outputs that are sealed in it."""
    sealed: Zsets = {}

    def seal(epoch: Any) -> None:
        parts = {f"in {name}": read() for name, read in epoch.inputs().items()}
        parts |= {f"out {name}": read() for name in epoch.deltas if (read := epoch.output(name)) is not None}
        for name, part in parts.items():
            rows = [*zip(*map(values, part.columns), strict=True)] or [()] * part.length
            ones = [1] * part.length if part.weights is None else part.weights.tolist()
            sealed[name] = dict(zip(rows, ones, strict=True))

    deltas = PLAIN(runtime, given, seal=seal)
    told = {name: dict(zip(each.rows, each.weights, strict=True)) for name, each in deltas.items()}
    return {name: rows for name, rows in told.items() if rows}, sealed


def undone(runtime: InProcess) -> dict[str, set[tuple[Any, ...]]]:
    """The contents of the outputs as they were before the last epoch."""
    names = runtime._state.outputs
    return runtime.before(lambda: {name: set(runtime.rows(name)) for name in names}, None)


@trying(15)
@given(
    any_circuits,
    streams(),
    st.integers(0, 1 << 30),
    st.sampled_from([2, 8]),
    st.sampled_from([1, 128]),
    modes(),
)
@settling
def test_rows_tell_what_batches_tell(
    circuit: Circuit, epochs: list[Changes], seed: int, most: int, matches: int, maintain: Mode | Coin
) -> None:
    """With epochs that are taken back between, rows that are there already or absent, and a multiset."""
    rng, definition = Random(seed), Definition(circuit)
    contents: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in INPUTS}
    few = mock.patch.multiple(
        thresholds, ROWS_ONE_BY_ONE=most, MATCHES_ONE_BY_ONE=matches, GENERAL_RUNS=rng.choice([0, 0, 1]),
        ROWS_LATER=rng.choice([1, 4, 4096]),
    )  # fmt: skip
    changes = incrementalize(circuit)
    with few:
        by_rows, by_batches = InProcess(changes, maintain=maintain), general(changes, maintain)
        before: Zsets = {}
        for step in in_steps([*epochs, *map(undo, reversed(epochs)), *epochs], rng):
            step |= {"M": legal(contents["M"], step.get("M", []))}
            if rng.random() < 0.3:
                take_back(by_rows, batches(by_rows, step, rng), {}, rng)
            apply(contents, step)
            after, last = definition.step(contents), by_batches.committed
            told, sealed = committed(by_rows, batches(by_rows, step, rng))
            assert (told, sealed) == committed(by_batches, batches(by_batches, step, rng))
            for name, rows in after.items():
                assert told.get(name, {}) == difference(rows, before.get(name, {})), name
                if rng.random() < 0.5:
                    assert set(by_rows.rows(name)) == rows.keys(), name
            if last and rng.random() < 0.2:
                assert undone(by_rows) == undone(by_batches)
            before = after


@pytest.mark.parametrize("later", [1, 3, 4096])
@pytest.mark.parametrize("rows", [2, 20])
def test_an_index_has_the_rows_that_came_one_by_one_when_it_is_asked(later: int, rows: int) -> None:
    store = Store((Column("a", Kind.INT, "bigint"), Column("b", Kind.INT, "bigint")), is_set=True)
    store.index((1,))
    with mock.patch.object(thresholds, "ROWS_LATER", later):
        for k in range(rows):
            store.set_one((k, 7), 1)
        assert store.indexes[(1,)].rows_of((7,), 100) == [*range(rows)]
        store.commit()
        store.set_one((0, 7), -1)
        store.set_one((rows, 7), 1)
        assert sorted(store.indexes[(1,)].rows_of((7,), 100) or ()) == [*range(1, rows + 1)]
        store.set_one((rows + 1, 7), 1)
        store.rollback()
        assert sorted(store.index((1,)).rows_of((7,), 100) or ()) == [*range(rows)]
    assert [name for name in _parts(store) if "weights" not in name] == ["table", "index by (b)"]


# ------------------------------------------------------------------ programs

PROGRAM = """
typedef Pair = Pair{a: string, n: bigint}
input relation Edge(a: string, b: string)
input relation Weight(b: string, n: bigint)
input relation Away(b: string)
input multiset Seen(a: string, x: double)
input relation Pairs(p: Pair)
output relation Copy(a: string, b: string)
output relation Near(a: string, c: string)
output relation Free(a: string, b: string)
output relation Total(a: string, count: bigint, sum: bigint, least: bigint, most: bigint)
output relation Mean(a: string, x: double)
output relation Names(a: string, all: string)
output multiset Many(b: string)
output relation Letter(b: string, c: string)
output relation Either(b: string)
output relation Reach(a: string, b: string)
output relation Split(a: string, n: bigint)
output relation Inverse(b: string, n: bigint)
Copy(a, b) :- Edge(a, b).
Near(a, c) :- Edge(a, b), Edge(b, c), a != c.
Free(a, b) :- Edge(a, b), not Away(b).
Total(a, g.count() as bigint, g.sum(), g.min(), g.max()) :- Edge(a, b), Weight(b, n), var g = n.group_by(a).
Mean(a, m) :- Seen(a, x), var m = x.group_by(a).sum().
Names(a, s) :- Edge(a, b), var s = b.group_by(a).to_vec().join(" ").
Many(b) :- Edge(_, b).
Letter(b, c) :- Away(b), var c = FlatMap(b.split("")).
Either(b) :- Away(b).
Either(b) :- Weight(b, n), n > 1.
Reach(a, b) :- Edge(a, b).
Reach(a, c) :- Reach(a, b), Edge(b, c).
Split(a, n + 1) :- Pairs(Pair{a, n}).
Inverse(b, 60 / n) :- Weight(b, n), not Away(b).
"""

NODES = "abcdef"


def change(rng: Random) -> tuple[str, Any]:
    """A relation, and a row of it."""
    name = rng.choice(["Edge", "Edge", "Weight", "Away", "Seen", "Pairs"])
    a, b, n = rng.choice(NODES), rng.choice(NODES), rng.choice([0, 1, 1, 2, 3, 1 << 70])
    row: Any = {"Edge": (a, b), "Weight": (b, n), "Away": (b,), "Seen": (a, n / 4)}.get(name)
    return name, (({"a": a, "n": n},) if row is None else row)


def log(seed: int, most: int) -> list[Any]:
    """What a session tells of random transactions, if changes of so many rows are walked by rows."""
    rng, found = Random(seed), list[Any]()
    heard: list[Any] = []
    few = mock.patch.multiple(thresholds, ROWS_ONE_BY_ONE=most, GENERAL_RUNS=0)
    with few, ddlog.compile(PROGRAM).session() as session:
        for name in ("Copy", "Total", "Reach"):
            session.subscribe(name, heard.append)
        for _ in range(30):
            for _ in range(rng.choice([1, 1, 1, 2, 3, 40])):
                name, row = change(rng)
                (session.insert if rng.random() < 0.6 else session.delete)(name, row)
            if rng.random() < 0.1:
                session.rollback()
                continue
            try:
                found.append(str(session.commit()))
            except ddlog.DDlogError as error:
                found.append(str(error))
            if rng.random() < 0.1:
                found.append({name: [*session[name].tuples()] for name in session.program.names("output")})
    return [*found, heard]


@trying(8)
@given(st.integers(0, 1 << 30))
def test_a_session_tells_the_same_by_rows(seed: int) -> None:
    assert log(seed, 8) == log(seed, 0)


# ----------------------------------------------------------- what goes by rows


@contextmanager
def visits() -> Iterator[list[int]]:
    """The nodes that walks by rows leave to the general walk."""
    found: list[int] = []
    real = RowWalk._in_general

    def noted(walk: RowWalk, at: int, *rest: Any) -> bool:
        found.append(at)
        return real(walk, at, *rest)

    steady = mock.patch.multiple(thresholds, GENERAL_RUNS=0, SOUGHT_TABLE=1 << 20)
    with mock.patch.object(RowWalk, "_in_general", noted), steady:
        yield found


FLAT = "\n".join(line for line in PROGRAM.splitlines() if "Reach" not in line and "Names" not in line)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("Away", ("b",)),
        ("Seen", ("a", 0.25)),
        ("Pairs", ({"a": "a", "n": 1},)),
        ("Weight", ("b", 5)),
        ("Edge", ("e", "f")),  # also of the join of the relation with itself
    ],
)
@as_usual()
def test_all_goes_by_rows(name: str, row: Any) -> None:
    with visits() as found, ddlog.compile(FLAT).session() as session:
        session.insert("Edge", ("a", "b"), ("b", "c"))
        session.insert("Weight", ("b", 2))
        session.commit()
        found.clear()
        for _ in range(2):
            session.insert(name, row)
            assert len(session.commit()) > 0
            session.delete(name, row)
            assert len(session.commit()) > 0
    assert not found


MANY = """
input relation A(x: bigint)
input relation B(x: bigint, y: bigint)
output relation P(x: bigint, y: bigint)
output relation N(x: bigint, n: bigint)
P(x, y) :- A(x), B(x, y).
N(x, n) :- P(x, y), var n = y.group_by(x).count() as bigint.
"""


@as_usual()
def test_what_reads_many_rows_of_a_node_goes_in_the_general_way() -> None:
    found: list[Mapping[str, Any]] = []
    beside = "output relation Z(x: bigint)\nZ(x + 1) :- A(x).\n"
    with visits() as left, ddlog.compile(MANY + beside).session() as session:
        session.insert("B", *((1, y) for y in range(50)), (2, 1))
        session.commit()
        for x in (2, 1):
            session.insert("A", (x,))
            changes = session.commit()
            found.append({name: changes.rows(name) for name in changes})
        nodes = session.state.host.runtime.circuit.nodes
    assert found[0] == {"N": [((2, 1), 1)], "P": [((2, 1), 1)], "Z": [((3,), 1)]}
    assert found[1] == {"N": [((1, 50), 1)], "P": [((1, y), 1) for y in range(50)], "Z": [((2,), 1)]}
    assert [*map(type, map(nodes.__getitem__, left))] == [DeltaGroup]  # the join gave its rows one by one


@pytest.mark.parametrize("later", [1, 4, 4096])
@pytest.mark.parametrize("many", [False, True])
def test_an_output_takes_in_its_changes_when_somebody_asks(later: int, many: bool) -> None:
    """Also those before an epoch of many rows, before one that is looked at, and of rows that come back."""
    patched = mock.patch.multiple(thresholds, ROWS_LATER=later, GENERAL_RUNS=0)
    with patched, ddlog.compile(MANY).session() as session:
        runtime: Any = session.state.host.runtime
        session.insert("A", (1,))
        session.insert("B", (1, 0))
        session.commit()
        for y in range(1, 5):
            session.insert("B", (1, y))
            session.commit()
        session.delete("B", (1, 4))
        session.commit()
        held = runtime._own.late_rows
        assert held < later and (held > 0 or later < 4096)
        session.insert("B", *((1, y) for y in range(4, 44 if many else 5)))
        session.commit()
        if not many:
            told = runtime.before(lambda: list(runtime.rows("N")), None)
            assert told == [(1, 4)]
        assert session["N"].to_arrow().to_pydict() == {"x": [1], "n": [44 if many else 5]}
        assert not runtime._own.late and not runtime._own.late_rows


def test_changes_that_wait_come_before_those_of_many_rows() -> None:
    text = "input relation B(x: u32, y: u32)\noutput relation N(x: u32, n: usize)\n"
    text += "N(x, n) :- B(x, y), var n = y.group_by(x).count()."
    with mock.patch.object(thresholds, "GENERAL_RUNS", 0), ddlog.compile(text).session() as session:
        session.insert("B", (1, 1), (2, 1))
        session.commit()
        session.delete("B", (1, 1))
        session.commit()
        runtime: Any = session.state.host.runtime
        assert runtime._own.late
        session.insert("B", *((x, 1) for x in (1, *range(3, 43))))
        session.commit()
        assert [*session["N"].tuples()] == [(x, 1) for x in range(1, 43)]


def test_values_of_an_output_that_nobody_asked_for_are_not_forgotten() -> None:
    text = "input relation A(x: string)\noutput relation N(x: string, y: string)\n"
    text += 'N(x, "${x}${n}") :- A(x), var n = x.group_by(x).count().'
    with mock.patch.object(thresholds, "GENERAL_RUNS", 0), ddlog.compile(text).session() as session:
        session.insert("A", ("a",))
        session.commit()
        session.insert("A", ("b",))
        session.commit()
        session.delete("A", ("b",))
        session.commit()
        session.insert("A", ("c",))
        session.commit()
        runtime: Any = session.state.host.runtime
        assert runtime._own.late
        runtime._sweep(lambda _: True)
        session.insert("A", ("d",))
        session.commit()
        assert [*session["N"].tuples()] == [("a", "a1"), ("c", "c1"), ("d", "d1")]


@pytest.mark.parametrize("rows", [2, 50])
def test_an_epoch_without_memory_names_the_rule_that_it_ends_in(rows: int) -> None:
    with visits(), ddlog.compile(MANY).session() as session:
        session.insert("B", *((1, y) for y in range(rows)))
        session.commit()
        session.insert("A", (1,))
        ends = mock.Mock(side_effect=MemoryError)
        without = mock.patch.multiple(GroupState, change=ends, change_few=ends)
        with without, pytest.raises(ddlog.DDlogError, match=r"no more memory, in `N\(x, n\)"):
            session.commit()


def test_walks_of_many_sets_of_inputs_share_what_they_know_of_a_node() -> None:
    names = ("Edge", "Weight", "Away")
    orders = [order for count in (1, 2, 3) for order in permutations(names, count)]
    with (
        mock.patch.object(rowwalk, "_taking", wraps=rowwalk._taking) as taking,
        mock.patch.object(rowwalk, "RowWalk", wraps=RowWalk) as made,
        ddlog.compile(FLAT).session() as session,
    ):
        session.commit()
        for n, order in enumerate(orders):
            for name in order:
                session.insert(name, {"Edge": ("a", str(n)), "Weight": ("b", n + 1), "Away": (str(n),)}[name])
            session.commit()
    assert made.call_count == 1 + 7  # without changes, and for each set one, whatever the order
    nodes = [call.args[1] for call in taking.call_args_list]
    assert len(nodes) == len({*nodes}) > 0


@as_usual()
def test_few_walks_are_kept() -> None:
    with (
        mock.patch.object(thresholds, "KEPT_WALKS", 2),
        mock.patch.object(rowwalk, "RowWalk", wraps=RowWalk) as made,
        ddlog.compile(FLAT).session() as session,
    ):
        session.commit()
        made.reset_mock()
        for n, name in enumerate(["Away", "Seen", "Away", "Weight", "Away", "Seen"]):
            session.insert(name, {"Seen": ("a", n / 4), "Weight": ("b", n + 1), "Away": (str(n),)}[name])
            session.commit()
    assert made.call_count == 4
