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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors.diagnostics import DDlogError
from ..errors.state import CannotUseState, NewerState, NoState, NotAState, ReadOnlyState, StateDamaged
from . import connections
from .holding import Holding, is_held
from .parts import checksum, packed, part_checksum, sliced, unpacked
from .schema import APPLICATION, TABLES, VERSION
from .walog import PAGE, commits_in, frames_taken

if TYPE_CHECKING:
    import pyarrow as pa

_PAGES_OF_ONE = 4  # of SQLite's log for a small transaction
_MOST_REMOVED = 2 << 20  # bytes of parts that one transaction removes
_FREE_PAGES = 1024  # that stay in the file, for the spans to come
_MOMENT, _MOMENTS = 0.0001, 1000  # seconds that a thread gives way, and how often

Mark = tuple["Head", int, int, list["Stored"]]


@dataclass(frozen=True, slots=True)
class Stored:
    """A relation of a state. See the table `relation`."""

    id: int
    name: str
    kind: str
    role: str
    keyed: bool
    columns: tuple[tuple[str, str], ...]
    types: tuple[str, ...]
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """The place of the changes of some epochs. See the table `span`."""

    id: int
    first: int
    last: int
    kind: str
    folded: bool
    time: float
    part_from: int
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Head:
    """How far a state is."""

    epoch: int
    spans: int
    applied: int


class Writing:
    """See `Store.writing`. A class, since a generator would take much of the time of a small commit."""

    __slots__ = ("_aside", "_before", "_store")

    def __init__(self, store: Store, aside: bool) -> None:
        self._store, self._aside = store, aside

    def __enter__(self) -> sqlite3.Connection:
        store = self._store
        if self._aside:
            store.give_way()
            store.lock.acquire()
        else:
            store.wanted = True
            store.lock.acquire()
            store.wanted = False
        self._before = self._store.mark()
        try:
            self._store.begin()
        except BaseException:
            self._store.undo(self._before)
            self._store.lock.release()
            raise
        return self._store.base

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if error is None:
                self._store.end()
            else:
                self._store.undo(self._before)
        except BaseException:
            self._store.undo(self._before)
            raise
        finally:
            self._store.lock.release()


class Store:
    """An open state. All methods but `open` are for one thread at a time; `lock` orders threads."""

    def __init__(self, path: Path, base: sqlite3.Connection, holding: Holding | None) -> None:
        self.path, self.lock = path, threading.RLock()
        self._base, self._holding = base, holding
        self._file = os.stat(path).st_ino
        self._holds_back = False
        self.wanted = False
        """Whether a thread waits to write."""
        self.written = 0
        """The bytes of the spans that were written since the state was opened."""
        self.logged = 0
        """The bytes, about, that were written to SQLite's log since it was last brought into the file."""
        self.head = Head(0, 0, 0)
        self._next_span = self._next_part = 1
        self.relations: list[Stored] = []

    # ------------------------------------------------------------- opening

    @staticmethod
    def open(path: str | Path, *, read_only: bool = False, create: bool = True) -> Store:
        """The state in a file, which is made if it is missing. Raises DDlogError."""
        place = Path(path).resolve()
        present = place.exists() and place.stat().st_size > 0 if _reachable(place) else False
        if not present and (read_only or not create):
            raise DDlogError([NoState(str(path))])
        if place.is_dir():
            reason = "it is a folder, and a session in process keeps its state in a file"
            instead = "give a file, or let Spark run it (--engine spark), which keeps its state in folders"
            raise DDlogError([NotAState(str(path), reason, instead)])
        if present:
            _check_header(place)  # before there is a lock beside it
        holding = None if read_only else Holding(place)
        try:
            return _opened(place, read_only, present, holding)
        except BaseException as error:
            if holding is not None:
                holding.release()
            if isinstance(error, sqlite3.Error):
                raise _diagnosed(place, error) from None
            if isinstance(error, ValueError | TypeError | OverflowError):  # a text or number that is none
                raise DDlogError([StateDamaged(str(place), str(error), "")]) from None
            raise

    def close(self) -> None:
        """Closes the file, and gives it to others."""
        with self.lock, suppress(sqlite3.Error):
            self._base.close()
        if self._holding is not None:
            self._holding.release()

    def let_go(self) -> None:
        """Ends the snapshot of a state that is open for reading, so that a writer can tidy up."""
        with self.reading():
            if self.read_only and self._base.in_transaction:
                self._base.execute("COMMIT")

    @property
    def read_only(self) -> bool:
        """Whether the state is open for reading."""
        return self._holding is None

    # ------------------------------------------------------------- writing

    def writing(self, aside: bool = False) -> Writing:
        """A transaction of SQLite, which is on disk when it ends. `aside`: it lets others that wait to write
        go first. Raises OSError and sqlite3.Error; then nothing is written."""
        if self.read_only:
            raise DDlogError([ReadOnlyState(str(self.path))])
        return Writing(self, aside)

    def mark(self) -> Mark:
        """What `undo` takes, for `Writing`."""
        return self.head, self._next_span, self._next_part, self.relations

    def begin(self) -> None:
        """Begins a transaction, for `Writing`."""
        self._check_place()
        if self._holds_back and not self._base.in_transaction:
            self._base.execute("BEGIN IMMEDIATE")
        self._base.execute("SAVEPOINT here" if self._holds_back else "BEGIN IMMEDIATE")

    def end(self) -> None:
        """Ends a transaction, for `Writing`: it is on disk, or held back."""
        self._base.execute("RELEASE here" if self._holds_back else "COMMIT")
        self.logged += _PAGES_OF_ONE * PAGE

    def undo(self, before: Mark) -> None:
        """Takes a transaction back, for `Writing`."""
        with suppress(sqlite3.Error):
            self._base.execute("ROLLBACK TO here" if self._holds_back else "ROLLBACK")
        self.head, self._next_span, self._next_part, self.relations = before

    def hold_back(self) -> None:
        """Lets nothing that is written from now on last before `finish`."""
        self._holds_back = True

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
            if applied:
                base.executemany("INSERT INTO applied VALUES (?, ?)", applied)
            self.set_head(Head(last, self.head.spans, self.head.applied + len(applied)))

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

    def replace_spans(self, spans: Sequence[Span], parts: tuple[int, int, int, tuple[int, ...]]) -> None:
        """Lets a new span stand for spans that follow each other. The old ones stay. Raises OSError and
        sqlite3.Error; then nothing is written."""
        epochs = [span for span in spans if span.kind == "epochs"]
        with self.reading():
            sums = self._sums(spans)
        rows = [(_span_row(replace(span, folded=True), _own(span, sums))[-1], span.id) for span in spans]
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

    def remove_spans(self, spans: Sequence[Span]) -> None:
        """Removes spans, inside `writing`. Their parts are for `remove_parts`, or go when the state is opened
        the next time."""
        self._base.executemany("DELETE FROM span WHERE id = ?", [(span.id,) for span in spans])
        self.set_head(Head(self.head.epoch, self.head.spans - len(spans), self.head.applied))

    def remove_parts(self, spans: Sequence[Span]) -> Iterator[None]:
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

    def rows_of(self, spans: Sequence[Span]) -> int:
        """The number of rows of spans."""
        rows = dict(self._base.execute("SELECT id, rows FROM part"))
        return sum(
            rows.get(id, 0) for span in spans for id in range(span.part_from, span.part_from + span.parts)
        )

    def _sums(self, spans: Sequence[Span]) -> dict[int, int]:
        """The checksums of the parts of spans, by id."""
        first = min(span.part_from for span in spans)
        last = max(span.part_from + span.parts for span in spans)
        return dict(
            self._base.execute("SELECT id, checksum FROM part WHERE id BETWEEN ? AND ?", (first, last))
        )

    def add_span(
        self, first: int, last: int, kind: str, parts: tuple[int, int, int, tuple[int, ...]]
    ) -> None:
        """Writes a span, inside `writing`."""
        start, count, size, sums = parts
        span = Span(self._next_span, first, last, kind, False, time.time(), start, count, size)
        self._base.execute("INSERT INTO span VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _span_row(span, sums))
        self._next_span += 1
        self.written += size
        self.head = Head(self.head.epoch, self.head.spans + 1, self.head.applied)

    def set_head(self, head: Head) -> None:
        """Writes the head, inside `writing`."""
        self.head = head
        fields = head.epoch, head.spans, head.applied
        self._base.execute(
            "UPDATE head SET epoch = ?, spans = ?, applied = ?, checksum = ?", (*fields, checksum(*fields))
        )

    def add_relation(self, stored: Stored) -> Stored:
        """Writes a relation, inside `writing`, and returns it with its id."""
        found = replace(stored, id=max((each.id for each in self.relations), default=0) + 1)
        self._base.execute("INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _relation_row(found))
        self.relations = [*self.relations, found]
        return found

    def change_relation(self, stored: Stored) -> None:
        """Writes what is known of a relation anew, inside `writing`."""
        self._base.execute("REPLACE INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _relation_row(stored))
        self.relations = [stored if each.id == stored.id else each for each in self.relations]

    def forget_relation(self, stored: Stored) -> None:
        """Removes a relation of which no rows are left, inside `writing`."""
        self._base.execute("DELETE FROM relation WHERE id = ?", (stored.id,))
        self.relations = [each for each in self.relations if each.id != stored.id]

    def set_program(self, texts: Mapping[str, str]) -> None:
        """Writes the texts of the program, inside `writing`."""
        self._base.executemany(
            "REPLACE INTO program VALUES (?, ?, ?)", [(k, v, checksum(v)) for k, v in texts.items()]
        )

    # ------------------------------------------------------------- reading

    def program(self) -> dict[str, str]:
        """The texts of the program that last used the state. Raises DDlogError."""
        found = {}
        with self.reading():
            rows = self._base.execute("SELECT name, value, checksum FROM program").fetchall()
        for name, value, known in rows:
            if checksum(value) != known:
                raise self.damaged("the text of the program is not what was written")
            found[name] = value
        return found

    def spans(self) -> list[Span]:
        """All spans, the oldest first. Raises DDlogError if they are not what was written."""
        return self._spans()[0]

    def _spans(self) -> tuple[list[Span], Head]:
        """All spans, and the head of that moment: other threads go on."""
        with self.reading():
            head = self.head
            rows = self._base.execute("SELECT * FROM span ORDER BY id").fetchall()
            sums = dict(self._base.execute("SELECT id, checksum FROM part"))
        found = []
        for row in rows:
            id, first, last, kind, folded, *rest = row[:9]
            span = Span(id, first, last, kind, bool(folded), *rest)
            if _span_row(span, _own(span, sums))[-1] != row[-1]:
                raise self.damaged(
                    f"the record of the epochs {span.first} to {span.last} is not what was written"
                )
            found.append(span)
        if len(found) != head.spans:
            raise self.damaged(f"{head.spans} records were written, and {len(found)} are there")
        return found, head

    def current(self) -> list[Span]:
        """The spans whose sum is the state, in order. Raises DDlogError if an epoch is missing."""
        spans, head = self._spans()
        found = sorted((each for each in spans if not each.folded), key=lambda each: (each.last, each.id))
        reached = 0
        for span in found:
            if span.kind == "epochs":
                if span.first != reached + 1:
                    raise self.damaged(f"the epochs after {reached} are missing")
                reached = span.last
        if reached != head.epoch:
            raise self.damaged(f"the epochs {reached + 1} to {head.epoch} are missing")
        return found

    def tables(self, span: Span, relations: set[int] | None = None) -> Iterator[tuple[int, pa.Table]]:
        """The rows of a span, of all relations or of some. Raises DDlogError."""
        query = "SELECT relation, rows, checksum, data FROM part WHERE id BETWEEN ? AND ? ORDER BY id"
        with self.reading():
            rows = self._base.execute(query, (span.part_from, span.part_from + span.parts - 1)).fetchall()
        for relation, *row in rows:
            wanted = relations is None or relation in relations
            table = self._table(relation, row, _of(span.first, span.last), wanted)
            if table is not None:
                yield relation, table

    def rows(self, spans: Sequence[Span], relation: int) -> Iterator[pa.Table]:
        """The rows of a relation in spans, in their order. Raises DDlogError."""
        query = "SELECT rows, checksum, data FROM part WHERE id BETWEEN ? AND ? AND relation = ? ORDER BY id"
        for first, last in _ranges(spans):
            with self.reading():
                found = self._base.execute(query, (first, last, relation))
            while True:
                with self.reading():
                    rows = found.fetchmany(64)
                if not rows:
                    break
                for row in rows:
                    table = self._table(relation, row, _of(spans[0].first, spans[-1].last))
                    assert table is not None
                    yield table

    def _table(self, relation: int, row: Sequence[Any], where: str, wanted: bool = True) -> pa.Table | None:
        """The rows of a part, from their number, checksum and data; None if they are not wanted. Raises
        DDlogError if they are not what was written."""
        rows, known, data = row
        if part_checksum(data, relation, rows) != known:
            raise self.damaged(f"rows of {self.name_of(relation)} {where} are not what was written")
        try:
            return unpacked(data) if wanted else None
        except ValueError as error:
            raise self.damaged(f"rows of {self.name_of(relation)} {where}: {error}") from None

    def check(self, span: Span) -> None:
        """Reads the rows of a span. Raises DDlogError if they are not what was written."""
        for id in range(span.part_from, span.part_from + span.parts):
            with self.reading():
                query = "SELECT relation, rows, checksum, data FROM part WHERE id = ?"
                row = self._base.execute(query, (id,)).fetchone()
            if row is None or part_checksum(row[3], row[0], row[1]) != row[2]:
                name = self.name_of(row[0]) if row is not None else "a relation"
                raise self.damaged(f"rows of {name} {_of(span.first, span.last)} are not what was written")

    def name_of(self, relation: int) -> str:
        """The name of a relation by its id."""
        return next((each.name for each in self.relations if each.id == relation), f"relation {relation}")

    def relation(self, name: str) -> Stored | None:
        """The relation of the program with a name."""
        return next((each for each in self.relations if each.name == name and not each.dropped), None)

    def applied(self) -> set[str]:
        """The ids of updates that are applied. Raises DDlogError."""
        with self.reading():
            count, found = self.head.applied, {id for (id,) in self._base.execute("SELECT id FROM applied")}
        if len(found) != count:
            raise self.damaged(f"{count} ids of updates were written, and {len(found)} are there")
        return found

    def damaged(self, problem: str, left: str = "") -> DDlogError:
        """The error of a file that is not what was written."""
        told = left or "`ddlog state FILE --check` says what is lost and what can be had"
        return DDlogError([StateDamaged(str(self.path), problem, told)])

    @property
    def base(self) -> sqlite3.Connection:
        """The connection, for questions and for work inside `writing`."""
        return self._base

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Questions to the connection are asked inside. Raises DDlogError for what SQLite cannot read."""
        try:
            with self.lock:
                yield
        except (sqlite3.Error, UnicodeError) as error:
            raise self.damaged(str(error)) from None

    def _check_place(self) -> None:
        """Raises OSError if the file is not where it was: what is written would be lost."""
        if os.stat(self.path).st_ino != self._file:
            raise OSError(0, "another file has taken its place")

    def load(self) -> None:
        """Reads the head and the relations. Raises DDlogError."""
        with self.reading():
            heads = self._base.execute("SELECT epoch, spans, applied, checksum FROM head").fetchall()
            rows = self._base.execute("SELECT * FROM relation ORDER BY id").fetchall()
            last = self._base.execute("SELECT max(id) FROM span").fetchone()[0]
            part = self._base.execute("SELECT max(id) FROM part").fetchone()[0]
        if len(heads) != 1 or checksum(*heads[0][:3]) != heads[0][3]:
            raise self.damaged("its head is not what was written")
        self.head = Head(*heads[0][:3])
        self._next_span, self._next_part = (last or 0) + 1, (part or 0) + 1
        if not self.read_only:
            self._remove_orphans()
        self.relations = []
        for row in rows:
            stored = _stored(row)
            if stored is None or _relation_row(stored)[-1] != row[-1]:
                raise self.damaged(f"the description of the relation {row[1]} is not what was written")
            self.relations.append(stored)

    def _remove_orphans(self) -> None:
        """Removes the parts of folds that did not come to their end."""
        with self.reading():
            known = self._base.execute("SELECT sum(parts) FROM span").fetchone()[0] or 0
            there = self._base.execute("SELECT count(*) FROM part").fetchone()[0]
            if known >= there:
                return
            spans = self._base.execute("SELECT part_from, parts FROM span")
            used = {id for start, count in spans for id in range(start, start + count)}
            parts = [(id,) for (id,) in self._base.execute("SELECT id FROM part") if id not in used]
        with self.writing() as base:
            base.executemany("DELETE FROM part WHERE id = ?", parts)


def _reachable(path: Path) -> bool:
    try:
        path.exists()
    except OSError as error:
        raise DDlogError([CannotUseState(str(path), error.strerror or str(error))]) from None
    return True


def _opened(path: Path, read_only: bool, present: bool, holding: Holding | None) -> Store:
    commits = [] if read_only and is_held(path) else commits_in(path)  # a writer is not after a crash
    if commits and not present:
        raise DDlogError([StateDamaged(str(path), "it is empty, and SQLite's log is not", "")])
    base = connections.connect(path, read_only)
    try:
        if present:
            _check_kind(path, base)
        if not read_only:
            if commits:
                frames = base.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
                _check_log(path, commits, frames)
            _prepare(base, present)
        else:
            base.execute("BEGIN")  # one snapshot, whatever a writer does meanwhile
            frames = frames_taken(path)
            if commits and frames is not None and commits_in(path) == commits:
                _check_log(path, commits, frames)
        store = Store(path, base, holding)
        store.load()
        return store
    except BaseException:
        base.close()
        raise


def _check_header(path: Path) -> None:
    """Raises DDlogError for a file that is surely no state. A new state may have one page without a mark, and
    what is in SQLite's log or journal is not in it yet."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise DDlogError([CannotUseState(str(path), error.strerror or str(error))]) from None
    if len(head) < 100 or any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal")):
        return
    if not head.startswith(b"SQLite format 3\0"):
        raise DDlogError([NotAState(str(path), "it is no database of SQLite")])
    pages, application = (int.from_bytes(head[at : at + 4], "big") for at in (28, 68))
    if application != APPLICATION and (application or pages > 1):
        raise DDlogError([NotAState(str(path), "it is a database of another program")])


def _check_log(path: Path, commits: list[int], frames: int) -> None:
    """Raises DDlogError if SQLite takes fewer frames of its log than were on disk."""
    lost = sum(number > frames for number in commits)
    if lost > 1:
        problem = f"{lost} commits in {path.name}-wal are not what was written"
        raise DDlogError(
            [StateDamaged(str(path), problem, "without that file, the commits before it are left")]
        )


def _prepare(base: sqlite3.Connection, present: bool) -> None:
    if not present:
        base.execute(f"PRAGMA page_size = {PAGE}")
        base.execute("PRAGMA auto_vacuum = INCREMENTAL")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = FULL")
    base.execute("PRAGMA wal_autocheckpoint = 0")  # the keeper does it, where no commit waits
    if present and base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    base.execute("BEGIN IMMEDIATE")
    base.execute(f"PRAGMA application_id = {APPLICATION}")
    base.execute(f"PRAGMA user_version = {VERSION}")
    for table, (columns, meaning, meanings) in TABLES.items():
        base.execute(f"CREATE TABLE {table} ({columns})")
        base.execute("INSERT INTO description VALUES (?, '', ?)", (table, meaning))
        base.executemany(
            "INSERT INTO description VALUES (?, ?, ?)", [(table, k, v) for k, v in meanings.items()]
        )
    base.execute("INSERT INTO head VALUES (1, 0, 0, 0, ?)", (checksum(0, 0, 0),))
    base.execute("COMMIT")


def _check_kind(path: Path, base: sqlite3.Connection) -> None:
    """Raises DDlogError for another file than a state of this version."""
    try:
        application = base.execute("PRAGMA application_id").fetchone()[0]
        version = base.execute("PRAGMA user_version").fetchone()[0]
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        raise _diagnosed(path, error) from None
    if not tables and not application:
        if 0 < path.stat().st_size < PAGE:
            raise DDlogError([NotAState(str(path), "it is no database of SQLite, or cut short")])
        return
    if application != APPLICATION:
        raise DDlogError([NotAState(str(path), "it is a database of another program")])
    if version > VERSION:
        raise DDlogError([NewerState(str(path), version, VERSION)])
    if version != VERSION or not tables >= TABLES.keys():
        raise DDlogError([StateDamaged(str(path), "tables are missing", "")])


def _diagnosed(path: Path, error: sqlite3.Error) -> DDlogError:
    if "not a database" in str(error):
        return DDlogError([NotAState(str(path), "it is no database of SQLite")])
    if "malformed" in str(error) or "corrupt" in str(error):
        return DDlogError([StateDamaged(str(path), str(error), "")])
    return DDlogError([CannotUseState(str(path), str(error))])


def _span_row(span: Span, sums: Sequence[int]) -> tuple[Any, ...]:
    fields = (
        span.id, span.first, span.last, span.kind, int(span.folded), span.time, span.part_from, span.parts,
        span.bytes,
    )  # fmt: skip
    return *fields, checksum(*fields, *sums)


def _own(span: Span, sums: Mapping[int, int]) -> tuple[int, ...]:
    """The checksums of a span's parts; -1 for one that is missing."""
    return tuple(sums.get(part, -1) for part in range(span.part_from, span.part_from + span.parts))


def _relation_row(stored: Stored) -> tuple[Any, ...]:
    import json

    fields = (
        stored.id, stored.name, stored.kind, stored.role, int(stored.keyed),
        json.dumps(stored.columns), json.dumps(stored.types), int(stored.dropped),
    )  # fmt: skip
    return *fields, checksum(*fields)


def _stored(row: Sequence[Any]) -> Stored | None:
    import json

    id, name, kind, role, keyed, columns, types, dropped, _ = row
    try:
        pairs = tuple((str(n), str(t)) for n, t in json.loads(columns))
        return Stored(id, name, kind, role, bool(keyed), pairs, tuple(json.loads(types)), bool(dropped))
    except (ValueError, TypeError):
        return None


def _ranges(spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The first and last ids of the parts of spans; those that follow each other are together."""
    start = end = 0
    for span in spans:
        if span.part_from != end:
            if end > start:
                yield start, end - 1
            start = span.part_from
        end = span.part_from + span.parts
    if end > start:
        yield start, end - 1


def _of(first: int, last: int) -> str:
    return f"of epoch {first}" if first == last else f"of the epochs {first} to {last}"
