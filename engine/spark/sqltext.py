"""SQL as values: a query is made of frozen parts, and its text is written when Spark is asked.

Expressions inside a query are text already: row expressions come as text from code generation. As a source, a
string is the name of a view or another table expression, and a query is put in parentheses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..schema import Schema

JoinKind: TypeAlias = Literal["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "CROSS JOIN"]


@dataclass(frozen=True, slots=True)
class As:
    """An expression under a name."""

    expression: str
    name: str

    def __str__(self) -> str:
        return f"{self.expression} AS {self.name}"


@dataclass(frozen=True, slots=True)
class Joined:
    """A source that a SELECT joins to the sources before it; `on` is empty for a cross join."""

    kind: JoinKind
    source: Source
    alias: str
    on: str = ""

    def __str__(self) -> str:
        on = f" ON {self.on}" if self.on else ""
        return f"{self.kind} {sourced(self.source)} {self.alias}{on}"


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT. `grouped` None: no grouping; without columns, all rows are one group, and no row is none.

    A SELECT of constants has no source.
    """

    items: Sequence[str | As]
    source: Source = ""
    alias: str = ""
    joins: Sequence[Joined] = ()
    where: str = ""
    grouped: Sequence[str] | None = None
    having: str = ""
    distinct: bool = False

    def __str__(self) -> str:
        distinct = "DISTINCT " if self.distinct else ""
        parts = [f"SELECT {distinct}{', '.join(map(str, self.items))}"]
        if self.source:
            parts.append(f"FROM {sourced(self.source)}")
        if self.alias:
            parts.append(self.alias)
        parts += map(str, self.joins)
        if self.where:
            parts.append(f"WHERE {self.where}")
        if self.grouped is not None:
            parts.append(f"GROUP BY {', '.join(self.grouped) or repr('all')}")
        if self.having:
            parts.append(f"HAVING {self.having}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class UnionAll:
    """All rows of some queries, a row as often as they have it."""

    queries: Sequence[Query]

    def __str__(self) -> str:
        return " UNION ALL ".join(map(str, self.queries))


Query: TypeAlias = Select | UnionAll
Source: TypeAlias = str | Query  # a string is a table expression


def sourced(source: Source) -> str:
    """The text of a source after FROM or JOIN: a query in parentheses, a table expression as it is."""
    return source if isinstance(source, str) else f"({source})"


def everything(source: Source) -> Select:
    """All columns of a source."""
    return Select(("*",), source)


def consolidated(columns: Sequence[str], source: Source) -> Select:
    """The rows of a source, each once, with their weights summed; those whose sum is not 0."""
    return Select([*columns, As("sum(w)", "w")], source, grouped=columns, having="sum(w) <> 0")


# ------------------------------------------------------------- pieces


def names(schema: Schema) -> list[str]:
    """The columns of a schema in a table."""
    return [f"c{k}" for k in range(len(schema))]


def of_side(alias: str, columns: Iterable[str]) -> list[str]:
    """Columns of one side of a join."""
    return [f"{alias}.{column}" for column in columns]


def equal(left: str, right: str, columns: Iterable[str]) -> str:
    """The condition that both sides agree on columns of the same names."""
    return agree((f"{left}.{c}", f"{right}.{c}") for c in columns)


def agree(pairs: Iterable[tuple[str, str]]) -> str:
    """The condition that the members of each pair are equal."""
    return " AND ".join(f"{a} = {b}" for a, b in pairs) or "true"


def quoted(name: str) -> str:
    """A name of a column or table as SQL text, whatever letters it has."""
    return "`" + name.replace("`", "``") + "`"
