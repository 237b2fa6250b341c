"""A million events through a window of one hour: the processor time and the memory of each tenth of them.

    python tests/bench/windows.py [--events 1000000] [--batch 100] [--kind stream]

The window feeds one aggregate and one join. Ten events come in a second of the clock.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

import numpy as np

import ddlog
from ddlog.engine import memory

TEXT = """
import window
input relation Limit(user: u32, most: u64)
input {kind} Event(id: u64, user: u32, time: u64)
input relation Now(time: u64)
{result} Recent[Event]
apply window::range(Event, |e| e.time, Now, 3600) -> (Recent)
output relation Busy(user: u32, events: u64)
Busy(user, n) :- Recent(id, user, _), var n = id.group_by(user).count_distinct().
output relation Above(user: u32, events: u64)
Above(user, n) :- Busy(user, n), Limit(user, most), n > most.
output relation Pair(first: u64, second: u64)
Pair(a, b) :- Recent(a, user, t), Recent(b, user, t), a < b.
"""
USERS, RATE = 1000, 10
CLOCK = time.process_time  # what others run on the machine does not count


def batches(events: int, size: int) -> Iterator[list[tuple[int, int, int]]]:
    """Events in the order of their times, with small delays."""
    chance = random.Random(1)
    for start in range(0, events, size):
        yield [
            (k, chance.randrange(USERS), 10**6 + k // RATE - chance.randrange(5))
            for k in range(start, min(start + size, events))
        ]


def main() -> None:
    """Prints a line for each tenth, and the events of an hour of processor time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--kind", choices=["relation", "multiset", "stream"], default="stream")
    given = parser.parse_args()
    result = "relation" if given.kind == "relation" else "multiset"
    program = ddlog.compile(TEXT.format(kind=given.kind, result=result))
    tenth, seen, spent, latencies, total = given.events // 10, 0, 0.0, list[float](), 0.0
    with program.session(relations="outputs") as session:
        session.insert("Limit", *((user, 50) for user in range(USERS)))
        print(
            f"{'events':>9} {'rows':>7} {'MiB':>6} {'p50 ms':>7} {'p99 ms':>7} {'most':>6} {'events/h':>12}"
        )
        for rows in batches(given.events, given.batch):
            begun = CLOCK()
            session.insert("Event", *rows)
            session.clear("Now")
            session.insert("Now", (rows[-1][2],))
            session.commit()
            latencies.append(CLOCK() - begun)
            seen, spent, total = seen + len(rows), spent + latencies[-1], total + latencies[-1]
            if seen % tenth < given.batch:
                p50, p99, most = (1000 * x for x in (*np.percentile(latencies, [50, 99]), max(latencies)))
                speed = 3600 * len(latencies) * given.batch / spent
                held, mib = session.size("Busy"), memory.resident() >> 20
                figures = f"{p50:7.2f} {p99:7.2f} {most:6.1f} {speed:12,.0f}"
                print(f"{seen:9} {held:7} {mib:6} {figures}", flush=True)
                spent, latencies = 0.0, []
    print(f"{3600 * given.events / total:,.0f} events in an hour")


if __name__ == "__main__":
    main()
