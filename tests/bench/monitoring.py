"""Commits of one row in a program of streams and delays, in which nearly every node changes.

    python tests/bench/monitoring.py [--commits 2000] [--hosts 100]

Each commit brings one sample and the time. Prints the processor time of a commit, and of each node that is
neither a trace nor an output.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import ddlog
from ddlog.engine.circuit import Output, Trace

PROGRAM = """
input stream Sample(host: string, cpu: u32)
input stream Timestamp(ts: u64)
input relation Host(name: string, zone: string)
input relation Limit(zone: string, cpu: u32)
relation Cache(host: string, cpu: u32, ts: u64)
Cache(h, c, t) :- Sample'(h, c), Timestamp'(t).
Cache(h, c, t) :- Cache-1(h, c, t), not Sample'(h, _).
output relation Busy(host: string, zone: string)
Busy(h, z) :- Cache(h, c, _), Host(h, z), Limit(z, l), c > l.
output relation Calm(host: string)
Calm(h) :- Host(h, _), not Busy(h, _).
output relation Crowded(zone: string, n: usize)
Crowded(z, n) :- Busy(h, z), var n = h.group_by(z).count_distinct().
output relation Rose(host: string, by: u32)
Rose(h, c - p) :- Cache(h, c, _), Cache-1(h, p, _), c > p.
output stream Event(host: string, what: string)
Event(h, "busy") :- Sample(h, c), Host(h, z), Limit(z, l), c > l.
"""
ZONES, MOST = 10, 100


def measure(session: ddlog.Session, commits: int, hosts: int) -> list[float]:
    """The seconds of processor time that each commit takes."""
    session.insert("Host", *((f"h{k}", f"z{k % ZONES}") for k in range(hosts)))
    session.insert("Limit", *((f"z{k}", MOST // 2) for k in range(ZONES)))
    session.commit()
    took = []
    for number in range(commits):
        session.insert("Sample", (f"h{number % hosts}", number * 37 % MOST))
        session.insert("Timestamp", (number,))
        begun = time.process_time()
        session.commit()
        took.append(time.process_time() - begun)
    return took


def main() -> None:
    """Prints the figures of one session."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--commits", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=100)
    given = parser.parse_args()
    program = ddlog.compile(PROGRAM)
    nodes = sum(not isinstance(each, Trace | Output) for each in program.circuit("incremental").nodes)
    with program.session() as session:
        took = measure(session, given.commits, given.hosts)[given.commits // 10 :]
    p50, p99 = 1e6 * np.percentile(took, [50, 99])
    print(f"{nodes} nodes: {p50:.0f} µs a commit (p99 {p99:.0f}), {p50 / nodes:.1f} µs a node")


if __name__ == "__main__":
    main()
