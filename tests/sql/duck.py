"""DuckDB as the oracle: a module of SQL is run there and here, and the views are compared after each
change."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb

from ddlog.errors.source import Source
from ddlog.sessions.program import Program, compile_source
from ddlog.sessions.session import Session
from ddlog.sql.types import STRUCTS, SqlType
from ddlog.stdlib.sql import date_text, timestamp_text
from ddlog.types import BigInt, Opaque, Type, User

Rows = Mapping[str, Sequence[tuple[Any, ...]]]


def program_of(text: str) -> Program:
    """The program of a module of SQL."""
    return compile_source(Source("views.sql", text))


def plain(value: Any, type: Type) -> Any:
    """A value as DuckDB gives it."""
    if isinstance(type, Opaque) and len(type.args) == 2:
        return {plain(key, type.args[0]): plain(each, type.args[1]) for key, each in value.items()}
    if isinstance(type, Opaque):
        return tuple(plain(each, type.args[0]) for each in value)
    if not isinstance(type, User):
        return value
    if type.name == "ddlog_std::Option":
        return None if value[0] == 0 else plain(value[1], type.args[0])
    if type.name in STRUCTS:
        struct = STRUCTS[type.name]
        types = [User("ddlog_std::Option", (_type(each),)) for each in struct.parts]
        return dict(zip(struct.fields, (plain(v, t) for v, t in zip(value, types, strict=True)), strict=True))
    kind = type.name.removeprefix("sql::")
    if kind == "Date":
        return datetime.date.fromisoformat(date_text(value[0]))
    if kind == "Timestamp":
        return datetime.datetime.fromisoformat(timestamp_text(value[0]))
    if kind == "Time":
        return (datetime.datetime.min + datetime.timedelta(microseconds=value[0])).time()
    if kind == "TimestampTz":
        return datetime.datetime.fromisoformat(timestamp_text(value[0])).replace(tzinfo=datetime.UTC)
    if kind == "Interval":
        return datetime.timedelta(days=30 * value[0] + value[1], microseconds=value[2])
    if kind.startswith("Decimal"):
        return Decimal(value[0]).scaleb(-int(kind.removeprefix("Decimal")))
    return value


def _type(type: SqlType) -> Type:
    """The type of values in columns."""
    if type.kind == "list":
        return Opaque("ddlog_std::Vec", (User("ddlog_std::Option", (_type(type.parts[0]),)),))
    if type.kind == "map":
        return Opaque(
            "ddlog_std::Map", (_type(type.parts[0]), User("ddlog_std::Option", (_type(type.parts[1]),)))
        )
    return User(type.outside, ()) if type.outside in STRUCTS or "::" in type.outside else BigInt()


def canonical(value: Any) -> Any:
    """A value such that equal ones of either system are equal: numbers as rounded doubles."""
    if isinstance(value, bool):
        return value
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return tuple(sorted((str(canonical(key)), canonical(each)) for key, each in value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(canonical, value))
    if isinstance(value, int | float | Decimal):
        number = float(value)
        if not math.isfinite(number):
            return str(number)
        return float(f"{number:.9g}") + 0.0
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    return value


def bag(rows: Iterable[Sequence[Any]]) -> Counter[tuple[Any, ...]]:
    """Rows as a bag of canonical values."""
    return Counter(tuple(map(canonical, row)) for row in rows)


def contents(session: Session, name: str) -> Counter[tuple[Any, ...]]:
    """The rows of a view here."""
    view = session[name]
    types = [column.type for column in session.program.relations[name].columns]
    found: Counter[tuple[Any, ...]] = Counter()
    for row, weight in zip(view.stored, view.stored.weights or [1] * len(view.stored), strict=True):
        found[tuple(canonical(plain(v, t)) for v, t in zip(row, types, strict=True))] += weight
    return found


class Both:
    """A database of DuckDB and a session, with the same tables and views."""

    def __init__(self, tables: str, views: Mapping[str, str], **options: Any) -> None:
        """`views`: the queries by name."""
        self.duck = duckdb.connect()
        self.duck.execute("SET threads = 1")
        self.duck.execute(tables)
        self.views = dict(views)
        text = tables + "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in views.items())
        self.program = program_of(text)
        self.session = self.program.session(relations="outputs", **options)

    def change(self, inserted: Rows, deleted: Rows) -> None:
        """Inserts and deletes rows in both; values are those of Python."""
        for table, rows in deleted.items():
            for row in rows:
                where = " AND ".join(f"{c} IS NOT DISTINCT FROM ?" for c in self.columns(table))
                query = f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table} WHERE {where})"
                self.duck.execute(query, row)
            self.session.delete(relation(table), *(self.row(table, row) for row in rows))
        for table, rows in inserted.items():
            marks = ", ".join("?" * len(self.columns(table)))
            for row in rows:
                self.duck.execute(f"INSERT INTO {table} VALUES ({marks})", row)
            self.session.insert(relation(table), *(self.row(table, row) for row in rows))
        self.session.commit()

    def add(self, name: str, query: str, queried: str = "") -> None:
        """Adds a view to the running session, in place of one of this name and of its `over_…`; `queried` is
        the query over tables alone, if it reads views."""
        if f"over_{name}" in self.views:
            self.drop(f"over_{name}")
        self.session.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
        self.views[name] = queried or query

    def drop(self, name: str) -> None:
        """Drops a view of the running session, if it is there, and its view `over_…`."""
        for each in (f"over_{name}", name):
            if self.views.pop(each, None) is not None:
                self.session.execute(f"DROP VIEW {each}")

    def strays(self) -> list[str]:
        """The views whose columns are not those that the program's text, checked as a whole, gives them."""
        now, whole = (
            {
                name: (each.kind, each.columns)
                for name, each in program.relations.items()
                if each.role == "output"
            }
            for program in (self.session.program, compile_source(self.session.program.source))
        )
        return [f"{name} has other columns" for name in now | whole if now.get(name) != whole.get(name)]

    def columns(self, table: str) -> list[str]:
        """The names of the columns of a table."""
        return [column.name for column in self.program.relations[relation(table)].columns]

    def row(self, table: str, row: Sequence[Any]) -> tuple[Any, ...]:
        """A row of Python's values as a session takes it."""
        return tuple(map(given, row))

    def differences(self) -> list[str]:
        """The views that differ, each with its query and the rows that only one side has."""
        found = []
        for name, query in self.views.items():
            there = bag(self.duck.execute(query).fetchall())
            here = contents(self.session, relation(name))
            if here != there:
                found.append(f"{query}\n  only here {dict(here - there)}\n  only there {dict(there - here)}")
        return found


def given(value: Any) -> Any:
    """A value of Python as a session takes it."""
    if isinstance(value, list):
        return list(map(given, value))
    return str(value) if isinstance(value, datetime.date | Decimal) else value


def relation(name: str) -> str:
    """The relation of a table or a view."""
    return name[0].upper() + name[1:]
