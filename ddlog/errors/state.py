"""Errors about the files in which sessions keep their state."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared()
class NotAState(Diagnostic):
    """A file that is no state of a session."""

    title: ClassVar[str] = "{path} is not a state of ddlog: {reason}"
    suggestion: ClassVar[str] = "{instead}"
    path: str
    reason: str
    instead: str = "give a new file, or one that --state made"


@declared()
class NoState(Diagnostic):
    """A state that should be there."""

    title: ClassVar[str] = "{path}: there is no such state"
    path: str


@declared()
class NewerState(Diagnostic):
    """A state that a later version wrote."""

    title: ClassVar[str] = "{path} is a state of version {found}, and this ddlog reads version {known}"
    suggestion: ClassVar[str] = "use the newer ddlog, or export the state with it"
    path: str
    found: int
    known: int


@declared()
class OlderState(Diagnostic):
    """A state that an earlier version wrote, to be read only."""

    title: ClassVar[str] = "{path} is a state of version {found}, and this ddlog reads version {known}"
    suggestion: ClassVar[str] = "open it for writing, or run `ddlog state {path} --compact`: that upgrades it"
    path: str
    found: int
    known: int


@declared()
class StateInUse(Diagnostic):
    """A state that another process holds."""

    title: ClassVar[str] = "{path} is in use by the process {holder}"
    suggestion: ClassVar[str] = "{instead}"
    path: str
    holder: str
    instead: str = "wait for its end, or open the state with --read-only"


@declared()
class StateOfParent(Diagnostic):
    """A session in a process that was forked from the one that opened its state."""

    title: ClassVar[str] = "{path} is held by the process {holder}, from which this one was forked"
    suggestion: ClassVar[str] = (
        "let only that process use the session; with read_only=True others read the state"
    )
    path: str
    holder: int


@declared()
class StateDamaged(Diagnostic):
    """A state whose contents are not what was written."""

    title: ClassVar[str] = "{path} is damaged: {problem}"
    suggestion: ClassVar[str] = "{left}"
    path: str
    problem: str
    left: str = ""


@declared()
class CannotUseState(Diagnostic):
    """A state that cannot be opened."""

    title: ClassVar[str] = "{path}: the state cannot be used: {reason}"
    path: str
    reason: str


@declared()
class NotKeptOnDisk(Diagnostic):
    """A commit that could not be written to the state."""

    title: ClassVar[str] = "{path}: the commit is rolled back, as it cannot be written: {reason}"
    path: str
    reason: str


@declared()
class EarlierNotKept(Diagnostic):
    """Commits that were to be written later, and could not be."""

    title: ClassVar[str] = (
        "{path}: {count} earlier commits are not on disk yet and cannot be written: {reason}"
    )
    path: str
    count: int
    reason: str


@declared()
class ValueNotKept(Diagnostic):
    """A value that a state cannot hold."""

    title: ClassVar[str] = "{relation}: {reason}, so the state cannot hold it"
    relation: str
    reason: str


@declared()
class StateHoldsData(Diagnostic):
    """Facts for a state that holds data already."""

    title: ClassVar[str] = "{path} holds data, as of epoch {epoch}, and --input would bring more"
    suggestion: ClassVar[str] = (
        "leave --input out, or say --replace (these facts instead) or --merge (these facts as well)"
    )
    path: str
    epoch: int


@declared()
class StateOfOtherInputs(Diagnostic):
    """A state of a program with other input relations."""

    title: ClassVar[str] = "{path} was kept for other input relations:{differences}"
    suggestion: ClassVar[str] = "{instead}"
    path: str
    differences: str
    instead: str = "--migrate takes over what has the same names, and keeps the rest in the file"


@declared()
class CannotMigrate(Diagnostic):
    """A column that cannot be taken over without loss."""

    title: ClassVar[str] = "{path}: {column} of type {old} cannot become {new}: {reason}"
    path: str
    column: str
    old: str
    new: str
    reason: str


@declared()
class CannotFill(Diagnostic):
    """A given value that no new column takes."""

    title: ClassVar[str] = "the value given for {column} cannot be used: {reason}"
    column: str
    reason: str


@declared()
class ReadOnlyState(Diagnostic):
    """A change of a session on a state that is only read."""

    title: ClassVar[str] = "{path} is open for reading only: it takes no changes"
    path: str


@declared()
class StateLost(Diagnostic):
    """A state that another session has taken over."""

    title: ClassVar[str] = "{path} was taken over by the process {holder}: this session can write no more"
    suggestion: ClassVar[str] = (
        "end this session: it seemed to have ended already, as it did not renew its lock"
    )
    path: str
    holder: str


@declared()
class StateNeedsClassicSpark(Diagnostic):
    """A state of a session on Spark Connect, which does not reach Hadoop's file systems."""

    title: ClassVar[str] = "{path}: a state needs a classic Spark session, since its driver writes the folder"
    suggestion: ClassVar[str] = "run it where the driver is (--master)"
    path: str


@declared()
class NotInFolders(Diagnostic):
    """Something that a state in a folder does not offer."""

    title: ClassVar[str] = "{path} is a state in a folder, which offers no {what}"
    suggestion: ClassVar[str] = "{instead}"
    path: str
    what: str
    instead: str


@declared()
class NeedsProgram(Diagnostic):
    """Rows whose types the file does not tell well enough."""

    title: ClassVar[str] = (
        "{path}: {relation} cannot be exported: without the program, its values cannot be compared with "
        "those that are kept as texts"
    )
    suggestion: ClassVar[str] = "copy it to an output relation by a rule, and run the program with --output"
    path: str
    relation: str


@declared()
class NoHistory(Diagnostic):
    """An epoch of which the state keeps no record."""

    title: ClassVar[str] = "there is no record of epoch {epoch}: the state has {known}"
    epoch: int
    known: str


@declared()
class EpochExpected(Diagnostic):
    """A question about the past that names no epoch."""

    title: ClassVar[str] = "`{text}` names no epoch: expected its number, as in `{example}`"
    text: str
    example: str


@declared()
class NeedsState(Diagnostic):
    """Something that only a session with a state has."""

    title: ClassVar[str] = "{what} needs a session with a state"
    suggestion: ClassVar[str] = "give --state FILE"
    what: str


@declared()
class KeyOfSeveral(Diagnostic):
    """A primary key that the rows of a state do not have."""

    title: ClassVar[str] = "several rows of {relation} in the state have the same primary key"
    suggestion: ClassVar[str] = "leave the key as it was, or delete all of these rows but one first"
    relation: str
