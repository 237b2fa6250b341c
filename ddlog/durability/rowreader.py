"""Reads the rows of a state, and compares them with the sums that were written."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors.diagnostics import DDlogError
from ..errors.state import StateDamaged
from .chains import gap
from .forms import EPOCH, RelationForm
from .parts import checksum, is_part, unpacked
from .records import PROGRAM_TEXTS, EpochSpan, StateHead, Stored, applied_row, overlap, span_of
from .typetexts import form_of_rows

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 16  # parts that are in memory together


class ReadableState:
    """An open state, for reading. `lock` orders threads."""

    def __init__(self, path: Path, base: sqlite3.Connection) -> None:
        self.path, self.lock = path, threading.RLock()
        self._base = base
        self.head = StateHead(0, 0, 0)
        self.relations: list[Stored] = []
        self._forms: dict[int, tuple[Stored, RelationForm | None]] = {}

    def program(self) -> dict[str, str]:
        """The texts of the program that last used the state. Raises DDlogError."""
        found = {}
        with self.reading():
            rows = self._base.execute("SELECT name, value, checksum FROM program").fetchall()
        for name, value, known in rows:
            if not isinstance(value, str) or checksum(value) != known:
                raise self.damaged("the text of the program is not what was written")
            found[name] = value
        if found and (found.keys() != PROGRAM_TEXTS or not found["depth"].isdecimal()):
            raise self.damaged("a text of the program is missing")
        return found

    def spans(self) -> list[EpochSpan]:
        """All spans, the oldest first. Raises DDlogError if they are not what was written."""
        return self._spans()[0]

    def _spans(self) -> tuple[list[EpochSpan], StateHead]:
        """All spans, and the head of that moment: other threads go on."""
        with self.reading():
            head = self.head
            rows = self._base.execute("SELECT * FROM span ORDER BY id").fetchall()
            sums = dict(self._base.execute("SELECT id, checksum FROM part"))
        found = []
        for row in rows:
            span = span_of(row, sums)
            if span is None:
                raise self.damaged(f"the record of the epochs {row[1]} to {row[2]} is not what was written")
            found.append(span)
        if overlap(found):
            raise self.damaged("two records are of the same rows")
        if len(found) != head.spans:
            raise self.damaged(f"{head.spans} records were written, and {len(found)} are there")
        return found, head

    def current(self) -> list[EpochSpan]:
        """The spans whose sum is the state, in order. Raises DDlogError if an epoch is missing."""
        spans, head = self._spans()
        found = sorted((each for each in spans if not each.folded), key=lambda each: (each.last, each.id))
        missing = gap((span for span in found if span.kind == "epochs"), head.epoch)
        if missing:
            raise self.damaged(missing)
        return found

    def tables(self, span: EpochSpan, relations: set[int] | None = None) -> Iterator[tuple[int, pa.Table]]:
        """The rows of a span, of all relations or of some. Raises DDlogError."""
        for relation, count, data in self.parts([span]):
            if relations is None or relation in relations:
                yield relation, self._unpacked(relation, count, data, _of([span]))

    def is_apart(self, span: EpochSpan) -> bool:
        """Whether the epochs of a span can be told apart. Raises DDlogError."""
        first = None if span.first == span.last else next(self.tables(span), None)
        return first is None or EPOCH in first[1].column_names

    def rows(self, spans: Sequence[EpochSpan], relation: int) -> Iterator[pa.Table]:
        """The rows of a relation in spans, in their order. Raises DDlogError."""
        for _, count, data in self.parts(spans, relation):
            yield self._unpacked(relation, count, data, _of(spans))

    def check(self, spans: Sequence[EpochSpan], relation: int | None = None) -> None:
        """Reads the rows of spans, of all relations or of one. Raises DDlogError if they are not what was
        written."""
        for _ in self.parts(spans, relation):
            pass

    def parts(
        self, spans: Sequence[EpochSpan], relation: int | None = None
    ) -> Iterator[tuple[int, int, bytes]]:
        """The parts of spans, of all relations or of one: the relation's id, the number of rows and the data
        of each. Raises DDlogError if they are not what was written."""
        query = "SELECT relation, rows, checksum, data FROM part WHERE id BETWEEN ? AND ? {} ORDER BY id"
        only, given = ("", ()) if relation is None else ("AND relation = ?", (relation,))
        ids = {each.id for each in self.relations}
        for first, last in _ranges(spans):
            left = last - first + 1
            with self.reading():
                found = self._base.execute(query.format(only), (first, last, *given))
            while rows := self._fetched(found):
                for of, count, known, data in rows:
                    if not is_part(data, of, count, known):
                        raise self.damaged(
                            f"rows of {self.name_of(of)} {_of(spans)} are not what was written"
                        )
                    if of not in ids:
                        raise self.damaged(f"rows {_of(spans)} are of no relation")
                    yield of, count, data
                left -= len(rows)
            if left and relation is None:
                raise self.damaged(f"rows {_of(spans)} are missing")

    def _fetched(self, found: sqlite3.Cursor) -> list[Any]:
        with self.reading():
            return found.fetchmany(_AT_ONCE)

    def relations_in(self, spans: Sequence[EpochSpan]) -> set[int]:
        """The ids of the relations that have rows in spans. Raises DDlogError if parts are missing, or are of
        no relation."""
        query = "SELECT relation, count(*) FROM part WHERE id BETWEEN ? AND ? GROUP BY relation"
        found = set[int]()
        for first, last in _ranges(spans):
            with self.reading():
                counts = dict(self._base.execute(query, (first, last)))
            if sum(counts.values()) != last - first + 1:
                raise self.damaged(f"rows {_of(spans)} are missing")
            found.update(counts)
        if not found <= {each.id for each in self.relations}:
            raise self.damaged(f"rows {_of(spans)} are of no relation")
        return found

    def _unpacked(self, relation: int, count: int, data: bytes, where: str) -> pa.Table:
        try:
            table = unpacked(data, count)
            form = self._form(relation)
            if form is not None:
                form.check(table)
            return table
        except ValueError as error:
            raise self.damaged(f"rows of {self.name_of(relation)} {where}: {error}") from None

    def _form(self, relation: int) -> RelationForm | None:
        """The form of a relation's rows; None if only the program knows it."""
        known = self._forms.get(relation)
        stored = next(each for each in self.relations if each.id == relation)
        if known is None or known[0] is not stored:
            self._forms[relation] = known = stored, form_of_rows(stored)
        return known[1]

    def name_of(self, relation: int) -> str:
        """The name of a relation by its id."""
        return next((each.name for each in self.relations if each.id == relation), f"relation {relation}")

    def relation(self, name: str) -> Stored | None:
        """The relation of the program with a name."""
        return next((each for each in self.relations if each.name == name and not each.dropped), None)

    def applied(self) -> list[str]:
        """The ids of updates that are applied, the newest last. Raises DDlogError."""
        with self.reading():
            count = self.head.applied
            rows = self._base.execute("SELECT id, epoch, checksum FROM applied ORDER BY rowid").fetchall()
        if len(rows) != count:
            raise self.damaged(f"{count} ids of updates were written, and {len(rows)} are there")
        if any(applied_row(*row[:2]) != row for row in rows):
            raise self.damaged("an id of an update is not what was written")
        return [row[0] for row in rows]

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

    def rows_of(self, spans: Sequence[EpochSpan]) -> int:
        """The number of rows of spans."""
        rows = dict(self._base.execute("SELECT id, rows FROM part"))
        return sum(
            rows.get(id, 0) for span in spans for id in range(span.part_from, span.part_from + span.parts)
        )

    def sums(self, spans: Sequence[EpochSpan]) -> dict[int, int]:
        """The checksums of the parts of spans, by id."""
        first = min(span.part_from for span in spans)
        last = max(span.part_from + span.parts for span in spans)
        return dict(
            self._base.execute("SELECT id, checksum FROM part WHERE id BETWEEN ? AND ?", (first, last))
        )


def _ranges(spans: Sequence[EpochSpan]) -> Iterator[tuple[int, int]]:
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


def _of(spans: Sequence[EpochSpan]) -> str:
    first, last = spans[0].first, spans[-1].last
    return f"of epoch {first}" if first == last else f"of the epochs {first} to {last}"
