"""Changes of relations on their way through the circuit: queries, until an operator needs a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from ..schema import Schema
from .sqltext import Query, everything, sourced
from .tables import Table, Tables


@dataclass(frozen=True, slots=True)
class Fetch:
    """How a small change is made on the driver: of the rows of a query, of which None has no rows. They have
    the columns of `schema`, the weight, and `extra` ones; `finish` makes the rows of the change of them.
    `guess`: the most that it can be, and what it is most of the time. `too_many` is told that the driver does
    not take so many rows."""

    query: Query | None
    schema: Schema
    extra: Sequence[pa.Field]
    finish: Callable[[pa.Table], pa.Table]
    guess: pa.Table | None = None
    too_many: Callable[[], None] = lambda: None


Held: TypeAlias = Query | Table | Callable[[], Query]


class Change:
    """A change of one relation: columns and weight `w`, not consolidated.

    It is a query at first and becomes a table when it is needed twice or counted. `small`: few rows
    are expected. `lies`: the columns by which the rows of the query are partitioned. A change that a `fetch`
    makes is a query, too, for whoever reads it before it is a table, and where the fetch brings too much.
    """

    __slots__ = ("_held", "_lies", "fetch", "schema", "small", "tables")

    def __init__(
        self,
        tables: Tables,
        schema: Schema,
        held: Held,
        small: bool,
        lies: Sequence[str] = (),
        fetch: Fetch | None = None,
    ) -> None:
        """`held` may be a function that writes the query."""
        self.tables, self.schema, self.small = tables, schema, small
        self._held, self._lies, self.fetch = held, lies, fetch

    @property
    def sql(self) -> str:
        """A table expression for its rows."""
        return self._held.view if isinstance(self._held, Table) else sourced(self.query)

    @property
    def query(self) -> Query:
        """A query for its rows."""
        if isinstance(self._held, Table):
            return everything(self._held.view)
        if callable(self._held):
            self._held = self._held()
        return self._held

    @property
    def table(self) -> Table:
        """The change as a table, computed on first use."""
        if not isinstance(self._held, Table) and not self._fetched():
            self._held = self.tables.settled(
                self.query, self.schema, small=self.small, lies=self._lies, ordered=True
            )
            self.small = self._held.rows <= self.tables.most_small
        assert isinstance(self._held, Table)
        return self._held

    def _fetched(self) -> bool:
        """Makes the change on the driver, if few rows are needed for it."""
        fetch, self.fetch = self.fetch, None
        if fetch is None:
            return False
        rows = fetched(self.tables, fetch)
        if rows is None:
            fetch.too_many()
            return False
        self.take(self.tables.local(fetch.finish(rows)))
        return True

    def take(self, table: Table) -> None:
        """Becomes a table that holds its rows."""
        self._held, self.small, self.fetch = table, table.rows <= self.tables.most_small, None

    def settle(self) -> None:
        """Computes the table."""
        self.table  # noqa: B018

    @property
    def rows(self) -> int | None:
        """The number of rows; None while it is a query."""
        return self._held.rows if isinstance(self._held, Table) else None


def fetched(tables: Tables, fetch: Fetch) -> pa.Table | None:
    """The rows of a fetch on the driver, by one job at most; None if they are too many."""
    if fetch.query is None:
        return tables.nothing(fetch.schema, fetch.extra).local
    return tables.at_most(fetch.query, fetch.schema, tables.most_fetched, fetch.extra)


def of_table(tables: Tables, schema: Schema, table: Table) -> Change:
    """The change that a table holds."""
    return Change(tables, schema, table, table.rows <= tables.most_small)
