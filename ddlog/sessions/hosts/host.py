"""Hosts: where a session keeps its relations. A host is a runtime, and what its place offers around it.

There are two: `ddlog.sessions.hosts.inprocess`, and `ddlog.spark.sessions.host`. `opening.py` opens one
when a session is made, and nothing else in a session depends on which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...core import CheckedProgram, CheckedQuery, Relation
from ...engine.runtime import Batch, BudgetedRuntime, Delta, RowSet, Runtime
from ...errors.diagnostics import DDlogError
from ...errors.spark import NeedsSpark
from ...values.rows import Row
from ..pending import PendingChanges
from .inputrows import IncomingRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ...engine.circuit import Circuit
    from ...engine.inprocess.runtime import InProcess
    from ...errors.source import Span
    from ...io.places import Place
    from ...io.refusals import Refuse
    from ..program import Program


@dataclass(frozen=True, slots=True)
class FactSource:
    """Facts of one relation: `shown` names them for progress, `read` reads them. It tells notes, has wrong
    rows refused, and raises DDlogError. `placed` gives the rows of a file with their places, for errors."""

    relation: str
    shown: str
    read: Callable[[Callable[[str], None], Refuse | None], IncomingRows]
    placed: Callable[[], Iterator[tuple[Row, Span]]] = lambda: iter(())


@dataclass(frozen=True, slots=True)
class LocatedFacts:
    """The facts at places, in the order of reading, the input relations without any, and the files that no
    relation reads."""

    sources: Sequence[FactSource]
    missing: Collection[str]
    ignored: Collection[Path]


class Frames(Protocol):
    """The relations of a host on Spark as DataFrames. Methods raise DDlogError."""

    @property
    def session(self) -> SparkSession:
        """The Spark session that holds the relations."""

    def feed(
        self, declared: Relation, frame: DataFrame
    ) -> AbstractContextManager[tuple[IncomingRows, IncomingRows]]:
        """The rows to delete and those to insert by a change feed, as `Session.apply_changes` takes it."""

    def frame(self, relation: str) -> DataFrame:
        """The contents of a relation."""

    def delta_frame(self, delta: Delta) -> DataFrame:
        """The change of a relation."""

    def explained(self, relation: str) -> str:
        """Spark's plan of a relation that is one query."""

    def write(self, declared: Relation, place: str, format: str) -> str:
        """Writes a relation, and returns the folder or table."""


def _in_columns(program: Program, wanted: Sequence[str], demand: bool) -> Circuit:
    return program.circuit("incremental", wanted, demand=demand)


@dataclass(frozen=True, slots=True)
class Offer:
    """The abilities of a host. In process it has `here`, the runtime over fields, whose batches hosts beside
    take; on Spark it has `frames`."""

    failures: Callable[[], AbstractContextManager[None]] | None = None
    """Turns failures of the host inside into DDlogErrors, if it has any of its own."""
    shown: Callable[[Mapping[str, Delta]], dict[str, Delta]] = dict
    """Gives changes of the runtime as the session sees them."""
    is_measured: bool = True
    """Whether commits can be measured, rule by rule."""
    lowered: Callable[[Program, Sequence[str], bool], Circuit] = _in_columns
    """Gives the circuit of a program that computes relations, on demand where the last argument says so."""
    budgeted: BudgetedRuntime | None = None
    """The runtime, if it takes a budget."""
    here: InProcess | None = None
    frames: Frames | None = None


class Host(Protocol):
    """The place where a session keeps its relations."""

    @property
    def runtime(self) -> Runtime:
        """The circuit's state."""

    @property
    def offer(self) -> Offer:
        """The abilities of the host."""

    def pending(self, declared: Relation) -> PendingChanges:
        """The changes of an input relation in a transaction, none so far."""

    def incoming(self, declared: Relation, table: Any) -> IncomingRows:
        """The rows of a table, as `Session.insert_table` takes it. Raises DDlogError."""

    def locate(
        self,
        places: Sequence[Place],
        inputs: Sequence[str],
        others: Collection[str],
        originals: Mapping[str, str],
    ) -> LocatedFacts:
        """The facts of the input relations at places; `others` are the other relations, `originals`
        names of relations by those in their sources. Raises DDlogError."""

    def query(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]] | None = None,
        most: int | None = None,
    ) -> RowSet:
        """The valuations of the variables of a query. The program has what the query adds to it, and the
        relations whose few rows are `given`. At most `most` rows are answered."""

    def beside(self, program: Program, circuit: Circuit) -> Host:
        """A host for the circuit of a program over relations of this one."""

    def handed(self, relation: str, to: Host) -> Batch:
        """The contents of a relation as a batch of a host beside."""


def here_of(host: Host) -> InProcess:
    """The runtime over fields of a host in process."""
    assert host.offer.here is not None
    return host.offer.here


def frames_of(host: Host, asked: str) -> Frames:
    """The relations of a host on Spark as frames. Raises DDlogError in process, for what is `asked` for."""
    if host.offer.frames is None:
        raise DDlogError([NeedsSpark(asked)])
    return host.offer.frames


class StreamHandle(Protocol):
    """A stream that drives a session: `Session.stream` returns it. It ends by `stop`, when its source ends,
    with its session, or by an error."""

    name: str
    applied: int
    """The number of batches that were applied."""

    @property
    def is_running(self) -> bool:
        """Whether batches can still come."""

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end of the stream, at most `timeout` seconds, and returns whether it ended. Raises
        the error that ended it: a DDlogError, or the exception of the receiver of changes."""

    def stop(self) -> None:
        """Ends the stream after the epoch under way. In a turn of the session, as in the receiver of changes
        or inside `paused`, it returns at once, and the stream ends after the turn."""

    def paused(self) -> AbstractContextManager[Any]:
        """Holds back the epochs of all streams of the session, for changes of one's own inside."""


class Closable(Protocol):
    """A thing that a session closes with itself, such as a stream that drives it."""

    def close(self) -> None:
        """Ends it."""
