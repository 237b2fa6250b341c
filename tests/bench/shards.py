"""Recursions in workers of this machine: loads, single changed edges, bytes and time of an iteration.

    python tests/bench/shards.py [NAME …] [--edges 2000000] [--workers 1 2 4] [--updates 8] [--encrypt]

Workers are processes beside the first one, as on Spark (`engine/shards/remote.py`); with 0 workers the state
is in this process. Times are of the clock and, in parentheses, of all processors. Bytes are those that the
workers write, for each row of the recursion that came or went."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
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


@dataclass(frozen=True)
class Case:
    """A program, its output, and the nodes of a random graph with so many edges."""

    program: str
    output: str
    nodes: Callable[[int], int]


CASES = {
    "components": Case(COMPONENTS, "Component", lambda edges: edges // 2),
    "paths": Case(PATHS, "Distance", lambda edges: edges // 4),
    "closure": Case(CLOSURE, "Path", lambda edges: edges // 2),
}


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

    def commit(self, edges: np.ndarray, sign: int, output: str) -> tuple[float, float, int, int, int]:
        """Seconds, seconds of processors, bytes, rows of the output that changed, and rounds of a commit."""
        rounds = set[tuple[str, int]]()

        def progress(phase: str, number: int, rows: int) -> None:
            rounds.add((phase, number))

        batch = Batch((edges[:, 0].copy(), edges[:, 1].copy()), len(edges))
        before = self.used()
        deltas = self.runtime.commit({"Edge": [(batch, sign)]}, progress=progress)
        seconds, processors, written = (b - a for a, b in zip(before, self.used(), strict=True))
        return seconds, processors, int(written), len(deltas[output]), sum(n > 0 for _, n in rounds)


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
    inputs = graph(case.nodes(edges), edges)["Edge"]
    with opened(ddlog.compile(case.program), workers, encrypt) as measured:
        seconds, processors, written, rows, rounds = measured.commit(inputs, 1, case.output)
        print(
            f"{name}, {len(inputs):,} edges, {workers} workers: load {seconds:.1f} ({processors:.1f}) s, "
            f"{rows:,} rows, {rounds} rounds, {written / max(rows, 1):.0f} bytes a row",
            flush=True,
        )
        chosen = np.random.default_rng(7).choice(len(inputs), updates + 1, replace=False)
        found = []
        for at in chosen:
            for sign in (-1, 1):
                found.append(measured.commit(inputs[at : at + 1], sign, case.output))
        print(f"    first change {found[0][0]:.2f} ({found[0][1]:.2f}) s; {told(found[2:])}", flush=True)


def told(commits: Sequence[tuple[float, float, int, int, int]]) -> str:
    """The figures of commits of an edge each."""
    seconds, processors, written, rows, rounds = map(list, zip(*commits, strict=True))
    each = sum(seconds) / max(sum(rounds), 1)
    return (
        f"an edge: median {1000 * statistics.median(seconds):.1f} "
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
