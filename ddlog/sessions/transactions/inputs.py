"""Changes of input relations as users make them: rows, keys and tables are checked, then change the
transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core import Relation
from ...engine.memory import given_back
from ...errors.changes import BadTable, KeyExists, NoPrimaryKey
from ...errors.diagnostics import DDlogError
from ...errors.excerpt import row_span
from ...errors.source import Span
from ...values.rows import Row
from ..hosts.host import frames_of
from ..hosts.inputrows import is_frame, key_value, row_change
from ..pending import KeyedChanges, PendingChanges, primary_key
from ..program import Program
from .state import SessionState, in_turn
from .transaction import Transaction


class Inputs:
    """The input relations of a session, to be changed. All methods raise DDlogError; then the transaction is
    as it was before the call."""

    def __init__(self, state: SessionState, transaction: Transaction) -> None:
        self.state, self.transaction = state, transaction

    @in_turn
    def insert(self, relation: str, *rows: Any) -> None:
        """Inserts rows, or the rows of a Spark DataFrame, into an input relation."""
        if len(rows) == 1 and rows[0].__class__ is not tuple and is_frame(rows[0]):
            self.insert_table(relation, rows[0])
        elif not self.transaction.run(relation, rows, 1):
            with self.transaction.changing(relation) as (declared, changes):
                changes.insert(self._rows(declared, rows))

    @in_turn
    def delete(self, relation: str, *rows: Any) -> None:
        """Deletes rows, or the rows of a Spark DataFrame, from an input relation."""
        if len(rows) == 1 and rows[0].__class__ is not tuple and is_frame(rows[0]):
            self.delete_table(relation, rows[0])
        elif not self.transaction.run(relation, rows, -1):
            with self.transaction.changing(relation) as (declared, changes):
                changes.delete(self._rows(declared, rows))

    @in_turn
    def upsert(self, relation: str, *rows: Any) -> None:
        """Inserts rows into a relation with a primary key, each in place of the row with its key."""
        with self.transaction.changing(relation) as (declared, changes):
            _keyed(declared, changes).upsert(self._rows(declared, rows))

    @in_turn
    def insert_table(self, relation: str, table: Any) -> None:
        """`insert` of many rows at once: an Arrow table, a pandas or polars data frame, a mapping of column
        names to arrays or lists, or a Spark DataFrame, which Spark's executors read now. The columns have the
        names of the relation's, in any order."""
        self._change_table(relation, table, 1)

    @in_turn
    def delete_table(self, relation: str, table: Any) -> None:
        """`delete` of the rows of a table such as `insert_table` takes."""
        self._change_table(relation, table, -1)

    @in_turn
    def upsert_table(self, relation: str, table: Any) -> None:
        """`upsert` of the rows of a table such as `insert_table` takes."""
        with self.transaction.changing(relation) as (declared, changes):
            rows = list(self.state.host.incoming(declared, table).rows())
            _keyed(declared, changes).upsert(rows)

    @in_turn
    def apply_changes(self, relation: str, feed: Any) -> None:
        """Changes an input relation by a change feed, a Spark DataFrame as Delta's `readChangeFeed` and
        Iceberg's change log give it: `_change_type` is insert, delete, update_preimage or update_postimage.
        Rows that come and go cancel out. In a set no row may come or go twice: a table with duplicates needs
        a multiset."""
        with self.transaction.changing(relation) as (declared, changes):
            if not is_frame(feed):
                raise DDlogError([BadTable(declared.name, "a change feed is a Spark DataFrame")])
            with frames_of(self.state.host, "a Spark DataFrame").feed(declared, feed) as sides:
                for incoming, sign in zip(sides, (-1, 1), strict=True):
                    changes.change(incoming.batch(), incoming.rows, sign)

    @in_turn
    def insert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`insert` of rows that are tuples of canonical values already."""
        if not self.transaction.run(relation, rows, 1, are_taken=True):
            with self.transaction.changing(relation) as (_, changes):
                changes.insert(rows)

    @in_turn
    def delete_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`delete` of rows that are tuples of canonical values already."""
        if not self.transaction.run(relation, rows, -1, are_taken=True):
            with self.transaction.changing(relation) as (_, changes):
                changes.delete(rows)

    @in_turn
    def upsert_rows(self, relation: str, rows: Sequence[Row]) -> None:
        """`upsert` of rows that are tuples of canonical values already."""
        with self.transaction.changing(relation) as (declared, changes):
            _keyed(declared, changes).upsert(rows)

    @in_turn
    def delete_key(self, relation: str, *keys: Any) -> None:
        """Deletes the rows with the given primary keys."""
        with self.transaction.changing(relation) as (declared, changes):
            for key in keys:
                _keyed(declared, changes).delete_key(key_value(declared, key, self.state.typedefs))

    @in_turn
    def modify(self, relation: str, key: Any, change: Mapping[str, Any] | Callable[[Row], Row]) -> None:
        """Changes the row with a primary key: new values by column name, or a function of the row."""
        typedefs = self.state.typedefs
        with self.transaction.changing(relation) as (declared, changes):
            checked = key_value(declared, key, typedefs)
            _keyed(declared, changes).modify(checked, row_change(declared, change, typedefs))

    @in_turn
    def clear(self, relation: str) -> None:
        """Deletes every row of an input relation."""
        with self.transaction.changing(relation) as (_, changes):
            changes.clear()

    def _change_table(self, relation: str, table: Any, sign: int) -> None:
        with given_back(), self.transaction.changing(relation) as (declared, changes):
            incoming = self.state.host.incoming(declared, table)
            try:
                changes.change(incoming.batch(), incoming.rows, sign)
            except DDlogError as error:
                if is_frame(table):
                    raise
                name = f"the table for {declared.name}"
                placed = ((row, row_span(name, number)) for number, row in enumerate(incoming.rows(), 1))
                raise with_places(error, self.state.program, declared, placed) from None

    def _rows(self, declared: Relation, rows: Sequence[Any]) -> list[Row]:
        return [*map(self.state.row_taker(declared), rows)]


def _keyed(declared: Relation, changes: PendingChanges) -> KeyedChanges:
    if not isinstance(changes, KeyedChanges):
        raise DDlogError([NoPrimaryKey(declared.name)])
    return changes


def with_places(
    error: DDlogError, program: Program, declared: Relation, placed: Iterable[tuple[Row, Span]]
) -> DDlogError:
    """The error of an insertion of rows with places; if their key is there twice, with both rows and their
    places."""
    key = primary_key(program, declared)
    exists = next((each for each in error.diagnostics if isinstance(each, KeyExists)), None)
    if key is None or exists is None:
        return error
    found = [(row, span) for row, span in placed if key.show(key.of(row)) == exists.key]
    if not found:
        return error
    first, there = found[0]
    for row, span in found:
        if row != first:
            return key.exists(declared.name, row, first, span, there)
    return DDlogError([replace(exists, span=found[-1][1])])
