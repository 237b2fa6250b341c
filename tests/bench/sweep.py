"""Maintain or recompute: commits of 1 to 1,000,000 changed rows, each way forced, and as the engine chooses.

    python tests/bench/sweep.py                      six workloads, as a table and the verdicts
    python tests/bench/sweep.py sparse taint         some of them, and of others
    python tests/bench/sweep.py --growing            commits that only insert, up to 100 times what is there
    python tests/bench/sweep.py --json FILE          the figures as JSON; --from FILE… makes the table of
                                                     such files, without measuring
    python tests/bench/sweep.py --scale tiny         does it all work?

A session loads a workload, and deletes random rows of it and inserts them again, more and more of them, up to
all. With `--growing` a session loads a part of a workload and inserts the rest, without any deletion before.
The figures are milliseconds of processor time of the commits. A choice is right if it ended with the way
that was cheaper when forced, or if neither way is more than a tenth dearer than the other.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from incremental import PROGRAMS, as_rows
from sweepwork import OTHERS, SIX, Swept
from tabular import table
from workloads import Ints, Random, Relations, np, write

import ddlog

MODES = ("always", "never", "auto")
FULL = 1_000_000
ALIKE = 1.1  # times the cheaper that a way may take for the choice to make no difference
MOST = 1.5  # times the cheaper that a choice may take
WORKLOADS = (*SIX, *OTHERS)
NOISE_MS = 5.0  # what no choice is blamed for
GROWTHS = (0.1, 1, 3, 10, 30, 100)  # times the rows that are there, which are inserted


@dataclass(frozen=True)
class Cell:
    """The milliseconds of a commit of so many rows in each mode, and the way that was chosen."""

    workload: str
    change: str
    rows: int
    always: float
    never: float
    auto: float
    way: str

    @property
    def cheaper(self) -> float:
        """The milliseconds of the cheaper way."""
        return min(self.always, self.never)

    @property
    def times(self) -> float:
        """How many times the cheaper way the choice took."""
        return self.auto / self.cheaper

    @property
    def right(self) -> bool:
        """Whether the choice ended with the cheaper way, or took no longer."""
        alike = max(self.always, self.never) <= ALIKE * self.cheaper
        return alike or self.auto <= self.cheaper or (self.way == "maintained") == (self.always <= self.never)

    @property
    def dear(self) -> bool:
        """Whether the choice took more than it may."""
        return self.auto > MOST * self.cheaper + NOISE_MS


def sizes(most: int) -> list[int]:
    """1, 3, 10, 30, … and at last all rows, or a million."""
    steps = [base * 10**power for power in range(7) for base in (1, 3)]
    most = min(most, FULL)
    return [*(size for size in steps if size < 0.8 * most), most]


def repeats(size: int) -> int:
    """The number of commits whose median is taken."""
    return 3 if size <= 1000 else 1


Changed = dict[str, list[tuple[int, ...]]]


def samples(inputs: Relations, changing: Sequence[str]) -> Iterator[tuple[int, list[Changed]]]:
    """For each size, the rows to delete: the same in every mode."""
    tables: dict[str, Ints] = {name: np.asarray(inputs[name]) for name in changing}
    owners = np.concatenate([np.full(len(each), k) for k, each in enumerate(tables.values())])
    places = np.concatenate([np.arange(len(each)) for each in tables.values()])
    seed = 100
    for size in sizes(len(places)):
        drawn = []
        for _ in range(repeats(size)):
            seed += 1
            chosen = Random(seed).words(len(places)).argsort()[:size]
            drawn.append(
                {
                    name: as_rows(tables[name][places[chosen[owners[chosen] == k]]])
                    for k, name in enumerate(changing)
                }
            )
        yield size, drawn


def committed(session: Any, act: Callable[[str, list[tuple[int, ...]]], Any], changed: Changed) -> float:
    """The milliseconds of processor time of a commit."""
    for relation, some in changed.items():
        if some:
            act(relation, some)
    started = time.process_time()
    session.commit()
    return (time.process_time() - started) * 1000


def way_of(session: Any) -> str:
    """What was done with the recursion in the last commit."""
    decisions = session.state.host.runtime.decisions()
    return decisions[-1].way if decisions else "maintained"


def measured(workload: Swept, mode: str, scale: str) -> dict[tuple[str, int], tuple[float, str]]:
    """The milliseconds of each commit, and what was done."""
    inputs = workload.full() if scale == "full" else workload.tiny()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        write(inputs, Path(folder))
        program = ddlog.compile(PROGRAMS / f"{workload.program}.dl")
        with program.session(relations="outputs", engine="in-process", maintain=mode) as session:
            session.load(folder)
            first = {workload.changing[0]: as_rows(np.asarray(inputs[workload.changing[0]])[:1])}
            committed(session, session.delete_rows, first)
            committed(session, session.insert_rows, first)
            for size, drawn in samples(inputs, workload.changing):
                times: dict[str, list[tuple[float, str]]] = {"out": [], "in": []}
                for changed in drawn:
                    times["out"].append((committed(session, session.delete_rows, changed), way_of(session)))
                    times["in"].append((committed(session, session.insert_rows, changed), way_of(session)))
                for change, each in times.items():
                    middle = statistics.median_low(ms for ms, _ in each)
                    found[change, size] = middle, next(way for ms, way in each if ms == middle)
    return found


def grown(workload: Swept, mode: str, scale: str) -> dict[tuple[str, int], tuple[float, str]]:
    """The milliseconds of commits that insert what a session lacks, and what was done."""
    inputs = workload.full() if scale == "full" else workload.tiny()
    program = ddlog.compile(PROGRAMS / f"{workload.program}.dl")
    found = {}
    for times in GROWTHS:
        chosen = {
            name: Random(7).words(len(np.asarray(inputs[name]))).argsort() for name in workload.changing
        }
        there = {
            name: rows[: -(-len(rows) // round(1 + times))] if times >= 1 else rows[len(rows) // 10 :]
            for name, rows in chosen.items()
        }
        with program.session(relations="outputs", engine="in-process", maintain=mode) as session:
            for name, table in inputs.items():
                some = np.asarray(table)[there[name]] if name in there else np.asarray(table)
                session.insert_rows(name, as_rows(some))
            session.commit()
            rest = {
                name: as_rows(np.asarray(inputs[name])[np.setdiff1d(chosen[name], some)])
                for name, some in there.items()
            }
            ms = committed(session, session.insert_rows, rest)
            found["more", sum(map(len, rest.values()))] = ms, way_of(session)
    return found


def swept(workload: Swept, scale: str, growing: bool) -> list[Cell]:
    """The figures of a workload."""
    measure = grown if growing else measured
    by_mode = {mode: measure(workload, mode, scale) for mode in MODES}
    return [
        Cell(
            workload.name,
            change,
            size,
            *(round(by_mode[mode][change, size][0], 3) for mode in MODES),
            by_mode["auto"][change, size][1],
        )
        for change, size in sorted(by_mode["auto"], key=lambda each: (each[0] != "out", each[1]))
    ]


def report(cells: Sequence[Cell]) -> str:
    """The figures as a table, with the verdicts."""
    head = ["workload, rows", "maintained ms", "recomputed ms", "chosen ms", "chosen", "times", ""]
    body = [
        [
            f"{each.workload}, {each.rows:,} {each.change}",
            f"{each.always:,.1f}",
            f"{each.never:,.1f}",
            f"{each.auto:,.1f}",
            each.way,
            f"{each.times:.2f}",
            "dear" if each.dear else "" if each.right else "wrong",
        ]
        for each in cells
    ]
    right = sum(each.right for each in cells)
    dear = sum(each.dear for each in cells)
    share = f"{right / len(cells):.0%}"
    return table("Maintain or recompute: milliseconds of processor time of a commit", head, body) + (
        f"right {right} of {len(cells)} times ({share}); more than {MOST} times the cheaper way, and "
        f"{NOISE_MS:.0f} ms, {dear} times\n"
    )


def main() -> None:
    """Measures, and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads; a word of the name will do")
    parser.add_argument("--growing", action="store_true")
    parser.add_argument("--scale", choices=("full", "tiny"), default="full")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--from", dest="files", type=Path, nargs="+", default=[])
    options = parser.parse_args()
    cells = [Cell(**each) for file in options.files for each in json.loads(file.read_text())]
    if not options.files:
        for workload in WORKLOADS if options.names else SIX:
            if not options.names or any(name in workload.name for name in options.names):
                cells += swept(workload, options.scale, options.growing)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in cells], indent=1))
    if not cells:
        sys.exit(f"no workload has such a name; there are: {', '.join(each.name for each in WORKLOADS)}")
    print(report(cells))


if __name__ == "__main__":
    main()
