"""Pieces of SQL text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..schema import Schema


def names(schema: Schema) -> list[str]:
    """The columns of a schema in a table."""
    return [f"c{k}" for k in range(len(schema))]


def listed(*parts: str | Iterable[str]) -> str:
    """The items of a list, with commas."""
    return ", ".join(one for part in parts for one in ((part,) if isinstance(part, str) else part))


def of(alias: str, columns: Iterable[str]) -> list[str]:
    """Columns of one side of a join."""
    return [f"{alias}.{column}" for column in columns]


def grouping(*columns: str | Iterable[str]) -> str:
    """A GROUP BY clause; without columns, all rows are one group, and no row is none."""
    return f"GROUP BY {listed(*columns) or repr('all')}"


def equal(left: str, right: str, columns: Iterable[str]) -> str:
    """The condition that both sides agree on columns of the same names."""
    return agree((f"{left}.{c}", f"{right}.{c}") for c in columns)


def agree(pairs: Iterable[tuple[str, str]]) -> str:
    """The condition that the members of each pair are equal."""
    return " AND ".join(f"{a} = {b}" for a, b in pairs) or "true"


def union(queries: Sequence[str]) -> str:
    """All rows of some queries."""
    return " UNION ALL ".join(queries)


def consolidated(columns: Sequence[str], source: str, having: str = "<> 0") -> str:
    """The rows of a table expression with their weights summed."""
    return f"SELECT {listed(columns, 'sum(w) AS w')} FROM {source} {grouping(columns)} HAVING sum(w) {having}"


def quoted(name: str) -> str:
    """A column's name as SQL text."""
    return "`" + name.replace("`", "``") + "`"
