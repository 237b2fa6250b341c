"""Both runtimes give the same changes, epoch by epoch: every program of `programs/`, and random ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

import ddlog
from ddlog.commands.commands import Clear, Commit, Rollback, Start
from ddlog.commands.interpreter import Command
from ddlog.commands.update import Update
from ddlog.engine.maintenance import Mode
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

from ..programs.random_programs import (
    edges,
    grouping_programs,
    programs,
    timed_programs,
    timed_transactions,
    transactions,
)
from ..programs.test_programs import PROGRAMS, WITH_FACTS
from ..programs.test_windows import EPOCHS
from ..programs.test_windows import PROGRAMS as WINDOWS
from ..trying import longer
from .alike import corpus_alike, follow, merged, printed, sampled, update_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ON_DRIVER = SparkOptions()
ON_WORKERS = SparkOptions(driver_rows=0)
# The state begins in the driver, and moves to workers.
OUTGROWING = SparkOptions(driver_rows=6)


def transcript(program: Program, session: Session, name: str) -> list[str]:
    """All that the first load and the updates of a program change, commit by merged commit."""
    folder = PROGRAMS / name
    loaded = str(session.load(folder / "facts"))
    return [loaded, *printed(program, session, merged(update_file(program, session, folder / "updates.dat")))]


BY_DRIVER = ("call_graph", "points_to", "routes")
# The long form has these, too: they take long, and their forms are those of the others.
ALIKE = ("call_graph", "holdings", "network", "package_deps", "same_generation")
NAMES = longer(sorted(set(WITH_FACTS) - set(ALIKE)), WITH_FACTS)
CASES = [(name, ON_DRIVER if name in BY_DRIVER else ON_WORKERS) for name in NAMES]


@pytest.mark.parametrize(
    "name, options", CASES, ids=[f"{'driver' if o.driver_rows else 'cluster'}-{n}" for n, o in CASES]
)
def test_a_program_changes_alike(name: str, options: SparkOptions, spark: SparkSession) -> None:
    program = ddlog.compile(Path(PROGRAMS / name / f"{name}.dl"))
    with (
        program.session() as here,
        program.session(spark=spark, spark_options=options, maintain="always") as there,
    ):
        assert transcript(program, there, name) == transcript(program, here, name)
        for relation in program.names("output"):
            assert there.size(relation) == here.size(relation)


LONG = longer(
    [],
    ["window_streams", "ovsdb_cloud", "strangers", "windows", "delays", "derived_keys", "reference_forms",
     "recursive_groups", "reference_patterns", "stream_forms", "string_code"],
)  # fmt: skip
"""They take long, and most of their forms are those of the others."""


@pytest.mark.filterwarnings("ignore::ddlog.DDlogWarning")
@pytest.mark.parametrize(
    "name, options",
    [
        ("accumulation", ON_WORKERS),
        ("demand", ON_DRIVER),
        ("function_rows", ON_WORKERS),
        ("even_negation", ON_WORKERS),
        ("loops", ON_WORKERS),
        ("references", ON_WORKERS),
        ("streams", ON_DRIVER),
        ("control", ON_WORKERS),
        *((name, ON_WORKERS) for name in LONG),
        ("written_values", ON_WORKERS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_program_of_the_corpus_changes_alike(name: str, options: SparkOptions, spark: SparkSession) -> None:
    corpus_alike(name, options, spark, merged)


def in_two(commands: Sequence[Command], first: int, second: int) -> list[Command]:
    """The updates of the first transactions as one, and those of the following ones as another."""
    parts: list[list[Command]] = [[]]
    for command in commands:
        parts[-1].append(command)
        if isinstance(command.action, Commit | Rollback):
            parts.append([])
    kept = [part for part in parts if part and isinstance(part[-1].action, Commit)]
    updates = [[each for each in part if isinstance(each.action, Update | Clear)] for part in kept]
    begin = next(each for each in kept[0] if isinstance(each.action, Start))
    two = (updates[:first], updates[first : first + second])
    return [each for some in two for each in (begin, *(u for part in some for u in part), kept[0][-1])]


@pytest.mark.long
def test_the_virtual_network_changes_alike(spark: SparkSession) -> None:
    """An epoch of so many rules takes Spark half a minute, so there are two, the second a small one."""
    program = ddlog.compile(PROGRAMS / "vnet" / "vnet.dl")
    path = PROGRAMS / "vnet" / "updates.dat"
    options = SparkOptions()
    with program.session() as here, program.session(spark=spark, spark_options=options) as there:
        wanted, got = (
            printed(program, session, in_two(list(update_file(program, session, path)), first=48, second=1))
            for session in (here, there)
        )
        assert got == wanted


INSPECTED = """
import print
function see(x: s32, y: s32, n: DDWeight, t: DDEpoch): () { print("${x} ${y} ${n} ${t}") }
function see_nested(x: s32, y: s32, n: DDWeight, t: DDNestedTS): () {
    print("${x} ${y} ${n} ${t.epoch} ${t.iter}")
}
input relation E(a: s32, b: s32)
input multiset M(a: s32)
input stream S(a: s32)
output relation O(a: s32, b: s32)
output relation P(a: s32, b: s32)
output relation Q(a: s32)
output relation G(a: s32, n: u64)
O(a, b) :- E(a, b), M(a), Inspect see(a, b, ddlog_weight, ddlog_timestamp).
O(a, a) :- S'(a), Inspect see(a, a, ddlog_weight, ddlog_timestamp).
P(a, b) :- E(a, b).
P(a, c) :- P(a, b), E(b, c), Inspect see_nested(a, c, ddlog_weight, ddlog_timestamp).
Q(a) :- E(a, _), Inspect see(a, 0, ddlog_weight, 0).
G(a, n) :- E(a, b), not M(b), Inspect print("${12 / (a + 1)}"), var n = b.group_by(a).count().
"""


@pytest.mark.filterwarnings("ignore::ddlog.DDlogWarning")
@pytest.mark.parametrize(("options", "epochs"), [(ON_DRIVER, 2), (ON_WORKERS, 4)], ids=["driver", "large"])
def test_an_inspect_sees_the_same(
    options: SparkOptions, epochs: int, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the cluster, too, at the driver, each valuation with its weight and time."""
    stream: list[list[tuple[str, Any, int]]] = [
        [("E", (n, n + 1), 1) for n in range(3)] + [("M", (1,), 1), ("M", (1,), 1), ("S", (5,), 1)],
        [("E", (2, 3), -1), ("E", (1, 1), 1), ("M", (1,), -1)],
        [("E", (2, 4), 1), ("M", (2,), 1), ("E", (0, 2), 1)],
        [("E", (-1, 0), 1)],
    ]
    program = ddlog.compile(INSPECTED)
    with program.session() as here, program.session(spark=spark, spark_options=options) as there:
        for transaction in stream[:epochs]:
            seen = []
            for session in (here, there):
                for relation, row, sign in transaction:
                    (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
                if transaction is stream[-1]:
                    with pytest.raises(ddlog.DDlogError, match=r"division by zero.*for a = -1"):
                        session.commit()
                else:
                    session.commit()
                    seen.append(sorted(capsys.readouterr().out.splitlines()))
            assert not seen or seen[0] == seen[1]


CHANGED = """
input relation Edge(x: s32, y: s32)
input relation Closed(x: s32)
output relation Path(x: s32, y: s32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z), not Closed(y).
"""


@pytest.mark.parametrize("options", [ON_WORKERS, ON_DRIVER], ids=["workers", "driver"])
def test_a_recursion_changes_alike(options: SparkOptions, spark: SparkSession) -> None:
    stream = [
        [("Edge", (0, 1), 1), ("Edge", (1, 2), 1), ("Edge", (2, 0), 1), ("Edge", (0, 2), 1)],
        [("Edge", (1, 2), -1)],
        [("Edge", (1, 2), 1), ("Edge", (2, 0), -1), ("Edge", (2, 3), 1), ("Closed", (2,), 1)],
        [("Closed", (2,), -1), ("Edge", (0, 2), -1)],
    ]
    follow(CHANGED, stream, options, spark)


@pytest.mark.parametrize(
    "options, maintain",
    [(ON_WORKERS, "always"), (ON_WORKERS, "never"), (OUTGROWING, "auto")],
    ids=["cluster", "large", "outgrowing"],
)
def test_random_programs_change_alike(options: SparkOptions, maintain: Mode, spark: SparkSession) -> None:
    @seed(len(repr(options)))
    @sampled(2)
    @given(programs(), transactions())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        follow(text, stream, options, spark, maintain)

    check()


def test_random_recursions_with_groups_change_alike(spark: SparkSession) -> None:
    @seed(2)
    @sampled(1)  # `tests/engine/test_shards.py` has more, on workers that are threads
    @given(grouping_programs(), edges())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        follow(text, stream, ON_WORKERS, spark)

    check()


def test_random_programs_of_time_change_alike(spark: SparkSession) -> None:
    @seed(len(repr(ON_WORKERS)))
    @sampled(1)  # they take the longest
    @given(timed_programs(), timed_transactions())
    def check(text: str, stream: list[list[tuple[str, Any, int]]]) -> None:
        follow(text, stream, ON_WORKERS, spark)

    check()


def test_random_windows_change_alike(spark: SparkSession) -> None:
    @seed(3)
    @sampled(2)
    @given(st.sampled_from(["relation", "multiset"]), EPOCHS, st.sampled_from([ON_WORKERS, OUTGROWING]))
    def check(
        kind: str, epochs: list[tuple[list[tuple[tuple[int, int], bool]], int | None]], options: SparkOptions
    ) -> None:
        stream, clock = [], 0
        for rows, now in epochs:
            updates = [("Event", row, 1 if come else -1) for row, come in rows]
            if now is not None:
                updates += [("Now", (clock,), -1), ("Now", (now,), 1)]
                clock = now
            stream.append(updates)
        follow(WINDOWS[kind], stream, options, spark)

    check()
