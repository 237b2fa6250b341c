"""One measurement in a process of its own: `python once.py ours|handwritten CASE FACTS RUNS [--digest]`.

Prints JSON: the seconds to start Spark, those of each run from reading the facts with Spark to the size of
the result, their processor seconds in Python and Java, that size, and the peak memory of Java.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from spark import handwritten
from spark.cases import CASES, Case
from spark.local import java_process, processor_seconds, resident, session
from workloads import digest

PROGRAMS = Path(__file__).parent.parent / "programs"
MEMORY = "3g"


def by_hand(spark: Any, case: Case, facts: Path) -> Any:
    """The result of the loop written by hand, as a DataFrame."""
    return handwritten.PROGRAMS[case.workload.program](spark, facts)


def ours(spark: Any, case: Case, facts: Path) -> Any:
    """The result of the program, as a DataFrame; the interpreter is imported and compiles it here."""
    import ddlog

    frames = {name: handwritten.read(spark, facts, name, *columns) for name, columns in case.inputs.items()}
    program = ddlog.compile(PROGRAMS / f"{case.workload.program}.dl")
    return program.run(spark, frames)[case.workload.output]


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=("ours", "handwritten"))
    parser.add_argument("case", choices=CASES)
    parser.add_argument("facts", type=Path)
    parser.add_argument("runs", type=int)
    parser.add_argument("--digest", action="store_true")
    arguments = parser.parse_args()
    case = CASES[arguments.case]
    evaluate = ours if arguments.side == "ours" else by_hand

    started = time.perf_counter()
    spark = session(MEMORY, **handwritten.CONF)
    spark.range(1).count()
    figures: dict[str, Any] = {"start": time.perf_counter() - started, "seconds": [], "processor": []}
    processes = (os.getpid(), java_process())
    for _ in range(arguments.runs):
        started, used = time.perf_counter(), sum(map(processor_seconds, processes))
        result = evaluate(spark, case, arguments.facts)
        figures["rows"] = result.count()
        figures["seconds"].append(time.perf_counter() - started)
        figures["processor"].append(sum(map(processor_seconds, processes)) - used)
        if arguments.digest:
            table = result.toPandas().to_numpy(dtype=np.int64)
            figures["digest"] = digest(table)
        del result
        spark.catalog.clearCache()
    figures["java_mib"] = resident(java_process(), peak=True)
    print(json.dumps(figures))
    spark.stop()


if __name__ == "__main__":
    main()
