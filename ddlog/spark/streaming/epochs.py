"""The epochs that streams drive: one batch after another, each applied, told of, and recorded.

The order of the steps makes a batch count exactly once, whatever fails in between:

    data     the change is written to the checkpoint directory; nothing reads it yet
    commit   the session applies the change; a fault ends the epoch here, with the session at its last commit
    tell     the changes of the outputs are given out
    record   the epoch's file is renamed into the log
    Spark    the function for the batch returns, and Spark records the batch as done

After a crash before `record`, the log lacks the epoch, and Spark sends the batch again. After a crash behind
`record`, Spark sends the batch again, too, and it is skipped, since the log has it. The state in memory
cannot differ from the log: it dies with the process, and is computed from the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors.checkpoints import CheckpointOfOtherFacts
from ...errors.diagnostics import DDlogError
from ...errors.following import OpenTransaction, UnrecordedBatch
from ...sessions.host import StreamHandle
from ...sessions.results import Changes
from ...sessions.session import Session
from ..sessions.failures import spark_failures
from ..types.codec import SparkCodec
from .changelog import (
    ChangeColumns,
    part,
    read_frame,
    read_rows,
    rows_of,
    signs,
    write_change,
    write_rows,
)
from .checkpoint import Checkpoint
from .durable import folder_size
from .folding import folded, folded_rows
from .identity import fingerprint
from .inputchange import FrameChange, InputChange, RowsChange, runs
from .log import Entry, Position
from .watermark import Clocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPACT_AFTER = 64
"""The least number of epochs after which the log is summed up."""

_SMALL = 1 << 20  # bytes of Parquet that are read and summed up on the driver
_PARTS = 1 << 20  # more parts than an epoch has


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The identity of a batch: the stream's name, Spark's id of its query, and the number."""

    stream: str
    query: str
    number: int


@dataclass(frozen=True, slots=True)
class Receiver:
    """Functions to call for each batch: `changed` with the changes that it made, before the batch is recorded
    (and again if recording failed); `recorded` after that."""

    changed: Callable[[Changes, int], None] = lambda changes, batch: None
    recorded: Callable[[int], None] = lambda batch: None


@dataclass(frozen=True, slots=True)
class _Applied:
    """A batch that the session has applied and the log does not have yet."""

    batch: StreamBatch
    entry: Entry | None
    changes: Changes


class StreamEpochs:
    """The epochs of the streams of one session, one at a time. The streams share a lock and the
    checkpoint."""

    def __init__(self, session: Session, spark: SparkSession, checkpoint: Checkpoint | None) -> None:
        self.session, self.spark, self.checkpoint = session, spark, checkpoint
        self.lock = threading.RLock()
        self.running: dict[str, StreamHandle] = {}
        self.clocks = Clocks(session)
        self._codec = SparkCodec(session.typedefs)
        self._program = fingerprint(session.program)
        self._unrecorded: _Applied | None = None

    def columns(self, relation: str) -> ChangeColumns:
        """The columns of a relation in tables of its changes."""
        return ChangeColumns(self.session.program.relations[relation], self._codec)

    def restore(self) -> None:
        """Puts the contents of the log into the session, as one epoch. Raises DDlogError."""
        with self.lock, self._rolled_back():
            self._check_idle("the log")
            for relation in self.checkpoint.changed() if self.checkpoint else ():
                with self._logged(relation) as change:
                    self._put(change)
            self.session.commit()

    def apply(self, batch: StreamBatch, changes: Sequence[InputChange], receiver: Receiver) -> bool:
        """Applies a batch as one epoch; returns False if the log has the batch. Raises DDlogError, and
        exceptions of the receiver; then the batch is not recorded."""
        with self.lock:
            if self.checkpoint and self.checkpoint.is_done(batch.stream, batch.query, batch.number):
                return False
            applied = self._unrecorded
            if applied is None:
                applied = self._commit(batch, changes)
            elif applied.batch != batch:
                raise DDlogError([UnrecordedBatch(batch.stream, applied.batch.stream)])
            self._unrecorded = applied if self.checkpoint else None
            receiver.changed(applied.changes, batch.number)
            if self.checkpoint and applied.entry:
                self.checkpoint.record(applied.entry)
            self._unrecorded = None
            receiver.recorded(batch.number)
            self.compact(COMPACT_AFTER)
            return True

    def begin(self, changes: Changes, facts: str | None, receiver: Receiver) -> bool:
        """Records the state before all batches as epoch 0, and gives its changes to the receiver; returns
        False, and calls nothing, if the log has begun. Raises DDlogError if it began with other facts."""
        with self.lock:
            checkpoint = self.checkpoint
            if checkpoint is not None and checkpoint.last is not None:
                if checkpoint.last.facts != facts:
                    raise DDlogError([CheckpointOfOtherFacts(str(checkpoint.path))])
                return False
            receiver.changed(changes, -1)
            if checkpoint is not None:
                checkpoint.record(checkpoint.first(self._program, facts))
            receiver.recorded(-1)
            return True

    @property
    def other_program(self) -> bool:
        """Whether the log was written by another program."""
        last = self.checkpoint.last if self.checkpoint else None
        return last is not None and last.program != self._program

    def compact(self, least: int) -> None:
        """Sums the log up if at least `least` epochs, and enough data, came after the last time."""
        checkpoint = self.checkpoint
        if checkpoint is None or not checkpoint.compactable(least):
            return
        base = checkpoint.base()
        for number, relation in enumerate(base.changed):
            with self._logged(relation) as change:
                self._write(change, base.epoch * _PARTS, checkpoint.data_folder(base, number))
        checkpoint.replace_by(base)

    def close(self) -> None:
        """Ends all streams, and releases the checkpoint."""
        for stream in list(self.running.values()):
            stream.stop()
        if self.checkpoint is not None:
            self.checkpoint.close()

    # ------------------------------------------------------------ one batch

    def _commit(self, batch: StreamBatch, changes: Sequence[InputChange]) -> _Applied:
        self._check_idle(batch.stream)
        entry = None
        if self.checkpoint is not None:
            advanced = {batch.stream: Position(batch.query, batch.number)}
            entry = self.checkpoint.entry([each.relation for each in changes], self._program, advanced)
        with self._rolled_back():
            for part, change in enumerate(changes):
                with self._settled(change, entry, part) as settled:
                    self._put(settled)
            return _Applied(batch, entry, self.session.commit())

    @contextmanager
    def _settled(self, change: InputChange, entry: Entry | None, part: int) -> Iterator[InputChange]:
        """The change, written as data of the epoch to come. A change that Spark holds is read from that data,
        or from memory: computed twice, it could differ."""
        columns = self.columns(change.relation)
        if entry is None or self.checkpoint is None:
            if isinstance(change, RowsChange):
                yield change
                return
            kept = change.frame.persist()
            try:
                yield replace(change, frame=kept)
            finally:
                kept.unpersist()
            return
        folder, sequence = self.checkpoint.data_folder(entry, part), entry.epoch * _PARTS + part
        self._write(change, sequence, folder)
        if isinstance(change, RowsChange):
            yield change
        elif folder_size(folder) <= _SMALL:
            yield RowsChange(change.relation, read_rows(columns, [folder]))
        else:
            yield replace(change, frame=read_frame(self.spark, columns, [folder]))

    def _write(self, change: InputChange, sequence: int, folder: Path) -> None:
        if isinstance(change, RowsChange):
            columns = self.columns(change.relation)
            write_rows(folded_rows(columns.relation, change.rows), columns, sequence, folder)
        else:
            write_change(change.frame, sequence, folder)

    def _put(self, change: InputChange) -> None:
        """Gives a change to the session."""
        if isinstance(change, RowsChange):
            for op, run in runs(change.rows):
                (self.session.insert_rows if op > 0 else self.session.delete_rows)(change.relation, run)
            return
        columns = self.columns(change.relation)
        present = change.signs if len(change.signs) == 1 else signs(self.spark, change.frame)
        for op in (op for op in (-1, 1) if op in present):
            rows = part(self.spark, columns, change.frame, op)
            if self.session.on_spark:
                (self.session.insert if op > 0 else self.session.delete)(change.relation, rows)
            else:
                put = self.session.insert_rows if op > 0 else self.session.delete_rows
                put(change.relation, rows_of(rows, columns))

    @contextmanager
    def _logged(self, relation: str) -> Iterator[InputChange]:
        """The whole log of a relation as one change. A small log is read on the driver, which takes no
        job."""
        assert self.checkpoint is not None
        columns, folders = self.columns(relation), self.checkpoint.data(relation)
        if self.checkpoint.size(relation) <= _SMALL:
            yield RowsChange(relation, read_rows(columns, folders))
            return
        frame = folded(self.spark, columns, read_frame(self.spark, columns, folders)).persist()
        try:
            yield FrameChange(relation, frame)
        finally:
            frame.unpersist()

    @contextmanager
    def _rolled_back(self) -> Iterator[None]:
        """Rolls back the session on an error inside; Spark's errors become DDlogErrors."""
        try:
            with spark_failures():
                yield
        except BaseException:
            self.session.rollback()
            raise

    def _check_idle(self, stream: str) -> None:
        if self.session.in_transaction:
            raise DDlogError([OpenTransaction(stream)])
