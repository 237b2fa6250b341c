"""Recursions in workers of this machine: loads, single changed edges, bytes and time of an iteration.

    python tests/bench/shards.py [NAME …] [--edges 2000000] [--workers 1 2 4] [--updates 8] [--encrypt]
    DDLOG_BENCH_DATA=FOLDER python tests/bench/shards.py galen --workers 2

Workers are processes beside the first one, as on Spark (`engine/shards/remote.py`); with 0 workers the state
is in this process. Times are of the clock and, in parentheses, of all processors. Bytes are those that the
workers write, for each row of the recursion that came or went."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from published import PUBLISHED, facts_of_archive
from spark.local import processor_seconds
from workloads import graph

import ddlog
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.shards.bootstrap import Address, start
from ddlog.engine.shards.remote import open_remote
from ddlog.engine.spark.workers import pickled_with
from ddlog.spark.types.codec import SparkCodec

COMPONENTS = """
input relation Edge(x: s64, y: s64)
relation Label(x: s64, least: s64)
output relation Component(x: s64, least: s64)
Label(x, x) :- Edge(x, _).
Label(y, y) :- Edge(_, y).
Label(y, least) :- Component(x, least), Edge(x, y).
Label(x, least) :- Component(y, least), Edge(x, y).
Component(x, least) :- Label(x, each), var least = each.group_by(x).min().
"""
PATHS = """
input relation Edge(x: s64, y: s64)
relation Offer(x: s64, length: s64)
output relation Distance(x: s64, length: s64)
Offer(0, 0).
Offer(y, length + 1 + (x + y) % 7) :- Distance(x, length), Edge(x, y).
Distance(x, length) :- Offer(x, each), var length = each.group_by(x).min().
"""
CLOSURE = """
input relation Edge(x: s64, y: s64)
output relation Path(x: s64, y: s64)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""

REACH = """
input relation Edge(x: s64, y: s64)
output relation Reach(x: s64)
Reach(0).
Reach(y) :- Reach(x), Edge(x, y).
"""


@dataclass(frozen=True)
class Case:
    """A program, the rows of its inputs for a number of edges, the input whose rows come and go one by one,
    and the outputs that count."""

    program: str
    inputs: Callable[[int], Mapping[str, np.ndarray]]
    changed: str
    outputs: Sequence[str]


def _of_graph(program: str, output: str, share: int) -> Case:
    """A program over a random graph with so many edges for each node."""
    return Case(program, lambda edges: graph(edges // share, edges), "Edge", [output])


def _galen(_: int) -> Mapping[str, np.ndarray]:
    facts = facts_of_archive(PUBLISHED["galen"], Path(tempfile.gettempdir()))
    return {name: np.loadtxt(facts / f"{name}.facts", dtype=np.int64) for name in PUBLISHED["galen"].files}


CASES = {
    "components": _of_graph(COMPONENTS, "Component", 2),
    "paths": _of_graph(PATHS, "Distance", 4),
    "closure": _of_graph(CLOSURE, "Path", 2),
    "reach": _of_graph(REACH, "Reach", 2),
    "galen": Case((Path(__file__).parent / "programs" / "galen.dl").read_text(), _galen, "Ip", ["P", "Q"]),
}


class Figures(NamedTuple):
    """Seconds, seconds of processors, bytes, rows of the outputs that changed, and rounds of a commit."""

    seconds: float
    processors: float
    written: int
    rows: int
    rounds: int


class Measured:
    """A runtime, and what its processes have used."""

    def __init__(self, program: ddlog.Program, workers: int, encrypt: bool) -> None:
        self.processes = [os.getpid()]
        circuit = program.circuit("relational")
        if not workers:
            self.runtime: Any = InProcess(incrementalize(circuit))
        else:
            pickled = pickled_with(SparkCodec(program.checked.typedefs))
            self.runtime = open_remote(circuit, workers, self._launch, pickled, encrypt=encrypt)

    def _launch(self, address: Address, key: bytes, count: int) -> None:
        self.processes += [start(address, key, number, os.getpid()) for number in range(count)]

    def used(self) -> tuple[float, float, int]:
        """Seconds of the clock and of processors, and bytes that workers have written."""
        written = 0
        for process in self.processes[1:]:
            lines = Path(f"/proc/{process}/io").read_text().splitlines()
            written += next(int(line.split()[1]) for line in lines if line.startswith("wchar"))
        return time.perf_counter(), sum(map(processor_seconds, self.processes)), written

    def by_process(self) -> Sequence[float]:
        """Seconds of processors of this process and of each worker."""
        return [*map(processor_seconds, self.processes)]

    def commit(self, inputs: Mapping[str, np.ndarray], sign: int, outputs: Sequence[str]) -> Figures:
        """The figures of a commit of rows that come or go."""
        rounds = set[tuple[str, int]]()

        def progress(phase: str, number: int, rows: int) -> None:
            rounds.add((phase, number))

        changes = {
            name: [(Batch(tuple(map(np.ascontiguousarray, rows.T)), len(rows)), sign)]
            for name, rows in inputs.items()
        }
        before = self.used()
        deltas = self.runtime.commit(changes, progress=progress)
        seconds, processors, written = (b - a for a, b in zip(before, self.used(), strict=True))
        count = sum(len(deltas[output]) for output in outputs)
        return Figures(seconds, processors, int(written), count, sum(n > 0 for _, n in rounds))


@contextmanager
def opened(program: ddlog.Program, workers: int, encrypt: bool = False) -> Iterator[Measured]:
    """A runtime, for some time."""
    measured = Measured(program, workers, encrypt)
    try:
        yield measured
    finally:
        measured.runtime.close()


def measure(name: str, edges: int, workers: int, updates: int, encrypt: bool) -> None:
    """Prints the figures of one program."""
    case = CASES[name]
    inputs = case.inputs(edges)
    with opened(ddlog.compile(case.program), workers, encrypt) as measured:
        load = measured.commit(inputs, 1, case.outputs)
        print(
            f"{name}, {sum(map(len, inputs.values())):,} facts, {workers} workers: load {load.seconds:.1f} "
            f"({load.processors:.1f}) s, {load.rows:,} rows, {load.rounds} rounds, "
            f"{load.written / max(load.rows, 1):.0f} bytes a row",
            flush=True,
        )
        changed = inputs[case.changed]
        chosen = np.random.default_rng(7).choice(len(changed), updates + 1, replace=False)
        found = [
            measured.commit({case.changed: changed[at : at + 1]}, sign, case.outputs)
            for at in chosen
            for sign in (-1, 1)
        ]
        print(f"    first change {found[0].seconds:.2f} ({found[0].processors:.2f}) s; {told(found[2:])}")
        print(
            f"    processor seconds by process: {', '.join(f'{each:.1f}' for each in measured.by_process())}"
        )


def told(commits: Sequence[Figures]) -> str:
    """The figures of commits of a row each."""
    seconds, processors, written, rows, rounds = map(list, zip(*commits, strict=True))
    each = sum(seconds) / max(sum(rounds), 1)
    return (
        f"a row: median {1000 * statistics.median(seconds):.1f} "
        f"({1000 * statistics.median(processors):.1f}) ms, most {1000 * max(seconds):.1f} ms, "
        f"{sum(rows) / len(rows):.1f} rows, {sum(rounds) / len(rounds):.1f} rounds of {1000 * each:.2f} ms, "
        f"{sum(written) / len(written):.0f} bytes"
    )


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["components", "paths"], metavar="NAME")
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--updates", type=int, default=8)
    parser.add_argument("--encrypt", action="store_true", help="what workers send each other")
    options = parser.parse_args()
    for name in options.names:
        for workers in options.workers:
            measure(name, options.edges, workers, options.updates, options.encrypt)


if __name__ == "__main__":
    main()
