"""ATTACH 'module.dl' AS name: the relations of a module of this language as tables `name.relation`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .. import syntax
from ..errors.source import Source as Text
from ..syntax.parser import parse_program
from .places import SqlPlaces
from .queries import NamedRows
from .rules import SqlColumn, SqlRelation
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    TIME,
    TIMESTAMP,
    VARCHAR,
    SqlType,
    decimal,
    list_of,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_NAMED = {
    "bool": BOOLEAN, "bigint": INTEGER, "integer": INTEGER, "string": VARCHAR, "double": DOUBLE,
    "sql::Date": DATE, "sql::Time": TIME, "sql::Timestamp": TIMESTAMP, "sql::Interval": INTERVAL,
    **{f"{sign}{width}": INTEGER for sign in "us" for width in (8, 16, 32, 64, 128)}, "usize": INTEGER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attached:
    """A module: its name, and its tables by their names."""

    module: str
    tables: dict[str, NamedRows]


def attached(node: Expression, places: SqlPlaces) -> Attached:
    """The tables of the module that a statement names. A column of a type that SQL does not have is left out.
    Raises SqlError."""
    what = node.this
    alias = what.alias.lower() if isinstance(what, sql.Alias) else ""
    literal = what.this if isinstance(what, sql.Alias) else what
    if not isinstance(literal, sql.Literal) or not literal.this.endswith(".dl"):
        places.refuse("ATTACH of anything but a module 'name.dl'", node)
    path = Path(literal.this)
    alias = alias or path.stem.lower()
    file = Path(places.source.name).parent / path
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        places.wrong(f"cannot read {file}: {error}", node)
    parsed, _ = parse_program(Text(str(file), text))
    module = "::".join(path.with_suffix("").parts)
    tables = {}
    for each in parsed.declarations:
        if isinstance(each, syntax.RelationDecl) and each.fields is not None and each.kind != "stream":
            columns = [(field.name, field.type) for field in each.fields]
            tables[f"{alias}.{each.name.lower()}"] = table_of(f"{module}::{each.name}", columns)
    return Attached(module, tables)


def table_of(relation: str, columns: Iterable[tuple[str, syntax.Type]]) -> NamedRows:
    """The table that a relation is. A column of a type that SQL does not have is left out."""
    found = [made for name, type in columns if (made := _column(name, type)) is not None]
    return NamedRows(SqlRelation(relation, tuple(found)), tuple(each.name for each in found))


def _column(name: str, type: syntax.Type) -> SqlColumn | None:
    nullable = False
    if isinstance(type, syntax.NamedType) and _is_option(type):
        nullable, type = True, type.args[0]
    of = _type(type)
    if of is None:
        return None
    machine = isinstance(type, syntax.IntType) or (
        (isinstance(type, syntax.NamedType) and type.name[0] in "us" and type.name[1:].isdigit())
        or (isinstance(type, syntax.NamedType) and type.name == "usize")
    )
    return SqlColumn(name.lower(), name, of, nullable, True, machine)


def _is_option(type: syntax.NamedType) -> bool:
    return type.name.removeprefix("ddlog_std::") == "Option"


def _type(type: syntax.Type) -> SqlType | None:
    match type:
        case syntax.IntType():
            return INTEGER
        case syntax.NamedType(name, ()) if name.startswith("sql::Decimal"):
            return decimal(int(name.removeprefix("sql::Decimal")))
        case syntax.NamedType("ddlog_std::Vec" | "Vec", (syntax.NamedType() as item,)):
            of = _type(item.args[0]) if _is_option(item) else None
            return None if of is None else list_of(of)
        case syntax.NamedType(name, ()):
            return _NAMED.get(name)
    return None
