"""Sessions of the benchmarks' programs on Spark, and the cost of their commits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from incremental import Row, commit
from workloads import Ints

import ddlog

PROGRAMS = Path(__file__).parent.parent / "programs"


class Iterations:
    """Counts the iterations of recursions, each of which is `seen`: a progress callback."""

    def __init__(self) -> None:
        self.count = 0
        self.seen: Callable[[], None] = lambda: None

    def __call__(self, phase: str, iteration: int, rows: int) -> None:
        """Counts an iteration, unless the progress is that of reading."""
        if not phase.startswith("reading"):
            self.count += 1
            self.seen()


@dataclass(frozen=True)
class Step:
    """One commit: milliseconds, rows of output that changed, iterations."""

    ms: float
    changed: int
    iterations: int


class OnSpark:
    """A session of a program in workers, or in the driver where its inputs have up to `driver_rows` rows;
    None: as many as by default."""

    def __init__(
        self, spark: Any, program: str, *, driver_rows: int | None = 0, workers: int | None = None
    ) -> None:
        from ddlog.engine.spark.runtime import SparkOptions

        self.iterations = Iterations()
        rows = SparkOptions().driver_rows if driver_rows is None else driver_rows
        options = SparkOptions(driver_rows=rows, workers=workers)
        self.session = ddlog.compile(PROGRAMS / f"{program}.dl").session(
            relations="outputs",
            spark=spark,
            spark_options=options,
            progress=self.iterations,
            updates=True,
        )

    def __enter__(self) -> OnSpark:
        return self

    def __exit__(self, *error: object) -> None:
        self.session.close()

    def load(self, spark: Any, tables: dict[str, Ints]) -> float:
        """The seconds to load tables of 32-bit columns, by way of DataFrames."""
        import pyarrow as pa

        started = time.perf_counter()
        for relation, table in tables.items():
            names = [column.name for column in self.session.program.relations[relation].columns]
            columns = {name: pa.array(table[:, at].astype("int32")) for at, name in enumerate(names)}
            self.session.insert(relation, spark.createDataFrame(pa.table(columns)))
        self.session.commit()
        return time.perf_counter() - started

    def change(self, deleted: dict[str, list[Row]], inserted: dict[str, list[Row]]) -> Step:
        """One timed commit."""
        before = self.iterations.count
        ms, changed = commit(self.session, deleted, inserted)
        return Step(ms, changed, self.iterations.count - before)

    def there_and_back(self, relation: str, rows: list[Row]) -> tuple[Step, Step]:
        """Inserts new rows and deletes them again."""
        return self.change({}, {relation: rows}), self.change({relation: rows}, {})

    def away_and_back(self, relation: str, rows: list[Row]) -> tuple[Step, Step]:
        """Deletes present rows and inserts them again."""
        return self.change({relation: rows}, {}), self.change({}, {relation: rows})
