"""The store of a state: relations, spans of epochs and their rows in one file of SQLite.

    part:  rows of a relation    rows of a relation    rows of a relation …
           └──────────── span: epochs 1 to 7 ────────┘└─ span: epoch 8 ─ …      head: epoch 8

A commit writes its rows, a span and the head in one transaction of SQLite, which is on disk when it returns
(write-ahead log, synchronous=FULL). `docs/state.md` says what that promises.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.state import CheckpointDamaged, NoState, NotAState, ReadOnlyState, StateDamaged
from . import records
from .lock import StateLock
from .mark import is_marked, lacks_log, mark, unmark
from .parts import checksum, packed, part_checksum, sliced
from .records import EpochSpan, StateHead, Stored, applied_row, own_sums, relation_row, span_row, stored_of
from .rowreader import ReadableState
from .statefile import check_header, connected, diagnosed, reachable
from .typetexts import is_readable
from .walog import PAGE

if TYPE_CHECKING:
    import pyarrow as pa

_PAGES_OF_ONE = 4  # of SQLite's log for a small transaction
_MOST_REMOVED = 2 << 20  # bytes of parts that one transaction removes
_FREE_PAGES = 1024  # that stay in the file, for the spans to come
_MOMENT, _MOMENTS = 0.0001, 1000  # seconds that a thread gives way, and how often

Mark = tuple[StateHead, int, int, list[Stored]]


class FileStore(ReadableState):
    """An open state. All methods but `open` are for one thread at a time; `lock` orders threads."""

    def __init__(self, path: Path, base: sqlite3.Connection, state_lock: StateLock | None) -> None:
        super().__init__(path, base)
        self._state_lock = state_lock
        self._files = (0, 0) if self.read_only else _numbers(path)
        self._end = weakref.finalize(self, _ended, path, base, self.lock, not self.read_only, os.getpid())
        self._holds_back = False
        self._is_marked = is_marked(base)
        self.wanted = False
        """Whether a thread waits to write."""
        self.written = 0
        """The bytes of the spans that were written since the state was opened."""
        self.logged = 0
        """The bytes, about, that were written to SQLite's log since it was last brought into the file."""
        self.doubt = ""
        """The first fault that a session found in the checkpoint that it began with; empty: none."""
        self._next_span = self._next_part = 1
        self._keys: int | None = None  # of requests; None: they were not counted yet

    # ------------------------------------------------------------- opening

    @staticmethod
    def open(path: str | Path, *, read_only: bool = False, create: bool = True) -> FileStore:
        """The state in a file, which is made if it is missing. Raises DDlogError."""
        place = Path(os.path.realpath(path))  # which takes links in a circle
        present = place.exists() and place.stat().st_size > 0 if reachable(place) else False
        if not present and (read_only or not create):
            raise DDlogError([NoState(str(path))])
        if place.is_dir():
            reason = "it is a folder, and a session in process keeps its state in a file"
            instead = "give a file, or let Spark run it (--engine spark), which keeps its state in folders"
            raise DDlogError([NotAState(str(path), reason, instead)])
        if present:
            check_header(place)  # before there is a lock beside it
        state_lock = None if read_only else StateLock(place)
        try:
            return _loaded(place, connected(place, read_only, present), state_lock)
        except BaseException as error:
            if state_lock is not None:
                state_lock.release()
            if isinstance(error, sqlite3.Error):
                raise diagnosed(place, error) from None
            if isinstance(error, ValueError | TypeError | OverflowError):  # a text or number that is none
                raise DDlogError([StateDamaged(str(place), str(error), "")]) from None
            raise

    def close(self) -> None:
        """Closes the file, and gives it to others."""
        self._end()
        if self._state_lock is not None:
            self._state_lock.release()

    def doubted(self, problem: str) -> DDlogError:
        """The error of a checkpoint that does not hold what the program derives. Notes the first such problem
        as `doubt`."""
        self.doubt = self.doubt or problem
        return DDlogError([CheckpointDamaged(str(self.path), self.doubt, self.read_only)])

    def let_go(self) -> None:
        """Ends the snapshot of a state that is open for reading, so that a writer can tidy up."""
        with self.reading():
            if self.read_only and self._base.in_transaction:
                self._base.execute("COMMIT")

    @property
    def read_only(self) -> bool:
        """Whether the state is open for reading."""
        return self._state_lock is None

    # ------------------------------------------------------------- writing

    @contextmanager
    def writing(self, aside: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction of SQLite, which is on disk when it ends. `aside`: it lets others that wait to write
        go first. Raises OSError and sqlite3.Error; then nothing is written."""
        if self.read_only:
            raise DDlogError([ReadOnlyState(str(self.path))])
        if aside:
            self.give_way()
        else:
            self.wanted = True
        with self.lock:
            if not aside:
                self.wanted = False
            before = self.mark()
            try:
                self._begin()
                yield self.base
                self._commit()
            except BaseException:
                self.undo(before)
                raise

    def mark(self) -> Mark:
        """A point to go back to by `undo`."""
        return self.head, self._next_span, self._next_part, self.relations

    def undo(self, before: Mark) -> None:
        """Takes back what was written since a point, and is not on disk."""
        with suppress(sqlite3.Error):
            self._base.execute("ROLLBACK TO here" if self._holds_back else "ROLLBACK")
        self.head, self._next_span, self._next_part, self.relations = before

    def _begin(self) -> None:
        self._check_place()
        if self._holds_back and not self._base.in_transaction:
            self._base.execute("BEGIN IMMEDIATE")
        self._base.execute("SAVEPOINT here" if self._holds_back else "BEGIN IMMEDIATE")
        if not self._is_marked:
            mark(self._base)

    def _commit(self) -> None:
        """Ends a transaction: it is on disk, or held back."""
        self._base.execute("RELEASE here" if self._holds_back else "COMMIT")
        self.logged += _PAGES_OF_ONE * PAGE
        if not self._is_marked and not self._holds_back:
            self._is_marked = True
            with suppress(sqlite3.Error):  # the mark is to be in the file itself
                self._base.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def hold_back(self) -> None:
        """Lets nothing that is written from now on last before `finish`."""
        self._holds_back = True

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Writes inside the block go to disk together, or not at all. Raises OSError and sqlite3.Error."""
        self.hold_back()
        try:
            yield
            self.finish()
        finally:
            self._holds_back = False
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")

    def finish(self) -> None:
        """Puts on disk what was held back. Raises OSError and sqlite3.Error."""
        with self.lock:
            if self._base.in_transaction:
                self._check_place()
                self._base.execute("COMMIT")

    def append(
        self,
        first: int,
        last: int,
        batches: Mapping[int, pa.RecordBatch],
        applied: Sequence[tuple[str, int]] = (),
    ) -> None:
        """Writes the changes of epochs, by the relation's id, as the last ones. Raises OSError and
        sqlite3.Error; then nothing is written."""
        rows = [
            (relation, each.num_rows, packed(each))
            for relation, batch in batches.items()
            for each in sliced(batch)
        ]
        with self.writing() as base:
            self.add_span(first, last, "epochs", self.add_parts(rows))
            forgotten = 0
            if applied:
                base.executemany(
                    "INSERT INTO applied VALUES (?, ?, ?)", [applied_row(*each) for each in applied]
                )
                forgotten = self._forget_keys(sum(id.startswith(records.KEY) for id, _ in applied))
            self.set_head(StateHead(last, self.head.spans, self.head.applied + len(applied) - forgotten))

    def _forget_keys(self, added: int) -> int:
        """Deletes the oldest keys of requests, some thousand at a time, inside `writing`; their number."""
        before, self._keys = self._keys, None  # not known if the epoch is not written
        kept = "id >= ? AND id < ?", (records.KEY, records.KEY + "\uffff")
        if before is None:
            (count,) = self._base.execute(f"SELECT count(*) FROM applied WHERE {kept[0]}", kept[1]).fetchone()
        else:
            count = before + added
        many = count - records.LAST_KEYS
        forgotten = many if many > records.LAST_KEYS // 8 else 0
        if forgotten:
            oldest = f"SELECT rowid FROM applied WHERE {kept[0]} ORDER BY rowid LIMIT ?"
            self._base.execute(f"DELETE FROM applied WHERE rowid IN ({oldest})", (*kept[1], forgotten))
        self._keys = count - forgotten
        return forgotten

    def add_parts(self, rows: Sequence[tuple[int, int, bytes]]) -> tuple[int, int, int, tuple[int, ...]]:
        """Writes parts, inside `writing`: the relation's id, the number of rows and the data of each. Returns
        the first id, their number and bytes, and their checksums."""
        start, size, sums = self._next_part, 0, []
        for id, (relation, count, data) in enumerate(rows, start):
            known = part_checksum(data, relation, count)
            self._base.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", (id, relation, count, known, data))
            sums.append(known)
            size += len(data)
        self._next_part += len(rows)
        self.logged += size
        return start, len(rows), size, tuple(sums)

    def reserve(self, count: int) -> int:
        """The first of so many ids of parts, which are for the caller."""
        with self.lock:
            start = self._next_part
            self._next_part += count
        return start

    def put_part(self, id: int, relation: int, rows: int, data: bytes) -> int:
        """Writes a part of which no span knows yet, in a transaction of its own. Returns its checksum."""
        known = part_checksum(data, relation, rows)
        with self.writing(aside=True) as base:
            base.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", (id, relation, rows, known, data))
        self.logged += len(data)
        return known

    def replace_spans(self, spans: Sequence[EpochSpan], parts: tuple[int, int, int, tuple[int, ...]]) -> None:
        """Lets a new span stand for spans that follow each other. The old ones stay. Raises OSError and
        sqlite3.Error; then nothing is written."""
        epochs = [span for span in spans if span.kind == "epochs"]
        with self.reading():
            sums = self.sums(spans)
        rows = [(span_row(replace(span, folded=True), own_sums(span, sums))[-1], span.id) for span in spans]
        with self.writing(aside=True) as base:
            base.executemany("UPDATE span SET folded = 1, checksum = ? WHERE id = ?", rows)
            self.add_span(epochs[0].first, epochs[-1].last, "epochs", parts)
            self.set_head(self.head)

    def give_way(self) -> None:
        """Lets commits that wait go first. A thread that writes over and over would take the lock again
        before they get it."""
        for _ in range(_MOMENTS):
            if not self.wanted:
                break
            time.sleep(_MOMENT)

    def remove_spans(self, spans: Sequence[EpochSpan]) -> None:
        """Removes spans, inside `writing`. Their parts are for `remove_parts`, or go when the state is opened
        the next time."""
        self._base.executemany("DELETE FROM span WHERE id = ?", [(span.id,) for span in spans])
        self.set_head(StateHead(self.head.epoch, self.head.spans - len(spans), self.head.applied))

    def remove_parts(self, spans: Sequence[EpochSpan]) -> Iterator[None]:
        """Removes the parts of spans that are removed, some at a time, so that no commit waits long."""
        first, end, size = 0, 0, 0
        for span in sorted(spans, key=lambda each: each.part_from):
            for part in range(span.part_from, span.part_from + span.parts):
                if size and (part != end or size + span.bytes // span.parts > _MOST_REMOVED):
                    self._delete_parts(first, end)
                    yield
                    size = 0
                if not size:
                    first = part
                end = part + 1
                size += span.bytes // span.parts + PAGE
        if size:
            self._delete_parts(first, end)
            yield

    def _delete_parts(self, first: int, end: int) -> None:
        with self.writing(aside=True) as base:
            base.execute("DELETE FROM part WHERE id >= ? AND id < ?", (first, end))
        self.logged += (end - first) * PAGE

    def give_back(self, pages: int) -> bool:
        """Gives some free pages of the file back if there are many, and returns whether there were."""
        self.give_way()
        with self.lock:
            free = self._base.execute("PRAGMA freelist_count").fetchone()[0]
            whole = self._base.execute("PRAGMA page_count").fetchone()[0]
            if free <= max(_FREE_PAGES, whole // 4):
                return False
            self._base.executescript(f"PRAGMA incremental_vacuum({pages})")  # `execute` would free one page
        return True

    def add_span(
        self,
        first: int,
        last: int,
        kind: str,
        parts: tuple[int, int, int, tuple[int, ...]],
        at: float | None = None,
    ) -> None:
        """Writes a span, inside `writing`; `at` is its time, None: now."""
        start, count, size, sums = parts
        written = time.time() if at is None else at
        span = EpochSpan(self._next_span, first, last, kind, False, written, start, count, size)
        self._base.execute("INSERT INTO span VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", span_row(span, sums))
        self._next_span += 1
        self.written += size
        self.head = StateHead(self.head.epoch, self.head.spans + 1, self.head.applied)

    def set_head(self, head: StateHead) -> None:
        """Writes the head, inside `writing`."""
        self.head = head
        fields = head.epoch, head.spans, head.applied
        self._base.execute(
            "UPDATE head SET epoch = ?, spans = ?, applied = ?, checksum = ?", (*fields, checksum(*fields))
        )

    def add_relation(self, stored: Stored) -> Stored:
        """Writes a relation, inside `writing`, and returns it with its id."""
        found = replace(stored, id=max((each.id for each in self.relations), default=0) + 1)
        self._base.execute("INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", relation_row(found))
        self.relations = [*self.relations, found]
        return found

    def change_relation(self, stored: Stored) -> None:
        """Writes what is known of a relation anew, inside `writing`."""
        self._base.execute("REPLACE INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", relation_row(stored))
        self.relations = [stored if each.id == stored.id else each for each in self.relations]

    def forget_relation(self, stored: Stored) -> None:
        """Removes a relation of which no rows are left, inside `writing`: another one may get its id."""
        self._base.execute("DELETE FROM relation WHERE id = ?", (stored.id,))
        self.relations = [each for each in self.relations if each.id != stored.id]

    def set_program(self, texts: Mapping[str, str]) -> None:
        """Writes the texts of the program, inside `writing`."""
        self._base.executemany(
            "REPLACE INTO program VALUES (?, ?, ?)", [(k, v, checksum(v)) for k, v in texts.items()]
        )

    # ------------------------------------------------------------- the file

    def _check_place(self) -> None:
        """Raises OSError if the file, or SQLite's log, is not where it was: what is written would be lost."""
        if _numbers(self.path) != self._files:
            raise OSError(0, "another file has taken its place")

    def load(self) -> None:
        """Reads the head and the relations. Raises DDlogError."""
        with self.reading():
            heads = self._base.execute("SELECT epoch, spans, applied, checksum FROM head").fetchall()
            rows = self._base.execute("SELECT * FROM relation ORDER BY id").fetchall()
            last = self._base.execute("SELECT max(id) FROM span").fetchone()[0]
            part = self._base.execute("SELECT max(id) FROM part").fetchone()[0]
        numbers = heads[0][:3] if len(heads) == 1 else ()
        is_head = len(numbers) == 3 and all(isinstance(each, int) and each >= 0 for each in numbers)
        if not is_head or checksum(*numbers) != heads[0][3]:
            raise self.damaged("its head is not what was written")
        self.head = StateHead(*numbers)
        self._next_span, self._next_part = (last or 0) + 1, (part or 0) + 1
        if not self.read_only:
            self._remove_orphans()
        self.relations = []
        for row in rows:
            stored = stored_of(row)
            if stored is None or relation_row(stored)[-1] != row[-1] or not is_readable(stored):
                raise self.damaged(f"the description of the relation {row[1]} is not what was written")
            self.relations.append(stored)

    def _remove_orphans(self) -> None:
        """Removes the parts of folds that did not come to their end. Raises DDlogError if a span is not what
        was written: its parts would look like those."""
        with self.reading():
            known = self._base.execute("SELECT sum(parts) FROM span").fetchone()[0] or 0
            there = self._base.execute("SELECT count(*) FROM part").fetchone()[0]
            if known >= there:
                return
            ids = [id for (id,) in self._base.execute("SELECT id FROM part")]
        if not all(isinstance(id, int) and id > 0 for id in ids):
            raise self.damaged("its parts are not what was written")
        used = {id for span in self.spans() for id in range(span.part_from, span.part_from + span.parts)}
        parts = [(id,) for id in ids if id not in used]
        with self.writing() as base:
            base.executemany("DELETE FROM part WHERE id = ?", parts)


def _numbers(path: Path) -> tuple[int, int]:
    """The numbers by which the system knows the file of a state, and SQLite's log. Raises OSError."""
    return os.stat(path).st_ino, os.stat(f"{path}-wal").st_ino


def _ended(path: Path, base: sqlite3.Connection, lock: threading.RLock, writes: bool, process: int) -> None:
    """Closes the file of a store, also of one that was forgotten; not in a process that was forked."""
    if os.getpid() != process:
        return
    with lock:
        with suppress(sqlite3.Error):
            if writes and base.in_transaction:
                base.execute("ROLLBACK")
            if writes:
                unmark(base)
        with suppress(sqlite3.Error):
            base.close()
    with suppress(OSError):
        if writes and lacks_log(path):  # it could not be unmarked, and has all commits
            Path(f"{path}-wal").touch()


def _loaded(path: Path, base: sqlite3.Connection, state_lock: StateLock | None) -> FileStore:
    try:
        store = FileStore(path, base, state_lock)
        store.load()
        return store
    except BaseException:
        base.close()
        raise
