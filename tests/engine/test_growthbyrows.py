"""Epochs in which recursions grow by a few rows: the same rows, and births, as in the general way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import Session
from ddlog.engine import thresholds
from ddlog.engine.inprocess.recursion.growthbyrows import GrowthByRows
from ddlog.engine.inprocess.recursion.monotoneepoch import MaintainedRecursion

from ..taking import as_usual, take_back
from ..trying import trying

# Rules with several starts, heads and terms of the recursion; a negated import; rules that give little.
PROGRAMS = {
    "linear": """
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
Path(x, y) :- Edge(x, y), x > 0.
Path(x, z) :- Path(x, y), Edge(y, z).
""",
    "products": """
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
output relation Back(y: u32, x: u32)
Path(0, 1). Path(x, y) :- Edge(x, y), x > 2.
Path(x, z) :- Path(x, y), Path(y, z).
Path(y, z) :- Path(x, y), Edge(y, z), Back(z, _).
Back(y, x) :- Path(x, y).
Back(y, x) :- Edge(x, y), Edge(y, x).
""",
    "several": """
input relation Edge(x: u32, y: u32)
input relation Closed(x: u32)
output relation Seen(x: u32)
output relation Third(x: u32, of: u32)
output relation Least(x: u32)
Seen(3).
Seen(y) :- Seen(x), Edge(x, y), not Closed(y).
Third(x, 100 / (x + 1)), Seen(x + 1) :- Seen(x), x < 6, x % 3 == 0.
Seen(y) :- Third(x, y), Edge(_, y).
Least(x) :- Seen(y), var x = y.group_by(()).min().
""",
}
MADE = {name: ddlog.compile(text) for name, text in PROGRAMS.items()}


def births(session: Session) -> tuple[dict[Any, int], bool]:
    """The births of the rows of recursions, and whether they are the least."""
    runtime, found, least = session.state.host.runtime, dict[Any, int](), True
    together = [name for name in session.program.names("output") if name != "Least"]
    for name in together:
        rows = sorted(tuple(row) for row in session[name])
        told = runtime.births(name, rows, set(together)) if rows else None
        if told is not None:
            found |= {(name, row): birth for row, birth in zip(rows, told[0], strict=True)}
            least = least and told[1]
    return found, least


def changes(rng: Random, held: set[Any], relations: Any) -> list[tuple[str, Any]]:
    """Rows that come, mostly one, and now and then some that go."""
    found = list[tuple[str, Any]]()
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        closed = "Closed" in relations and rng.random() < 0.1
        row = (rng.randrange(8),) if closed else (rng.randrange(8), rng.randrange(8))
        name = "Closed" if closed else "Edge"
        if (name, row) not in held or rng.random() < 0.03:
            found.append((name, row))
            held ^= {(name, row)}
    return found


def compare(name: str, seed: int) -> None:
    """Random epochs of two sessions, one of them without walks by rows, and of one that begins with all."""
    rng, made, held = Random(seed), MADE[name], set[Any]()
    takes = rng.random() < 0.5
    few = mock.patch.multiple(
        thresholds, ROWS_ONE_BY_ONE=rng.choice([2, 8]), MATCHES_ONE_BY_ONE=rng.choice([2, 128]),
        GENERAL_RUNS=rng.choice([0, 0, 2]), FOLLOWED_ROUNDS=rng.choice([1, 2, 3, 64]),
    )  # fmt: skip
    with few, made.session() as by_rows, made.session() as by_batches:
        runtime = by_rows.state.host.runtime
        for session in (by_rows, by_batches):
            session.insert("Edge", (0, 1), (1, 2), (3, 4))
            session.commit()
        held |= {("Edge", row) for row in [(0, 1), (1, 2), (3, 4)]}
        by_batches.state.host.runtime._epochs._small_walk = None  # type: ignore[attr-defined]
        for _ in range(12):
            before = set(held)
            given = changes(rng, held, made.relations)
            if takes and rng.random() < 0.5:
                batches = {
                    of: [
                        (runtime.batch(of, [row]), -1 if (of, row) in before else 1)
                        for each, row in dict.fromkeys(given)
                        if each == of
                    ]
                    for of in ("Edge", *(["Closed"] if "Closed" in made.relations else []))
                }
                take_back(runtime, batches, {}, rng)  # type: ignore[arg-type]
            told = []
            for session in (by_rows, by_batches):
                there = set(before)
                for each in given:
                    (session.delete if each in there else session.insert)(each[0], each[1])
                    there ^= {each}
                told.append(str(session.commit()))
            assert told[0] == told[1]
            if rng.random() < 0.4:
                with made.session(maintain="never") as afresh:
                    for of, row in held:
                        afresh.insert(of, row)
                    afresh.commit()
                    for of in made.names("output"):
                        assert sorted(by_rows[of]) == sorted(afresh[of])
                    (found, least), (expected, _) = births(by_rows), births(afresh)
                    assert found.keys() == expected.keys()
                    assert all(
                        expected[row] == birth if least else expected[row] <= birth
                        for row, birth in found.items()
                    )


@pytest.mark.parametrize("name", PROGRAMS)
@trying(6)
@given(seed=st.integers(0, 1 << 30))
def test_rows_and_births_are_those_of_the_general_way(name: str, seed: int) -> None:
    compare(name, seed)


@contextmanager
def grown() -> Iterator[Counter[tuple[str, int]]]:
    """How epochs by rows end: at the fixpoint or before, after how many rounds; 3 stand for more."""
    found, real = Counter[tuple[str, int]](), GrowthByRows.run

    def noted(growth: GrowthByRows) -> bool:
        done = real(growth)
        found["done" if done else "handed over", min(3, growth.rounds)] += 1
        return done

    with mock.patch.object(GrowthByRows, "run", noted):
        yield found


def test_epochs_end_in_all_ways() -> None:
    with grown() as found:
        for seed in range(6):
            for name in PROGRAMS:
                compare(name, seed)
    assert {(how, rounds) for how in ("done", "handed over") for rounds in range(4)} <= found.keys()


@pytest.mark.parametrize(
    ("rule", "begun"),
    [
        ("Near(a, b) :- E(a, b).", 1),  # for the fact, before the rows
        ("Near(a, m) :- E(a, b), var m = b.group_by(a).min().", 5),  # in all but one: (0, 3) is not the least
    ],
)
@as_usual()
def test_a_recursion_is_not_begun_for_nothing(rule: str, begun: int) -> None:
    text = f"""
    input relation E(a: u32, b: u32)
    output relation Near(a: u32, b: u32)
    output relation R(a: u32)
    {rule}
    R(0). R(b) :- R(a), Near(a, b), b < 100.
    """
    real, times = MaintainedRecursion.__init__, list[int]()

    def begin(*given: Any) -> None:
        times.append(1)
        real(*given)

    with (
        mock.patch.object(thresholds, "GENERAL_RUNS", 0),
        ddlog.compile(text).session() as session,
        mock.patch.object(MaintainedRecursion, "__init__", begin),
    ):
        for row in [(0, 1), (5, 6), (7, 200), (0, 3), (9, 1)]:
            session.insert("E", row)
            session.commit()
        assert {(0,), (1,)} <= {*session["R"].tuples()}
    assert len(times) == begun


def test_a_recursion_that_calls_python_is_told_before_it_runs() -> None:
    text = """
    input relation E(x: string, y: string)
    output relation Long(x: string)
    Long("a"). Long(y ++ x) :- Long(x), E(x, y), string_len(x) < 8.
    """
    told, real = list[Any](), GrowthByRows.run

    def run(growth: GrowthByRows) -> bool:
        told.append("rows")
        return real(growth)

    with mock.patch.object(thresholds, "GENERAL_RUNS", 0), ddlog.compile(text).session() as session:
        session.insert("E", ("a", "b"))
        session.commit()
        runtime = session.state.host.runtime
        with mock.patch.object(GrowthByRows, "run", run):
            runtime.commit(
                {"E": [(runtime.batch("E", [("ba", "c")]), 1)]}, progress=lambda phase, *_: told.append(phase)
            )
    assert "rows" in told and any("Long" in phase for phase in told[: told.index("rows")])
