"""Commits of one row through small circuits, by the Python interface.

    python tests/bench/onerow.py [--commits 4000]

Prints the processor time of a commit, with its insertion and the reading of its changes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import ddlog

EDGES = "input relation Edge(a: u32, b: u32)\n"
PROGRAMS = {
    "copy": "output relation Out(a: u32, b: u32)\nOut(a, b) :- Edge(a, b).",
    "filter": "output relation Out(a: u32, b: u32)\nOut(a, b + 1) :- Edge(a, b), b > 3.",
    "count": "output relation Out(a: u32, n: usize)\nOut(a, n) :- Edge(a, b), var n = b.group_by(a).count().",
    "join": "input relation To(b: u32, c: u32)\noutput relation Out(a: u32, c: u32)\n"
    "Out(a, c) :- Edge(a, b), To(b, c).",
    "reach": "input relation From(a: u32)\noutput relation Out(a: u32)\nOut(a) :- From(a).\n"
    "Out(b) :- Out(a), Edge(a, b).",
    "grow": "output relation Out(a: u32)\nOut(0).\nOut(a) :- Edge(a, _), Out(0).",
}
ROWS, NODES, VALUES = 50_000, 1000, 777


def measure(text: str, commits: int) -> list[float]:
    """The seconds of each commit."""
    took = []
    with ddlog.compile(EDGES + text).session() as session:
        session.insert("Edge", *((k % NODES, k % VALUES) for k in range(ROWS)))
        if "To(" in text:
            session.insert("To", *((k % VALUES, k) for k in range(2 * NODES)))
        if "From(" in text:
            session.insert("From", (1,))
        session.commit()
        for k in range(commits):
            begun = time.process_time()
            session.insert("Edge", (2 * NODES + k, k % VALUES))
            for _ in session.commit():
                pass
            took.append(time.process_time() - begun)
    return took[commits // 10 :]


def main() -> None:
    """Prints the figures of each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--commits", type=int, default=4000)
    commits = parser.parse_args().commits
    for name, text in PROGRAMS.items():
        p50, p90 = 1e6 * np.percentile(measure(text, commits), [50, 90])
        print(f"{name}: {p50:.0f} µs a commit (90% below {p90:.0f})")


if __name__ == "__main__":
    main()
