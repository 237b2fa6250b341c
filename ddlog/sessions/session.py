"""Sessions: relations that are kept up to date.

    program = ddlog.compile("paths.dl")
    with program.session() as session:
        session.insert("Edge", (1, 2), (2, 3))
        changes = session.commit()

A session is a program, a runtime and its state. Changes of the inputs are gathered in a transaction
and checked as they come; a commit applies them as one epoch and gives the exact changes of the
output relations. Whatever goes wrong leaves the session at its last commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import values
from ..core import Atom, Relation
from ..engine.interrupt import deferred
from ..engine.runtime import Batch, IterationLimit, Runtime
from ..engine.schema import RowFault
from ..errors.changes import BadKey, BadTable, CannotModify, NoPrimaryKey, NotAnInput
from ..errors.diagnostics import DDlogError
from ..errors.reading import NotAnOutput, NotDelayed, NotKept
from ..errors.sessions import InTransaction, IterationLimitReached, NoFurtherChanges, SessionClosed
from ..errors.source import Source
from ..errors.spark import NeedsSpark
from ..errors.unknown import unknown_index, unknown_relation
from ..values.rows import Row, row_of
from .delays import Delays
from .faults import diagnosed
from .indexes import IndexView
from .inputs import Changes as PendingChanges
from .inputs import KeyedChanges, MultisetChanges, SetChanges, StreamChanges
from .program import Program
from .results import Changes, RelationView, Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..io.columns import Columns
    from ..io.files import FactFile
    from ..io.places import Place
    from ..spark.sessions.session import SparkSide
    from ..spark.streaming.epochs import Epochs
    from ..spark.streaming.stream import Stream

Progress = Callable[[str, int, int], None]


class Session:
    """A running program. Use it as a context manager, or call `close`.

    A transaction begins with the first change and ends with `commit` or `rollback`; reading shows
    the state of the last commit. There is one transaction, whichever threads use the session.
    """

    def __init__(
        self,
        program: Program,
        runtime: Runtime,
        kept: frozenset[str],
        max_iterations: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.program = program
        self._kept = kept
        self.max_iterations = max_iterations
        self.progress = progress
        self._runtime = runtime
        self._delays = Delays((program.relations[name] for name in kept), runtime)
        self._untold = {name for name in kept if program.relations[name].role != "output"}
        self.typedefs = program.checked.typedefs
        self._inputs: dict[str, PendingChanges] = {}
        self._touched: set[str] = set()
        self._subscribers: list[tuple[str, Callable[[list[tuple[Any, int]]], None]]] = []
        self._started = False
        self._static = False
        self._closed = False
        self._spark = self._on_spark(runtime)
        self._epochs: Epochs | None = None

    def __enter__(self) -> Session:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session and its streams; what was not committed is lost."""
        if not self._closed:
            if self._epochs is not None:
                self._epochs.close()
            self.rollback()
            self._closed = True
            if self._spark is not None:
                self._spark.close()

    # ------------------------------------------------------------ changes

    def insert(self, relation: str, *rows: Any) -> None:
        """Adds rows, or the rows of a Spark DataFrame, to an input relation."""
        if len(rows) == 1 and is_frame(rows[0]):
            self.insert_table(relation, rows[0])
        else:
            self.insert_rows(relation, self._rows(relation, rows))

    def delete(self, relation: str, *rows: Any) -> None:
        """Removes rows, or the rows of a Spark DataFrame, from an input relation."""
        if len(rows) == 1 and is_frame(rows[0]):
            self.delete_table(relation, rows[0])
        else:
            self.delete_rows(relation, self._rows(relation, rows))

    def upsert(self, relation: str, *rows: Any) -> None:
        """Adds rows to a relation with a primary key, in the place of those with their keys."""
        self.upsert_rows(relation, self._rows(relation, rows))

    def insert_table(self, relation: str, table: Any) -> None:
        """`insert` of many rows at once: an Arrow table, a pandas or polars data frame, a mapping of column
        names to arrays or lists, or on Spark a Spark DataFrame, which is read now, by the executors. The
        columns have the names of the relation's, in any order."""
        self._change_table(relation, table, 1)

    def delete_table(self, relation: str, table: Any) -> None:
        """`delete` of the rows of a table such as `insert_table` takes."""
        self._change_table(relation, table, -1)

    def upsert_table(self, relation: str, table: Any) -> None:
        """`upsert` of the rows of a table such as `insert_table` takes."""
        with self._changing(relation) as (declared, changes):
            if is_frame(table):
                rows = self._need_spark("a Spark DataFrame").rows_of(declared, table)
            else:
                rows = list(self._columns(declared, table).rows(declared))
            _keyed(declared, changes).upsert(rows)

    def insert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`insert` of rows that are tuples of canonical values already."""
        with self._changing(relation) as (_, changes):
            changes.insert(rows)

    def delete_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`delete` of rows that are tuples of canonical values already."""
        with self._changing(relation) as (_, changes):
            changes.delete(rows)

    def upsert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`upsert` of rows that are tuples of canonical values already."""
        with self._changing(relation) as (declared, changes):
            _keyed(declared, changes).upsert(rows)

    def delete_key(self, relation: str, *keys: Any) -> None:
        """Removes the rows with the given primary keys."""
        with self._changing(relation) as (declared, changes):
            for key in keys:
                _keyed(declared, changes).delete_key(self._key(declared, key))

    def modify(self, relation: str, key: Any, change: Mapping[str, Any] | Callable[[Row], Row]) -> None:
        """Changes the row with a primary key: new values by column name, or a function of the row."""
        with self._changing(relation) as (declared, changes):
            _keyed(declared, changes).modify(self._key(declared, key), self._row_change(declared, change))

    def clear(self, relation: str) -> None:
        """Removes every row of an input relation."""
        with self._changing(relation) as (_, changes):
            changes.clear()

    def load(
        self,
        places: str | Path | Iterable[str | Path],
        *,
        note: Callable[[str], None] | None = None,
        static: bool = False,
    ) -> Changes:
        """Reads facts and commits them, as one epoch with the program's facts if nothing came before.

        A place is a directory with a fact file for each relation, a pattern of files, or `Rel=…` for one
        relation; on Spark, which then reads the files itself, also a URL or a table: see `ddlog.io.places`.
        `note` is told of relations without a file. With `static` no later change is possible and nothing is
        kept for one. Raises DDlogError."""
        from ..io.places import parse_places

        self._check_open()
        if self._touched:
            raise DDlogError([InTransaction()])
        inputs = self.program.names("input")
        parsed = parse_places(places, inputs, self.program.relations)
        tell = note or (lambda text: None)
        try:
            with self._faults():
                (self._load_here if self._spark is None else self._load_on_spark)(parsed, inputs, tell)
        except BaseException:
            self.rollback()
            raise
        return self._commit(static)

    def load_frames(self, frames: Mapping[str, Any]) -> Changes:
        """Puts Spark DataFrames into input relations and commits them, as one epoch with the program's facts
        if nothing came before; no later change is possible. Raises DDlogError."""
        spark = self._need_spark("load_frames")
        self._check_open()
        if self._touched:
            raise DDlogError([InTransaction()])
        try:
            for name, frame in frames.items():
                declared = self._input(name)
                batch = spark.batch(declared, frame)
                self._pending(declared).load(batch, partial(spark.rows_of, declared, frame))
        except BaseException:
            self.rollback()
            raise
        return self._commit(True)

    def _load_here(self, places: Sequence[Place], inputs: Sequence[str], note: Callable[[str], None]) -> None:
        from ..io.places import find_local

        found = find_local(places, inputs, set(self.program.relations) - set(inputs))
        for text in _notes(found.missing, found.ignored):
            note(text)
        for file in found.files:
            self._load_file(file)

    def _load_file(self, file: FactFile) -> None:
        from ..io.read import read_facts

        declared = self.program.relations[file.relation]
        if self.progress is not None:
            self.progress(f"reading {file.path.name}", 0, 0)
        columns = read_facts(file, declared, self.typedefs)
        self._pending(declared).load(self._batch(declared, columns), partial(columns.rows, declared))

    def _load_on_spark(
        self, places: Sequence[Place], inputs: Sequence[str], note: Callable[[str], None]
    ) -> None:
        assert self._spark is not None
        found = self._spark.find(places, inputs, set(self.program.relations) - set(inputs))
        for text in _notes(found.missing, found.ignored):
            note(text)
        for name in [*found.files, *(name for name in found.tables if name not in found.files)]:
            declared = self.program.relations[name]
            if self.progress is not None:
                self.progress(f"reading {name}", 0, 0)
            if not declared.columns:
                for file in self._spark.local_files(found, name):
                    self._load_file(file)
                continue
            frame = self._spark.read(declared, found)
            rows = partial(self._spark.collected, declared, frame)
            self._pending(declared).load(self._spark.checked_batch(declared, frame, found), rows)

    def stream(
        self,
        source: DataFrame,
        relation: str,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        on_change: Callable[[Changes, int], None] | None = None,
        name: str | None = None,
        op: str = "op",
        once: bool = False,
        every: str | None = None,
    ) -> Stream:
        """Lets a streaming DataFrame of Spark drive the session: each batch changes the input relation, and
        is one epoch. See `ddlog.spark.streaming.stream` and docs/streaming.md. Raises DDlogError."""
        from ..spark.streaming.stream import stream

        self._check_open()
        return stream(
            self, source, relation, checkpoint=checkpoint, on_change=on_change, name=name, op=op, once=once,
            every=every,
        )  # fmt: skip

    def commit(self) -> Changes:
        """Applies the transaction as one epoch and gives the changes of the output relations.

        On an error, an interrupt or the iteration limit the transaction is gone and the session is
        at its last commit.
        """
        self._check_open()
        self._start()
        return self._commit(False)

    def start(self, *, static: bool = False) -> Changes:
        """Puts the program's own facts in the state and gives what follows from them. Otherwise this
        happens, unseen, when the session is first used."""
        self._check_open()
        return Changes({} if self._started else self._run({}, static), self.program.relations, self.typedefs)

    def rollback(self) -> None:
        """Forgets the transaction."""
        for name in self._touched:
            self._inputs[name].settle(False)
        self._touched.clear()

    def mark(self) -> Mapping[str, int]:
        """A point of the transaction, for `undo`."""
        return {name: self._inputs[name].mark() for name in self._touched}

    def undo(self, mark: Mapping[str, int]) -> None:
        """Takes the transaction back to a point."""
        for name in self._touched:
            self._inputs[name].undo(mark.get(name, 0))

    @property
    def in_transaction(self) -> bool:
        """Whether there are changes that are not committed."""
        return bool(self._touched)

    # ------------------------------------------------------------ reading

    def __getitem__(self, relation: str) -> RelationView:
        declared = self._readable(relation)
        frame = None if self._spark is None else partial(self._spark.contents, relation)
        stored = self._runtime.rows(relation)
        return RelationView(declared, stored, lambda v: self._contains(declared, v), self.typedefs, frame)

    def index(self, name: str) -> IndexView:
        """An index of the program, for look-ups: `session.index("ByFrom")["a"]`. Raises DDlogError."""
        index = self.program.indexes.get(name)
        if index is None:
            raise DDlogError([unknown_index(name, self.program.indexes, self.program.relations)])
        self._check_open()
        if not self.keeps(index.source):
            raise DDlogError([NotKept(f"the index {name}")])
        self._start()
        return IndexView(index, self.program.relations[index.relation], self._runtime, self.typedefs)

    def keeps(self, relation: str) -> bool:
        """Whether the session computes a relation, so that it can be read."""
        return relation in self._kept

    def size(self, relation: str) -> int:
        """The number of rows of a relation."""
        self._readable(relation)
        return self._runtime.size(relation)

    @property
    def spark(self) -> SparkSession | None:
        """The Spark session that the session runs on; None in-process."""
        spark: SparkSession | None = getattr(self._runtime, "spark", None)
        return spark

    @property
    def on_spark(self) -> bool:
        """Whether the session runs on Spark."""
        return self._spark is not None

    def write(self, relation: str, place: str, format: str = "csv") -> str:
        """Lets Spark write a relation: to a folder of part files, `place`/Relation (csv, tsv, jsonl,
        parquet), at a path or a URL, or to the table PREFIX + relation if `place` is `table:PREFIX`. What was
        there is replaced. Gives the folder or table. Raises DDlogError."""
        declared = self._readable(relation)
        return self._need_spark("write").write(declared, place, format)

    def query(self, text: str, *, name: str = "<query>") -> Result:
        """The valuations that satisfy a rule body, such as `Path("a", x), x != "b"`, over any
        relation as of the last commit. Raises DDlogError."""
        from ..check.query import check_query
        from ..lowering.lower import lower_query

        self._check_open()
        source = Source(name, text)
        query = check_query(self.program.checked, source)
        program, rule, variables = query.within(self.program.checked), query.rule, query.variables
        for clause in rule.body:
            if isinstance(clause, Atom):
                self._check_asked(clause)
        circuit = lower_query(program, rule, variables)
        self._start()
        with self._faults():
            stored = self._runtime.query(circuit)
        return Result([(each, rule.variables[each]) for each in variables], stored, program.typedefs)

    def subscribe(
        self, relation: str, receive: Callable[[list[tuple[Any, int]]], None]
    ) -> Callable[[], None]:
        """Calls `receive` after each commit that changes an output relation, with its changed rows and
        their weights. Gives a function that ends this. What `receive` raises, `commit` raises when all
        others have been called; the commit stands."""
        self._check_open()
        if not callable(receive):
            raise TypeError(f"{receive!r} cannot be called with changes")
        declared = self._declared(relation)
        if declared.role != "output":
            raise DDlogError([NotAnOutput(relation, tuple(self.program.names("output")))])
        entry = (relation, receive)
        self._subscribers.append(entry)
        return lambda: self._subscribers.remove(entry) if entry in self._subscribers else None

    # ------------------------------------------------------------ the machinery

    def _start(self) -> None:
        """Puts the program's own facts in the state, if that was not done."""
        if not self._started:
            self._run({}, False)

    def _commit(self, static: bool) -> Changes:
        try:
            with self._faults():
                batches = {name: self._inputs[name].batches() for name in self._touched}
            with deferred():  # a Ctrl-C that comes too late to end the epoch finds the session past it
                deltas = self._run(batches, static)
                for name in self._touched:
                    self._inputs[name].settle(True)
                self._touched.clear()
        except BaseException:
            self.rollback()
            raise
        changes = Changes(deltas, self.program.relations, self.typedefs)
        self._tell(changes)
        return changes

    def _tell(self, changes: Changes) -> None:
        """Calls the subscribers, all of them; then raises the first exception of one."""
        raised: list[BaseException] = []
        for relation, receive in list(self._subscribers):
            if relation in changes:
                try:
                    receive(changes[relation])
                except Exception as error:
                    raised.append(error)
        if raised:
            raise raised[0]

    def _run(self, batches: Mapping[str, Any], static: bool) -> Any:
        with deferred(), self._faults():
            deltas = self._runtime.commit(
                {**batches, **self._delays.changes()},
                static=static,
                max_iterations=self.max_iterations,
                progress=self.progress,
            )
            self._delays.remember(deltas)
            self._started = True
            self._static = static
        return {name: delta for name, delta in deltas.items() if name not in self._untold}

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Makes diagnostics of what a runtime raises."""
        try:
            with nullcontext() if self._spark is None else self._spark.failures():
                yield
        except RowFault as fault:
            raise DDlogError([diagnosed(fault)]) from None
        except IterationLimit as limit:
            raise DDlogError([IterationLimitReached(limit.limit, limit.relations)]) from None

    @contextmanager
    def _changing(self, name: str) -> Iterator[tuple[Relation, PendingChanges]]:
        """The pending changes of an input relation; an error takes back what was done inside."""
        declared = self._input(name)
        self._start()
        if self._static:
            raise DDlogError([NoFurtherChanges()])
        touched = name in self._touched
        changes = self._pending(declared)
        mark = changes.mark()
        try:
            with self._faults():
                yield declared, changes
        except BaseException:
            changes.undo(mark)
            if not touched:
                self._touched.discard(name)
            raise

    def _pending(self, declared: Relation) -> PendingChanges:
        name = declared.name
        if name not in self._inputs:
            self._inputs[name] = self._new_input(declared)
        self._touched.add(name)
        return self._inputs[name]

    def _new_input(self, declared: Relation) -> PendingChanges:
        if declared.kind == "stream":
            return StreamChanges(declared, self._runtime)
        if self._spark is not None and declared.columns and (declared.key or declared.kind == "multiset"):
            return self._spark.changes(self.program, declared, self._show_key)
        if declared.kind == "multiset":
            return MultisetChanges(declared, self._runtime)
        if declared.key is None:
            return SetChanges(declared, self._runtime)
        key_of = self.program.key_function(declared)
        return KeyedChanges(declared, self._runtime, key_of, self._show_key(declared))

    def _show_key(self, declared: Relation) -> Callable[[Any], str]:
        assert declared.key is not None
        of = declared.key.result
        return lambda key: values.show(key, of, self.typedefs)

    def _key(self, declared: Relation, key: Any) -> Any:
        if declared.key is None:
            raise DDlogError([NoPrimaryKey(declared.name)])
        try:
            return values.check(key, declared.key.result, self.typedefs)
        except ValueError as error:
            raise DDlogError([BadKey(declared.name, str(error))]) from None

    def _row_change(
        self, declared: Relation, change: Mapping[str, Any] | Callable[[Row], Row]
    ) -> Callable[[Row], Row]:
        if not isinstance(change, Mapping):
            return lambda row: row_of(_changed(change, row, declared), declared, self.typedefs)
        names = [column.name for column in declared.columns]
        return lambda row: row_of({**dict(zip(names, row, strict=True)), **change}, declared, self.typedefs)

    def _rows(self, relation: str, rows: Iterable[Any]) -> list[Row]:
        declared = self._input(relation)
        return [row_of(row, declared, self.typedefs) for row in rows]

    def _change_table(self, relation: str, table: Any, sign: int) -> None:
        with self._changing(relation) as (declared, changes):
            if is_frame(table):
                spark = self._need_spark("a Spark DataFrame")
                batch = spark.batch(declared, table)
                changes.change(batch, partial(spark.rows_of, declared, table), sign)
                return
            columns = self._columns(declared, table)
            changes.change(self._batch(declared, columns), partial(columns.rows, declared), sign)

    def _batch(self, declared: Relation, columns: Columns) -> Batch:
        if not declared.columns:
            return self._runtime.batch(declared.name, [()] * columns.count)
        return self._runtime.batch_from_columns(declared.name, columns.data)

    def _columns(self, declared: Relation, table: Any) -> Columns:
        from ..io.faults import CellFault
        from ..io.frames import columns_of

        try:
            return columns_of(table, declared, self.typedefs)
        except CellFault as fault:
            raise DDlogError([BadTable(declared.name, fault.message, fault.line)]) from None

    def _on_spark(self, runtime: Runtime) -> SparkSide | None:
        if getattr(runtime, "spark", None) is None:
            return None
        from ..spark.sessions.session import SparkSide

        return SparkSide(runtime, self.typedefs)

    def _need_spark(self, what: str) -> SparkSide:
        if self._spark is None:
            raise DDlogError([NeedsSpark(what)])
        return self._spark

    def _contains(self, declared: Relation, value: Any) -> bool:
        try:
            row = row_of(value, declared, self.typedefs)
        except DDlogError:
            return False
        return self._runtime.contains(declared.name, [row])[0]

    def _declared(self, name: str) -> Relation:
        declared = self.program.relations.get(name)
        if declared is None:
            raise DDlogError([unknown_relation(name, self.program.relations, self.program.indexes)])
        return declared

    def _input(self, name: str) -> Relation:
        self._check_open()
        declared = self._declared(name)
        if declared.role != "input":
            raise DDlogError([NotAnInput(name, declared.role, tuple(self.program.names("input")))])
        return declared

    def _readable(self, name: str) -> Relation:
        self._check_open()
        declared = self._declared(name)
        if name not in self._kept:
            raise DDlogError([NotKept(name)])
        self._start()
        return declared

    def _check_asked(self, atom: Atom) -> None:
        """Sees that what a query reads is kept."""
        if atom.relation not in self.program.relations:
            kept = tuple(sorted(name for name, each in self.program.relations.items() if each.past))
            raise DDlogError([NotDelayed(atom.relation, kept, span=atom.span)])
        self._readable(atom.relation)

    def _check_open(self) -> None:
        if self._closed:
            raise DDlogError([SessionClosed()])


def is_frame(value: Any) -> bool:
    """Whether a value is a Spark DataFrame, classic or of Spark Connect."""
    kind = type(value)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def _keyed(declared: Relation, changes: PendingChanges) -> KeyedChanges:
    if not isinstance(changes, KeyedChanges):
        raise DDlogError([NoPrimaryKey(declared.name)])
    return changes


def _changed(change: Callable[[Row], Row], row: Row, declared: Relation) -> Row:
    try:
        return change(row)
    except ValueError as error:
        raise DDlogError([CannotModify(declared.name, str(error))]) from None


def _notes(missing: Iterable[str], ignored: Iterable[Path]) -> Iterator[str]:
    for name in missing:
        yield f"no file for the input relation {name}: it is empty"
    for path in ignored:
        yield f"{path} is not read: its name is no relation's"
