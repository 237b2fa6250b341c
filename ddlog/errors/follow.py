"""Errors about a session that follows streaming DataFrames or the files of a directory."""

from __future__ import annotations

from .diagnostics import Diagnostic


class NotAStreamingFrame(Diagnostic):
    """A value that is not a streaming DataFrame."""

    title = "{shown} is not a streaming DataFrame"
    suggestion = "spark.readStream makes one; pass other DataFrames to session.insert"
    shown: str


class NoColumns(Diagnostic):
    """A stream into a relation without columns."""

    title = "{relation} has no columns: a stream cannot fill it"
    relation: str


class NoWatermark(Diagnostic):
    """A clock to be driven by a frame without a watermark, or with several."""

    title = "the frame has {found}, not one, by which to set {clock}"
    suggestion = (
        'call frame.withWatermark("time", "10 minutes") with a column of timestamps, and keep the column'
    )
    clock: str
    count: int

    @property
    def found(self) -> str:
        """The number of watermarks."""
        return f"{self.count or 'no'} watermark{'s' if self.count else ''}"


class NotAClock(Diagnostic):
    """A relation that cannot hold a watermark."""

    title = "a watermark cannot set {relation}: a clock has one column, an integer"
    suggestion = "declare it as in `input relation Now(time: u64)`"
    relation: str


class NameInUse(Diagnostic):
    """A second stream with the name of a running one."""

    title = "a stream called {name} is running in this session"
    suggestion = "give this stream another name: session.stream(…, name=…)"
    name: str


class BadName(Diagnostic):
    """A name of a stream that cannot be the name of a folder."""

    title = "{name!r} cannot be the name of a stream"
    suggestion = "a name consists of letters, digits, `_`, `-`, `.` and `:`"
    name: str


class BadInterval(Diagnostic):
    """An interval that Spark does not accept."""

    title = "{interval} is not an interval of time"
    suggestion = "write an interval such as `10 seconds`"
    interval: str


class OpenTransaction(Diagnostic):
    """Changes by the user in an open transaction when a batch comes."""

    title = "a batch of {stream} found changes that are neither committed nor rolled back"
    suggestion = "make your own changes inside `with stream.paused():`"
    stream: str


class StreamFailed(Diagnostic):
    """A stream that Spark ended."""

    title = "the stream {name} ended: {reason}"
    name: str
    reason: str


class OutputOfAnotherRun(Diagnostic):
    """An output directory with changes that this run neither wrote nor continues."""

    title = "{path} holds the changes of another run"
    suggestion = (
        "give another --output directory, or remove this one; only a run with its --checkpoint continues it"
    )
    path: str


class NotOfThisFolder(Diagnostic):
    """A change of a relation that is not an input relation, in a followed file."""

    title = "{path} changes {relation}, which is not an input relation"
    path: str
    relation: str


class OnlyInsertsAndDeletes(Diagnostic):
    """A command in a followed file other than an insertion or deletion of a row."""

    title = "{command} cannot be followed: a followed file can only insert and delete rows"
    command: str
