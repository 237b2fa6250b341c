"""ATTACH 'module.dl' AS name: the relations of a module of this language as tables `name.relation`."""

from __future__ import annotations

import re
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

_INTEGERS = (*(f"{sign}{width}" for sign in "us" for width in (8, 16, 32, 64, 128)), "usize")
_DAYS = "(time::julian_day({}) as bigint - 2440588)"
_CLOCK = "time::Time{var h, var m, var s, var n}"
_MICROS = "(((h as bigint * 60 + m as bigint) * 60 + s as bigint) * 1000000 + n as bigint / 1000)"
_READ = {
    **dict.fromkeys(_INTEGERS, "$ as bigint"),
    "time::Date": _DAYS.format("$"),
    "time::Time": f"match ($) {{{_CLOCK} -> {_MICROS}}}",
    "time::DateTime": f"match ($) {{time::DateTime{{var d, {_CLOCK}}} -> "
    f"{_DAYS.format('d')} * 86400000000 + {_MICROS}}}",
}
"""Templates of the plain values of types that are not those of SQL's tables."""

_NAMED = {
    "bool": BOOLEAN, "bigint": INTEGER, "integer": INTEGER, "string": VARCHAR, "double": DOUBLE,
    "sql::Date": DATE, "sql::Time": TIME, "sql::Timestamp": TIMESTAMP, "sql::Interval": INTERVAL,
    "time::Date": DATE, "time::Time": TIME, "time::DateTime": TIMESTAMP,
    **dict.fromkeys(_INTEGERS, INTEGER),
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


def left_out(columns: Iterable[tuple[str, syntax.Type]]) -> dict[str, syntax.Type]:
    """The columns of types that SQL does not have, by their names in SQL."""
    return {name.lower(): type for name, type in columns if _column(name, type) is None}


def modules_of(table: NamedRows) -> list[str]:
    """The modules that reading a table needs."""
    return [module for each in table.relation.columns for module in re.findall(r"(\w+)::", each.read)]


def _column(name: str, type: syntax.Type) -> SqlColumn | None:
    nullable = False
    if isinstance(type, syntax.NamedType) and _is_option(type):
        nullable, type = True, type.args[0]
    of = _type(type)
    if of is None:
        return None
    read = _READ.get(type.name, "") if isinstance(type, syntax.NamedType) else "$ as bigint"
    return SqlColumn(name.lower(), name, of, nullable, True, read)


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
