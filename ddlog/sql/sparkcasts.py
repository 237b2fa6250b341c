"""Casts of Spark's SQL under ANSI semantics, where they differ from DuckDB's."""

from __future__ import annotations

from ..stdlib.sparkmoments import read_date, read_timestamp
from ..stdlib.sparksql import read_integer
from ..stdlib.sqlvalues import read_boolean
from ..syntax.templates import tree
from . import conversions as c
from .types import BOOLEAN, DATE, DOUBLE, INTEGER, TIMESTAMP, VARCHAR, SqlType, SqlValue, null

_SECOND = 1_000_000
_READ = {DATE: read_date, TIMESTAMP: read_timestamp, INTEGER: read_integer, BOOLEAN: read_boolean}


def cast(value: SqlValue, type: SqlType, *, may_fail: bool) -> SqlValue | None:
    """CAST, or TRY_CAST if it `may_fail`: NULL in place of a fault. None where there is no such cast."""
    source = value.type
    if isinstance(value.constant, str) and source == VARCHAR and type in _READ:
        return _literal(value.constant, type, may_fail)
    if isinstance(value.constant, int | float) and source == DOUBLE and type.kind == "decimal":
        return c.read_literal(repr(value.constant), type)
    match source.kind, type.kind:
        case "varchar", "integer" | "date" | "timestamp" | "double" | "decimal" as kind:
            read = f"sparksql::read_{kind}({f'$, {type.scale}' if kind == 'decimal' else '$'})"
            if may_fail:
                return c.strict([value], read, type, optional=True)
            return c.strict([value], lambda x: tree(f'sql::sure({read}, $, "{type}")', x, x), type)
        case "double", "varchar":
            return c.strict([value], "sparksql::double_text($)", VARCHAR)
        case "double", "integer":
            return c.strict([value], "sql::from_double(sql::double_trunc($), 0)", type)
        case "double", "decimal":
            units = f"sparksql::units_of_double($0, {type.scale})"
            if may_fail:
                units = f"if (sql::is_finite($0)) Some{{{units}}} else None"
            return c.strict([value], units, type, optional=may_fail)
        case "decimal", "integer":
            return c.strict([value], f"sql::trunc_div($, {10**source.scale})", type)
        case "timestamp", "integer":
            return c.strict([value], f"sql::floor_div($, {_SECOND})", INTEGER)
        case "timestamp", "double":
            return c.strict([value], f"sql::as_double($, {_SECOND})", DOUBLE)
        case "integer", "timestamp":
            return c.strict([value], f"$ * {_SECOND}", TIMESTAMP)
        case "struct", "struct" if source.fields != type.fields:
            return None  # Spark goes by places
        case "list" | "map" | "struct", "varchar":
            return None  # Spark writes them otherwise
    return c.cast(value, type, may_fail=may_fail)


def _literal(text: str, type: SqlType, may_fail: bool) -> SqlValue:
    found = _READ[type](text)
    if found[0]:
        return c.boolean(found[1]) if type == BOOLEAN else c.integer(found[1], type)
    if may_fail:
        return null(type)
    raise c.BadLiteral(f"`{text}` is no {type}")
