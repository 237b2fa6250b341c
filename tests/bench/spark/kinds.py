"""Commits of ten rows on groups of each kind, and on joins by each column: `python kinds.py ROWS [KIND …]`.

All state is on the cluster. A kind is a rule over `Fact(key, id, value, name)` with ROWS / 100 keys. The
table has medians of a commit: jobs, rows or cached batches of up to 10,000 rows that Spark's input metrics
have, processor seconds of the executors, and elapsed seconds.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark.local import session
from spark.placed import jobs
from tabular import table

import ddlog

COMMITS = 7
INPUTS = """
input relation Fact(key: s64, id: s64, value: double, name: string) primary key (f) f.id
input relation Some(n: s64, key: s64)
"""
GROUPS = {
    "sum": "s64) \nOut(k, s) :- Fact(k, i, _, _), var s = i.group_by(k).sum().",
    "min": "s64) \nOut(k, s) :- Fact(k, i, _, _), var s = i.group_by(k).min().",
    "min of texts": "string) \nOut(k, s) :- Fact(k, _, _, t), var s = t.group_by(k).min().",
    "max of pairs": "(string, s64)) \nOut(k, s) :- Fact(k, i, _, t), var s = (t, i).group_by(k).max().",
    "max of doubles": "double) \nOut(k, s) :- Fact(k, _, v, _), var s = v.group_by(k).max().",
    "sum of doubles": "double) \nOut(k, s) :- Fact(k, _, v, _), var s = v.group_by(k).sum().",
    "to_vec": "Vec<s64>) \nOut(k, s) :- Fact(k, i, _, _), var s = i.group_by(k).to_vec().",
    "own": "usize) \nfunction own(g: Group<s64, s64>): usize { g.to_vec().len() % 7 }\n"
    "Out(k, own(g)) :- Fact(k, i, _, _), var g = i.group_by(k).",
    "of a bag": "Vec<string>) \noutput multiset Bag(k: s64, t: string)\nBag(k, t) :- Fact(k, _, _, t).\n"
    "Out(k, s) :- Bag(k, t), var s = t.group_by(k).to_vec().",
}
JOINS = {
    "first column": "s64) \nOut(n, i) :- Some(n, k), Fact(k, i, _, _).",
    "second column": "s64) \nOut(n, i) :- Some(n, i), Fact(_, i, _, _).",
    "second, negated": "s64) \nOut(n, i) :- Some(n, i), not Fact(_, i, _, _).",
}


def read(spark: Any) -> tuple[int, int]:
    """Rows read and nanoseconds of processor time of all stages so far."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    stages = store.stageList(None, *(getattr(store, f"stageList$default${k}")() for k in range(2, 6)))
    each = [stages.apply(k) for k in range(stages.size())]
    return sum(stage.inputRecords() for stage in each), sum(stage.executorCpuTime() for stage in each)


def measured(spark: Any, kind: str, rows: int) -> tuple[str, ...]:
    """The medians of the commits of one kind."""
    from ddlog.engine.spark.runtime import SparkOptions

    rule = GROUPS.get(kind) or JOINS[kind]
    text = f"{INPUTS}output relation Out(a: s64, b: {rule}"
    keys = rows // 100
    facts = spark.range(rows).selectExpr(
        f"id * 7919 % {keys} AS key", "id", "id / 7 AS value", "concat('name ', id % 1000) AS name"
    )
    figures = []
    with ddlog.compile(text).session(
        spark=spark,
        spark_options=SparkOptions(driver_rows=0, partitions=2),
        relations=["Out"],
        updates=True,
    ) as on:
        on.insert("Fact", facts)
        if kind in JOINS:
            on.insert("Some", spark.range(50_000, 50_000 + 300_000).selectExpr("id AS n", "-id AS key"))
        on.commit()
        for turn in range(COMMITS + 2):
            if kind in JOINS:
                on.insert("Some", *((turn * 10 + k, turn * 100 + k * 997 % keys) for k in range(10)))
            else:
                at = rows + 10 * turn
                on.insert("Fact", *((at + k * 37 % keys, at + k, k / 3, f"name {k}") for k in range(10)))
                on.delete("Fact", *_present(spark, facts, turn))
            before, started = (jobs(spark), *read(spark)), time.perf_counter()
            on.commit()
            seconds = time.perf_counter() - started
            after = jobs(spark), *read(spark)
            figures.append((*(b - a for a, b in zip(before, after, strict=True)), seconds))
    made, found, spent, seconds = (statistics.median(each) for each in zip(*figures[2:], strict=True))
    return kind, f"{made:.0f}", f"{found:,.0f}", f"{spent / 1e9:.2f}", f"{seconds:.2f}"


def _present(spark: Any, facts: Any, turn: int) -> list[tuple[Any, ...]]:
    """Two rows that are there."""
    return [tuple(row) for row in facts.where(f"id IN ({turn * 3 + 1}, {turn * 3 + 2})").collect()]


def main() -> None:
    """The command line of this script."""
    rows, kinds = int(sys.argv[1]), sys.argv[2:] or [*GROUPS, *JOINS]
    spark = session("3g")
    body = []
    for kind in kinds:
        body.append(measured(spark, kind, rows))
        print(*body[-1], file=sys.stderr, flush=True)
    print(table(f"Ten rows on {rows:,}", ("kind", "jobs", "read", "processor s", "seconds"), body))
    spark.stop()


if __name__ == "__main__":
    main()
