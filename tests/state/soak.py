"""A long life of one session: memory, file and latency after a tenth of it, and at its end."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections import Counter
from pathlib import Path

from .script import PROGRAM

_NODES = 300
_EDGES = 250
_LAST = 2000  # the transactions whose median counts


def soak(count: int, home: Path) -> Counter[str]:
    """Runs so many transactions of one to ten rows on a session of a steady size. Returns, and prints, the
    figures of each tenth of the way. Raises AssertionError if one has grown by more than a fifth."""
    chance, edges = random.Random(1), list[tuple[int, int]]()
    figures: dict[str, dict[str, float]] = {}
    took: list[float] = []
    worked: list[float] = []
    with PROGRAM.session(state=home / "s") as session:
        for number in range(1, count + 1):
            for _ in range(chance.randint(1, 10)):
                x = chance.randrange(_NODES)
                edge = x, min(_NODES, x + chance.randint(1, 9))
                if len(edges) < _EDGES:
                    session.insert("Edge", edge)
                    edges.append(edge)
                else:
                    session.delete("Edge", edges.pop(chance.randrange(len(edges))))
            session.upsert("K", (x, f"text {number}"))
            begun = time.perf_counter(), time.thread_time()
            session.commit()
            took.append(time.perf_counter() - begun[0])
            worked.append(time.thread_time() - begun[1])
            if number % (count // 10) == 0:
                when = f"after {number:,}"
                figures[when] = {
                    "microseconds of a commit": statistics.median(took[-_LAST:]) * 1e6,
                    "microseconds of processor of a commit": statistics.median(worked[-_LAST:]) * 1e6,
                    "KiB of memory": _memory(),
                    "KiB of files": sum(each.stat().st_size for each in home.iterdir()) / 1024,
                }
                print(when, {what: int(size) for what, size in figures[when].items()}, flush=True)
            del took[:-_LAST], worked[:-_LAST]
    early, late = next(iter(figures.values())), figures[when]
    for what, size in late.items():
        assert size <= 1.2 * early[what], f"{what}: {early[what]:,.0f} at a tenth, {size:,.0f} in the end"
    return Counter({f"{what} {when}": int(size) for when, of in figures.items() for what, size in of.items()})


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
