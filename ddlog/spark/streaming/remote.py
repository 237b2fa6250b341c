"""Batches of streams on Spark Connect, where a process on the server runs the function that takes a batch.

    server: shows the batch as a global temp view ──► waits ──────────────► Spark records the batch
                                                  │           ▲
    client: finds the view, reads it, runs an epoch ──► shows the answer

Spark waits for the function until the answer is there, so a batch counts as it does where the function runs
here. The function gives up if the client has shown no sign of life for a minute.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...codegen.sqlvalues import string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOOK = 0.1  # seconds between two looks at what the other side shows
_BEAT = 5.0  # between two signs of life
_PATIENCE = 60.0  # without one


@dataclass(frozen=True, slots=True)
class Handing:
    """The function that takes a batch, on the server. Views have names with this prefix, in the database."""

    database: str
    prefix: str

    def __call__(self, frame: DataFrame, number: int) -> None:
        spark = frame.sparkSession
        frame.createOrReplaceGlobalTempView(f"{self.prefix}_batch_{number}")
        try:
            error = self._answer(spark, number)
        finally:
            for view in ("batch", "answer"):
                spark.catalog.dropGlobalTempView(f"{self.prefix}_{view}_{number}")
        if error:
            raise RuntimeError(error)

    def _answer(self, spark: SparkSession, number: int) -> str:
        """The client's answer to a batch: the text of an error; empty if the batch was applied."""
        answer, sign = (
            f"{self.database}.{self.prefix}_answer_{number}",
            f"{self.database}.{self.prefix}_alive",
        )
        known, since, looked = "", time.monotonic(), time.monotonic()
        while not spark.catalog.tableExists(answer):
            time.sleep(_LOOK)
            now = time.monotonic()
            if now - looked > _BEAT:
                looked, ((found,),) = now, spark.table(sign).collect()
                known, since = (found, now) if found != known else (known, since)
                if now - since > _PATIENCE:
                    return "the client of this stream has ended"
        ((error,),) = spark.table(answer).collect()
        return str(error)


class Client:
    """The client's side of a stream: a thread that looks for batches. `take` applies one, and returns what is
    wrong."""

    def __init__(self, spark: SparkSession, take: Callable[[DataFrame, int], str]) -> None:
        self._spark, self._take = spark, take
        self._database = str(spark.conf.get("spark.sql.globalTempDatabase"))
        self._prefix = f"ddlog_{uuid4().hex}"
        self._ended = threading.Event()
        self._answered = set[int]()
        self._thread = threading.Thread(target=self._serve, name=self._prefix, daemon=True)
        self._beaten = 0.0

    def start(self, begin: Callable[[Handing], Any]) -> Any:
        """Begins a query with the function for the server, and returns it."""
        self._beat()
        query = begin(Handing(self._database, self._prefix))
        self._thread.start()
        return query

    def end(self) -> None:
        """Ends the thread. The query has ended before."""
        self._ended.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)
        with suppress(Exception):  # Spark may have ended
            self._spark.catalog.dropGlobalTempView(f"{self._prefix}_alive")

    def _serve(self) -> None:
        while not self._ended.wait(_LOOK):
            with suppress(Exception):  # the query fails, too, if the server is gone
                self._beat()
                for number in self._waiting():
                    error = self._take(self._spark.table(self._name("batch", number)), number)
                    answer = self._spark.sql(f"SELECT {string(error)} AS error")
                    answer.createOrReplaceGlobalTempView(f"{self._prefix}_answer_{number}")
                    self._answered.add(number)

    def _waiting(self) -> list[int]:
        """The batches that wait for an answer."""
        pattern = f"{self._prefix}_batch_*"
        found = self._spark.sql(f"SHOW VIEWS IN {self._database} LIKE '{pattern}'").collect()
        numbers = (int(row.viewName.rpartition("_")[2]) for row in found)
        return sorted(number for number in numbers if number not in self._answered)

    def _beat(self) -> None:
        now = time.monotonic()
        if now - self._beaten > _BEAT:
            self._beaten = now
            sign = self._spark.sql(f"SELECT '{now}' AS at")
            sign.createOrReplaceGlobalTempView(f"{self._prefix}_alive")

    def _name(self, view: str, number: int) -> str:
        return f"{self._database}.{self._prefix}_{view}_{number}"
