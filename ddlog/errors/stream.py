"""What can be wrong with streams into a session, with their checkpoints, and with a followed directory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class NeedsClassicSpark(Diagnostic):
    """A stream on Spark Connect, where the function that takes a batch runs in another process."""

    title: ClassVar[str] = (
        "a stream needs a classic Spark session: on Spark Connect batches are handled on the server"
    )
    suggestion: ClassVar[str] = (
        "run it where the driver is (--master), or hand over each batch: session.insert(relation, frame)"
    )


@dataclass(frozen=True, slots=True)
class NotAStream(Diagnostic):
    """Something else than a streaming DataFrame."""

    title: ClassVar[str] = "{shown} is not a streaming DataFrame"
    suggestion: ClassVar[str] = "make one by spark.readStream; session.insert takes other DataFrames"
    shown: str


@dataclass(frozen=True, slots=True)
class NoColumns(Diagnostic):
    """A stream into a relation whose rows hold nothing."""

    title: ClassVar[str] = "{relation} has no columns, so that no stream can fill it"
    relation: str


@dataclass(frozen=True, slots=True)
class NameInUse(Diagnostic):
    """A second stream with the name of one that runs."""

    title: ClassVar[str] = "a stream called {name} is running in this session"
    suggestion: ClassVar[str] = "give this one another name: session.stream(…, name=…)"
    name: str


@dataclass(frozen=True, slots=True)
class BadName(Diagnostic):
    """A stream's name that cannot be a folder's."""

    title: ClassVar[str] = (
        "{name!r} cannot be the name of a stream: letters, digits, `_`, `-`, `.` and `:` can"
    )
    name: str

    @property
    def message(self) -> str:
        """The title, with the name quoted."""
        return f"{self.name!r} cannot be the name of a stream: letters, digits, `_`, `-` and `.` can"


@dataclass(frozen=True, slots=True)
class BadInterval(Diagnostic):
    """A trigger that Spark does not take."""

    title: ClassVar[str] = "{interval} is no interval of time"
    suggestion: ClassVar[str] = "such as `10 seconds`"
    interval: str


@dataclass(frozen=True, slots=True)
class OpenTransaction(Diagnostic):
    """Changes of the user's own in the way of a batch."""

    title: ClassVar[str] = "a batch of {stream} found changes that are neither committed nor rolled back"
    suggestion: ClassVar[str] = "make changes beside a stream inside `with stream.paused():`"
    stream: str


@dataclass(frozen=True, slots=True)
class UnrecordedBatch(Diagnostic):
    """A batch after one that was applied and could not be recorded."""

    title: ClassVar[str] = "a batch of {unrecorded} was applied and could not be recorded: {stream} must wait"
    suggestion: ClassVar[str] = "start {unrecorded} again, which records it, or begin with a new session"
    stream: str
    unrecorded: str


@dataclass(frozen=True, slots=True)
class StreamFailed(Diagnostic):
    """A query that ended for a reason of Spark's."""

    title: ClassVar[str] = "the stream {name} ended: {reason}"
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class OtherCheckpoint(Diagnostic):
    """A second checkpoint directory for one session."""

    title: ClassVar[str] = "this session's streams {used}, so that {path} cannot be used besides"
    suggestion: ClassVar[str] = "a session has one checkpoint directory for all of its streams, or none"
    path: str
    kept: str

    @property
    def used(self) -> str:
        """Where the checkpoints of the session are."""
        return f"keep their checkpoint in {self.kept}" if self.kept else "began without a checkpoint"


@dataclass(frozen=True, slots=True)
class CheckpointNotLocal(Diagnostic):
    """A checkpoint at a place that is no directory of this machine."""

    title: ClassVar[str] = "{path}: a checkpoint must be a directory that this machine and Spark's see"
    suggestion: ClassVar[str] = "a local directory, or on a cluster a mounted one that all machines share"
    path: str


@dataclass(frozen=True, slots=True)
class CannotUseCheckpoint(Diagnostic):
    """A checkpoint directory that cannot be read or written."""

    title: ClassVar[str] = "{path}: the checkpoint cannot be used: {reason}"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckpointInUse(Diagnostic):
    """A checkpoint directory that another session holds."""

    title: ClassVar[str] = "{path}: another session is using this checkpoint"
    suggestion: ClassVar[str] = "wait for it to end; two would apply the same batches"
    path: str


@dataclass(frozen=True, slots=True)
class NotACheckpoint(Diagnostic):
    """A directory with other things in it."""

    title: ClassVar[str] = "{path} holds other files and no checkpoint"
    suggestion: ClassVar[str] = "give an empty or a new directory"
    path: str


@dataclass(frozen=True, slots=True)
class CheckpointDamaged(Diagnostic):
    """A checkpoint whose log is not whole."""

    title: ClassVar[str] = "{path}: the checkpoint is damaged: {problem}"
    suggestion: ClassVar[str] = "without it, begin anew with an empty directory"
    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class CheckpointOfOtherInputs(Diagnostic):
    """A checkpoint of a program whose input relations are others."""

    title: ClassVar[str] = "{path} is the checkpoint of a program with other input relations: {difference}"
    suggestion: ClassVar[str] = (
        "the rules may change between two runs on a checkpoint, the input relations and their types may not"
    )
    path: str
    difference: str


@dataclass(frozen=True, slots=True)
class CheckpointOfOtherFacts(Diagnostic):
    """A checkpoint that was begun on other facts."""

    title: ClassVar[str] = "the facts are not those with which the checkpoint {path} began"
    suggestion: ClassVar[str] = (
        "new facts belong into the followed directory; or begin anew with an empty checkpoint"
    )
    path: str


@dataclass(frozen=True, slots=True)
class CheckpointOfTime(Diagnostic):
    """A checkpoint for a program whose state depends on when its inputs came."""

    title: ClassVar[str] = (
        "a checkpoint keeps what came and not in which transactions, on which {names} depends"
    )
    suggestion: ClassVar[str] = "run it without a checkpoint: every start begins with the first batch again"
    names: str


@dataclass(frozen=True, slots=True)
class CheckpointMismatch(Diagnostic):
    """A log, and a checkpoint of Spark's, that do not belong together."""

    title: ClassVar[str] = (
        "{path}: the checkpoint of the stream {stream} is not the one of its log: {problem}"
    )
    suggestion: ClassVar[str] = "a checkpoint directory is copied, kept and removed as a whole"
    path: str
    stream: str
    problem: str


@dataclass(frozen=True, slots=True)
class OutputOfAnotherRun(Diagnostic):
    """Changes in the output directory that this run did not write and does not continue."""

    title: ClassVar[str] = "{path} holds the changes of another run"
    suggestion: ClassVar[str] = (
        "give another --output directory, or remove it; only a run with its --checkpoint continues it"
    )
    path: str


@dataclass(frozen=True, slots=True)
class NotOfThisFolder(Diagnostic):
    """A change of another relation than the folder's."""

    title: ClassVar[str] = "{path} changes {relation}, which is no input relation"
    path: str
    relation: str


@dataclass(frozen=True, slots=True)
class OnlyInsertsAndDeletes(Diagnostic):
    """A command in a followed file that says more than which rows come and go."""

    title: ClassVar[str] = "{command} cannot be followed: only insertions and deletions of rows can"
    command: str
