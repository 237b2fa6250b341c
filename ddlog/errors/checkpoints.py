"""Errors about the checkpoint directory of a session that follows streams."""

from __future__ import annotations

from .diagnostics import Diagnostic


class OtherCheckpoint(Diagnostic):
    """A second checkpoint directory for one session."""

    title = "the streams of this session {used}: {path} cannot be a second checkpoint"
    suggestion = "a session has one checkpoint directory for all of its streams, or none"
    path: str
    kept: str

    @property
    def used(self) -> str:
        """The place of the session's checkpoint."""
        return f"keep their checkpoint in {self.kept}" if self.kept else "began without a checkpoint"


class CheckpointNotLocal(Diagnostic):
    """A checkpoint at a place that is not a directory of this machine."""

    title = "{path}: a checkpoint must be a directory that this machine and all machines of Spark see"
    suggestion = "give a local directory, or on a cluster a mounted directory that all machines share"
    path: str


class CheckpointInUse(Diagnostic):
    """A checkpoint directory that another session holds."""

    title = "{path}: another session is using this checkpoint"
    suggestion = "wait for the other session to end: two sessions would apply the same batches"
    path: str


class NotACheckpoint(Diagnostic):
    """A directory with other files in it."""

    title = "{path} holds other files, not a checkpoint"
    suggestion = "give an empty or new directory"
    path: str


class CheckpointDamaged(Diagnostic):
    """A checkpoint with an incomplete log."""

    title = "{path}: the checkpoint is damaged: {problem}"
    suggestion = "begin anew with an empty directory"
    path: str
    problem: str


class CheckpointOfOtherInputs(Diagnostic):
    """A checkpoint of a program with other input relations."""

    title = "{path} is the checkpoint of a program with other input relations: {difference}"
    suggestion = (
        "between two runs on a checkpoint the rules may change, but not the input relations and their types"
    )
    path: str
    difference: str


class CheckpointOfOtherFacts(Diagnostic):
    """A checkpoint that was begun on other facts."""

    title = "the checkpoint {path} began with other facts"
    suggestion = "put new facts into the followed directory, or begin anew with an empty checkpoint"
    path: str


class CheckpointOfWindows(Diagnostic):
    """A checkpoint for a program with windows."""

    title = "a checkpoint does not record which rows came late, so it cannot restore the windows: {names}"
    suggestion = "run it without a checkpoint: every start begins with the first batch again"
    names: str


class CommitBesideLog(Diagnostic):
    """A commit that is not of a stream, in a program whose state depends on each commit."""

    title = "{path} has no record of a commit that no stream made, and the past of {names} depends on it"
    suggestion = (
        "change inputs through the streams only, or leave the checkpoint out: each start then begins anew"
    )
    path: str
    names: str


class CheckpointMismatch(Diagnostic):
    """A log and a checkpoint of Spark that do not belong together."""

    title = "{path}: the checkpoint of the stream {stream} does not belong to its log: {problem}"
    suggestion = "copy, keep and remove a checkpoint directory only as a whole"
    path: str
    stream: str
    problem: str


class CannotUseCheckpoint(Diagnostic):
    """A checkpoint directory that cannot be read or written."""

    title = "{path}: the checkpoint cannot be used: {reason}"
    path: str
    reason: str
