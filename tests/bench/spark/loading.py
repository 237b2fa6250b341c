"""A load that outgrows the driver: `python loading.py FOLDER ROWS` loads rows of Parquet into workers.

Prints the memory and the processor time of the processes, and what an edge takes after. The folder is made
if it is not there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.local import java_process, processor_seconds, resident, session, workers
from tabular import table

import ddlog

PROGRAM = """
input relation Edge(x: s64, y: s64)
output relation Degree(class: s64, n: u64)
Degree(class, n) :- Edge(x, y), var class = x % 1000, var n = (x, y).group_by(class).count().
"""
HEAD = ("process", "MiB before", "MiB at most", "processor s")


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    given = parser.parse_args()
    spark = session("2g")
    if not given.folder.exists():
        columns = "id AS x", "(id * 7919) % 1000003 AS y"
        spark.range(given.rows).selectExpr(*columns).write.parquet(str(given.folder))
    spark.range(1000).count()
    java, here = java_process(), os.getpid()
    before = {each: (resident(each), processor_seconds(each)) for each in (here, java)}
    with ddlog.compile(PROGRAM).session(spark=spark, updates=True) as kept:
        started = time.perf_counter()
        kept.load(f"Edge={given.folder}")
        loaded = time.perf_counter() - started
        names = {here: "driver, Python", java: "driver and executor, Java"}
        body = []
        for each in (here, java, *workers()):
            memory, used = before.get(each, (0.0, 0.0))
            figures = memory, resident(each, peak=True), processor_seconds(each) - used
            body.append((names.get(each, "worker"), *(f"{figure:.0f}" for figure in figures)))
        started = time.perf_counter()
        kept.insert("Edge", (-1, 5))
        kept.commit()
        edge = time.perf_counter() - started
    print(table(f"{given.rows:,} rows: {loaded:.1f} s; a row more: {edge:.3f} s", HEAD, body))
    spark.stop()


if __name__ == "__main__":
    main()
