"""Programs with loops over 100,000 edges: the load, and single edges deleted and inserted again.

    python tests/bench/loops.py [NAME …] [--edges 100000] [--updates 20]

`derivations` counts what cheapest ways over a weighted grid derive: by rounds, and in the order of costs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from incremental import as_rows, commit, sample, summary
from tabular import table
from workloads import Ints, Random, Text, grid, random_graph, rows

import ddlog
from ddlog.engine import memory

EDGES = "input relation Edge(a: u32, b: u32)\n"
NODES = EDGES + "relation Node(v: u32) Node(a), Node(b) :- Edge(a, b).\n"

BREADTH = (
    EDGES
    + """
loop Breadth until empty(Frontier) {
    relation Frontier(v: u32)
    initial Frontier(0).
    Frontier(b) :- Frontier-1(a), Edge(a, b), not Seen-1(b).
    relation Seen(v: u32)
    Seen(v) :- Seen-1(v).
    Seen(v) :- Frontier(v).
    output relation Depth(v: u32, d: u32)
    Depth(v, d) :- Depth-1(v, d).
    #[product]
    Depth(v, d) :- Frontier(v), Round(d).
    relation Round(n: u32)
    initial Round(0).
    Round(n + 1) :- Round-1(n).
}
"""
)
CORE = (
    NODES
    + """
relation Side(a: u32, b: u32)
Side(a, b), Side(b, a) :- Edge(a, b).
loop Core {
    output relation InCore(v: u32)
    initial InCore(v) :- Node(v).
    InCore(v) :- InCore-1(v), Side(v, w), InCore-1(w), var n = w.group_by(v).count(), n >= 7.
}
"""
)
COMPONENTS = NODES + (Path(__file__).parents[1] / "programs" / "loops" / "components.dl").read_text()
PAGERANK = (
    NODES.replace("u32", "s64")
    + """
relation Degree(v: s64, n: s64)
Degree(v, n as s64) :- Edge(v, w), var n = w.group_by(v).count().
loop PageRank rounds 20 {  // the mean rank is a million
    output relation Rank(v: s64, r: s64)
    initial Rank(v, 1000000) :- Node(v).
    Rank(v, r) :- Part(v, from, each), var r = (from, each).group_by(v).sum_second().
    relation Part(v: s64, from: s64, r: s64)
    Part(v, -1, 150000) :- Node(v).
    Part(b, a, 85 * r / (100 * n)) :- Rank-1(a, r), Edge(a, b), Degree(a, n).
}
"""
)
WAYS = """
input relation Edge(a: u32, b: u32, cost: u32)
loop Ways {{
    relation Way(v: u32, d: u32)
    Way(0, 0).
    Way(v, d) :- Cheapest-1(v, d).
    Way(b, d + cost) :- Cheapest-1(a, d), Edge(a, b, cost){order}.
    output relation Cheapest(v: u32, d: u32)
    Cheapest(v, d) :- Way(v, each), var d = each.group_by(v).min().
    {counted}
}}
"""
IN_ORDER = ", round >= d + cost"
COUNTED = """output relation Made(a: u32, b: u32, d: u32)
    Made(a, b, d) :- Made-1(a, b, d).
    Made(a, b, d) :- Cheapest-1(a, d), Edge(a, b, cost){order}."""


def side_of(edges: int) -> int:
    """The side of a grid with so many edges, counted in both directions."""
    return int((edges / 4) ** 0.5) + 1


def weighted(side: int, most: int) -> Ints:
    """A grid with edges in both directions, each with a cost up to the most."""
    ways = grid(side)["Edge"]
    assert not isinstance(ways, Text)
    both = np.concatenate([ways, ways[:, ::-1]])
    return rows(both[:, 0], both[:, 1], 1 + Random(4).below(most, len(both)))


def programs(edges: int) -> dict[str, tuple[str, Ints]]:
    """The text of each program and its edges."""
    side = side_of(edges)
    return {
        "breadth": (BREADTH, random_graph(Random(1), edges // 2, edges)),
        "core": (CORE, random_graph(Random(2), edges // 5, edges)),
        "components": (COMPONENTS, random_graph(Random(3), edges // 2, edges)),
        "pagerank": (PAGERANK, random_graph(Random(4), edges // 5, edges)),
        "ways": (WAYS.format(order="", counted=""), weighted(side, 100)),
        "ways_in_order": (WAYS.format(order=IN_ORDER, counted=""), weighted(side, 100)),
    }


def line(name: str, text: str, edges: Ints, updates: int) -> list[str]:
    """The figures of a program: rows of output, seconds to load, milliseconds of updates, memory."""
    with ddlog.compile(text).session(relations="outputs") as session:
        session.insert_rows("Edge", as_rows(edges))
        begun = time.process_time()
        changes = session.commit()
        loaded = time.process_time() - begun
        size = sum(len(session[relation]) for relation in changes)
        out, back = [], []
        for row in sample(edges, updates + 1):
            out.append(commit(session, {"Edge": [row]}, {}))
            back.append(commit(session, {}, {"Edge": [row]}))
        gone, again = summary("out", out[1:], None), summary("back in", back[1:], None)
        figures = [f"{each:.1f}" for way in (gone, again) for each in (way.median_ms, way.p90_ms)]
        return [
            name,
            f"{size:,}",
            f"{loaded:.2f}",
            *figures,
            f"{gone.changed:.0f}",
            f"{memory.resident() >> 20:,}",
        ]


def derivations(side: int) -> None:
    """Prints what cheapest ways derive, by rounds and in order."""
    found = []
    for most in (9, 100):
        edges = as_rows(weighted(side, most))
        for name, order in (("by rounds", ""), ("in order", IN_ORDER)):
            text = WAYS.format(order=order, counted=COUNTED.format(order=order))
            with ddlog.compile(text).session(relations="outputs") as session:
                session.insert_rows("Edge", edges)
                session.commit()
                found.append([f"costs 1 to {most}, {name}", f"{len(edges):,}", f"{len(session['Made']):,}"])
    print(table(f"Derivations on a grid of {side} by {side}", ["", "edges", "derivations"], found))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--updates", type=int, default=20)
    given = parser.parse_args()
    known = programs(given.edges)
    names = given.names or [*known, "derivations"]
    if unknown := set(names) - {*known, "derivations"}:
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(known)}, derivations")
    head = ["loop", "rows", "load s", "out ms", "90%", "back ms", "90%", "changed", "MiB"]
    body = [line(name, *known[name], given.updates) for name in names if name in known]
    if body:
        print(table("Loops: processor time of the load, and updates of one edge", head, body))
    if "derivations" in names:
        derivations(side_of(given.edges))


if __name__ == "__main__":
    main()
