"""Changes of states in the driver and in workers: `python small.py iterations|update|network|epochs SCALE`.

`iterations`: one edge of a closure, seconds an iteration. `update`: ten rows under a join and a group.
`network`: the load and the first three commits of an example program, in a Java virtual machine that has just
started, and again in the same one. `epochs`: what the processes hold as epochs go by. Prints JSON.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
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

import ddlog
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.updatefiles import update_commands

Figures = dict[str, Any]
MEMORY = "3g"
PLACES = {"driver": None, "workers": 0}  # with the rows that may be in the driver
NETWORK = Path(__file__).parents[3] / "programs" / "network"
COMMITS = 3


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


def network(spark: Any, full: bool) -> Figures:
    """The seconds of a first and of a second session, each with its load and three commits."""
    program = ddlog.compile(NETWORK / "network.dl")
    runs = [_network(spark, program) for _ in range(2)]
    return {name: [run[k] for run in runs] for k, name in enumerate(("load_seconds", "commit_seconds"))}


def _network(spark: Any, program: ddlog.Program) -> tuple[float, list[float]]:
    started, ends = time.perf_counter(), list[float]()
    with program.session(spark=spark) as on:
        on.load(NETWORK / "facts")
        on.commit()
        loaded = time.perf_counter()
        run = Interpreter(
            on, lambda line: None, lambda *changes: ends.append(time.perf_counter()), program.names("output")
        )
        updates = str(NETWORK / "updates.dat")
        for command in update_commands(updates, program.relations, on.typedefs, program.indexes):
            run.run([command])
            run.flush()
            if len(ends) == COMMITS:
                break
        return loaded - started, [b - a for a, b in itertools.pairwise([loaded, *ends])]


def epochs(spark: Any, full: bool) -> Figures:
    """The memory held after every tenth of 200 epochs, of states in workers: of a recursion, and of a join
    under a group."""
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
    "network": network,
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
