"""Many commits on a large state in a folder: `python commits.py FOLDER COMMITS ROWS [--in-workers]`.

Prints the latency, the memory and the disk of the first and the last tenth of the commits. A commit deletes
500 rows and inserts 500, under a join and a group, so that the state stays as large as it is. The folder must
not be there, and is removed in the end. `--in-workers` keeps nothing in the driver.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.local import MIB, held, session
from tabular import table

import ddlog
from ddlog.engine.spark.runtime import SparkOptions

PROGRAM = """
input relation Fact(id: s64, key: s64, value: s64)
input relation Class(key: s64, class: s64)
output relation Total(class: s64, rows: u64, sum: s64)
Total(class, n, s) :- Fact(id, key, value), Class(key, class),
    var g = (id, value).group_by(class), var n = g.count(), var s = g.sum_second().
"""
CHANGED = 500
HEAD = ("commits", "s a commit, median", "longest", "cached parts", "MiB of them", "Java objects, MiB")


def fact(number: int, rows: int) -> tuple[int, int, int]:
    """The row of a number."""
    return number, number * 7919 % (rows // 100), number % 1000


def load(spark: Any, kept: ddlog.Session, rows: int) -> None:
    """The first commit."""
    columns = "id", f"id * 7919 % {rows // 100} AS key", "id % 1000 AS value"
    kept.insert("Fact", spark.range(rows).selectExpr(*columns))
    kept.insert("Class", spark.range(rows // 100).selectExpr("id AS key", "id % 1000 AS class"))
    kept.commit()


def commit(kept: ddlog.Session, number: int, rows: int) -> float:
    """The seconds of a commit."""
    first = number * CHANGED
    kept.delete("Fact", *(fact(k, rows) for k in range(first, first + CHANGED)))
    kept.insert("Fact", *(fact(rows + k, rows) for k in range(first, first + CHANGED)))
    started = time.perf_counter()
    kept.commit()
    return time.perf_counter() - started


def figures(spark: Any, place: Path, told: str, seconds: list[float]) -> tuple[str, ...]:
    """A row of the table."""
    memory = held(spark)
    files = [each.stat().st_size for each in place.rglob("*") if each.is_file()]
    shown = (f"{memory.cached}", f"{memory.storage_mib:.1f}", f"{memory.heap_mib:.0f}")
    sizes = (
        f"{memory.python_mib:.0f}",
        f"{memory.workers_mib:.0f}",
        f"{len(files)}",
        f"{sum(files) / MIB:.1f}",
    )
    return (told, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}", *shown, *sizes)


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("commits", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("--in-workers", action="store_true")
    given = parser.parse_args()
    if given.folder.exists():
        parser.error(f"{given.folder} is there already")
    spark, tenth, body = session("4g"), max(1, given.commits // 10), []
    options = SparkOptions(driver_rows=0) if given.in_workers else SparkOptions()
    with ddlog.compile(PROGRAM).session(
        spark=spark, state=given.folder, spark_options=options, relations="outputs"
    ) as kept:
        started = time.perf_counter()
        load(spark, kept, given.rows)
        print(f"{given.rows:,} rows loaded in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        seconds: list[float] = []
        for number in range(given.commits):
            seconds.append(commit(kept, number, given.rows))
            done = number + 1
            if done in (tenth, given.commits):
                body.append(figures(spark, given.folder, f"{done - tenth + 1} to {done}", seconds[-tenth:]))
        groups = kept.size("Total")
    head = (*HEAD, "Python, MiB", "workers, MiB", "files", "MiB on disk")
    print(table(f"{given.commits} commits of {2 * CHANGED:,} rows, {groups:,} groups", head, body))
    shutil.rmtree(given.folder)
    spark.stop()


if __name__ == "__main__":
    main()
