"""Small changes to large states on the cluster: `python small.py iterations|update|epochs SCALE`.

`iterations`: one edge of a closure, seconds an iteration. `update`: ten rows under a join and a group.
`epochs`: what the processes hold as epochs go by. Prints JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from incremental import reach_inputs, sample
from spark.local import held, session
from spark.ours import OnSpark, Step
from spark.star import load_star, some_facts
from workloads import graph

Figures = dict[str, Any]
MEMORY = "3g"


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
    inputs = graph(550, 1100) if full else graph(60, 120)
    with OnSpark(spark, "tc") as ours:
        seconds = ours.load(spark, inputs)
        edges = [[row] for row in sample(inputs["Edge"], 7 if full else 3)]
        ours.away_and_back("Edge", edges[0])  # builds the history, and warms up
        steps = [step for edge in edges[1:] for step in ours.away_and_back("Edge", edge)]
        return {"rows": ours.session.size("TC"), "load_seconds": seconds, **per_iteration(steps)}


def update(spark: Any, full: bool) -> Figures:
    """Ten facts inserted and deleted, where five million facts are joined and summed up."""
    rows = 5_000_000 if full else 20_000
    with OnSpark(spark, "star") as ours:
        seconds = load_star(ours, spark, rows)
        pairs = [ours.there_and_back("Fact", some_facts(rows, turn, 10)) for turn in range(8)]
        steps = [step for pair in pairs[2:] for step in pair]
        return {"rows": rows, "load_seconds": seconds, **per_iteration(steps)}


def epochs(spark: Any, full: bool) -> Figures:
    """The memory held after every tenth of 200 epochs: of a recursion, and of a join under a group."""
    count, every = (200, 20) if full else (6, 2)
    edges = reach_inputs(50_000 if full else 500)
    found: Figures = {"epochs": count}
    with OnSpark(spark, "reach") as ours:
        ours.load(spark, edges)
        some = [[row] for row in sample(edges["Edge"], count)]
        found["reach"] = watched(spark, count, every, lambda turn: ours.away_and_back("Edge", some[turn]))
    rows = 200_000 if full else 2_000
    with OnSpark(spark, "star") as ours:
        load_star(ours, spark, rows)
        found["star"] = watched(
            spark, count, every, lambda turn: ours.there_and_back("Fact", some_facts(rows, turn, 10))
        )
    return found


def watched(spark: Any, count: int, every: int, turn: Callable[[int], Sequence[Step]]) -> list[Figures]:
    """The memory held, and the seconds of a commit since the last figure, at some of `count` epochs."""
    points: list[Figures] = []
    times: list[float] = []
    for epoch in range(2, count + 1, 2):
        times.extend(step.ms / 1000 for step in turn(epoch // 2))
        if epoch % every == 0:
            median = statistics.median(times)
            points.append({"epoch": epoch, "commit_seconds": median, **asdict(held(spark))})
            times.clear()
    return points


PARTS: dict[str, Callable[[Any, bool], Figures]] = {
    "iterations": iterations,
    "update": update,
    "epochs": epochs,
}


def main() -> None:
    """The command line of this script."""
    part, scale = sys.argv[1:]
    spark = session(MEMORY)
    print(json.dumps(PARTS[part](spark, scale == "full")))
    spark.stop()


if __name__ == "__main__":
    main()
