"""Small changes of large states: the driver makes them of the rows that one job finds, and guesses inputs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog.engine.spark import spine
from ddlog.engine.spark.runtime import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("interpreted")

GROUPS = """
input relation A(x: s32, y: s64, f: bool)
input multiset B(x: s32, z: u64)
input relation K(k: string, v: u8) primary key (r) r.k
output relation Each(x: s32, n: u64, s: s64, a: s64, b: s64)
Each(x, n, s, a, b) :- A(x, y, _), var g = y.group_by(x),
    var n = g.count(), var s = g.sum(), var a = g.min(), var b = g.max().
output relation All(n: u64, m: bool, low: s64)
All(n, m, low) :- A(_, _, f), var g = f.group_by(()), var n = g.count(), var m = g.max(), var low = 0.
output relation Most(x: s32, m: u64, t: s64)
Most(x, m, t) :- A(x, y, _), B(x, z), K(_, v), var p = y + (v as u64 as s64), var g = (z, p).group_by(x),
    var m = g.count(), var t = g.sum_second().
output relation Top(x: s32, m: s64, t: s64)
Top(x, m, t) :- A(x, y, _), B(x, _), var g = y.group_by(x), var m = g.max(), var t = g.sum().
output relation Odd(y: s64)
Odd(y) :- A(x, y, _), not B(x, _).
output relation Named(v: u8, k: string)
Named(v, k) :- K(k, v), var g = k.group_by(v), var k = g.min().
typedef Part = Zed{n: u8} | Ab{s: string}
function third(g: Group<'K, (double, string, Part)>): usize { g.to_vec().len() % 3 }
input relation P(k: u64, f: double, t: string, p: Part)
output relation Ends(k: u64, a: double, b: double, c: string, d: string, e: Part, f: Part, n: u64)
Ends(k, a, b, c, d, e, f, n) :- P(k, f0, t, p), var g = (f0, t, p).group_by(k), var a = g.min_of(|v| v.0),
    var b = g.max_of(|v| v.0), var c = g.min_of(|v| v.1), var d = g.max_of(|v| v.1),
    var e = g.min_of(|v| v.2), var f = g.max_of(|v| v.2), var n = g.count().
output relation Wholes(t: string, all: Vec<(u64, double)>, s: double)
Wholes(t, g.to_vec(), g.sum_second()) :- P(k, f, t, _), var g = (k, f).group_by(t).
output relation Thirds(k: u64, n: usize)
Thirds(k, third(g)) :- P(k, f, t, p), var g = (f, t, p).group_by(k).
output relation Texts(ts: Vec<string>)
Texts(g.to_vec()) :- P(_, f, t, _), f > 0.0, var g = t.group_by(()).
output relation Joined(k: u64, x: s32, z: u64)
Joined(k, x, z) :- P(k, _, t, _), t == "t1", B(x, z), A(x, _, _).
output relation Second(x: s32, z: u64, f: double)
Second(x, z, f) :- B(x, z), P(z, f, _, _), not Sole(z, f).
input relation Sole(z: u64, f: double)
output multiset Bag(z: u64)
Bag(z) :- B(_, z), z > 3.
output relation Bags(z: u64, zs: Vec<u64>)
Bags(k, g.to_vec()) :- Bag(z), var k = z % 2, var g = z.group_by(k).
"""
Z = (3, 4, (1 << 64) - 1)
FLOATS = (0.0, -1.5, 2.25, 1e300, float("inf"), float("nan"))
WAYS = {
    "cluster": SparkOptions(driver_rows=0, small_rows=3, sent_rows=6, partitions=2),
    "few groups": SparkOptions(driver_rows=7, small_rows=3, sent_rows=6, partitions=2),
    "flipping": SparkOptions(placement="flip", small_rows=3, partitions=2),
}


def changed(turn: int, state: dict[str, dict[Any, int]], pick: random.Random) -> list[tuple[str, Any, int]]:
    """Some insertions and deletions, of rows that are there and of rows that are not."""
    steps: list[tuple[str, Any, int]] = []
    for _ in range(12 if turn < 2 else pick.randint(1, 3)):
        name = pick.choice(["A", "A", "B", "K", "P", "P", "P", "Sole"])
        row: Any = (pick.randint(0, 3), pick.choice([-1, 1]) * pick.randint(0, 1 << 33), pick.random() < 0.5)
        if name == "B":
            row = (pick.randint(0, 3), pick.choice(Z))
        elif name == "P":
            part: Any = (
                ("Zed", pick.randint(0, 9)) if pick.random() < 0.5 else ("Ab", f"s{pick.randint(0, 9)}")
            )
            row = (pick.choice(Z), pick.choice(FLOATS), f"t{pick.randint(0, 2)}", part)
        elif name == "Sole":
            row = (pick.choice(Z), pick.choice(FLOATS))
        elif name == "K":
            row = (f"k{pick.randint(0, 5)}", pick.randint(0, 2))
        present = list(state[name])
        if present and pick.random() < 0.5:
            row = pick.choice(present)
        sign = 1 if turn < 2 or pick.random() < 0.4 else -1
        if name == "K" and (sign > 0) == any(k == row[0] for k, _ in state["K"]):
            continue
        if name == "K" and sign < 0 and row not in state["K"]:
            continue
        steps.append((name, row, sign))
        (state[name].setdefault if sign > 0 else state[name].pop)(row, 0)
    return steps


def given(name: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as a session takes it."""
    if name != "P":
        return row
    constructor, field = row[3]
    return (*row[:3], {constructor: {"n" if constructor == "Zed" else "s": field}})


@pytest.mark.parametrize("way", WAYS)
def test_small_changes_of_large_states_are_those_of_one_process(
    way: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spine, "LARGE", 1)
    program, pick = ddlog.compile(GROUPS), random.Random(way)
    with program.session(spark=spark, spark_options=WAYS[way]) as there, program.session() as here:
        state: dict[str, dict[Any, int]] = {name: {} for name in ("A", "B", "K", "P", "Sole")}
        for turn in range(8):
            for name, row, sign in changed(turn, state, pick):
                for session in (there, here):
                    (session.insert if sign > 0 else session.delete)(name, given(name, row))
            assert str(there.commit()) == str(here.commit()), turn
        for name in program.relations:
            assert list(there[name].tuples()) == list(here[name].tuples())


def test_a_change_of_nothing(spark: SparkSession) -> None:
    """The rows are there already, so that a group is given an empty change."""
    program = ddlog.compile(GROUPS)
    options = SparkOptions(driver_rows=0, small_rows=0, sent_rows=2, partitions=2)
    with program.session(spark=spark, spark_options=options) as session:
        for _ in range(2):
            session.insert("A", (1, 2, True))
            changes = session.commit()
    assert not list(changes)
