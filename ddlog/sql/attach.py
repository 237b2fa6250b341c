"""ATTACH 'module.dl' AS name: the relations of a module of this language as tables `name.relation`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from sqlglot import expressions as sql

from .. import syntax
from ..core import Relation
from ..errors.source import Source as Text
from ..syntax.parser import parse_program
from ..syntax.printing.types import type_text
from ..syntax.templates import written_type
from ..types import TypeDef
from .fieldnames import field_name
from .places import SqlPlaces
from .rules import NamedRows, SqlColumn, SqlRelation
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    STRUCTS,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    decimal,
    list_of,
    map_of,
    struct_of,
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
    "sql::Date": DATE, "sql::Time": TIME, "sql::Timestamp": TIMESTAMP,
    "sql::TimestampTz": TIMESTAMPTZ, "sql::Interval": INTERVAL,
    "time::Date": DATE, "time::Time": TIME, "time::DateTime": TIMESTAMP,
    **dict.fromkeys(_INTEGERS, INTEGER),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attached:
    """The name of a module and of those that it imports, and its tables by their names."""

    modules: tuple[str, ...]
    tables: dict[str, NamedRows]


def attached(node: Expression, places: SqlPlaces) -> Attached:
    """The tables of the module that a statement names. Raises SqlError."""
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
    kinds = syntax.TypeDecl | syntax.ExternTypeDecl
    own = {each.name: f"{module}::{each.name}" for each in parsed.declarations if isinstance(each, kinds)}
    imported = [each for each in parsed.declarations if isinstance(each, syntax.ImportDecl)]
    own |= {f"{each.alias}::": f"{each.module}::" for each in imported if each.alias is not None}
    tables = {}
    for each in parsed.declarations:
        if isinstance(each, syntax.RelationDecl) and each.fields is not None and each.kind != "stream":
            columns = [(field.name, _seen(field.type, own)) for field in each.fields]
            tables[f"{alias}.{each.name.lower()}"] = table_of(f"{module}::{each.name}", columns)
    return Attached((module, *(each.module for each in imported)), tables)


def table_of(relation: str, columns: Iterable[tuple[str, syntax.Type]]) -> NamedRows:
    """The table that a relation is."""
    found = tuple(_column(name, type) for name, type in columns)
    return NamedRows(SqlRelation(relation, found), tuple(each.name for each in found))


def known_table(relation: Relation) -> NamedRows:
    """The table that a relation of a program is, with the names and types that it was declared with in SQL,
    if it was."""
    origins = relation.span.source.origins
    declared = None if origins is None else origins.tables.get(relation.name)
    if isinstance(declared, NamedRows):
        return declared
    made = table_of(relation.name, [(each.name, written_type(str(each.type))) for each in relation.columns])
    if not relation.original:
        return made
    named = tuple(replace(each, name=sql_name(each.field)) for each in made.relation.columns)
    return NamedRows(SqlRelation(relation.name, named), tuple(each.name for each in named))


def sql_name(field: str) -> str:
    """The name of a table's column for that of a relation's."""
    plain = field.removesuffix("_")
    return plain if plain and plain != field and field_name(plain) == field else field


def _seen(type: syntax.Type, own: Mapping[str, str]) -> syntax.Type:
    """A type of a module as one that imports it writes it; `own` are the names of types, and of modules
    before `::`, that it must write otherwise."""
    match type:
        case syntax.NamedType(name, args):
            room, mark, last = name.rpartition("::")
            named = own.get(name) or f"{own.get(room + mark, room + mark)}{last}"
            return replace(type, name=named, args=tuple(_seen(each, own) for each in args))
        case syntax.TupleType(items):
            return replace(type, items=tuple(_seen(each, own) for each in items))
    return type


def modules_of(table: NamedRows) -> list[str]:
    """The modules that reading a table needs."""
    return [module for each in table.relation.columns for module in re.findall(r"(\w+)::", each.read)]


def _column(name: str, type: syntax.Type) -> SqlColumn:
    nullable = False
    if _is_option(type):
        nullable, type = True, type.args[0]
    of = sql_type(type) or SqlType("other", name=type_text(type))
    name_of = type.name if isinstance(type, syntax.NamedType) else ""
    read = "$ as bigint" if isinstance(type, syntax.IntType) else _READ.get(name_of, "")
    return SqlColumn(name.lower(), name, of, nullable, True, read)


def _inner(type: syntax.Type) -> SqlType | None:
    """The type of a part of a list or a map, whose values must be those of SQL as they are."""
    of = sql_type(type)
    read = isinstance(type, syntax.IntType) or (isinstance(type, syntax.NamedType) and type.name in _READ)
    return None if read else of


def know_structs(typedefs: Mapping[str, TypeDef]) -> None:
    """Makes the types of structs of a program known, which need not have been translated here."""
    for name in typedefs:
        _know_struct(name, typedefs)


def _know_struct(name: str, typedefs: Mapping[str, TypeDef]) -> None:
    if name in STRUCTS or not name.startswith("Struct_") or len(typedefs[name].constructors) != 1:
        return
    (made,) = typedefs[name].constructors
    parts, fields = [], [form.name for form in made.json] or [field for field, _ in made.fields]
    for _, each in made.fields:
        for inner in re.findall(r"\bStruct_\w+", str(each)):
            _know_struct(inner, typedefs)
        option = written_type(str(each))
        part = sql_type(option.args[0]) if _is_option(option) else None
        if part is None:
            return
        parts.append(part)
    struct_of(fields, parts)


def _is_option(type: syntax.Type) -> TypeGuard[syntax.NamedType]:
    return isinstance(type, syntax.NamedType) and type.name.removeprefix("ddlog_std::") == "Option"


def sql_type(type: syntax.Type) -> SqlType | None:
    """The type that columns of a type have in SQL; None if there is none."""
    match type:
        case syntax.IntType():
            return INTEGER
        case syntax.NamedType(name, ()) if name.startswith("sql::Decimal"):
            return decimal(int(name.removeprefix("sql::Decimal")))
        case syntax.NamedType("ddlog_std::Vec" | "Vec", (syntax.NamedType() as item,)):
            of = _inner(item.args[0]) if _is_option(item) else None
            return None if of is None else list_of(of)
        case syntax.NamedType("ddlog_std::Map" | "Map", (key, syntax.NamedType() as item)):
            keys, values = _inner(key), _inner(item.args[0]) if _is_option(item) else None
            return None if keys is None or values is None else map_of(keys, values)
        case syntax.NamedType(name, ()):
            return _NAMED.get(name) or STRUCTS.get(name)
    return None
