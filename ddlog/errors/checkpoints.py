"""Errors about the checkpoint directory of a session that follows streams."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class OtherCheckpoint(Diagnostic):
    """A second checkpoint directory for one session."""

    title: ClassVar[str] = "the streams of this session {used}: {path} cannot be a second checkpoint"
    suggestion: ClassVar[str] = "a session has one checkpoint directory for all of its streams, or none"
    path: str
    kept: str

    @property
    def used(self) -> str:
        """The place of the session's checkpoint."""
        return f"keep their checkpoint in {self.kept}" if self.kept else "began without a checkpoint"


@declared()
class CheckpointNotLocal(Diagnostic):
    """A checkpoint at a place that is not a directory of this machine."""

    title: ClassVar[str] = (
        "{path}: a checkpoint must be a directory that this machine and all machines of Spark see"
    )
    suggestion: ClassVar[str] = (
        "give a local directory, or on a cluster a mounted directory that all machines share"
    )
    path: str


@declared()
class CheckpointInUse(Diagnostic):
    """A checkpoint directory that another session holds."""

    title: ClassVar[str] = "{path}: another session is using this checkpoint"
    suggestion: ClassVar[str] = "wait for the other session to end: two sessions would apply the same batches"
    path: str


@declared()
class NotACheckpoint(Diagnostic):
    """A directory with other files in it."""

    title: ClassVar[str] = "{path} holds other files, not a checkpoint"
    suggestion: ClassVar[str] = "give an empty or new directory"
    path: str


@declared()
class CheckpointDamaged(Diagnostic):
    """A checkpoint with an incomplete log."""

    title: ClassVar[str] = "{path}: the checkpoint is damaged: {problem}"
    suggestion: ClassVar[str] = "begin anew with an empty directory"
    path: str
    problem: str


@declared()
class CheckpointOfOtherInputs(Diagnostic):
    """A checkpoint of a program with other input relations."""

    title: ClassVar[str] = "{path} is the checkpoint of a program with other input relations: {difference}"
    suggestion: ClassVar[str] = (
        "between two runs on a checkpoint the rules may change, but not the input relations and their types"
    )
    path: str
    difference: str


@declared()
class CheckpointOfOtherFacts(Diagnostic):
    """A checkpoint that was begun on other facts."""

    title: ClassVar[str] = "the checkpoint {path} began with other facts"
    suggestion: ClassVar[str] = (
        "put new facts into the followed directory, or begin anew with an empty checkpoint"
    )
    path: str


@declared()
class CheckpointOfWindows(Diagnostic):
    """A checkpoint for a program with windows."""

    title: ClassVar[str] = (
        "a checkpoint does not record which rows came late, so it cannot restore the windows: {names}"
    )
    suggestion: ClassVar[str] = "run it without a checkpoint: every start begins with the first batch again"
    names: str


@declared()
class CommitBesideLog(Diagnostic):
    """A commit that is not of a stream, in a program whose state depends on each commit."""

    title: ClassVar[str] = (
        "{path} has no record of a commit that no stream made, and the past of {names} depends on it"
    )
    suggestion: ClassVar[str] = (
        "change inputs through the streams only, or leave the checkpoint out: each start then begins anew"
    )
    path: str
    names: str


@declared()
class CheckpointMismatch(Diagnostic):
    """A log and a checkpoint of Spark that do not belong together."""

    title: ClassVar[str] = (
        "{path}: the checkpoint of the stream {stream} does not belong to its log: {problem}"
    )
    suggestion: ClassVar[str] = "copy, keep and remove a checkpoint directory only as a whole"
    path: str
    stream: str
    problem: str


@declared()
class CannotUseCheckpoint(Diagnostic):
    """A checkpoint directory that cannot be read or written."""

    title: ClassVar[str] = "{path}: the checkpoint cannot be used: {reason}"
    path: str
    reason: str
