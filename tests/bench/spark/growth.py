"""How an iteration's cost grows: `python growth.py rows|partitions SCALE`. Prints JSON.

The state is reachability over random edges, with a path beside them that nothing reaches. Inserting and
deleting the one edge to its start gives as many iterations as it is long, a row in each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from incremental import reach_inputs
from spark.local import session
from spark.ours import OnSpark
from spark.small import MEMORY, Figures, per_iteration
from workloads import rows

LENGTH = 10
TURNS = 3


def measured(spark: Any, edges: int, partitions: int | None) -> Figures:
    """The cost of an iteration on a state of so many edges."""
    inputs = reach_inputs(edges)
    start = int(inputs["Edge"].max()) + 1
    path = np.arange(start, start + LENGTH)
    inputs["Edge"] = np.concatenate([inputs["Edge"], rows(path, path + 1)])
    bridge = [(int(inputs["Source"][0, 0]), start)]
    with OnSpark(spark, "reach", partitions=partitions) as ours:
        seconds = ours.load(spark, inputs)
        ours.there_and_back("Edge", bridge)  # builds the history, and warms up
        steps = [step for _ in range(TURNS) for step in ours.there_and_back("Edge", bridge)]
    return {"rows": edges, "partitions": partitions, "load_seconds": seconds, **per_iteration(steps)}


def points(part: str, full: bool) -> Sequence[tuple[int, int | None]]:
    """Rows and partitions to measure."""
    if part == "rows":
        return [(n, None) for n in ((10_000, 100_000, 1_000_000, 5_000_000) if full else (500, 2_000))]
    return [(500_000 if full else 1_000, p) for p in ((2, 4, 8, 16, 32) if full else (2, 4))]


def main() -> None:
    """The command line of this script."""
    part, scale = sys.argv[1:]
    spark = session(MEMORY)
    print(json.dumps([measured(spark, *point) for point in points(part, scale == "full")]))
    spark.stop()


if __name__ == "__main__":
    main()
