"""A state in a folder, open: what was written, and how it grows and is folded.

The order of a commit: the rows of each relation are written to files that nothing names yet; the manifest
of the next number names them, and appears whole or not at all. Then the commit has happened. Files that no
manifest names are what a crash left, and go when the next writer opens the state.
"""

from __future__ import annotations

import threading
import uuid
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from ...durability.records import Stored
from ...errors.diagnostics import DDlogError
from ...errors.state import CannotUseState, NoState, NotAState, NotKeptOnDisk, ReadOnlyState, StateDamaged
from .files import Files
from .manifest import FolderSpan, Manifest, StoredFile, check_chain, number_of, unpacked
from .past import Piece
from .past import unpacked as unpacked_past
from .rows import check_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
_INSTEAD = "give a new folder, or one that --state made"
_OWN = frozenset({"log", "data", "lock", "streams"})


class Lock(Protocol):
    """Keeps other writers away."""

    def check(self) -> None:
        """Raises DDlogError if another session has taken the state over."""

    def release(self) -> None:
        """Gives the state to others."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Draft:
    """The folder of files to be named by a manifest. They stay as long as the draft is in use."""

    folder: str


class StateFolder:
    """An open state. `lock` orders the threads that write manifests."""

    def __init__(self, files: Files, manifest: Manifest, holder: Lock | None) -> None:
        self.files, self.manifest, self._holder = files, manifest, holder
        self.lock = threading.RLock()
        self._doubt = ""
        self._before: set[str] = set()  # the data of the manifest before the last fold: a reader may read it
        self._over: set[str] = set()  # older data
        self._drafts = weakref.WeakSet[Draft]()
        self._past: tuple[StoredFile | None, tuple[Piece, ...]] = None, ()

    @property
    def root(self) -> str:
        """The place of the folder."""
        return self.files.root

    @property
    def read_only(self) -> bool:
        """Whether the state is open for reading."""
        return self._holder is None

    @staticmethod
    def open(
        files: Files, holder: Callable[[], Lock] | None, spark: SparkSession | None, create: bool = True
    ) -> StateFolder:
        """The state in a folder, which is made if it is missing; `holder` None: for reading. All of it is
        checked. Raises DDlogError."""
        lock: Lock | None = None
        try:
            if holder is None:
                return _read(files, spark)
            if newest(files) is None and not create:
                raise DDlogError([NoState(files.root)])
            files.prepare()
            lock = holder()
            found = StateFolder(files, newest(files) or Manifest(), lock)
            if not found.manifest.number:
                found.publish(found.manifest)  # from now on, rows without a manifest have lost it
            found.check(spark)
            found.sweep(whole=True)
        except BaseException as error:
            if lock is not None:
                lock.release()
            if isinstance(error, OSError):
                raise DDlogError([CannotUseState(files.root, _text(error))]) from None
            raise
        return found

    def close(self) -> None:
        """Gives the state to others."""
        if self._holder is not None:
            self._holder.release()

    def check(self, spark: SparkSession | None) -> None:
        """Reads all files but those of the history, and compares them with what was written. Raises
        DDlogError and OSError."""
        check_chain(self.root, self.manifest)
        check_files(spark, self.files, list(self.manifest.files()))

    def past(self) -> tuple[Piece, ...]:
        """The history of the epochs that were folded. Raises DDlogError and OSError."""
        manifest = self.manifest
        if self._past[0] != manifest.past:
            self._past = manifest.past, past_of(self.files, manifest)
        return self._past[1]

    def all_files(self) -> dict[str, StoredFile]:
        """All files that are part of the state, by their names. Raises DDlogError and OSError."""
        with self.lock:
            past = [each for piece in self.past() for each in piece.files()]
            return {each.name: each for each in (*self.manifest.files(), *past)}

    # ------------------------------------------------------------- writing

    def draft(self) -> Draft:
        """A place for files that nothing names yet."""
        with self.lock:
            found = Draft(f"data/{self.manifest.number + 1:010d}-{uuid.uuid4().hex[:8]}")
            self._drafts.add(found)
            return found

    def discard(self, draft: Draft) -> None:
        """Deletes the files of a draft, unless it is not known whether a manifest names them."""
        if self._doubt:
            return
        with suppress(OSError):
            if self.files.folders(draft.folder) or self.files.sizes(draft.folder):
                self.files.delete(draft.folder)

    def extend(
        self, spans: Sequence[FolderSpan], program: Mapping[str, str], relations: Sequence[Stored]
    ) -> None:
        """Adds the changes of epochs as the last ones, or to what relations hold as of the last. Raises
        OSError and DDlogError; then the state is as before."""
        with self.lock:
            self.publish(replace(
                self.manifest, epoch=spans[-1].last, program=dict(program), relations=tuple(relations),
                spans=(*self.manifest.spans, *spans),
            ))  # fmt: skip

    def publish(self, manifest: Manifest) -> None:
        """Makes a manifest the state. Raises OSError and DDlogError; then the state is as before."""
        if self._holder is None:
            raise DDlogError([ReadOnlyState(self.root)])
        with self.lock:
            if self._doubt:
                raise DDlogError([NotKeptOnDisk(self.root, self._doubt)])
            self._holder.check()
            next = replace(manifest, number=self.manifest.number + 1)
            try:
                self.files.create(next.name, next.packed())
            except FileExistsError:
                self._doubt = "another session has written to it; open it again"
                raise DDlogError([NotKeptOnDisk(self.root, self._doubt)]) from None
            except BaseException as error:
                self._take_back(next.name, error)
                raise
            self.manifest, last = next, self.manifest
            with suppress(OSError):
                if last.number:
                    self.files.delete(last.name)

    def _take_back(self, name: str, error: BaseException) -> None:
        """Makes sure that a manifest that failed to be written is not there."""
        try:
            folder, _, last = name.rpartition("/")
            if last in self.files.sizes(folder):
                self.files.delete(name)
        except BaseException:
            self._doubt = f"it is not known whether the last commit was written ({error}); open it again"

    def replace(self, old: Sequence[FolderSpan], new: FolderSpan, past: StoredFile | None) -> None:
        """Lets one span stand for several that follow each other; `past` is the file that names the history.
        Raises OSError and DDlogError."""
        with self.lock:
            spans = self.manifest.spans
            start = spans.index(old[0])
            if spans[start : start + len(old)] != tuple(old):
                raise DDlogError([StateDamaged(self.root, "its spans are others than before", "")])
            kept = set(self.all_files())
            now = (*spans[:start], new, *spans[start + len(old) :])
            self.publish(replace(self.manifest, spans=now, past=past))
            self._over |= self._before
            self._before = kept
            self.sweep()

    def sweep(self, whole: bool = False) -> None:
        """Deletes manifests that are over, and files that nobody needs; `whole`: also those that an earlier
        writer left, and those of the manifest before the last fold. Does nothing where that fails: the files
        are only in the way."""
        with suppress(OSError), self.lock:
            for name in self.files.sizes("log"):
                number = number_of(name)
                if number is None or number < self.manifest.number:
                    self.files.delete(f"log/{name}")
            needed = self.all_files().keys() | (set() if whole else self._before)
            entries = {_entry(name) for name in needed}
            own = {entry.rpartition("/")[0] for entry in entries} | {each.folder for each in self._drafts}
            folders = [f"data/{each}" for each in self.files.folders("data")]
            for folder in folders:
                if folder not in own:
                    self.files.delete(folder)
            left = {_entry(name) for name in self._over - needed}
            if whole:
                for folder in own:
                    inside = [*self.files.folders(folder), *self.files.sizes(folder)]
                    left |= {f"{folder}/{each}" for each in inside}
            for entry in left - entries:
                if entry.rpartition("/")[0] in own:
                    self.files.delete(entry)
            self._over &= needed


def _entry(name: str) -> str:
    """The file, or the folder, of a draft in which a file is."""
    return "/".join(name.split("/")[:3])


def _read(files: Files, spark: SparkSession | None) -> StateFolder:
    """The state in a folder, to be read beside a writer."""

    def checked(manifest: Manifest) -> StateFolder:
        found = StateFolder(files, manifest, None)
        found.check(spark)
        return found

    return of_newest(files, checked)


def of_newest(files: Files, use: Callable[[Manifest], T]) -> T:
    """The result of a function of the newest manifest, whose files a writer may fold meanwhile: then of the
    next one. Raises what it raises, DDlogError and OSError."""
    while True:
        manifest = newest(files)
        if manifest is None:
            raise DDlogError([NoState(files.root)])
        try:
            return use(manifest)
        except (DDlogError, FileNotFoundError):
            now = newest(files)
            if now is None or now.number == manifest.number:
                raise


def past_of(files: Files, manifest: Manifest) -> tuple[Piece, ...]:
    """The history that a manifest names. Raises DDlogError and OSError."""
    known = manifest.past
    if known is None:
        return ()
    data = files.read(known.name)
    try:
        if zlib.crc32(data) != known.checksum:
            raise ValueError
        return unpacked_past(data)
    except (ValueError, KeyError, TypeError):
        raise DDlogError([StateDamaged(files.root, f"{known.name} is not what was written", "")]) from None


def newest(files: Files) -> Manifest | None:
    """The state in a folder; None if the folder is missing or empty. Raises DDlogError for a folder of other
    files, and for a manifest that is not what was written; and OSError."""
    numbers = [n for n in map(number_of, files.sizes("log")) if n is not None]
    if not numbers:
        others = [*files.sizes(""), *files.folders("")]
        foreign = sorted(name for name in others if name.partition(".")[0] not in _OWN)
        if foreign:
            raise DDlogError(
                [NotAState(files.root, f"it is a folder with other files, such as {foreign[0]}", _INSTEAD)]
            )
        if files.folders("data"):
            raise DDlogError([StateDamaged(files.root, "there are rows, and no manifest in log/", "")])
        return None
    name = Manifest(max(numbers)).name
    try:
        found = unpacked(files.root, name, files.read(name))
    except FileNotFoundError:  # a writer went on
        return newest(files)
    if found.name != name:
        raise DDlogError([StateDamaged(files.root, f"{name} is not what was written", "")])
    return found


def _text(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
