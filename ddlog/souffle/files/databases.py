"""Facts and results in SQLite databases.

A result R is the table `_R`, in which symbols are numbers, and the view `R`, in which they are texts; the
table `__SymbolTable` has the symbols of all results. Records and branches are kept as the texts that files
have. Facts come from a table or a view with the relation's name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from ...core import Relation
from ...errors.diagnostics import DDlogError
from ...errors.excerpt import row_span
from ...errors.facts import BadFact, CannotWrite
from ...errors.souffle import NotInDatabase
from ...io.columns import Columns, transpose
from ...io.faults import MOST_FAULTS
from ...io.formats import Row
from ...types import Bit, Float, Signed
from .facttexts import cell_reader
from .resulttexts import value_writer
from .transfers import FileForm, Vocabulary

_UNIT = '"()" integer'


def write_database(rows: Iterable[Row], form: FileForm, relation: Relation, words: Vocabulary) -> None:
    """Writes a result, in place of an earlier one. Raises DDlogError."""
    try:
        with closing(sqlite3.connect(form.path)) as database, database:
            _write(database, list(rows), form.name, relation, words)
    except sqlite3.Error as error:
        raise DDlogError([CannotWrite(str(form.path), str(error))]) from None


def _write(
    database: sqlite3.Connection, rows: list[Row], name: str, relation: Relation, words: Vocabulary
) -> None:
    types = [column.type for column in relation.columns]
    columns = [f'"{position}"' for position in range(len(types))]
    texts = [p for p, type in enumerate(types) if not isinstance(type, Bit | Signed | Float)]
    kinds = ["real" if isinstance(type, Float) else "integer" for type in types]
    table, view = _quoted(f"_{name}"), _quoted(name)
    declared = [f"{column} {kind}" for column, kind in zip(columns, kinds, strict=True)] or [_UNIT]
    database.execute(f"drop view if exists {view}")
    database.execute(f"drop table if exists {table}")
    database.execute(f"create table {table} ({', '.join(declared)})")
    stored = _with_symbols(database, rows, {p: value_writer(types[p], words) for p in texts})
    database.executemany(f"insert into {table} values ({', '.join('?' * len(declared))})", stored)
    shown = list(columns)
    for p in texts:
        shown[p] = f"(select symbol from __SymbolTable where id = {columns[p]}) as {columns[p]}"
    database.execute(f"create view {view} as select {', '.join(shown) or '*'} from {table}")


def _with_symbols(
    database: sqlite3.Connection, rows: list[Row], writers: Mapping[int, Callable[[Any], str]]
) -> Iterator[list[Any]]:
    """The rows with the numbers of symbols at the positions of the writers. A row without columns is 1."""
    database.execute("create table if not exists __SymbolTable (id integer primary key, symbol text unique)")
    plain = [list(row) or [1] for row in rows]
    for position, write in writers.items():
        for row in plain:
            row[position] = write(row[position])
        texts = sorted({row[position] for row in plain})
        database.executemany(
            "insert or ignore into __SymbolTable (symbol) values (?)", ((text,) for text in texts)
        )
    numbers = dict(database.execute("select symbol, id from __SymbolTable"))
    for row in plain:
        for position in writers:
            row[position] = numbers[row[position]]
        yield row


def read_database(form: FileForm, relation: Relation, words: Vocabulary) -> Columns:
    """The rows of a table or a view. Raises DDlogError."""
    readers = [cell_reader(column.type, words) for column in relation.columns]
    rows: list[tuple[object, ...]] = []
    faults: list[BadFact] = []
    try:
        with closing(sqlite3.connect(f"{form.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            for number, row in enumerate(database.execute(f"select * from {_quoted(form.name)}"), 1):
                if readers and len(row) != len(readers):
                    problem = f"{form.name} has {len(row)} columns there, and {len(readers)} in the program"
                    raise DDlogError([NotInDatabase(path=str(form.path), problem=problem)])
                try:
                    rows.append(tuple(read(_cell(v)) for read, v in zip(readers, row, strict=False)))
                except ValueError as error:
                    place = row_span(str(form.path), number)
                    faults.append(BadFact(str(form.path), f"table {form.name}: {error}", span=place))
                    if len(faults) >= MOST_FAULTS:
                        break
    except sqlite3.Error as error:
        raise DDlogError([NotInDatabase(path=str(form.path), problem=str(error))]) from None
    if faults:
        raise DDlogError(faults)
    return transpose(rows, len(readers)) if readers else Columns((), len(rows))


def _cell(value: object) -> str:
    """The text of a value of SQLite."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return "" if value is None else str(value)


def _quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
