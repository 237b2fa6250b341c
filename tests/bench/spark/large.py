"""An input that does not fit the driver: `python large.py ours|keyed|plain|distinct FOLDER ROWS`.

Prints JSON. `keyed` is the program with the primary keys that the data has; `plain` is the query that is
written for such data, and `distinct` the one for data in which rows may come twice, which is what `ours` has
to assume. The fact table is written by Spark as Parquet if it is not there. The driver has 4 GB.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from spark import star
from spark.local import java_process, resident, session

PROGRAM = Path(__file__).parent.parent / "programs" / "star.dl"


def result(spark: Any, side: str, folder: Path) -> Any:
    """The totals of each class as a DataFrame."""
    facts, dimension = spark.read.parquet(str(folder / "Fact")), spark.read.parquet(str(folder / "Dim"))
    if side == "plain":
        return star.plain(facts, dimension)
    if side == "distinct":
        return star.plain(facts.distinct(), dimension.distinct())
    import ddlog

    text = PROGRAM.read_text()
    if side == "keyed":
        text = text.replace("value: s64)\ninput", "value: s64) primary key (f) f.id\ninput", 1)
        text = text.replace("class: s32)\n", "class: s32) primary key (d) d.key\n", 1)
    return ddlog.compile(text).run(spark, {"Fact": facts, "Dim": dimension})["Total"]


def main() -> None:
    """The command line of this script."""
    side, folder, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    spark = session("4g", **{"spark.sql.shuffle.partitions": "48"})
    for name, frame in (("Fact", star.facts(spark, rows)), ("Dim", star.dimension(spark))):
        if not (folder / name / "_SUCCESS").exists():
            frame.write.mode("overwrite").parquet(str(folder / name))
    started = time.perf_counter()
    (row,) = result(spark, side, folder).selectExpr("count(*)", "sum(n)", "sum(total)").collect()
    figures = {
        "seconds": time.perf_counter() - started,
        "groups": row[0],
        "rows": row[1],
        "total": row[2],
        "java_mib": resident(java_process(), peak=True),
    }
    print(json.dumps(figures))
    spark.stop()


if __name__ == "__main__":
    main()
