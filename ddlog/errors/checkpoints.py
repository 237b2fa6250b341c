"""Errors about the checkpoint directory of a session that follows streams."""

from __future__ import annotations

from .diagnostics import Diagnostic


class OtherCheckpoint(Diagnostic):
    """A second checkpoint directory for one session."""

    title = (
        "the streams of this session {kept:keep their checkpoint in %|began without a checkpoint}: "
        "{path} cannot be a second checkpoint"
    )
    suggestion = "a session has one checkpoint directory for all of its streams, or none"
    path: str
    kept: str


class CheckpointNotLocal(Diagnostic):
    """A checkpoint at a place that is not a directory of this machine."""

    title = "{path}: a checkpoint must be a directory that this machine and all machines of Spark see"
    suggestion = "give a local directory, or on a cluster a mounted directory that all machines share"
    path: str


class CheckpointOfOtherFacts(Diagnostic):
    """A checkpoint that was begun on other facts."""

    title = "the checkpoint {path} began with other facts"
    suggestion = "put new facts into the followed directory, or begin anew with an empty checkpoint"
    path: str


class CheckpointTooLate(Diagnostic):
    """A checkpoint for a session that cannot begin to keep a state any more."""

    title = "the checkpoint comes too late for {names}: {reason}"
    suggestion = "make the session with its state: program.session(state=…)"
    names: str
    reason: str


class StateNotAtOnce(Diagnostic):
    """A stream into a session whose commits go to disk later."""

    title = "a stream needs a state with durability commit: with {durability} batches could be lost"
    durability: str


class CheckpointMismatch(Diagnostic):
    """A log and a checkpoint of Spark that do not belong together."""

    title = "{path}: the checkpoint of the stream {stream} does not belong to its log: {problem}"
    suggestion = "copy, keep and remove a checkpoint directory only as a whole"
    path: str
    stream: str
    problem: str
