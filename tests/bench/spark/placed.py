"""Programs whose operators are placed by size: `python placed.py network|mixed|update SCALE`. Prints JSON.

`network`: the load and the first three commits of an example program, in a Java virtual machine that has just
started, and again in the same one. `mixed`: commits to a hundred small relations beside a large one, which
they do not touch. `update`: ten rows under a join and a group of many rows, which lie on the cluster.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.local import session
from spark.ours import OnSpark
from spark.small import MEMORY, Figures, per_iteration
from spark.star import load_star, some_facts

import ddlog
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.updatefiles import update_commands

NETWORK = Path(__file__).parents[3] / "programs" / "network"
COMMITS = 3
SMALL = 100
MIXED = "\n".join(
    [
        "input relation Large(x: s64, y: s64)",
        "output relation Counted(y: s64, n: u64)",
        "Counted(y, n) :- Large(x, y), var n = x.group_by(y).count().",
        *(
            f"input relation Small{k}(x: s64, y: s64)\noutput relation Path{k}(x: s64, y: s64)\n"
            f"Path{k}(x, y) :- Small{k}(x, y).\nPath{k}(x, z) :- Path{k}(x, y), Small{k}(y, z)."
            for k in range(SMALL)
        ),
        *(f"Path{k}(x, y) :- Small{k - 1}(x, y), x > 5." for k in range(1, SMALL)),
    ]
)


def jobs(spark: Any) -> int:
    """The number of jobs so far."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def network(spark: Any, full: bool) -> Figures:
    """The seconds and the jobs of a first and of a second session, each with its load and three commits."""
    program = ddlog.compile(NETWORK / "network.dl")
    runs = [_network(spark, program) for _ in range(2)]
    return {
        name: [run[k] for run in runs] for k, name in enumerate(("load_seconds", "commit_seconds", "jobs"))
    }


def _network(spark: Any, program: ddlog.Program) -> tuple[float, list[float], int]:
    before, started = jobs(spark), time.perf_counter()
    ends: list[float] = []
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
        return loaded - started, [b - a for a, b in itertools.pairwise([loaded, *ends])], jobs(spark) - before


def mixed(spark: Any, full: bool) -> Figures:
    """The seconds and jobs of commits to small relations, where one is large."""
    from ddlog.engine.spark.runtime import SparkOptions

    rows = 5_000_000 if full else 100_000
    limit = SparkOptions().driver_rows if full else 20_000
    large = spark.range(rows).selectExpr("id AS x", "id % 100 AS y")
    with ddlog.compile(MIXED).session(
        spark=spark, spark_options=SparkOptions(driver_rows=limit), updates=True
    ) as on:
        started = time.perf_counter()
        on.insert("Large", large)
        for k in range(SMALL):
            on.insert(f"Small{k}", *((n, n + 1) for n in range(10)))
        on.commit()
        loaded = time.perf_counter() - started
        on.insert("Small0", (10, 11))
        on.commit()  # what has turned out to be small is on the driver from now on
        before, seconds = jobs(spark), []
        for turn in range(10):
            started = time.perf_counter()
            on.insert(f"Small{turn * 7}", (100 + turn, 3))
            on.insert("Small99", (turn, 50))
            on.commit()
            seconds.append(time.perf_counter() - started)
        side = on.state.host.offer.sides()
        assert side["Large"] == "cluster" and side["Path99"] == "driver"
        made = jobs(spark) - before
    return {
        "rows": rows, "load_seconds": loaded, "commit_seconds": statistics.median(seconds),
        "jobs": made, "commits": len(seconds),
    }  # fmt: skip


def update(spark: Any, full: bool) -> Figures:
    """Ten facts inserted and deleted, where five million facts are joined and summed up."""
    rows = 5_000_000 if full else 400_000
    with OnSpark(spark, "star", driver_rows=None if full else 150_000) as ours:
        seconds = load_star(ours, spark, rows)
        pairs = [ours.there_and_back("Fact", some_facts(rows, turn, 10)) for turn in range(3)]
        before = jobs(spark)
        pairs = [ours.there_and_back("Fact", some_facts(rows, turn, 10)) for turn in range(3, 10)]
        steps = [step for pair in pairs for step in pair]
        made = (jobs(spark) - before) / len(steps)
        assert ours.session.state.host.offer.sides()["Fact"] == "cluster"
        return {"rows": rows, "load_seconds": seconds, "jobs": made, **per_iteration(steps)}


PARTS: dict[str, Callable[[Any, bool], Figures]] = {"network": network, "mixed": mixed, "update": update}


def main() -> None:
    """The command line of this script."""
    part, scale = sys.argv[1:]
    spark = session(MEMORY)
    spark.range(1).count()
    print(json.dumps(PARTS[part](spark, scale == "full")))
    spark.stop()


if __name__ == "__main__":
    main()
