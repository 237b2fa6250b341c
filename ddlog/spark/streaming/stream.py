"""Streams into a session: each batch of Structured Streaming becomes one epoch.

    edges = spark.readStream.schema("from STRING, to STRING").json("edges/")
    stream = session.stream(edges, "Edge", checkpoint="state/", on_change=lambda changes, _: print(changes))
    stream.wait()

With a state or a checkpoint directory, a stream that is started again, in a new process and on a new session,
continues after its last batch; no batch is applied twice. docs/streaming.md states the exact guarantees.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.spark.settings import is_connect
from ...errors.checkpoints import OtherCheckpoint, StateNotAtOnce
from ...errors.diagnostics import DDlogError
from ...errors.follow import BadInterval, BadName, NameInUse, NoColumns, NotAStreamingFrame, StreamFailed
from ...errors.spark import SparkFailed
from ...sessions.results.views import Changes
from ...sessions.session import Session
from ..sessions.failures import diagnose, spark_failures
from ..state.locations import files_at
from .attachment import attach
from .epochs import Receiver, StreamEpochs
from .inputchange import InputChange, bridged, typed_change
from .places import local_path, state_place
from .remote import Client
from .watermark import watermark_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_NAME = re.compile(r"[\w:-]+\Z")
_POLL = 0.2


class SparkStream:
    """A stream that drives a session. See `ddlog.sessions.hosts.host.StreamHandle`."""

    def __init__(self, epochs: StreamEpochs, name: str, receiver: Receiver | None) -> None:
        self.name = name
        self._epochs, self._receiver = epochs, receiver
        self._query: StreamingQuery | None = None
        self._client: Client | None = None  # on Spark Connect
        self._error: BaseException | None = None
        self._stopping = False
        self.applied = 0

    @property
    def is_running(self) -> bool:
        return self._query is not None and bool(self._query.isActive)

    def wait(self, timeout: float | None = None) -> bool:
        assert self._query is not None
        waited = 0.0
        while True:
            step = _POLL if timeout is None else max(0.001, min(_POLL, timeout - waited))
            with suppress(Exception):  # the error that ended it is raised below
                if self._query.awaitTermination(step):  # type: ignore[arg-type]  # fractions work
                    break
            if not self.is_running:
                break
            waited += step
            if timeout is not None and waited >= timeout:
                return False
        self._end()
        self._raise_error()
        return True

    def stop(self) -> None:
        if self._epochs.session.state.is_used_here:  # the epoch under way may be the one that calls this
            self._stopping = True
            threading.Thread(target=self._stop, name=f"{self.name} stops", daemon=True).start()
        else:
            self._stop()

    def _stop(self) -> None:
        """Ends the stream, and waits for the epoch under way."""
        with self._epochs.session.state.lock:
            self._stopping = True
        if self._query is not None:
            with suppress(Exception):  # the query may have ended by itself, or with Spark
                self._query.stop()
        self._end()

    def _end(self) -> None:
        """The query has ended."""
        if self._client is not None:
            self._client.end()
        if self._epochs.running.get(self.name) is self:  # and not another stream that has the name since
            del self._epochs.running[self.name]

    def paused(self) -> AbstractContextManager[Any]:
        return self._epochs.session.state.lock

    def start(
        self,
        source: DataFrame,
        changes_of: Callable[[DataFrame], AbstractContextManager[Sequence[InputChange]]],
        once: bool,
        every: str | None,
    ) -> None:
        """Starts the query on Spark. `changes_of` makes changes from a batch. Raises DDlogError."""
        epochs, files = self._epochs, self._epochs.files
        if self.name in epochs.running and epochs.running[self.name].is_running:
            raise DDlogError([NameInUse(self.name)])
        writer = source.writeStream
        if files is not None:
            epochs.check_stream(self.name)
            writer = writer.option("checkpointLocation", files.url(self.name))
        if once:
            writer = writer.trigger(availableNow=True)
        elif every is not None:
            writer = _triggered(writer, every)
        own_id = uuid.uuid4().hex  # distinguishes queries of streams without a state

        def taken(frame: DataFrame, number: int) -> str:
            """Applies a batch; what is wrong."""
            try:
                with epochs.session.state.lock:  # a batch is one turn of the session
                    if self._stopping:
                        return "the stream is to stop"
                    batch = epochs.batch(self.name, own_id, number)
                    with spark_failures(), changes_of(frame) as changes:
                        self.applied += epochs.apply(batch, changes, self._receiver)
            except BaseException as error:
                self._error = self._error or error
                return "the batch failed"
            return ""

        def on_batch(frame: DataFrame, number: int) -> None:
            error = taken(frame, number)
            if error:  # also while it stops: a batch that returns counts as done
                raise RuntimeError(error)  # on another exception Spark waits for ever

        epochs.running[self.name] = self
        with spark_failures():
            if is_connect(source.sparkSession):
                self._client = Client(source.sparkSession, taken)
                self._query = self._client.start(lambda function: writer.foreachBatch(function).start())
            else:
                self._query = writer.foreachBatch(on_batch).start()

    def _raise_error(self) -> None:
        if self._stopping:
            return
        if self._error is not None:
            raise self._error
        assert self._query is not None
        failure = self._query.exception()
        if failure is not None:
            known = diagnose(failure)
            reason = known.reason if isinstance(known, SparkFailed) else str(failure).splitlines()[0]
            raise DDlogError([StreamFailed(self.name, reason)])


def _triggered(writer: DataStreamWriter, every: str) -> DataStreamWriter:
    try:
        return writer.trigger(processingTime=every)
    except Exception:
        raise DDlogError([BadInterval(every)]) from None


def stream(
    session: Session,
    source: DataFrame,
    relation: str,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    on_change: Callable[[Changes, int], None] | None = None,
    name: str | None = None,
    op: str = "op",
    once: bool = False,
    every: str | None = None,
    clock: str | None = None,
    unit: str = "seconds",
) -> SparkStream:
    """Lets a streaming DataFrame drive a session: each of its batches changes an input relation, in an epoch
    of its own. Raises DDlogError.

    The columns are the relation's by name, in any order. A further column, named by `op`, holds +1 for a row
    to insert and -1 for a row to delete; in a batch, deletions come before insertions. `on_change` is called
    with the changes of the outputs and the number of the batch. In a session with a state, a stream that is
    started again continues after its last batch; a `checkpoint` directory is a state for a session that has
    none. `name` (the relation's, if not given) distinguishes the streams of a session. `once` ends the stream
    after the data that its source has now; `every`, such as "10 seconds", is the time between batches.

    `clock` is an input relation of one integer that the frame's watermark sets, in the epoch of each batch.
    It counts `unit` (seconds, milliseconds or microseconds) from 1970 on, and so does a column of integers
    into which the event times go. The column of the event times need not be one of the relation.
    """
    declared = session.transaction.input(relation)
    spark = session_of(source)
    if not declared.columns:
        raise DDlogError([NoColumns(relation)])
    if not _NAME.match(name or relation):
        raise DDlogError([BadName(name or relation)])
    watermark = None if clock is None else watermark_of(source, session.transaction.input(clock), unit)
    epochs = epochs_of(session, spark, checkpoint)
    if watermark is not None:
        epochs.clocks.join(watermark, name or relation)
    running = SparkStream(epochs, name or relation, on_change)

    @contextmanager
    def changes_of(frame: DataFrame) -> Iterator[Sequence[InputChange]]:
        with bridged(spark, frame) as batch:
            kept = batch.persist()  # computed twice, it could differ
            try:
                rows = kept if watermark is None else watermark.columns(kept, declared)
                change = typed_change(epochs.reader, rows, declared, op, f"a batch for {relation}")
                if watermark is None:
                    yield [change]
                    return
                with epochs.clocks.advanced(watermark, name or relation, kept) as advance:
                    yield [change, *advance]
            finally:
                kept.unpersist()

    running.start(source, changes_of, once, every)
    return running


def session_of(source: Any) -> SparkSession:
    """The Spark session of a streaming DataFrame. Raises DDlogError for another value."""
    home = type(source).__module__
    if not home.startswith("pyspark.") or not getattr(source, "isStreaming", False):
        raise DDlogError([NotAStreamingFrame(f"{source!r:.60}")])
    spark: SparkSession = source.sparkSession
    return spark


def epochs_of(session: Session, spark: SparkSession, place: str | os.PathLike[str] | None) -> StreamEpochs:
    """The epochs that the streams of a session drive. The first call lets the session keep the state in the
    directory `place`, if it has none. Raises DDlogError."""
    directory = local_path(place) if place is not None else None
    known = session.streams
    if directory is not None and (known is not None or session.state.durable is not None):
        _check_place(session, directory)
    if known is not None:
        assert isinstance(known, StreamEpochs)
        return known
    if directory is not None and session.state.durable is None:
        attach(session, directory)
    durable = session.state.durable
    files = None
    if durable is not None:
        if durable.durability != "commit":
            raise DDlogError([StateNotAtOnce(durable.durability)])
        durable.keep_positions()
        parts = f"{durable.place}/streams" if session.on_spark else f"{durable.place}-streams"
        files = files_at(parts if directory is None else f"{directory}/streams", spark)
    session.streams = StreamEpochs(session, spark, files)
    return session.streams


def _check_place(session: Session, directory: Path) -> None:
    """Raises DDlogError if the streams of a session are kept in another place than a checkpoint directory."""
    durable = session.state.durable
    kept = Path(durable.place).resolve() if durable is not None else None
    if kept != state_place(directory, session.on_spark).resolve():
        raise DDlogError([OtherCheckpoint(str(directory), "" if kept is None else str(kept))])
