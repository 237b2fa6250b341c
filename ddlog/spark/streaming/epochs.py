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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...engine.runtime import Delta
from ...errors.checkpoints import CheckpointOfOtherFacts, CommitBesideLog
from ...errors.diagnostics import DDlogError
from ...errors.following import OpenTransaction, UnrecordedBatch
from ...sessions.hosts.host import StreamHandle
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
from .past import PARTS, LoggedPast, is_past
from .watermark import Clocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPACT_AFTER = 64
"""The least number of epochs after which the log is summed up."""

_SMALL = 1 << 20  # bytes of Parquet that are read and summed up on the driver


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
    past: Mapping[str, Delta]


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
        self.past = LoggedPast(session, spark, self._codec)
        self._known = 0  # the epochs of the session that the log has, if its past depends on them

    def columns(self, relation: str) -> ChangeColumns:
        """The columns of a relation in tables of its changes."""
        return self.past.columns(relation)

    def restore(self) -> None:
        """Puts the contents of the log into the session, as one epoch. Raises DDlogError."""
        with self.lock, self._rolled_back():
            self._check_idle("the log")
            checkpoint = self.checkpoint
            if checkpoint is None or checkpoint.last is None:
                return
            last = checkpoint.last.epoch
            self.session.start()
            for relation in (each for each in checkpoint.changed() if not is_past(each)):
                first = last if self.past.is_stream(relation) else 0
                if checkpoint.data(relation, first):
                    with self._logged(relation, first, last) as change:
                        self._put(change)
            with self.past.resumed(checkpoint):
                self.session.commit()
            if self.other_program:
                self.past.settle(checkpoint)
            self._known = self.session.state.epochs

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
                self.checkpoint.record(self.past.written(self.checkpoint, applied.entry, applied.past))
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
                self._begin(checkpoint, facts)
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
        if checkpoint is None or not checkpoint.compactable(least, self.past.depth):
            return
        passing = {each for each in checkpoint.changed() if self.past.is_stream(each)}
        base = checkpoint.base(self.past.depth, passing)
        for number, relation in enumerate(base.changed):
            with self._logged(relation, 0, base.epoch) as change:
                self._write(relation, change, base.epoch * PARTS, checkpoint.data_folder(base, number))
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
        entry, past = None, self.past
        if self.checkpoint is not None:
            if past.depth and self.checkpoint.last is None:
                self.session.start()
                self._begin(self.checkpoint, None)
            elif past.depth and self.session.state.epochs != self._known:
                raise DDlogError([CommitBesideLog(str(self.checkpoint.path), past.names)])
            advanced = {batch.stream: Position(batch.query, batch.number)}
            entry = self.checkpoint.entry([each.relation for each in changes], self._program, advanced)
        with self._rolled_back():
            for part, change in enumerate(changes):
                with self._settled(change, entry, part) as settled:
                    self._put(settled)
            changes_told = self.session.commit()
            self._known = self.session.state.epochs
            return _Applied(batch, entry, changes_told, past.last())

    def _begin(self, checkpoint: Checkpoint, facts: str | None) -> None:
        """Records the state before all batches."""
        for entry in self.past.begun(checkpoint, checkpoint.first(self._program, facts)):
            checkpoint.record(entry)
        self._known = self.session.state.epochs

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
        folder, sequence = self.checkpoint.data_folder(entry, part), entry.epoch * PARTS + part
        self._write(change.relation, change, sequence, folder)
        if isinstance(change, RowsChange):
            yield change
        elif folder_size(folder) <= _SMALL:
            yield RowsChange(change.relation, read_rows(columns, [folder]))
        else:
            yield replace(change, frame=read_frame(self.spark, columns, [folder]))

    def _write(self, relation: str, change: InputChange, sequence: int, folder: Path) -> None:
        if isinstance(change, RowsChange):
            columns = self.columns(relation)
            write_rows(folded_rows(columns, change.rows), columns, sequence, folder)
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
    def _logged(self, relation: str, first: int, last: int) -> Iterator[InputChange]:
        """The log of a relation in some epochs as one change. A small log is read on the driver, which takes
        no job."""
        assert self.checkpoint is not None
        columns, folders = self.columns(relation), self.checkpoint.data(relation, first, last)
        if sum(map(folder_size, folders)) <= _SMALL:
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
