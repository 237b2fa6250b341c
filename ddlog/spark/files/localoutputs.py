"""Outputs on paths of this machine, which executors write: on other machines they write to their own disks,
and Spark does not notice."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...engine.spark.settings import is_connect
from ...errors.diagnostics import DDlogError
from ...errors.facts import CannotWrite
from ..sessions.failures import local_path

_PART = re.compile(r"part-(\d+)-")
_REASON = (
    "the executors wrote it to disks of their own; give a place that all machines share, such as hdfs:// or "
    "s3a://, or a folder that each of them has mounted"
)


class Written:
    """The part files of one output. `name` is the folder's URL."""

    def __init__(self, spark: Any, name: str) -> None:
        self._name = name
        elsewhere = not is_connect(spark) and not spark.sparkContext.master.startswith("local")
        self._parts: Any = None
        if elsewhere and name.startswith("file:"):
            from pyspark.sql import Observation

            self._parts = Observation()

    def observed(self, frame: Any) -> Any:
        """The frame to write. The partitions that have rows are noted where executors may not share our
        disk."""
        if self._parts is None:
            return frame
        from pyspark.sql.functions import collect_set, spark_partition_id

        numbered = frame.withColumn("ddlog_part", spark_partition_id())
        return numbered.observe(self._parts, collect_set("ddlog_part").alias("parts")).drop("ddlog_part")

    def check(self) -> None:
        """Raises DDlogError if this machine does not see the file of each partition with rows."""
        if self._parts is None:
            return
        seen = set[int]()
        with suppress(OSError):
            names = (each.name for each in Path(local_path(self._name)).iterdir())
            seen = {int(found.group(1)) for found in map(_PART.match, names) if found}
        if not seen.issuperset(self._parts.get["parts"]):
            raise DDlogError([CannotWrite(local_path(self._name), _REASON)])
