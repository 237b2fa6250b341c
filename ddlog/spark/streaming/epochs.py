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

import hashlib
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core import Relation
from ...errors.checkpoints import CheckpointOfOtherFacts
from ...errors.diagnostics import DDlogError
from ...errors.following import OpenTransaction, UnrecordedBatch
from ...sessions.program import Program
from ...sessions.results import Changes
from ...sessions.session import Session
from ...types import TypeDef
from ..sessions.changelog import (
    Layout,
    Signed,
    folded,
    folded_rows,
    part,
    read_frame,
    read_rows,
    rows_of,
    signs,
    write_frame,
    write_rows,
)
from ..sessions.failures import spark_failures
from ..types.codec import SparkCodec
from .checkpoint import Checkpoint, Entry, Position, folder_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMPACT_AFTER = 64
"""The least number of epochs that are worth summing up."""

_SMALL = 1 << 20  # bytes of Parquet that are read and summed up here
_PARTS = 1 << 20  # more than an epoch has


@dataclass(frozen=True, slots=True)
class FrameChange:
    """A change of a relation that Spark holds: columns of the codec's types, and `_op`; see `changelog`.
    `signs` says that only rows of these signs can be in it."""

    relation: str
    frame: DataFrame
    signs: tuple[int, ...] = (-1, 1)


@dataclass(frozen=True, slots=True)
class RowsChange:
    """A change of a relation that is here: rows that come (+1) and go (-1), one after another."""

    relation: str
    rows: Sequence[Signed]


Change = FrameChange | RowsChange


@dataclass(frozen=True, slots=True)
class Batch:
    """Which batch: the stream's name, Spark's id of its query, and the number."""

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

    batch: Batch
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

    def layout(self, relation: str) -> Layout:
        """How a relation's changes are stored."""
        return Layout(self.session.program.relations[relation], self._codec)

    def restore(self) -> None:
        """Puts what the log holds into the session, as one epoch. Raises DDlogError."""
        with self.lock, self._rolled_back():
            self._check_idle("the log")
            for relation in self.checkpoint.changed() if self.checkpoint else ():
                with self._logged(relation) as change:
                    self._put(change)
            self.session.commit()

    def apply(self, batch: Batch, changes: Sequence[Change], receiver: Receiver) -> bool:
        """Makes a batch an epoch; gives False if it was one already. Raises DDlogError, and what the
        receiver raises: then the batch is not recorded."""
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
        """Records the state before all batches as epoch 0, and tells of its changes; gives False, with
        nothing told, if the log has begun. Raises DDlogError when it began with other facts."""
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

    def _commit(self, batch: Batch, changes: Sequence[Change]) -> _Applied:
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
    def _settled(self, change: Change, entry: Entry | None, part: int) -> Iterator[Change]:
        """The change, in the data of an epoch to be. What Spark holds is then read from there, or from its
        memory, lest it be computed again and otherwise."""
        layout = self.layout(change.relation)
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
            yield RowsChange(change.relation, read_rows(layout, [folder]))
        else:
            yield replace(change, frame=read_frame(self.spark, layout, [folder]))

    def _write(self, change: Change, sequence: int, folder: Path) -> None:
        if isinstance(change, RowsChange):
            layout = self.layout(change.relation)
            write_rows(folded_rows(layout.relation, change.rows), layout, sequence, folder)
        else:
            write_frame(change.frame, sequence, folder)

    def _put(self, change: Change) -> None:
        """Gives a change to the session."""
        if isinstance(change, RowsChange):
            for op, run in _runs(change.rows):
                (self.session.insert_rows if op > 0 else self.session.delete_rows)(change.relation, run)
            return
        layout = self.layout(change.relation)
        present = change.signs if len(change.signs) == 1 else signs(self.spark, change.frame)
        for op in (op for op in (-1, 1) if op in present):
            rows = part(self.spark, layout, change.frame, op)
            if self.session.on_spark:
                (self.session.insert if op > 0 else self.session.delete)(change.relation, rows)
            else:
                put = self.session.insert_rows if op > 0 else self.session.delete_rows
                put(change.relation, rows_of(rows, layout))

    @contextmanager
    def _logged(self, relation: str) -> Iterator[Change]:
        """The whole log of a relation as one change; a small one is read here, which takes no job."""
        assert self.checkpoint is not None
        layout, folders = self.layout(relation), self.checkpoint.data(relation)
        if self.checkpoint.size(relation) <= _SMALL:
            yield RowsChange(relation, read_rows(layout, folders))
            return
        frame = folded(self.spark, layout, read_frame(self.spark, layout, folders)).persist()
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
            raise DDlogError([OpenTransaction(stream)])


def _runs(rows: Sequence[Signed]) -> Iterator[tuple[int, list[Any]]]:
    """Stretches of rows that all come or all go."""
    begin = 0
    for position in range(1, len(rows) + 1):
        if position == len(rows) or rows[position][1] != rows[begin][1]:
            yield rows[begin][1], [row for row, _ in rows[begin:position]]
            begin = position


@contextmanager
def bridged(spark: SparkSession, frame: DataFrame) -> Iterator[DataFrame]:
    """A batch in the user's own Spark session: Spark hands it over in a copy of that, whose temporary views
    are seen nowhere else."""
    name = f"ddlog_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield spark.table(f"{spark.conf.get('spark.sql.globalTempDatabase')}.{name}")
    finally:
        spark.catalog.dropGlobalTempView(name)


def fingerprint(program: Program) -> str:
    """Tells a program from others."""
    return hashlib.sha256(program.source.text.encode("utf-8", "surrogatepass")).hexdigest()


def described_inputs(program: Program, typedefs: Mapping[str, TypeDef]) -> dict[str, dict[str, Any]]:
    """The input relations, for the checkpoint: what the meaning of a log depends on."""
    return {
        name: {
            "kind": program.relations[name].kind,
            "primary key": program.relations[name].key is not None,
            "columns": [[each.name, str(each.type)] for each in program.relations[name].columns],
            "types": _typedefs_of(program.relations[name], typedefs),
        }
        for name in program.names("input")
    }


def _typedefs_of(relation: Relation, typedefs: Mapping[str, TypeDef]) -> list[str]:
    """The definitions of the types that a relation's columns are made of, as text."""
    found: dict[str, str] = {}
    left = [str(each.type) for each in relation.columns]
    while left:
        for name in re.findall(r"[\w:]+", left.pop()):
            if name in typedefs and name not in found:
                found[name] = " | ".join(
                    f"{each.name}({', '.join(f'{field}: {type}' for field, type in each.fields)})"
                    for each in typedefs[name].constructors
                )
                left.append(found[name])
    return [f"{name}: {found[name]}" for name in sorted(found)]


def facts_digest(places: Sequence[str]) -> str:
    """What tells fact files from others: their names, sizes, and times of change; of what is not on this
    machine the names only."""
    digest = hashlib.sha256()
    for place in places:
        path = Path(place)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        digest.update(place.encode("utf-8", "surrogatepass"))
        for file in files:
            if file.is_file():
                stat = file.stat()
                digest.update(
                    f"{file}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode("utf-8", "surrogatepass")
                )
    return digest.hexdigest()
