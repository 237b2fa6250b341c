"""Durable state: commits a second by durability, restart against first load, size against Parquet.

    python tests/bench/state.py [--rows 5000000] [--seconds 2] [--folding]

Prints wall and processor time. The first part commits one row, or a thousand, over and over; `sqlite` is
SQLite's own insert of the same rows in a synced transaction, and `beside` a session without a state that is
followed by that insert. The second loads facts, and opens the state; also one whose process was killed ten
commits after the load. With --folding: how long commits of one
row take while all facts are folded over and over, and SQLite's own inserts without that.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import ddlog
from ddlog.durability import folding, reports
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.persistence.exports import output_tables
from ddlog.sessions.session import Session

COUNTS = """
input relation R(x: u64, y: string)
output relation O(x: u64, n: usize)
O(x % 100, n) :- R(x, y), var n = y.group_by(x).count().
"""
FACTS = """
input relation R(x: u64, y: u32, s: string)
output relation O(n: usize)
O(n) :- R(x, y, s), var n = x.group_by(()).count().
"""
PATHS = """
input relation R(x: u32, y: u32)
output relation O(x: u32, z: u32)
O(x, y) :- R(x, y).
O(x, z) :- O(x, y), R(y, z).
"""


def measured(label: str, act: Callable[[], Any], per: int = 1) -> None:
    """Prints the time of an act, for each of `per` parts."""
    wall, processor = time.perf_counter(), time.process_time()
    count = act() or per
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{label:32} {1000 * wall / count:11.3f} ms {1000 * processor / count:11.3f} ms of processor")


def commits(home: Path, durability: Any, rows: int, seconds: float) -> None:
    """Commits for a time. `beside`: in memory, with an insert by SQLite after each."""
    path = home / f"{durability}{rows}"
    program = ddlog.compile(COUNTS)
    kept = durability not in ("none", "beside")
    session = program.session(state=path, durability=durability) if kept else program.session()
    base = database(path) if durability == "beside" else None

    def act(limit: float = seconds) -> int:
        ends, number = time.perf_counter() + limit, 0
        while time.perf_counter() < ends:
            values = [(next_row[0] + k, f"text {k}") for k in range(rows)]
            session.insert_rows("R", values)
            next_row[0] += rows
            session.commit()
            if base is not None:
                insert(base, values)
            number += 1
        return number

    next_row = [0]
    act(0.5)
    measured(f"commit, {durability}, rows: {rows}", act)
    session.close()


def database(path: Path) -> sqlite3.Connection:
    """A database of SQLite in WAL mode, with a table."""
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("CREATE TABLE r (x INTEGER, y TEXT)")
    return base


def insert(base: sqlite3.Connection, values: list[tuple[int, str]]) -> None:
    """Inserts rows in a synced transaction."""
    base.execute("BEGIN")
    base.executemany("INSERT INTO r VALUES (?, ?)", values)
    base.execute("COMMIT")


def inserts(home: Path, rows: int, seconds: float) -> None:
    """SQLite's own inserts for a time."""
    base = database(home / f"sqlite{rows}")

    def act() -> int:
        ends, number = time.perf_counter() + seconds, 0
        while time.perf_counter() < ends:
            insert(base, [(number * rows + k, f"text {k}") for k in range(rows)])
            number += 1
        return number

    measured(f"insert, sqlite, rows: {rows}", act)


def restarts(home: Path, name: str, text: str, table: dict[str, Any]) -> None:
    """First load, restart and size."""
    import pyarrow as pa
    import pyarrow.csv as csv

    (home / name).mkdir()
    csv.write_csv(pa.table(table), home / name / "R.csv")
    program, path = ddlog.compile(text), home / f"{name}.ddlog"
    for label in ("", "again, "):
        path.unlink(missing_ok=True)
        session = program.session(state=path)
        measured(f"{name}: {label}first load", partial(_load, session, home / name))
        session.close()
    session = program.session(state=path)
    measured(f"{name}: restart of all that is derived", lambda: session.start(static=True) and None)
    session.close()
    session = program.session(state=path)
    session.start()
    measured(f"{name}: close, with a checkpoint", session.close)
    session = program.session(state=path)
    measured(f"{name}: restart", partial(_start, session))
    measured(f"{name}: first commit", partial(_change, session, table))
    measured(f"{name}: second commit", partial(_change, session, table))
    session.close()
    killed = home / f"{name}.killed"
    subprocess.run([sys.executable, __file__, "--killed", killed, home / name, text], check=False)
    session = program.session(state=killed)
    measured(f"{name}: restart after a kill", partial(_start, session))
    measured(f"{name}: first commit", partial(_change, session, table))
    session.close()
    files = list(reports.exported(str(path), str(home / f"{name}.out"), output_tables))
    size, parquet = os.path.getsize(path), sum(map(os.path.getsize, files))
    print(f"{name}: {size:,} bytes, {size / parquet:.2f} times the {parquet:,} of Parquet")


def load_and_die(path: str, place: str, text: str) -> None:
    """Loads facts, commits ten rows, and is killed when the checkpoint of the load is written."""
    import pyarrow.csv as csv

    session = ddlog.compile(text).session(state=path)
    measured("first load by a process that is killed", lambda: session.load(place) and None)
    table = csv.read_csv(Path(place) / "R.csv").slice(0, 100).to_pydict()
    for _ in range(10):
        _change(session, table)
    durable = session.state.durable
    assert isinstance(durable, Durable) and durable.upkeep is not None
    ends = time.perf_counter() + 30
    while not durable.upkeep.epoch and time.perf_counter() < ends:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


def _start(session: Session) -> None:
    """Begins a session, and looks at none of its changes: they may be all rows."""
    session.start()


def _change(session: Session, table: dict[str, Any]) -> None:
    """Inserts a row made of two."""
    row = [column[3] if k == 0 else column[session.epoch or 0] for k, column in enumerate(table.values())]
    session.insert_rows("R", [tuple(each.item() if hasattr(each, "item") else each for each in row)])
    session.commit()


def _load(session: Session, place: Path) -> int:
    session.load(place, static=True)
    return 1


def folding_waits(home: Path, facts: dict[str, Any], seconds: float) -> None:
    """The times of commits while all spans are folded over and over."""
    import pyarrow as pa

    base = database(home / "own")
    shown("insert, sqlite", seconds / 2, lambda n: insert(base, [(n, f"text {n}")]))
    text = COUNTS + "input relation Facts(x: u64, y: u32, s: string)\n"
    with mock.patch.object(folding, "MANY", 1), ddlog.compile(text).session(state=home / "s") as session:
        session.insert_table("Facts", pa.table(facts))
        session.commit()
        assert isinstance(session.state.durable, Durable)
        session.state.durable._live = lambda relation: 0

        def commit(number: int) -> None:
            session.insert_rows("R", [(number, f"text {number}")])
            session.commit()

        shown("commit, folding", seconds, commit)


def shown(label: str, seconds: float, act: Callable[[int], None]) -> None:
    """Acts for a time, and prints the median and the longest times."""
    times: list[float] = []
    ends = time.perf_counter() + seconds
    while (since := time.perf_counter()) < ends:
        act(len(times))
        times.append(1000 * (time.perf_counter() - since))
    found = [f"{100 * part:g}% {np.quantile(times, part):.2f}" for part in (0.5, 0.99, 0.999, 1)]
    print(f"{label:24} {len(times):8,} times, within ms: {', '.join(found)}")


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--folding", action="store_true")
    parser.add_argument("--killed", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.killed:
        load_and_die(*options.killed)
    with tempfile.TemporaryDirectory() as folder:
        home, count = Path(folder), options.rows
        random = np.random.default_rng(1)
        names = np.array([f"name {k}" for k in range(count // 50 + 1)])
        texts = names[random.integers(0, len(names), count)]
        facts = {"x": np.arange(count) * 7, "y": random.integers(0, 1 << 31, count), "s": texts}
        if options.folding:
            folding_waits(home, facts, options.seconds)
            return
        for rows in (1, 1000):
            for durability in ("none", "interval", "exit", "commit", "beside"):
                commits(home, durability, rows, options.seconds)
            inserts(home, rows, options.seconds)
        restarts(home, "facts", FACTS, facts)
        nodes = max(10, int((count / 1250) ** 0.5) * 63)
        edges = np.unique(random.integers(0, nodes, (2 * nodes, 2)), axis=0)
        restarts(home, "recursion", PATHS, {"x": edges[:, 0], "y": edges[:, 1]})


if __name__ == "__main__":
    main()
