"""Pending changes of a set on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....core import Relation
from ....sessions.pending import SetChanges, SignedBatch

if TYPE_CHECKING:
    from ....engine.spark.runtime import SparkRuntime


class SparkSetChanges(SetChanges):
    """Runs of insertions and deletions. Clearing the relation moves no row to the driver."""

    def __init__(self, relation: Relation, runtime: SparkRuntime) -> None:
        super().__init__(relation, runtime)
        self._spark_runtime = runtime

    def _everything(self) -> list[SignedBatch]:
        name, runtime = self._relation.name, self._spark_runtime
        return [(runtime.batch_from_frame(name, runtime.frame(name)), -1)]
