"""The word DEFAULT, where a statement gives a column a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import expressions as sql

from .places import SqlPlaces
from .rules import NamedRows

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

Defaults: TypeAlias = Callable[[str], "Expression"]
"""The default of a column of a table, by its name."""


def defaults_of(table: NamedRows, places: SqlPlaces) -> Defaults:
    """The defaults of the columns of a table."""
    texts = {column.name: column.default for column in table.relation.columns}
    return lambda name: read(texts.get(name, ""), places)


def read(default: str, places: SqlPlaces) -> Expression:
    """The expression of a text, without places; NULL if it is empty."""
    (statement,) = places.dialect.reader.parse(f"SELECT {default or 'NULL'}")
    assert isinstance(statement, sql.Select)
    for node in statement.walk():
        node.meta.clear()
    found: Expression = statement.expressions[0]
    return found


def is_default(node: Expression) -> bool:
    """True for the word DEFAULT. A column of that name stands in quotation marks."""
    if isinstance(node, sql.Column):
        return not node.table and not node.this.args.get("quoted") and node.name.upper() == "DEFAULT"
    return isinstance(node, sql.Var) and node.name.upper() == "DEFAULT"


def defaulted(name: str, node: Expression, defaults: Defaults) -> Expression:
    """The expression that a statement sets a column to: for the word DEFAULT the default of the column."""
    return defaults(name) if is_default(node) else node


def write_defaults(rows: sql.Values, names: Sequence[str], defaults: Defaults) -> None:
    """Writes the default of a column for DEFAULT in rows that have values for columns of these names."""
    for row in rows.expressions:
        cells = row.expressions if isinstance(row, sql.Tuple) else [row]
        for name, cell in zip(names, cells, strict=False):
            cell.replace(defaulted(name, cell, defaults))
