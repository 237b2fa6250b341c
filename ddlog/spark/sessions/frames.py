"""The relations of a session on Spark as DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...core import Relation
from ...engine.runtime import Delta
from ...errors.diagnostics import DDlogError
from ...errors.options import CannotBeCombined
from ...sessions.hosts.inputrows import IncomingRows
from ..files.write import TABLE, write_frame
from .changefeed import net_change
from .failures import spark_failures
from .resultframes import WEIGHT, plain_frame, presented, weight_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...sessions.program import Program
    from ..types.codec import SparkCodec


class RowsOnSpark(Protocol):
    """The methods of a host that frames call."""

    program: Program
    runtime: Any
    spark: SparkSession
    codec: SparkCodec

    def cast(self, declared: Relation, frame: DataFrame, name: str) -> DataFrame:
        """A frame with the columns and types of a relation; messages call it by the name."""

    def frame_rows(self, declared: Relation, cast: DataFrame) -> IncomingRows:
        """The rows of such a frame."""


class SparkFrames:
    """See `ddlog.sessions.hosts.host.Frames`."""

    def __init__(self, host: RowsOnSpark) -> None:
        self._host, self.session = host, host.spark

    @contextmanager
    def feed(self, declared: Relation, frame: DataFrame) -> Iterator[tuple[IncomingRows, IncomingRows]]:
        rows = partial(self._host.frame_rows, declared)
        with spark_failures():
            deleted, inserted, net = net_change(declared, frame, partial(self._host.cast, declared))
        net.persist()  # both sides read it
        try:
            yield rows(deleted), rows(inserted)
        finally:
            net.unpersist()

    def frame(self, relation: str) -> DataFrame:
        declared = self._host.program.relations[relation]
        with spark_failures():
            counted = declared.kind != "relation"
            return presented(self._host.runtime.frame(relation, counted), declared, counted)

    def delta_frame(self, delta: Delta) -> DataFrame:
        from ...engine.spark.batch.lazyrows import LazyDelta
        from ...engine.spark.batches import GivenDelta

        assert isinstance(delta, LazyDelta | GivenDelta)
        frame = delta.frame()
        names = frame.columns[:-1]
        name = weight_name(names)
        return frame if name == WEIGHT else frame.toDF(*names, name)

    def explained(self, relation: str) -> str:
        reason = "the program has a window, or a rule with an effect, and its relations are computed at once"
        raise DDlogError([CannotBeCombined("--explain", "this program", reason)])

    def write(self, declared: Relation, place: str, format: str) -> str:
        rows = self._host.runtime.size(declared.name)
        return self._write(plain_frame(self._host.runtime, declared), rows, declared, place, format)

    def _write(self, frame: DataFrame, rows: int | None, declared: Relation, place: str, format: str) -> str:
        host = self._host
        typedefs = host.program.checked.typedefs
        return write_frame(frame, rows, host.codec, declared, typedefs, _absolute(place), format)


def _absolute(place: str) -> str:
    """A place for Spark to write to: a path of this machine as a URL."""
    if place.startswith(TABLE) or "://" in place:
        return place
    return f"file:{Path(place.removeprefix('file:')).absolute()}"
