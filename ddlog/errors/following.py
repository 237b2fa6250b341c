"""Errors about a session that follows streaming DataFrames or the files of a directory."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class NotAStreamingFrame(Diagnostic):
    """A value that is not a streaming DataFrame."""

    title: ClassVar[str] = "{shown} is not a streaming DataFrame"
    suggestion: ClassVar[str] = "spark.readStream makes one; pass other DataFrames to session.insert"
    shown: str


@declared()
class NoColumns(Diagnostic):
    """A stream into a relation without columns."""

    title: ClassVar[str] = "{relation} has no columns: a stream cannot fill it"
    relation: str


@declared()
class NoWatermark(Diagnostic):
    """A clock to be driven by a frame without a watermark, or with several."""

    title: ClassVar[str] = "the frame has {found}, not one, by which to set {clock}"
    suggestion: ClassVar[str] = (
        'call frame.withWatermark("time", "10 minutes") with a column of timestamps, and keep the column'
    )
    clock: str
    count: int

    @property
    def found(self) -> str:
        """The number of watermarks."""
        return f"{self.count or 'no'} watermark{'s' if self.count else ''}"


@declared()
class NotAClock(Diagnostic):
    """A relation that cannot hold a watermark."""

    title: ClassVar[str] = "a watermark cannot set {relation}: a clock has one column, an integer"
    suggestion: ClassVar[str] = "declare it as in `input relation Now(time: u64)`"
    relation: str


@declared()
class NameInUse(Diagnostic):
    """A second stream with the name of a running one."""

    title: ClassVar[str] = "a stream called {name} is running in this session"
    suggestion: ClassVar[str] = "give this stream another name: session.stream(…, name=…)"
    name: str


@declared()
class BadName(Diagnostic):
    """A name of a stream that cannot be the name of a folder."""

    title: ClassVar[str] = "{name!r} cannot be the name of a stream"
    suggestion: ClassVar[str] = "a name consists of letters, digits, `_`, `-`, `.` and `:`"
    name: str


@declared()
class BadInterval(Diagnostic):
    """An interval that Spark does not accept."""

    title: ClassVar[str] = "{interval} is not an interval of time"
    suggestion: ClassVar[str] = "write an interval such as `10 seconds`"
    interval: str


@declared()
class OpenTransaction(Diagnostic):
    """Changes by the user in an open transaction when a batch comes."""

    title: ClassVar[str] = "a batch of {stream} found changes that are neither committed nor rolled back"
    suggestion: ClassVar[str] = "make your own changes inside `with stream.paused():`"
    stream: str


@declared()
class UnrecordedBatch(Diagnostic):
    """A batch after another one that was applied but not recorded."""

    title: ClassVar[str] = "a batch of {unrecorded} was applied but could not be recorded: {stream} must wait"
    suggestion: ClassVar[str] = "start {unrecorded} again to record the batch, or begin with a new session"
    stream: str
    unrecorded: str


@declared()
class StreamFailed(Diagnostic):
    """A stream that Spark ended."""

    title: ClassVar[str] = "the stream {name} ended: {reason}"
    name: str
    reason: str


@declared()
class OutputOfAnotherRun(Diagnostic):
    """An output directory with changes that this run neither wrote nor continues."""

    title: ClassVar[str] = "{path} holds the changes of another run"
    suggestion: ClassVar[str] = (
        "give another --output directory, or remove this one; only a run with its --checkpoint continues it"
    )
    path: str


@declared()
class NotOfThisFolder(Diagnostic):
    """A change of a relation that is not an input relation, in a followed file."""

    title: ClassVar[str] = "{path} changes {relation}, which is not an input relation"
    path: str
    relation: str


@declared()
class OnlyInsertsAndDeletes(Diagnostic):
    """A command in a followed file other than an insertion or deletion of a row."""

    title: ClassVar[str] = "{command} cannot be followed: a followed file can only insert and delete rows"
    command: str
