"""The jobs of a classic Spark session, and the bytes that they shuffled, for measuring.

Spark numbers its jobs one after another, so the number of the next one, read between two operators, tells
which jobs an operator waited for. What their stages did is read from Spark's own store when an epoch has
ended. Jobs of other threads on the same session fall between the same numbers, and are counted, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..sessions.hosts.cluster import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Jobs:
    """Reads the jobs of a session."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._context = context._jsc.sc()
        self._scheduler = self._context.dagScheduler()

    def begun(self) -> int:
        """The number of jobs so far."""
        return int(self._scheduler.numTotalJobs())

    def work(self, marks: Iterable[int]) -> list[Work]:
        """For each two numbers that follow each other, the jobs between them and the bytes that these read
        from shuffles. A job of which Spark's store knows nothing any more has no bytes."""
        found: list[Work] = []
        before, waited = None, False
        for mark in marks:
            if before is not None:
                jobs = range(before, mark)
                if jobs and not waited:
                    self._context.listenerBus().waitUntilEmpty()
                    waited = True
                found.append(Work(len(jobs), sum(map(self._shuffled, jobs))))
            before = mark
        return found

    def _shuffled(self, job: int) -> int:
        shuffled = 0
        with suppress(Exception):  # the store has forgotten it
            store = self._context.statusStore()
            stages = store.job(job).stageIds()
            for k in range(stages.size()):
                shuffled += int(store.lastStageAttempt(stages.apply(k)).shuffleReadBytes())
        return shuffled
