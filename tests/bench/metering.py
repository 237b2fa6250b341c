"""What measuring costs: processor time of commits and loads, measured and not, in turn.

    python tests/bench/metering.py [--seconds 6] [--loads 5] [--cache FOLDER]

A session commits blocks of small transactions, of which every other one is measured. Loads run in sessions of
their own, in turn. The figures are medians, and the difference is the median of that of neighbours.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from incremental import PROGRAMS, as_rows, sample, state_of
from workloads import WORKLOADS, graph, source_and_edges, write

import ddlog
from ddlog.sessions.measuring.recorder import Recorder

COUNTS = """
input relation R(x: u64, y: u64)
output relation O(x: u64, n: usize)
O(x, n) :- R(x, y), var n = y.group_by(x).count().
"""
JOINED = """
input relation R(x: u64, y: u64)
input relation S(y: u64, z: u64)
output relation O(x: u64, z: u64)
O(x, z) :- R(x, y), S(y, z).
"""
REACHED = """
input relation R(x: u64, y: u64)
relation Reach(x: u64, y: u64)
Reach(x, y) :- R(x, y).
Reach(x, z) :- Reach(x, y), R(y, z).
output relation O(x: u64, n: usize)
O(x, n) :- Reach(x, y), var n = y.group_by(x).count().
"""
BLOCK = 0.05  # seconds


def processor(act: Callable[[], Any]) -> float:
    """The seconds of processor time that an act takes."""
    since = time.process_time()
    act()
    return time.process_time() - since


def shown(name: str, off: list[float], on: list[float]) -> None:
    """Prints the figures of one workload."""
    more = median(b / a for a, b in zip(off, on, strict=True)) - 1
    print(f"{name:36} {1000 * median(off):10.3f} ms {1000 * median(on):10.3f} ms {more:+8.2%}", flush=True)


def commits(
    name: str, session: Any, relation: str, rows: list[tuple[int, ...]], seconds: float, size: int = 1
) -> None:
    """Deletes and inserts some rows after others."""

    def pairs(count: int) -> None:
        for _ in range(count):
            some = rows[size * at[0] % len(rows) :][:size]
            at[0] += 1
            session.delete_rows(relation, some)
            session.commit()
            session.insert_rows(relation, some)
            session.commit()

    state, recorder, at = session.state, Recorder(), [0]
    pairs(20)
    count = max(1, round(BLOCK / (processor(lambda: pairs(20)) / 20)))
    times: dict[bool, list[float]] = {False: [], True: []}
    ends, number = time.process_time() + seconds, 0
    while time.process_time() < ends or number % 2:
        first = at[0]
        for measured in (number % 2 == 0, number % 2 == 1):
            at[0] = first  # the same rows, so that neighbours do the same
            state.recorder = recorder if measured else None
            times[measured].append(processor(lambda: pairs(count)) / count / 2)
        number += 1
    state.recorder = None
    shown(name, times[False], times[True])


def facts(workload: str, cache: Path) -> Path:
    """The folder with the facts of a workload."""
    folder = cache / f"{workload}_full"
    if not folder.with_suffix(".done").exists():
        write(WORKLOADS[workload].inputs("full"), folder)
    return folder


def loads(name: str, workload: str, count: int, cache: Path) -> None:
    """Loads the facts of a workload into new sessions."""
    folder = facts(workload, cache)
    program = ddlog.compile(PROGRAMS / f"{WORKLOADS[workload].program}.dl")

    def load(measured: bool) -> float:
        with program.session(relations="outputs") as session:
            if measured:
                session.measure()
            return processor(lambda: session.load(folder))

    load(False)
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(count):
        for measured in (number % 2 == 0, number % 2 == 1):
            gc.collect()
            times[measured].append(load(measured))
    shown(name, times[False], times[True])


def small(cache: Path) -> Iterator[tuple[str, Any, str, list[tuple[int, ...]]]]:
    """Sessions, and the rows that small commits take out and put back."""
    rows = [(k % 100, k) for k in range(10_000)]
    with ddlog.compile(COUNTS).session() as session:
        session.insert_rows("R", rows)
        session.commit()
        yield "a group: a row", session, "R", rows
        yield "a group: 1,000 rows", session, "R", rows
    with ddlog.compile(JOINED).session() as session:
        session.insert_rows("R", rows)
        session.insert_rows("S", [(y, z) for y in range(0, 10_000, 3) for z in range(2)])
        session.commit()
        yield "a join: a row", session, "R", rows
        yield "a join: 1,000 rows", session, "R", rows
    with ddlog.compile(REACHED).session() as session:
        chains = [(10 * k + n, 10 * k + n + 1) for k in range(1_000) for n in range(4)]
        session.insert_rows("R", chains)
        session.commit()
        yield "a recursion and a group: a row", session, "R", chains
        yield "a recursion and a group: 1,000 rows", session, "R", chains
    for name, program, inputs in (
        ("reach 500k: an edge", "reach", source_and_edges(100_000, 500_000)),
        ("tc_random_1m: an edge", "tc", graph(1250, 2500)),
    ):
        with state_of(program, inputs, cache / f"inc_{program}_full") as session:
            yield name, session, "Edge", sample(inputs["Edge"], 101)
    table = dict(WORKLOADS["andersen"].inputs("full"))
    relation = next(iter(table))
    with ddlog.compile(PROGRAMS / "andersen.dl").session(relations="outputs") as session:
        session.load(facts("andersen", cache))
        yield "andersen: a row", session, relation, as_rows(table[relation][:101])  # type: ignore[arg-type,index]


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="for each kind of small commit (6)")
    parser.add_argument("--loads", type=int, default=5, help="of each workload, measured and not (5)")
    parser.add_argument("--cache", type=Path, help="a folder for the inputs")
    parser.add_argument("--only", default="", help="names that have this text")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        print(f"{'processor time':36} {'not measured':>13} {'measured':>13} {'more':>8}")
        for name, session, relation, rows in small(cache):
            if options.only in name:
                commits(name, session, relation, rows, options.seconds, 1_000 if "1,000" in name else 1)
        for name, workload in (("a recursion's load", "tc_random_1m"), ("Andersen's load", "andersen")):
            if options.only in name:
                loads(name, workload, options.loads, cache)


if __name__ == "__main__":
    main()
