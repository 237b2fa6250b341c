"""Changes of relations on their way through the circuit: queries, until an operator needs a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema import Schema
from .sqltext import Query, everything, sourced
from .tables import Table, Tables


class Change:
    """A change of one relation: columns and weight `w`, not consolidated.

    It is a query at first and becomes a table when it is needed twice or counted. `small`: few rows
    are expected. `lies`: the columns by which the rows of the query are partitioned.
    """

    __slots__ = ("_held", "_lies", "schema", "small", "tables")

    def __init__(
        self,
        tables: Tables,
        schema: Schema,
        held: Query | Table,
        small: bool,
        lies: Sequence[str] = (),
    ) -> None:
        self.tables, self.schema, self.small = tables, schema, small
        self._held, self._lies = held, lies

    @property
    def sql(self) -> str:
        """A table expression for its rows."""
        return self._held.view if isinstance(self._held, Table) else sourced(self._held)

    @property
    def query(self) -> Query:
        """A query for its rows."""
        return everything(self._held.view) if isinstance(self._held, Table) else self._held

    @property
    def table(self) -> Table:
        """The change as a table, computed on first use."""
        if not isinstance(self._held, Table):
            self._held = self.tables.settled(self._held, self.schema, small=self.small, lies=self._lies)
            self.small = self._held.rows <= self.tables.most_small
        return self._held

    def take(self, table: Table) -> None:
        """Becomes a table that holds its rows."""
        self._held, self.small = table, table.rows <= self.tables.most_small

    def settle(self) -> None:
        """Computes the table."""
        self.table  # noqa: B018

    @property
    def rows(self) -> int | None:
        """The number of rows; None while it is a query."""
        return self._held.rows if isinstance(self._held, Table) else None


def of_table(tables: Tables, schema: Schema, table: Table) -> Change:
    """The change that a table holds."""
    return Change(tables, schema, table, table.rows <= tables.most_small)
