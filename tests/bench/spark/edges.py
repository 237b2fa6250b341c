"""A recursion over edges in Parquet: `python edges.py ours|run|handwritten components|reach FOLDER EDGES`.

Prints JSON: the seconds from the files to the number of rows, and those of processors. Our side is a session
that keeps all in workers, of which there are figures of single edges that go and come back; `run` is the same
by `Program.run`. With `--workers` there is one session after the other, of so many workers each. `--master`
names a cluster, such as that of `python tests/spark/cluster.py`. Spark writes the edges of a random graph if
they are not there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark import handwritten
from spark.local import Used, session, spent, used, workers
from spark.ours import PROGRAMS, OnSpark

import ddlog

MEMORY = "2g"
CHANGES = 8
SOURCES = 10
OUTPUTS = {"components": "Component", "reach": "Reach"}


def inputs(spark: Any, case: str, folder: Path, count: int) -> dict[str, Any]:
    """The relations of a case as DataFrames, four edges for each two nodes."""
    path = folder / f"Edge{count}"
    if not (path / "_SUCCESS").exists():
        ends = (
            f"CAST(pmod(xxhash64(id, {seed}), {count // 2}) AS INT) AS {end}" for seed, end in enumerate("xy")
        )
        spark.range(count).selectExpr(*ends).write.mode("overwrite").parquet(str(path))
    edges = spark.read.parquet(str(path))
    if case == "components":
        return {"Edge": edges}
    return {"Edge": edges, "Source": spark.range(SOURCES).selectExpr("CAST(id AS INT) AS x")}


def ours(spark: Any, case: str, frames: dict[str, Any], count: int | None) -> dict[str, Any]:
    """The figures of a session, of so many workers."""
    with OnSpark(spark, case, workers=count) as kept:
        seen = list[tuple[int, Used]]()
        own = list[int]()

        def iterated() -> None:
            own[:] = own or workers()
            seen.append((kept.iterations.count, used(own)))

        kept.iterations.seen = iterated
        started, before = time.perf_counter(), spent()
        for name, frame in frames.items():
            kept.session.insert(name, frame)
        kept.session.commit()
        rows = kept.session.size(OUTPUTS[case])
        seconds, processor = time.perf_counter() - started, spent() - before
        kept.iterations.seen = lambda: None
        written = used(own).written
        (first, begun), (last, ended) = seen[0], seen[-1]
        some = [tuple(row) for row in frames["Edge"].limit(CHANGES).collect()]
        first_away, _ = kept.away_and_back("Edge", [some[0]])  # makes what maintaining takes
        before = spent()
        steps = [step for edge in some[1:] for step in kept.away_and_back("Edge", [edge])]
        return {
            "rows": rows,
            "seconds": seconds,
            "processor": processor,
            "workers": len(own),
            "bytes_a_row": written / rows,
            "iterations": last,
            "iteration_seconds": (ended.moment - begun.moment) / max(last - first, 1),
            "iteration_waited": ended.waited(begun) / max(last - first, 1),
            "first_edge": first_away.ms / 1000,
            "edges": [round(step.ms / 1000, 4) for step in steps],
            "edge_processor": (spent() - before) / len(steps),
            "edge_iterations": sum(step.iterations for step in steps) / len(steps),
            "edge_iteration_seconds": statistics.median(step.ms / step.iterations for step in steps) / 1000,
        }


def run(spark: Any, case: str, frames: dict[str, Any], count: int | None) -> dict[str, Any]:
    """The figures of a run without updates, by so many workers."""
    options = ddlog.SparkOptions(driver_rows=0, workers=count)
    started, before = time.perf_counter(), spent()
    program = ddlog.compile(PROGRAMS / f"{case}.dl")
    found = program.run(spark, frames, outputs=[OUTPUTS[case]], spark_options=options)
    rows = found[OUTPUTS[case]].count()
    return {"rows": rows, "seconds": time.perf_counter() - started, "processor": spent() - before}


def by_hand(spark: Any, case: str, frames: dict[str, Any]) -> dict[str, Any]:
    """The figures of the loop that is written by hand."""
    started, before = time.perf_counter(), spent()
    rows = handwritten.OVER_FRAMES[case](**frames).count()
    return {"rows": rows, "seconds": time.perf_counter() - started, "processor": spent() - before}


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=("ours", "run", "handwritten"))
    parser.add_argument("case", choices=OUTPUTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("edges", type=int)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--workers", type=int, nargs="+", metavar="N")
    given = parser.parse_args()
    spark = session(MEMORY, given.master, **handwritten.CONF)
    frames = inputs(spark, given.case, given.folder.absolute(), given.edges)
    frames["Edge"].count()  # the first job of Java
    if given.side == "handwritten":
        print(json.dumps(by_hand(spark, given.case, frames)))
    else:
        for count in given.workers or [None]:
            figures = (ours if given.side == "ours" else run)(spark, given.case, frames, count)
            print(json.dumps(figures), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
