"""Names in a query: the columns of its tables, and those of the queries around it.

A column of an outer query that a subquery reads is *captured*: the subquery is computed for each of the
values that the outer query has of it, its domain, and joined to the outer query by them (Neumann and Kemper,
"Unnesting Arbitrary Queries").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import sql as errors
from ..errors.unknown import unknown_name
from .places import SqlError, SqlPlaces
from .rules import SqlOutput, SqlRelation, SqlTerm
from .types import SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Column
    from sqlglot.expressions import Expr as Expression


def is_usual(schema: str) -> bool:
    """True for `main` and `public`: every table can be named with these schemas."""
    return schema.lower() in ("main", "public")


@dataclass(frozen=True, slots=True)
class VisibleColumn:
    """A column in scope: the table's name, its own, and its value. `hidden` from `*`: the second of the two
    columns of a NATURAL or USING join."""

    table: str
    name: str
    value: SqlValue
    hidden: bool = False


@dataclass
class Capture:
    """The columns of outer queries that a subquery reads: their entries there, and the variables here. The
    relation of the domain is there once they are known."""

    outer: QueryScope
    output: SqlOutput
    values: dict[tuple[str, str], tuple[SqlValue, SqlValue]] = field(default_factory=dict)
    relation: SqlRelation | None = None

    def value(self, table: str, name: str, outer: SqlValue) -> SqlValue:
        """The variable of a captured column."""
        key = table, name
        if key not in self.values:
            inner = self.output.variable(outer.type, outer.nullable)
            self.values[key] = outer, self.output.like(inner, outer)
        return self.values[key][1]

    def here(self, variable: SqlValue) -> SqlValue | None:
        """The variable that has the value of a captured one here. A query of WITH was computed for values of
        the query where it stands, and may be read in a query inside that. None: it is not captured."""
        if variable.name in {each.name for each in self.domain}:
            return variable
        found = None if self.outer.capture is None else self.outer.capture.here(variable)
        return None if found is None else self.value("\0", variable.name, found)

    @property
    def domain(self) -> tuple[SqlValue, ...]:
        """The variables, in order."""
        return tuple(inner for _, inner in self.values.values())

    @property
    def term(self) -> SqlTerm | None:
        """The term of the domain; None while it is not known, and where nothing is captured."""
        if self.relation is None or not self.values:
            return None
        return self.output.term(self.relation, self.domain)


@dataclass
class QueryScope:
    """The columns that expressions of one query see, and the expressions that are computed already: keys and
    aggregates of groups."""

    capture: Capture | None = None
    entries: list[VisibleColumn] = field(default_factory=list)
    known: dict[Expression, SqlValue] = field(default_factory=dict)
    grouped: bool = False
    aliases: dict[str, Expression] = field(default_factory=dict)

    def own(self, table: str, name: str) -> list[VisibleColumn]:
        """The columns of this query with a name; `table` empty: of any table."""
        found = [e for e in self.entries if e.name == name and (not table or e.table == table)]
        return [e for e in found if not e.hidden] or found

    def has_table(self, name: str) -> bool:
        """Whether a name is that of a table, here or in a query around."""
        if any(each.table == name for each in self.entries):
            return True
        return self.capture is not None and self.capture.outer.has_table(name)

    def find(self, table: str, name: str, places: SqlPlaces, node: Expression) -> SqlValue | None:
        """The value of a column, here or in a query around. Raises SqlError."""
        found = self.own(table, name)
        if len(found) > 1:
            named = [e for e in self.entries if e.name == name and table in ("", e.table)]
            tables = sorted({e.table for e in named if e.table})  # a column of either side has none
            raise SqlError(
                errors.AmbiguousInSql(
                    name=name, tables=" and ".join(tables), first=tables[0], span=places.of(node)
                )
            )
        if found:
            return found[0].value
        if self.capture is None:
            return None
        outer = self.capture.outer.find(table, name, places, node)
        return None if outer is None else self.capture.value(table, name, outer)

    def column(self, node: Column, places: SqlPlaces) -> SqlValue:
        """The value of a column. Raises SqlError."""
        table, name = node.table.lower(), node.name.lower()
        check_schema(node, places)
        found = self.find(table, name, places, node)
        if found is not None:
            return found
        known = sorted(set(self._visible(table)))
        what = "column" if known or not table else "table"
        if what == "table":
            tables = {e.table for e in self.entries if e.table}
            raise SqlError(unknown_name("table", table, tables, places.of(node)))
        if self.grouped:
            places.wrong(f"column `{name}` is neither a key of GROUP BY nor inside an aggregate", node)
        raise SqlError(unknown_name(what, name, known, places.of(node)))

    def _visible(self, table: str) -> Iterator[str]:
        for entry in self.entries:
            if not table or entry.table == table:
                yield entry.name
        if self.capture is not None:
            yield from self.capture.outer._visible(table)


def check_schema(column: Column, places: SqlPlaces) -> None:
    """Raises SqlError for a column with a schema that its table does not have."""
    if column.db:
        *schema, _ = (each.name.lower() for each in column.parts)
        raise SqlError(unknown_name("table", ".".join(schema), (), places.of(column)))
