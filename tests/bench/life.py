"""A long life of one session: the latency of its commits, its memory and its files at each tenth.

    python tests/bench/life.py [--transactions 1000000] [--state]

Each transaction changes one row: a row comes, or the oldest goes when there are 10,000. One aggregate reads
them. `tests/bench/windows.py --events 864000` is a day of a clock.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import ddlog
from ddlog.engine import memory

PROGRAM = """
input relation R(x: u64, y: string)
output relation O(x: u64, n: usize)
O(x % 100, n) :- R(x, y), var n = y.group_by(x).count().
"""
ROWS = 10_000


def row(number: int) -> tuple[int, str]:
    """The row that comes as the n-th."""
    return number, f"text {number % 1000}"


def live(session: ddlog.Session, transactions: int, home: Path) -> None:
    """Prints a line for each tenth of the transactions."""
    print(f"{'transactions':>12} {'p50 µs':>8} {'p99 µs':>8} {'most ms':>8} {'MiB':>6} {'MiB of files':>12}")
    took: list[float] = []
    first = last = 0
    for number in range(1, transactions + 1):
        if last - first < ROWS:
            session.insert("R", row(last))
            last += 1
        else:
            session.delete("R", row(first))
            first += 1
        begun = time.perf_counter()
        session.commit()
        took.append(time.perf_counter() - begun)
        if number % (transactions // 10) == 0:
            p50, p99 = 1e6 * np.percentile(took, [50, 99])
            files = sum(each.stat().st_size for each in home.iterdir()) / 2**20
            held = (memory.resident() or 0) >> 20
            line = f"{number:12,} {p50:8.0f} {p99:8.0f} {1e3 * max(took):8.1f} {held:6} {files:12.1f}"
            print(line, flush=True)
            took.clear()


def main() -> None:
    """Prints the figures of one session."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--transactions", type=int, default=1_000_000)
    parser.add_argument("--state", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        state = Path(home, "state") if given.state else None
        with ddlog.compile(PROGRAM).session(state=state) as session:
            live(session, given.transactions, Path(home))


if __name__ == "__main__":
    main()
