"""The word DEFAULT, where a statement gives a column a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import expressions as sql

from .rules import NamedRows

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

Defaults: TypeAlias = Mapping[str, "Expression | None"]
"""The defaults of the columns of a table, by their names; None is NULL."""


def defaults_of(table: NamedRows) -> Defaults:
    """The defaults of the columns of a table."""
    return {column.name: column.default for column in table.relation.columns}


def is_default(node: Expression) -> bool:
    """Whether an expression is the word DEFAULT, and no name in quotation marks."""
    if isinstance(node, sql.Column):
        return not node.table and not node.this.args.get("quoted") and node.name.upper() == "DEFAULT"
    return isinstance(node, sql.Var) and node.name.upper() == "DEFAULT"


def defaulted(name: str, node: Expression, defaults: Defaults) -> Expression:
    """What a statement gives a column of a name: its default for the word DEFAULT."""
    return (defaults.get(name) or sql.Null()).copy() if is_default(node) else node


def write_defaults(rows: sql.Values, names: Sequence[str], defaults: Defaults) -> None:
    """Writes the default of a column for DEFAULT in rows that have values for columns of these names."""
    for row in rows.expressions:
        cells = row.expressions if isinstance(row, sql.Tuple) else [row]
        for name, cell in zip(names, cells, strict=False):
            cell.replace(defaulted(name, cell, defaults))
