"""Clocks that watermarks of Structured Streaming drive.

Spark's watermark is the greatest event time so far minus a delay. `foreachBatch` is not told of it, so it is
taken from the rows of the batch, by the column and the delay that `withWatermark` gave the frame. An epoch
thus sets the clock to the watermark that Spark has after the batch, and a row of a window is late by the one
that Spark has for the batch. A clock that several streams drive is the least of their watermarks, as Spark's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core import Relation
from ...engine.spark.sqltext import quoted
from ...errors.diagnostics import DDlogError
from ...errors.follow import NotAClock, NoWatermark
from ...errors.options import BadOptionValue
from ...sessions.session import Session
from ...types import BigInt, Bit, Signed, Type
from .inputchange import InputChange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DELAY = "spark.watermarkDelayMs"  # in the metadata of a column
_MICROS = {"seconds": 1_000_000, "milliseconds": 1000, "microseconds": 1}


@dataclass(frozen=True, slots=True)
class Watermark:
    """The column of the event times of a frame, the delay in microseconds, and the clock that they drive: a
    relation of integers, which count `unit`."""

    column: str
    delay: int
    clock: Relation
    unit: str

    def of(self, batch: DataFrame) -> int | None:
        """The greatest event time of a batch minus the delay, in the clock's unit; None without a time, and
        for one before 1970 that the clock cannot show."""
        (row,) = batch.selectExpr(f"max(unix_micros(CAST({quoted(self.column)} AS TIMESTAMP)))").collect()
        if row[0] is None:
            return None
        value = (int(row[0]) - self.delay) // _MICROS[self.unit]
        (column,) = self.clock.columns
        return None if value < 0 and isinstance(column.type, Bit) else value

    def columns(self, batch: DataFrame, relation: Relation) -> DataFrame:
        """The batch with the event times as numbers where the relation has such a column, else without."""
        types: dict[str, Type] = {each.name: each.type for each in relation.columns}
        if self.column not in types:
            return batch.drop(self.column)
        if not isinstance(types[self.column], Bit | Signed | BigInt):
            return batch
        micros = f"unix_micros(CAST({quoted(self.column)} AS TIMESTAMP))"
        number = f"CAST(floor({micros} / {_MICROS[self.unit]}) AS BIGINT)"
        if self.unit == "microseconds":
            number = micros
        names = batch.columns
        return batch.selectExpr(
            *(f"{number} AS {quoted(n)}" if n == self.column else quoted(n) for n in names)
        )


@dataclass
class Clocks:
    """The watermarks of the streams of a session, by the clocks that they drive."""

    session: Session
    marks: dict[str, dict[str, int | None]] = field(default_factory=dict)
    shown: dict[str, Sequence[tuple[int, ...]]] = field(default_factory=dict)

    def join(self, watermark: Watermark, stream: str) -> None:
        """A stream drives a clock from now on."""
        self.marks.setdefault(watermark.clock.name, {}).setdefault(stream, None)

    @contextmanager
    def advanced(self, watermark: Watermark, stream: str, batch: DataFrame) -> Iterator[list[InputChange]]:
        """The change of a clock for a batch of a stream. It counts if the block ends without an error."""
        clock = watermark.clock.name
        known, found = self.marks[clock], watermark.of(batch)
        own = max((each for each in (known[stream], found) if each is not None), default=None)
        marks = [value for name, value in (known | {stream: own}).items()]
        least = None if None in marks else min(each for each in marks if each is not None)
        if clock not in self.shown:
            self.shown[clock] = list(self.session[clock].stored)
        rows, change = self.shown[clock], list[InputChange]()
        if least is not None and (not rows or least > max(rows)[0]):
            change = [InputChange(clock, rows, [(least,)])]
        yield change
        known[stream] = own
        if change and least is not None:
            self.shown[clock] = [(least,)]


def watermark_of(source: DataFrame, clock: Relation, unit: str) -> Watermark:
    """The watermark of a streaming frame. Raises DDlogError if it has none, or more than one."""
    if unit not in _MICROS:
        raise DDlogError([BadOptionValue("unit", repr(unit), ", ".join(_MICROS))])
    if len(clock.columns) != 1 or not isinstance(clock.columns[0].type, Bit | Signed | BigInt):
        raise DDlogError([NotAClock(clock.name)])
    found = [(each.name, each.metadata[_DELAY]) for each in source.schema.fields if _DELAY in each.metadata]
    if len(found) != 1:
        raise DDlogError([NoWatermark(clock.name, len(found))])
    ((column, delay),) = found
    return Watermark(column, int(delay) * 1000, clock, unit)
