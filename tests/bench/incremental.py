"""Latency of small changes to a large state, through the Python interface."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workloads import (
    WORKLOADS,
    Ints,
    Random,
    Text,
    graph,
    random_graph,
    rows,
    source_and_edges,
    without_duplicates,
    write,
)

import ddlog

PROGRAMS = Path(__file__).parent / "programs"
Row = tuple[int, ...]


@dataclass(frozen=True)
class Latency:
    """Milliseconds of the commits of one kind, and the rows of output that each changed."""

    name: str
    median_ms: float
    p90_ms: float
    changed: float
    commits: int
    limit_ms: float | None = None


def state_of(program: str, inputs: dict[str, Ints], directory: Path) -> Any:
    """A session of a benchmark's program with these inputs loaded."""
    write(inputs, directory)
    session = ddlog.compile(PROGRAMS / f"{program}.dl").session(relations="outputs")
    session.load(directory)
    return session


def as_rows(table: Ints) -> list[Row]:
    """A table as rows of plain numbers."""
    return [tuple(row) for row in table.tolist()]


def commit(session: Any, deleted: dict[str, list[Row]], inserted: dict[str, list[Row]]) -> tuple[float, int]:
    """The milliseconds to commit one transaction and to read its changes, and the number of changes."""
    started = time.perf_counter()
    for relation, old in deleted.items():
        session.delete_rows(relation, old)
    for relation, new in inserted.items():
        session.insert_rows(relation, new)
    changes = session.commit()
    changed = sum(len(changes.rows(relation)) for relation in changes)
    return (time.perf_counter() - started) * 1000, changed


def summary(name: str, timed: list[tuple[float, int]], limit: float | None) -> Latency:
    """The latency of some commits."""
    times = sorted(ms for ms, _ in timed)
    changed = statistics.mean(count for _, count in timed)
    p90 = times[int(0.9 * (len(times) - 1))]
    return Latency(name, statistics.median(times), p90, changed, len(times), limit)


def back_and_forth(
    session: Any, relation: str, groups: list[list[Row]], name: str, limit: float | None = None
) -> Iterator[Latency]:
    """Delete each group of present rows and insert it again. The first pair warms up, uncounted."""
    deletes, inserts = [], []
    for group in groups:
        deletes.append(commit(session, {relation: group}, {}))
        inserts.append(commit(session, {}, {relation: group}))
    yield summary(f"{name}, out", deletes[1:], limit)
    yield summary(f"{name}, back in", inserts[1:], limit)


def forth_and_back(
    session: Any, relation: str, groups: list[list[Row]], name: str, limit: float | None = None
) -> Iterator[Latency]:
    """Insert each group of new rows and delete it again. The first pair warms up, uncounted."""
    inserts, deletes = [], []
    for group in groups:
        inserts.append(commit(session, {}, {relation: group}))
        deletes.append(commit(session, {relation: group}, {}))
    yield summary(f"{name}, in", inserts[1:], limit)
    yield summary(f"{name}, back out", deletes[1:], limit)


def sample(table: Ints, count: int, seed: int = 11) -> list[Row]:
    """Some rows of a table, chosen at random."""
    return as_rows(table[Random(seed).below(len(table), count)])


def closure(cache: Path, scale: str) -> Iterator[Latency]:
    """One edge of the closure with a million pairs."""
    inputs = graph(1250, 2500) if scale == "full" else graph(60, 120)
    with state_of("tc", inputs, cache / f"inc_tc_{scale}") as session:
        edges = inputs["Edge"]
        present = [[row] for row in sample(edges, 51)]
        yield from back_and_forth(session, "Edge", present, "tc_random_1m: one edge", 16.0)
        known = set(as_rows(edges))
        fresh = random_graph(Random(31), int(edges.max()) + 1, 80)
        new = [[row] for row in as_rows(fresh) if row not in known][:51]
        yield from forth_and_back(session, "Edge", new, "tc_random_1m: one new edge", 16.0)


def reachability(cache: Path, scale: str) -> Iterator[Latency]:
    """One edge, and batches of a thousand, of reachability over half a million edges."""
    inputs = source_and_edges(100_000, 500_000) if scale == "full" else source_and_edges(200, 500)
    with state_of("reach", inputs, cache / f"inc_reach_{scale}") as session:
        edges = inputs["Edge"]
        singles = [[row] for row in sample(edges, 101)]
        yield from back_and_forth(session, "Edge", singles, "reach 500k: one edge", 2.0)
        size = 1000 if scale == "full" else 10
        order = Random(12).words(len(edges)).argsort()
        batches = [as_rows(edges[order[i * size : (i + 1) * size]]) for i in range(11)]
        yield from back_and_forth(session, "Edge", batches, f"reach 500k: {size:,} edges", 60.0)


def recursive_groups(cache: Path, scale: str) -> Iterator[Latency]:
    """One edge, and batches of a thousand, of recursions with groups; the first deletion apart."""
    for name, relation in (("components", "Edge"), ("cheapest", "Edge"), ("control", "Owns")):
        inputs = dict(WORKLOADS[name].inputs(scale))
        table = inputs[relation]
        assert not isinstance(table, Text)
        folder = cache / f"inc_{name}_{scale}"
        with state_of(
            name, {key: held for key, held in inputs.items() if not isinstance(held, Text)}, folder
        ) as session:
            first = as_rows(table[1:2])
            yield summary(f"{name}: first deletion", [commit(session, {relation: first}, {})], None)
            commit(session, {}, {relation: first})
            yield from back_and_forth(
                session, relation, [[row] for row in sample(table, 51)], f"{name}: one row", 5.0
            )
            size = 1000 if scale == "full" else 10
            order = Random(12).words(len(table)).argsort()
            batches = [as_rows(table[order[i * size : (i + 1) * size]]) for i in range(4)]
            yield from back_and_forth(session, relation, batches, f"{name}: {size:,} rows")


def tables(n: int, seed: int) -> Ints:
    """n rows of two columns over n values: a few rows for each value."""
    random = Random(seed)
    return without_duplicates(rows(random.below(n // 4, n), random.below(n // 4, n)))


def join_inputs(n: int) -> dict[str, Ints]:
    """Two tables of n rows to join."""
    return {"A": tables(n, 21), "B": tables(n, 22)}


def reach_inputs(n: int) -> dict[str, Ints]:
    """n edges over n/5 nodes and a source."""
    edges = random_graph(Random(23), n // 5, n)
    return {"Source": edges[:1, :1], "Edge": edges}


def count_inputs(n: int) -> dict[str, Ints]:
    """n rows in 100 groups: the groups grow with the table."""
    return {"Row": rows(Random(0).below(1 << 30, n), Random(1).below(100, n), Random(2).below(1000, n))}


CURVES: dict[str, tuple[str, str, Callable[[int], dict[str, Ints]]]] = {
    "join": ("join", "A", join_inputs),
    "reachability": ("reach", "Edge", reach_inputs),
    "group count": ("groupby", "Row", count_inputs),
}


@dataclass(frozen=True)
class Curve:
    """Median milliseconds of a one-row update, by the number of rows in the database."""

    name: str
    points: tuple[tuple[int, float], ...]

    @property
    def growth(self) -> float:
        """How much slower the largest database is than the smallest."""
        return self.points[-1][1] / self.points[0][1]


def curves(cache: Path, scale: str) -> Iterator[Curve]:
    """One-row updates on databases that grow a hundredfold."""
    sizes = (10_000, 100_000, 1_000_000) if scale == "full" else (200, 2_000)
    for name, (program, relation, make) in CURVES.items():
        points = []
        for n in sizes:
            inputs = make(n)
            with state_of(program, inputs, cache / f"curve_{program}_{n}") as session:
                groups = [[row] for row in sample(inputs[relation], 101)]
                ways = list(back_and_forth(session, relation, groups, name))
                points.append((n, statistics.mean(way.median_ms for way in ways)))
        yield Curve(name, tuple(points))
