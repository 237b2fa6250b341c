"""The epochs that streams drive: one batch after another, each applied, told of, and recorded.

The order is what makes a batch count once, whatever fails in between:

    data     the change is written to the checkpoint directory; nobody looks at it yet
    commit   the session applies it; a fault ends here, with the session at its last commit
    tell     the changes of the outputs are given out
    record   the epoch's file is renamed into the log
    Spark    the function for the batch returns, and Spark records that it is done

A process that dies before `record` starts again without the epoch, and Spark sends the batch again; one
that dies after it finds the batch in the log, and passes over it. The state in memory is nothing that could
be ahead or behind: it dies with the process, and is computed from the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import stream as errors
from ...errors.diagnostics import DDlogError
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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPACT_AFTER = 64
"""The least number of epochs that are worth summing up."""

_SMALL = 1 << 20  # bytes of Parquet that are read and summed up here
_PARTS = 1 << 20  # more than an epoch has


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The identity of a batch: the stream's name, Spark's id of its query, and the number."""

    stream: str
    query: str
    number: int


@dataclass(frozen=True, slots=True)
class Receiver:
    """Who is told of a batch: `changed`, of the changes that it made, before it is recorded, and once more if
    it could not be; `recorded`, when it is."""

    changed: Callable[[Changes, int], None] = lambda changes, batch: None
    recorded: Callable[[int], None] = lambda batch: None


@dataclass(frozen=True, slots=True)
class _Applied:
    """A batch that is in the session and not yet in the log."""

    batch: StreamBatch
    entry: Entry | None
    changes: Changes


class Epochs:
    """What the streams of one session share: a lock, and the checkpoint if there is one."""

    def __init__(self, session: Session, spark: SparkSession, checkpoint: Checkpoint | None) -> None:
        self.session, self.spark, self.checkpoint = session, spark, checkpoint
        self.lock = threading.RLock()
        self.running: dict[str, Any] = {}
        self._codec = SparkCodec(session.typedefs)
        self._program = fingerprint(session.program)
        self._unrecorded: _Applied | None = None

    def columns(self, relation: str) -> ChangeColumns:
        """The columns of a relation in tables of its changes."""
        return ChangeColumns(self.session.program.relations[relation], self._codec)

    def restore(self) -> None:
        """Puts what the log holds into the session, as one epoch. Raises DDlogError."""
        with self.lock, self._rolled_back():
            self._check_idle("the log")
            for relation in self.checkpoint.changed() if self.checkpoint else ():
                with self._logged(relation) as change:
                    self._put(change)
            self.session.commit()

    def apply(self, batch: StreamBatch, changes: Sequence[InputChange], receiver: Receiver) -> bool:
        """Makes a batch an epoch; gives False if it was one already. Raises DDlogError, and what the
        receiver raises: then the batch is not recorded."""
        with self.lock:
            if self.checkpoint and self.checkpoint.is_done(batch.stream, batch.query, batch.number):
                return False
            applied = self._unrecorded
            if applied is None:
                applied = self._commit(batch, changes)
            elif applied.batch != batch:
                raise DDlogError([errors.UnrecordedBatch(batch.stream, applied.batch.stream)])
            self._unrecorded = applied if self.checkpoint else None
            receiver.changed(applied.changes, batch.number)
            if self.checkpoint and applied.entry:
                self.checkpoint.record(applied.entry)
            self._unrecorded = None
            receiver.recorded(batch.number)
            self.compact(COMPACT_AFTER)
            return True

    def begin(self, changes: Changes, facts: str | None, receiver: Receiver) -> bool:
        """Records the state before all batches as epoch 0, and tells of its changes; gives False, with
        nothing told, if the log has begun. Raises DDlogError when it began with other facts."""
        with self.lock:
            checkpoint = self.checkpoint
            if checkpoint is not None and checkpoint.last is not None:
                if checkpoint.last.facts != facts:
                    raise DDlogError([errors.CheckpointOfOtherFacts(str(checkpoint.path))])
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
        """Sums the log up if at least so many epochs, and enough data, came after it was last done."""
        checkpoint = self.checkpoint
        if checkpoint is None or not checkpoint.compactable(least):
            return
        base = checkpoint.base()
        for number, relation in enumerate(base.changed):
            with self._logged(relation) as change:
                self._write(change, base.epoch * _PARTS, checkpoint.data_folder(base, number))
        checkpoint.replace_by(base)

    def close(self) -> None:
        """Ends all streams, and gives the checkpoint free."""
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
        """The change, in the data of an epoch to be. What Spark holds is then read from there, or from its
        memory, lest it be computed again and otherwise."""
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
        """The whole log of a relation as one change; a small one is read here, which takes no job."""
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
        """An error takes back what was given to the session, and is a diagnostic if it is Spark's."""
        try:
            with spark_failures():
                yield
        except BaseException:
            self.session.rollback()
            raise

    def _check_idle(self, stream: str) -> None:
        if self.session.in_transaction:
            raise DDlogError([errors.OpenTransaction(stream)])
