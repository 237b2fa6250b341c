"""Casts of Spark's SQL under ANSI semantics, where they differ from DuckDB's."""

from __future__ import annotations

from ..stdlib.sparkmoments import read_date, read_timestamp
from ..stdlib.sqlvalues import read_boolean
from ..syntax.templates import tree
from . import conversions as c
from .types import BOOLEAN, DATE, DOUBLE, INTEGER, TIMESTAMP, VARCHAR, SqlType, SqlValue, null

_SECOND = 1_000_000


def cast(value: SqlValue, type: SqlType, *, may_fail: bool) -> SqlValue | None:
    """CAST, or TRY_CAST if it `may_fail`: NULL in place of a fault. None where there is no such cast."""
    source = value.type
    if isinstance(value.constant, str) and source == VARCHAR and type in (DATE, TIMESTAMP):
        return _moment(value.constant, type, may_fail)
    if isinstance(value.constant, str) and source == VARCHAR and type == BOOLEAN:
        word = read_boolean(value.constant)
        return c.boolean(word[1]) if word[0] else c.cast(value, type, may_fail=may_fail)
    if isinstance(value.constant, int | float) and source == DOUBLE and type.kind == "decimal":
        return c.read_literal(repr(value.constant), type)
    match source.kind, type.kind:
        case "varchar", "integer" | "date" | "timestamp" as kind if not isinstance(value.constant, str):
            read = f"sparksql::read_{kind}($)"
            if may_fail:
                return c.strict([value], read, type, optional=True)
            return c.strict([value], lambda x: tree(f'sql::sure({read}, $, "{type}")', x, x), type)
        case "double", "varchar":
            return c.strict([value], "sparksql::double_text($)", VARCHAR)
        case "double", "integer":
            return c.strict([value], "sql::from_double(sql::double_trunc($), 0)", type)
        case "decimal", "integer":
            return c.strict([value], f"sql::trunc_div($, {10**source.scale})", type)
        case "boolean", "double":
            return c.strict([value], "if ($) 1.0 else 0.0", DOUBLE)
        case "boolean", "decimal":
            return c.strict([value], f"if ($) ({10**type.scale}: bigint) else (0: bigint)", type)
        case "double" | "decimal", "boolean":
            zero = "0.0" if source == DOUBLE else "0"
            return c.strict([value], f"$ != {zero}", type)
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


def _moment(text: str, type: SqlType, may_fail: bool) -> SqlValue:
    found = (read_date if type == DATE else read_timestamp)(text)
    if found[0]:
        return c.integer(found[1], type)
    if may_fail:
        return null(type)
    raise c.BadLiteral(f"`{text}` is no {type}")
