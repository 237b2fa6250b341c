"""Values brought to other types: literals, casts, and operations that are NULL where an operand is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import count
from typing import TypeAlias

from ..stdlib.options import NONE
from ..stdlib.sqlintervals import interval_of
from ..stdlib.sqljson import json_valid
from ..stdlib.sqlvalues import (
    read_boolean,
    read_date,
    read_decimal,
    read_double,
    read_integer,
    read_time,
    read_timestamp,
)
from ..stdlib.sqlzones import instant_of, zone_of
from ..syntax import Expr, FloatLit, StringLit, VarDecl, VectorLit
from ..syntax.templates import NOWHERE, name, tree
from .fieldnames import field_name
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    SqlValue,
    decimal,
    list_of,
    null,
)

UTC = "UTC"
_names: ContextVar[Iterator[int] | None] = ContextVar("_names", default=None)
_zone: ContextVar[str] = ContextVar("_zone", default=UTC)


_READ = {
    "date": read_date, "timestamp": read_timestamp, "time": read_time, "integer": read_integer,
    "double": read_double, "boolean": read_boolean,
}  # fmt: skip


class BadLiteral(Exception):
    """A literal that is no value of its type; the text says why."""


def begin_names() -> None:
    """Numbers the names of variables from the beginning: what a statement becomes does not depend on others,
    so that it is known again behind others."""
    _names.set(count(1))


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """Sets the time zone in which the code that is translated inside reads and writes moments."""
    token = _zone.set(name)
    try:
        yield
    finally:
        _zone.reset(token)


def zone() -> str:
    """The time zone of what is being translated."""
    return _zone.get()


def zone_called(name: str) -> str:
    """The time zone of a name, in whatever case, as it is written. Raises BadLiteral."""
    try:
        return zone_of(name).key
    except ValueError as error:
        raise BadLiteral(str(error)) from None


def fresh_name() -> str:
    """A name that no other variable of the statement has."""
    numbers = _names.get()
    if numbers is None:
        _names.set(numbers := count(1))
    return f"n{next(numbers)}"


def strict(
    args: Sequence[SqlValue], build: str | Callable[..., Expr], type: SqlType, *, optional: bool = False
) -> SqlValue:
    """The result of `build`, a template or a function, for the plain arguments; NULL where one of them is.
    `optional`: it makes an Option itself."""
    if any(each.type.kind == "null" for each in args):
        return null(type)
    plain, opened = list[Expr](), list[tuple[Expr, str]]()
    for each in args:
        if each.nullable:
            opened.append((each.tree, fresh_name()))
        plain.append(name(opened[-1][1]) if each.nullable else each.tree)
    made = tree(build, *plain) if isinstance(build, str) else build(*plain)
    if not opened:
        return SqlValue(made, type, optional)
    made = made if optional else tree("Some{$}", made)
    for source, found in reversed(opened):
        made = tree("match ($) {Some{$} -> $, None -> None}", source, VarDecl(found, NOWHERE), made)
    return SqlValue(tree(f"($: Option<{type.plain}>)", made), type, True)


def integer(number: int, type: SqlType = INTEGER) -> SqlValue:
    """A whole number as a literal."""
    made = tree("($: bigint)", number) if number >= 0 else tree("-($: bigint)", -number)
    return SqlValue(made, type, False, number)


def string(text: str) -> SqlValue:
    """A string literal."""
    return SqlValue(StringLit(text, NOWHERE), VARCHAR, False, text)


def boolean(value: bool) -> SqlValue:
    """TRUE or FALSE."""
    return SqlValue(tree("true" if value else "false"), BOOLEAN, False, value)


def double(number: float) -> SqlValue:
    """A literal with an exponent, or one that has no finite value."""
    if math.isnan(number):
        return SqlValue(tree("(0.0: double) / 0.0"), DOUBLE, False, number)
    made = tree("($: double)" if number >= 0 else "-($: double)", FloatLit(abs(number), None, NOWHERE))
    return SqlValue(made, DOUBLE, False, number)


def read_number(text: str) -> SqlValue:
    """A number as SQL writes it."""
    if text.isdigit():
        return integer(int(text), decimal(0, len(text)))
    if "e" in text.lower():
        return double(float(text))
    exact = Decimal(text)
    scale = -int(exact.as_tuple().exponent)
    units = integer(int(exact.scaleb(scale)), decimal(scale, max(len(exact.as_tuple().digits), scale)))
    return SqlValue(units.tree, units.type, False, exact)


def read_literal(text: str, type: SqlType) -> SqlValue:
    """A string literal as a value of another type. Raises BadLiteral."""
    found = NONE
    try:
        match type.kind:
            case "interval":
                return interval(*interval_of(text))
            case "timestamptz":
                return integer(instant_of(text, zone()), TIMESTAMPTZ)
            case "decimal":
                found = read_decimal(text, type.scale)
            case "date" | "timestamp" | "time" | "integer" | "double" | "boolean" as kind:
                found = _READ[kind](text)
    except ValueError:
        pass
    if found[0]:
        made = {"boolean": boolean, "double": double}.get(type.kind)
        return made(found[1]) if made else integer(found[1], type)
    if type == VARCHAR or (type == JSON and json_valid(text)):
        return replace(string(text), type=type)
    raise BadLiteral(f"`{text}` is no {type}")


def wall_clock(value: SqlValue) -> SqlValue:
    """The timestamp that a clock shows at an instant. Any other value as it is."""
    return _between_zones(value, TIMESTAMPTZ, "wall_clock", TIMESTAMP)


def instant(value: SqlValue) -> SqlValue:
    """The instant at which a clock shows a timestamp. Any other value as it is."""
    return _between_zones(value, TIMESTAMP, "instant", TIMESTAMPTZ)


def averaged(value: SqlValue) -> SqlValue | None:
    """A moment of which there are means: a date as a timestamp. None for any other value."""
    found = convert(value, TIMESTAMP) if value.type == DATE else value
    return found if found is not None and found.type in (TIMESTAMP, TIMESTAMPTZ, TIME) else None


def _between_zones(value: SqlValue, source: SqlType, call: str, to: SqlType) -> SqlValue:
    if value.type != source:
        return value
    return replace(value, type=to) if zone() == UTC else strict([value], f'sql::{call}($, "{zone()}")', to)


def convert(value: SqlValue, type: SqlType) -> SqlValue | None:
    """The value as one of another type, without loss where SQL converts by itself; None where it cannot."""
    source = value.type
    if source == type:
        return value
    if source.kind == "null":
        return null(type)
    if isinstance(value.constant, str) and source == VARCHAR:
        return read_literal(value.constant, type)
    match source.kind, type.kind:
        case "list", "list":
            return _elements_converted(value, type)
        case "struct", "struct" if source.fields == type.fields:
            return _fields_brought(value, type, convert)
        case "map", "map":
            return _entries_brought(value, type, convert)
        case (("integer" | "decimal"), ("integer" | "decimal")) if type.scale >= source.scale:
            factor = 10 ** (type.scale - source.scale)
            if isinstance(value.constant, int) and not isinstance(value.constant, bool):
                return integer(value.constant * factor, type)
            return strict([value], lambda x: tree("$ * $", x, factor) if factor > 1 else x, type)
        case (("integer" | "decimal"), "double"):
            return strict([value], lambda x: as_double(x, source.scale), DOUBLE)
        case "date", "timestamp":
            return strict([value], "$ * 86400000000", TIMESTAMP)
        case "date" | "timestamp", "timestamptz":
            return instant(convert(value, TIMESTAMP) or value)
        case "json", "varchar":
            return replace(value, type=VARCHAR)
    return None


def _elements_converted(value: SqlValue, type: SqlType) -> SqlValue | None:
    part = type.parts[0]
    if convert(item_of(value.type)[0], part) is None:
        return None
    return each(value, lambda item: convert(item, part) or item)


Bring: TypeAlias = Callable[[SqlValue, SqlType], SqlValue | None]
"""What brings a value to a type, if that can be."""


def fields_of(plain: Expr, type: SqlType) -> dict[str, SqlValue]:
    """The fields of a struct that is not NULL."""
    return {
        each: SqlValue(inside(tree(f"$.{field_name(each)}", plain), part), part, True)
        for each, part in zip(type.fields, type.parts, strict=True)
    }


def struct(values: Sequence[SqlValue], type: SqlType) -> Expr:
    """A struct of values."""
    cells = ", ".join(f".{field_name(each)} = $" for each in type.fields)
    return tree(f"{type.name}{{{cells}}}", *(outside(v.optional()).tree for v in values))


def _fields_brought(value: SqlValue, type: SqlType, bring: Bring) -> SqlValue | None:
    """A struct with fields of other types; those that it does not have are NULL."""

    def brought(plain: Expr) -> list[SqlValue | None]:
        there = fields_of(plain, value.type)
        return [
            bring(there[each], part) if each in there else null(part)
            for each, part in zip(type.fields, type.parts, strict=True)
        ]

    if None in brought(value.tree):
        return None
    return strict([value], lambda x: struct([each for each in brought(x) if each is not None], type), type)


def keys_of(plain: Expr, type: SqlType) -> SqlValue:
    """The keys of a map that is not NULL, as a list."""
    return SqlValue(tree("map_keys($).map(|key| Some{key})", plain), list_of(type.parts[0]))


def values_of(plain: Expr, type: SqlType) -> SqlValue:
    """The values of a map that is not NULL, as a list."""
    return SqlValue(tree("map_values($)", plain), list_of(type.parts[1]))


def _entries_brought(value: SqlValue, type: SqlType, bring: Bring) -> SqlValue | None:
    def brought(plain: Expr) -> list[SqlValue | None]:
        sides = keys_of(plain, value.type), values_of(plain, value.type)
        return [bring(side, list_of(part)) for side, part in zip(sides, type.parts, strict=True)]

    if None in brought(value.tree):
        return None

    def made(plain: Expr) -> Expr:
        keys, values = (each.tree for each in brought(plain) if each is not None)
        return tree(f"(sql::map_of($, $): {type.plain})", keys, values)

    return strict([value], made, type)


def outside(value: SqlValue) -> SqlValue:
    """A value as tables and lists have it."""
    wrapper = value.type.wrapper
    if not wrapper:
        return value
    form = f"{wrapper}{{$}}"
    if value.nullable:
        form = f"match ($) {{Some{{var x}} -> Some{{{wrapper}{{x}}}}, None -> None}}"
    return replace(value, tree=tree(form, value.tree))


def inside(optional: Expr, type: SqlType) -> Expr:
    """An Option as tables and lists have it as one of a plain value."""
    if not type.wrapper:
        return optional
    opened = tree(f"match ($) {{Some{{{type.wrapper}{{var x}}}} -> Some{{x}}, None -> None}}", optional)
    return tree(f"($: Option<{type.plain}>)", opened)


def item_of(type: SqlType) -> tuple[SqlValue, str]:
    """An element of a list of a type, and the parameter of a function that it is."""
    variable = fresh_name()
    return SqlValue(inside(name(variable), type.parts[0]), type.parts[0], True), variable


def function_of(type: SqlType, body: Callable[[SqlValue], Expr]) -> Expr:
    """A function of the elements of a list of a type, as tables have them."""
    item, variable = item_of(type)
    return tree(f"|{variable}: Option<{type.parts[0].outside}>| $", body(item))


def each(values: SqlValue, function: Callable[[SqlValue], SqlValue]) -> SqlValue:
    """The list of the values of a function of the elements of a list."""
    found = list[SqlType]()

    def cell(item: SqlValue) -> Expr:
        made = function(item)
        found.append(made.type)
        return outside(made.optional()).tree

    made = function_of(values.type, cell)
    return strict([values], lambda plain: tree("$.map($)", plain, made), list_of(found[0]))


def as_double(units: Expr, scale: int) -> Expr:
    """Units of a decimal as a double."""
    return tree("$ as double", units) if scale == 0 else tree("sql::as_double($, $)", units, 10**scale)


def cast(value: SqlValue, type: SqlType, *, may_fail: bool) -> SqlValue | None:
    """CAST, or TRY_CAST if it `may_fail`: NULL in place of a fault. None where there is no such cast."""
    try:
        found = convert(value, type)
    except BadLiteral:
        if not may_fail:
            raise
        return null(type)
    if found is not None:
        return found
    source = value.type
    if JSON in (source, type):
        if source == JSON:
            return from_json(value, type, may_fail=may_fail)
        return read_json(value, may_fail=may_fail) if source == VARCHAR else to_json(value)
    match source.kind, type.kind:
        case "timestamptz", "timestamp":
            return wall_clock(value)
        case "timestamptz", "date":
            return cast(wall_clock(value), type, may_fail=may_fail)
        case "varchar", kind if kind in (*_READ, "decimal", "interval", "timestamptz"):
            more = {"decimal": f", {type.scale}", "timestamptz": f', "{zone()}"'}.get(kind, "")
            read = f"sql::read_{kind}(${more})"
            if may_fail:
                return strict([value], read, type, optional=True)
            return strict([value], lambda x: tree(f'sql::sure({read}, $, "{type}")', x, x), type)
        case "other", _:
            return None
        case "list" | "struct" | "map", "varchar":
            return None if part_text(replace(value, nullable=True)) is None else _nested_text(value)
        case "struct", "struct" if {*source.fields} & {*type.fields}:
            return _fields_brought(value, type, partial(cast, may_fail=may_fail))
        case "map", "map":
            return _entries_brought(value, type, partial(cast, may_fail=may_fail))
        case "list", "list":
            part = type.parts[0]
            if cast(item_of(source)[0], part, may_fail=may_fail) is None:
                return None
            return each(value, lambda item: cast(item, part, may_fail=may_fail) or item)
        case _, "varchar":
            return strict([value], lambda x: as_text(x, source), VARCHAR)
        case (("integer" | "decimal"), ("integer" | "decimal")):
            drop = 10 ** (source.scale - type.scale)
            return strict([value], f"sql::rounded($, {drop})", type)
        case "double", ("integer" | "decimal"):
            units = f"sql::from_double($0, {type.scale})"
            if may_fail:
                units = f"if (sql::is_finite($0)) Some{{{units}}} else None"
            return strict([value], units, type, optional=may_fail)
        case "boolean", ("integer" | "decimal" | "double"):
            return convert(strict([value], "if ($) (1: bigint) else (0: bigint)", INTEGER), type)
        case (("integer" | "decimal" | "double"), "boolean"):
            return strict([value], f"$ != {'0.0' if source == DOUBLE else '0'}", BOOLEAN)
        case "timestamp", "date":
            return strict([value], "sql::floor_div($, 86400000000)", DATE)
        case "timestamp", "time":
            return strict([value], "sql::floor_mod($, 86400000000)", TIME)
    return None


def part_text(value: SqlValue) -> SqlValue | None:
    """A value as the text of a list, a struct or a map has it; None for one without a text."""
    if value.type.kind in ("list", "struct", "map"):
        inner = [part_text(SqlValue(value.tree, each, True)) for each in value.type.parts]
        return None if None in inner else _nested_text(value)
    made = cast(value, VARCHAR, may_fail=False)
    return made if made is None or value.type.is_number else strict([made], "sql::part_text($)", VARCHAR)


def _nested_text(value: SqlValue) -> SqlValue:
    """A list, a struct or a map as a text; their parts have texts."""

    def text(item: SqlValue) -> SqlValue:
        return part_text(item) or item

    type = value.type
    if type.kind == "list":
        return strict([each(value, text)], "sql::list_text($)", VARCHAR)
    if type.kind == "map":

        def entries(x: Expr) -> Expr:
            sides = each(keys_of(x, type), text).tree, each(values_of(x, type), text).tree
            return tree("sql::map_text($, $)", *sides)

        return strict([value], entries, VARCHAR)

    return strict([value], lambda x: tree("sql::struct_text($, $)", *_listed(x, type, text)), VARCHAR)


def _listed(plain: Expr, type: SqlType, text: Callable[[SqlValue], SqlValue]) -> tuple[Expr, Expr]:
    """The names and the texts of the fields of a struct that is not NULL, as lists."""
    names = tuple(tree("Some{$}", StringLit(each, NOWHERE)) for each in type.fields)
    texts = tuple(text(each).optional().tree for each in fields_of(plain, type).values())
    return VectorLit(names, NOWHERE), VectorLit(texts, NOWHERE)


def interval(months: int, days: int, micros: int) -> SqlValue:
    """An interval as a literal."""
    parts = months, days, micros
    made = tree("sql::Interval{$, $, $}", *(integer(each).tree for each in parts))
    return SqlValue(made, INTERVAL, False, parts)


def key(value: SqlValue) -> SqlValue:
    """The value, for a place where equal values are one: of an interval the days and the time that it has."""
    return strict([value], "sql::whole_days($)", INTERVAL) if value.type == INTERVAL else value


def span(value: SqlValue) -> SqlValue:
    """The length of an interval, by which it is compared; any other value as it is."""
    return strict([value], "sql::span($)", INTEGER) if value.type == INTERVAL else value


def as_text(plain: Expr, type: SqlType) -> Expr:
    """A plain value as SQL writes it."""
    match type.kind:
        case "varchar":
            return plain
        case "date" | "timestamp" | "time" | "double" | "interval":
            return tree(f"sql::{type.kind}_text($)", plain)
        case "timestamptz":
            return tree("sql::timestamptz_text($, $)", plain, StringLit(zone(), NOWHERE))
        case "decimal":
            return tree("sql::decimal_text($, $)", plain, type.scale)
    return tree("to_string($)", plain)


def to_json(value: SqlValue) -> SqlValue | None:
    """A value as JSON; NULL stays NULL. None for a type that JSON does not have."""
    source = value.type
    match source.kind:
        case "null":
            return null(JSON)
        case "json":
            return value
        case "list":
            parts = each(value, lambda item: json_cell(item) or item)
            return None if parts.type != list_of(JSON) else strict([parts], "sql::json_list($)", JSON)
        case "struct" | "map":
            return _members(value)
        case "integer" | "boolean":
            return strict([value], "to_string($)", JSON)
        case "double":
            return strict([value], "sql::json_number($)", JSON)
        case "decimal":
            return strict([value], lambda x: tree("sql::json_decimal($, $)", x, source.scale), JSON)
    text = cast(value, VARCHAR, may_fail=False)
    return None if text is None else strict([text], "sql::json_quoted($)", JSON)


def _members(value: SqlValue) -> SqlValue | None:
    """A struct or a map as an object of JSON."""
    type = value.type
    if any(json_cell(SqlValue(value.tree, each, True)) is None for each in type.parts):
        return None

    def cell(item: SqlValue) -> SqlValue:
        return json_cell(item) or item

    def made(x: Expr) -> Expr:
        if type.kind == "map":
            names = each(keys_of(x, type), lambda item: cast(item, VARCHAR, may_fail=False) or item).tree
            return tree("sql::json_members_of($, $)", names, each(values_of(x, type), cell).tree)
        return tree("sql::json_members_of($, $)", *_listed(x, type, cell))

    return strict([value], made, JSON)


def json_cell(value: SqlValue) -> SqlValue | None:
    """A value as a part of JSON, in which NULL is `null`."""
    if value.type == JSON:
        value = strict([value], 'sql::json_at($, "[]", false)', JSON, optional=True)
    made = to_json(value)
    if made is None or not made.nullable:
        return made
    return SqlValue(tree('unwrap_or($, "null")', made.tree), JSON)


def beside_numbers(values: Sequence[SqlValue], *, any_number: bool = False) -> list[SqlValue]:
    """The values; beside integers, or `any_number`, with 1 and 0 in place of TRUE and FALSE."""
    others = {each.type.kind for each in values if each.type.is_number}
    if not others or not (any_number or others == {"integer"}):
        return list(values)
    return [cast(v, INTEGER, may_fail=False) or v if v.type == BOOLEAN else v for v in values]


def from_json(value: SqlValue, type: SqlType, *, may_fail: bool) -> SqlValue | None:
    """JSON as a value: what is in its text, but for `null`."""
    text = strict([value], 'sql::json_at($, "[]", true)', VARCHAR, optional=True)
    return cast(text, type, may_fail=may_fail)


def read_json(value: SqlValue, *, may_fail: bool) -> SqlValue:
    """A text as JSON, if it is any."""
    if may_fail:
        return strict([value], "if (sql::json_valid($0)) Some{$0} else None", JSON, optional=True)
    return strict([value], "sql::json_sure($)", JSON)
