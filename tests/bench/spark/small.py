"""Changes of states in the driver and in workers: `python small.py iterations|update SCALE`.

`iterations`: one edge of a closure, seconds an iteration. `update`: ten rows under a join and a group. Prints
JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from incremental import sample
from spark.local import session
from spark.ours import OnSpark, Step
from spark.star import load_star, some_facts
from workloads import graph

Figures = dict[str, Any]
MEMORY = "3g"
PLACES = {"driver": None, "workers": 0}  # with the rows that may be in the driver


def per_iteration(steps: Sequence[Step]) -> Figures:
    """The mean seconds of an iteration, if there are any, and the median seconds of a commit."""
    count = sum(step.iterations for step in steps)
    return {
        "seconds": sum(step.ms for step in steps) / 1000 / count if count else None,
        "commit_seconds": statistics.median(step.ms for step in steps) / 1000,
        "iterations": count / len(steps),
        "changed": sum(step.changed for step in steps) / len(steps),
        "commits": len(steps),
    }


def iterations(spark: Any, full: bool) -> Figures:
    """One edge of a closure with some 200,000 pairs, deleted and inserted again."""
    inputs, found = graph(550, 1100) if full else graph(60, 120), Figures()
    for place, driver_rows in PLACES.items():
        with OnSpark(spark, "tc", driver_rows=driver_rows) as ours:
            seconds = ours.load(spark, inputs)
            edges = [[row] for row in sample(inputs["Edge"], 7 if full else 3)]
            ours.away_and_back("Edge", edges[0])  # makes ranks, and warms up
            steps = [step for edge in edges[1:] for step in ours.away_and_back("Edge", edge)]
            found[place] = {
                "rows": ours.session.size("TC"), "load_seconds": seconds, **per_iteration(steps)
            }  # fmt: skip
    return found


def update(spark: Any, full: bool) -> Figures:
    """Ten facts inserted and deleted, where five million facts are joined and summed up."""
    rows, found = 5_000_000 if full else 20_000, Figures()
    for place, driver_rows in (PLACES | {"driver": 2 * rows}).items():
        with OnSpark(spark, "star", driver_rows=driver_rows) as ours:
            seconds = load_star(ours, spark, rows)
            pairs = [ours.there_and_back("Fact", some_facts(rows, turn, 10)) for turn in range(8)]
            steps = [step for pair in pairs[2:] for step in pair]
            found[place] = {"rows": rows, "load_seconds": seconds, **per_iteration(steps)}
    return found


PARTS: dict[str, Callable[[Any, bool], Figures]] = {
    "iterations": iterations,
    "update": update,
}


def main() -> None:
    """The command line of this script."""
    part, scale = sys.argv[1:]
    spark = session(MEMORY)
    print(json.dumps(PARTS[part](spark, scale == "full")))
    spark.stop()


if __name__ == "__main__":
    main()
