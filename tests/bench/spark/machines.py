"""How the work grows with rows, partitions and executors, on a standalone cluster of this machine.

`python machines.py` prints a table. Processor time, tasks and shuffled bytes are those that Spark reports of
its executors, so other work on the machine matters little. All state is on the cluster.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "spark"))

from cluster import standalone
from tabular import table

import ddlog

PROGRAM = """
input relation Fact(id: s64, key: s64, value: s64)
input relation Class(key: s64, class: s64)
output relation Total(class: s64, rows: u64, sum: s64)
Total(class, n, s) :- Fact(id, key, value), Class(key, class),
    var g = (id, value).group_by(class), var n = g.count(), var s = g.sum_second().
"""
POINTS = {
    2: [(100_000, 4), (400_000, 4), (1_600_000, 4), (400_000, 16)],
    1: [(400_000, 4)],
}
TINY = {2: [(1_000, 2)]}
FIGURES = ("executorCpuTime", "shuffleWriteBytes", "numCompleteTasks")


def spent(spark: Any) -> list[int]:
    """Nanoseconds of processor time, shuffled bytes and tasks of all stages so far."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    rest = [getattr(store, f"stageList$default${k}")() for k in range(2, 6)]
    stages = store.stageList(None, *rest)
    each = [stages.apply(k) for k in range(stages.size())]
    return [sum(getattr(stage, figure)() for stage in each) for figure in FIGURES]


def measured(spark: Any, rows: int, partitions: int) -> list[tuple[int, ...]]:
    """What the load and a commit of ten rows spend: a row each."""
    from ddlog.engine.spark.runtime import SparkOptions

    facts = spark.range(rows, numPartitions=partitions)
    found = []
    with ddlog.compile(PROGRAM).session(
        spark=spark,
        spark_options=SparkOptions(driver_rows=0, partitions=partitions),
        relations="outputs",
        updates=True,
    ) as session:
        session.insert(
            "Fact", facts.selectExpr("id", f"id * 7919 % {rows // 100} AS key", "id % 1000 AS value")
        )
        keys = spark.range(rows // 100)
        session.insert("Class", keys.selectExpr("id AS key", "id % 1000 AS class"))
        session.commit()
        before = spent(spark)
        found.append(tuple(before))
        session.insert("Fact", *((rows + k, k, 1) for k in range(10)))
        session.commit()
        found.append(tuple(now - then for now, then in zip(spent(spark), before, strict=True)))
    return found


def main() -> None:
    """The command line of this script."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    body = []
    for workers, points in (TINY if sys.argv[1:] == ["tiny"] else POINTS).items():
        with standalone(workers, 1, "2g") as cluster:
            for rows, partitions in points:
                builder = SparkSession.builder.master(cluster.master)
                conf = {"spark.executor.memory": "1500m", "spark.log.level": "ERROR"}
                conf |= {"spark.ui.showConsoleProgress": "false", "spark.ui.enabled": "false"}
                for key, value in conf.items():
                    builder = builder.config(key, value)
                spark = builder.getOrCreate()
                load, small = measured(spark, rows, partitions)
                spark.stop()
                body.append(
                    (
                        f"{rows:,}",
                        str(partitions),
                        str(workers),
                        f"{load[0] / 1e9:.1f}",
                        f"{load[1] / rows:.0f}",
                        str(load[2]),
                        f"{small[0] / 1e9:.2f}",
                        f"{small[1]:,}",
                        str(small[2]),
                    )
                )
                print(*body[-1], file=sys.stderr, flush=True)
    head = ("rows", "partitions", "executors", "processor s to load", "bytes shuffled a row", "tasks")
    print(table("A join and a group", (*head, "ten rows: s", "bytes", "tasks"), body))


if __name__ == "__main__":
    main()
