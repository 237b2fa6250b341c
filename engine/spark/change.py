"""Changes of relations on their way through the circuit: queries, until an operator needs a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema import Schema
from .sqltext import QueryText, everything
from .tables import Table, Tables


class Change:
    """A change of one relation: columns and weight `w`, not consolidated.

    It is a query at first and becomes a table when it is needed twice or counted. `small`: few rows
    are expected. `lies`: the columns by which the rows of the query are partitioned.
    """

    __slots__ = ("_lies", "_query", "_table", "schema", "small", "tables")

    def __init__(
        self,
        tables: Tables,
        schema: Schema,
        query: QueryText,
        small: bool,
        table: Table | None = None,
        lies: Sequence[str] = (),
    ) -> None:
        self.tables, self.schema, self.small = tables, schema, small
        self._query, self._table, self._lies = query, table, lies

    @property
    def sql(self) -> str:
        """A table expression for its rows."""
        return self._table.view if self._table is not None else f"({self._query})"

    @property
    def query(self) -> str:
        """A SELECT of its rows."""
        return str(everything(self._table.view) if self._table is not None else self._query)

    @property
    def table(self) -> Table:
        """The change as a table, computed on first use."""
        if self._table is None:
            self._table = self.tables.settled(self._query, self.schema, small=self.small, lies=self._lies)
            self.small = self._table.rows <= self.tables.most_small
        return self._table

    def settle(self) -> None:
        """Computes the table."""
        self.table  # noqa: B018

    @property
    def rows(self) -> int | None:
        """The number of rows; None while it is a query."""
        return None if self._table is None else self._table.rows


def of_table(tables: Tables, schema: Schema, table: Table) -> Change:
    """The change that a table holds."""
    return Change(tables, schema, "", table.rows <= tables.most_small, table)
