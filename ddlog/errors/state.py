"""Errors about the files in which sessions keep their state."""

from __future__ import annotations

from .diagnostics import Diagnostic


class NotAState(Diagnostic):
    """A file that is no state of a session."""

    title = "{path} is not a state of ddlog: {reason}"
    suggestion = "{instead}"
    path: str
    reason: str
    instead: str = "give a new file, or one that --state made"


class NoState(Diagnostic):
    """A state that should be there."""

    title = "{path}: there is no such state"
    path: str


class StateOfOtherVersion(Diagnostic):
    """A state that another version wrote."""

    title = "{path} is a state of version {found}, and this ddlog reads version {known}"
    suggestion = "use the ddlog that wrote it, or export the state with that one"
    path: str
    found: int
    known: int


class StateInUse(Diagnostic):
    """A state that another process holds."""

    title = "{path} is in use by the process {holder}"
    suggestion = "{instead}"
    path: str
    holder: str
    instead: str = "wait for its end, or open the state with --read-only"


class StateOfParent(Diagnostic):
    """A session in a process that was forked from the one that uses it, or has its state."""

    title = "{path} is held by the process {holder}, from which this one was forked"
    suggestion = "let only that process use the session; with read_only=True others read the state"
    path: str
    holder: int


class StateDamaged(Diagnostic):
    """A state whose contents are not what was written."""

    title = "{path} is damaged: {problem}"
    suggestion = "{left}"
    path: str
    problem: str
    left: str = ""


class CheckpointDamaged(Diagnostic):
    """A checkpoint that is not what was derived."""

    title = "{path}: the checkpoint is damaged: {problem}"
    suggestion = "the inputs are whole as of the last commit; {left}"
    path: str
    problem: str
    read_only: bool = False

    @property
    def left(self) -> str:
        """The way to derive all anew, which drops the checkpoint."""
        if self.read_only:
            tables = "DELETE FROM checkpoint; DELETE FROM unit"
            return f"`sqlite3 {self.path} '{tables}'` removes the checkpoint, and all is derived anew"
        return "the end of this session removes the checkpoint, and the next one derives all anew"


class CannotUseState(Diagnostic):
    """A state that cannot be opened."""

    title = "{path}: the state cannot be used: {reason}"
    path: str
    reason: str


class NotKeptOnDisk(Diagnostic):
    """A commit that could not be written to the state."""

    title = "{path}: the commit cannot be written and is rolled back: {reason}"
    path: str
    reason: str


class EarlierNotKept(Diagnostic):
    """Commits that were to be written later, and could not be."""

    title = "{path}: {count} earlier commits are not on disk yet and cannot be written: {reason}"
    path: str
    count: int
    reason: str


class ValueNotKept(Diagnostic):
    """A value that a state cannot hold."""

    title = "{relation}: {reason}, so the state cannot hold it"
    relation: str
    reason: str


class StateHoldsData(Diagnostic):
    """Facts for a state that holds data already."""

    title = "{path} holds data already, as of epoch {epoch}, and --input would add more"
    suggestion = "leave --input out, or say --replace (these facts instead) or --merge (these facts as well)"
    path: str
    epoch: int


class StateOfOtherInputs(Diagnostic):
    """A state of a program with other input relations."""

    title = "{path} has data of other input relations:{differences}"
    suggestion = "{instead}"
    path: str
    differences: str
    instead: str = "--migrate takes over columns of the same names, and keeps the rest in the file"


class CannotMigrate(Diagnostic):
    """A column that cannot be taken over without loss."""

    title = "{path}: {column} of type {old} cannot become {new}: {reason}"
    path: str
    column: str
    old: str
    new: str
    reason: str


class CannotFill(Diagnostic):
    """A given value that no new column takes."""

    title = "the value given for {column} cannot be used: {reason}"
    column: str
    reason: str


class ReadOnlyState(Diagnostic):
    """A change of a session on a state that is only read."""

    title = "{path} is open for reading only: it takes no changes"
    path: str


class StateLost(Diagnostic):
    """A state that another session has taken over."""

    title = "{path} was taken over by the process {holder}: this session can write no more"
    suggestion = "close this session: it did not renew its lock in time, so the other one took it for ended"
    path: str
    holder: str


class StateNeedsClassicSpark(Diagnostic):
    """A state of a session on Spark Connect, which does not reach Hadoop's file systems."""

    title = "{path}: a state at a URL needs a classic Spark session, since its driver writes the folder"
    suggestion = "run it where the driver is (--master)"
    path: str


class NotInFolders(Diagnostic):
    """Something that a state in a folder does not offer."""

    title = "{path} is a state in a folder, which offers no {what}"
    suggestion = "{instead}"
    path: str
    what: str
    instead: str


class NeedsProgram(Diagnostic):
    """Rows whose types the file does not tell well enough."""

    title = (
        "{path}: {relation} cannot be exported: without the program, its values cannot be compared with "
        "those that are kept as texts"
    )
    suggestion = "copy it to an output relation by a rule, and run the program with --output"
    path: str
    relation: str


class NoHistory(Diagnostic):
    """An epoch of which the state keeps no record."""

    title = "there is no record of epoch {epoch}: the state has {known}"
    epoch: int
    known: str


class EpochExpected(Diagnostic):
    """A question about the past that names no epoch."""

    title = "`{text}` names no epoch: expected its number, as in `{example}`"
    text: str
    example: str


class NeedsState(Diagnostic):
    """Something that only a session with a state has."""

    title = "{what} needs a session with a state"
    suggestion = "give --state FILE"
    what: str


class KeyOfSeveral(Diagnostic):
    """A primary key that the rows of a state do not have."""

    title = "several rows of {relation} in the state have the same primary key"
    suggestion = "leave the key as it was, or delete all of these rows but one first"
    relation: str
