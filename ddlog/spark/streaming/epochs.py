"""The epochs that streams drive: one batch after another, each applied, recorded, and told of.

With a state, the order of the steps makes a batch count exactly once, whatever fails in between:

    commit   the session applies the change, and the state has it, with the position of the stream; a fault
             ends the epoch here, with the session at its last commit
    tell     the changes of the outputs are given out
    Spark    the function for the batch returns, and Spark records the batch as done

If Spark sends a batch again that the state has, it is not applied again. Its changes are told again, since it
is not known whether they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...durability.positions import Position
from ...errors.checkpoints import CheckpointMismatch, CheckpointNotLocal
from ...errors.diagnostics import DDlogError
from ...errors.follow import OpenTransaction
from ...sessions.hosts.host import StreamHandle
from ...sessions.results.views import Changes
from ...sessions.session import Session
from ..files.read import FactReader
from ..sessions.failures import spark_failures
from ..state.files import Files
from ..types.codec import SparkCodec
from .inputchange import InputChange
from .watermark import Clocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Receiver = Callable[[Changes, int], None]
"""Called with the changes that a batch made, and its number."""


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The identity of a batch: the stream's name, Spark's id of its query, and the number."""

    stream: str
    query: str
    number: int


class StreamEpochs:
    """The epochs of the streams of one session, one at a time. `files` are those of Spark's own checkpoints,
    a folder a stream; None: the session has no state."""

    def __init__(self, session: Session, spark: SparkSession, files: Files | None) -> None:
        self.session, self.files = session, files
        self.running: dict[str, StreamHandle] = {}
        self.clocks = Clocks(session)
        self.reader = FactReader(spark, SparkCodec(session.typedefs), session.typedefs)
        self._told: dict[str, int] = {}  # the last batch of each stream that was told of

    def position(self, stream: str) -> Position | None:
        """The last batch of a stream that the state has."""
        durable = self.session.state.durable
        return durable.positions.of(stream) if durable is not None else None

    def query(self, stream: str) -> str:
        """The id of the query in Spark's checkpoint of a stream; empty: there is none."""
        assert self.files is not None
        try:
            return str(json.loads(self.files.read(f"{stream}/metadata"))["id"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def check_stream(self, stream: str) -> None:
        """Raises DDlogError if Spark's checkpoint of a stream that is to start is not that of the state."""
        known = self.position(stream)
        if known is not None and self.query(stream) != known.query:
            raise self._mismatch(stream, "Spark's part is missing or of another query")

    def batch(self, stream: str, own: str, number: int) -> StreamBatch:
        """A batch of a stream, whose query is `own` without a state. Raises DDlogError."""
        query = own if self.files is None else self.query(stream)
        if not query and self.files is not None:
            raise DDlogError([CheckpointNotLocal(self.files.root)])
        return StreamBatch(stream, query, number)

    def is_done(self, batch: StreamBatch) -> bool:
        """Whether the state has a batch. Raises DDlogError if it is neither the last one nor the next."""
        known, number = self.position(batch.stream), batch.number
        if self.files is None or (known is None and number == 0):
            return False
        if known is None:
            raise self._mismatch(batch.stream, f"Spark goes on with batch {number}, the state knows none")
        if known.query != batch.query:
            raise self._mismatch(batch.stream, "Spark's part is missing or of another query")
        if number not in (known.batch, known.batch + 1):
            problem = f"Spark goes on with batch {number}, the state with {known.batch + 1}"
            raise self._mismatch(batch.stream, problem)
        return number == known.batch

    def apply(self, batch: StreamBatch, changes: Sequence[InputChange], receive: Receiver | None) -> bool:
        """Applies a batch as one epoch, in a turn of the session; returns False if the state has it. Raises
        DDlogError, and exceptions of `receive`."""
        if self.is_done(batch):
            self._tell_again(batch, receive)
            return False
        told = self._commit(batch, changes)
        if receive is not None:
            receive(told, batch.number)
        self._told[batch.stream] = batch.number
        return True

    def _tell_again(self, batch: StreamBatch, receive: Receiver | None) -> None:
        """Tells of the changes of a batch that the state has, unless this session did."""
        known = self.position(batch.stream)
        if receive is None or known is None or self._told.get(batch.stream) == batch.number:
            return
        told: Changes | None = None
        with suppress(DDlogError):  # the history may be gone: --compact removes it
            told = self.session.changes_of(known.epoch)
        if told is not None:
            receive(told, batch.number)
        self._told[batch.stream] = batch.number

    def close(self) -> None:
        """Ends all streams."""
        for stream in list(self.running.values()):
            stream.stop()

    # ------------------------------------------------------------ one batch

    def _commit(self, batch: StreamBatch, changes: Sequence[InputChange]) -> Changes:
        if self.session.in_transaction:
            raise DDlogError([OpenTransaction(batch.stream)])
        durable = self.session.state.durable
        with self._rolled_back():
            for change in changes:
                self._put(change)
            advanced = durable.positions.advanced if durable is not None and self.files is not None else None
            with nullcontext() if advanced is None else advanced(batch.stream, batch.query, batch.number):
                return self.session.commit()

    def _put(self, change: InputChange) -> None:
        """Gives a change to the session."""
        session, declared = self.session, self.session.program.relations[change.relation]
        for rows, put, put_rows in (
            (change.deleted, session.delete, session.delete_rows),
            (change.inserted, session.insert, session.insert_rows),
        ):
            if isinstance(rows, Sequence):
                put_rows(change.relation, rows)
            elif session.on_spark:
                put(change.relation, rows)
            else:
                put_rows(change.relation, self.reader.rows(declared, rows))

    @contextmanager
    def _rolled_back(self) -> Iterator[None]:
        """Rolls back the session on an error inside; Spark's errors become DDlogErrors."""
        try:
            with spark_failures():
                yield
        except BaseException:
            self.session.rollback()
            raise

    def _mismatch(self, stream: str, problem: str) -> DDlogError:
        root = self.files.root if self.files is not None else ""
        return DDlogError([CheckpointMismatch(root, stream, problem)])
