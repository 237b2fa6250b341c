"""The types of SQL, and how their values lie in columns.

Inside of rules a value is a plain one: dates are days, times and timestamps microseconds (with a time zone
those in UTC), decimals whole numbers of their smallest unit, all of them integers without bounds. A table or
a view has the types of the library module `sql` instead (`sql::Date{days}`), which are written as SQL writes
them. NULL is `None` of an Option. A list is a `Vec` of such Options, inside of rules and outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..syntax import Expr, Name
from ..syntax.templates import names_in, tree


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type: its kind, of a decimal the number of digits after the point, and of a list the type of its
    elements, of a map those of its keys and values, of a struct those of its `fields`. `name` is that of the
    type of a struct, or of one which SQL does not have: values of the latter are only passed on and
    compared. `digits` are those of a number in all, by which Spark chooses the places of a quotient."""

    kind: str
    scale: int = 0
    parts: tuple[SqlType, ...] = ()
    name: str = ""
    fields: tuple[str, ...] = ()
    digits: int = field(default=38, compare=False)

    def __str__(self) -> str:
        match self.kind:
            case "other":
                return self.name
            case "list":
                return f"{self.parts[0]}[]"
            case "map":
                return f"MAP({self.parts[0]}, {self.parts[1]})"
            case "struct":
                parts = zip(self.fields, self.parts, strict=True)
                return f"STRUCT({', '.join(f'{field} {part}' for field, part in parts)})"
        return f"DECIMAL with {self.scale} places" if self.kind == "decimal" else self.kind.upper()

    @property
    def declared(self) -> str:
        """The type as CREATE TABLE writes it."""
        if self.kind == "struct":
            parts = zip(self.fields, self.parts, strict=True)
            return f"STRUCT({', '.join(f'{field} {part.declared}' for field, part in parts)})"
        if self.kind == "map":
            return f"MAP({self.parts[0].declared}, {self.parts[1].declared})"
        if self.kind == "list":
            return f"{self.parts[0].declared}[]"
        return f"DECIMAL(38, {self.scale})" if self.scale else self.kind.upper()

    @property
    def plain(self) -> str:
        """The type inside of rules."""
        if self.kind == "row":
            return f"({', '.join(each.plain for each in self.parts)})"
        if self.kind == "list":
            return f"Vec<Option<{self.parts[0].outside}>>"
        if self.kind == "map":
            return f"Map<{self.parts[0].outside}, Option<{self.parts[1].outside}>>"
        return self.name or _PLAIN.get(self.kind, "bigint")

    @property
    def wrapper(self) -> str:
        """The struct that a column of a table has around the plain value; empty: none."""
        if self.kind == "decimal":
            return f"sql::Decimal{self.scale}" if self.scale else ""
        return _WRAPPERS.get(self.kind, "")

    @property
    def outside(self) -> str:
        """The type of a column of a table or a view."""
        return self.wrapper or self.plain

    @property
    def is_list(self) -> bool:
        """Whether values are lists."""
        return self.kind == "list"

    @property
    def is_number(self) -> bool:
        """Whether values can be added."""
        return self.kind in _NUMBERS

    @property
    def is_exact(self) -> bool:
        """Whether the type is of integers or decimals."""
        return self.kind in ("integer", "decimal")


_PLAIN = {
    "boolean": "bool",
    "double": "double",
    "varchar": "string",
    "interval": "sql::Interval",
    "json": "string",
    "null": "bool",
}
_WRAPPERS = {
    "date": "sql::Date", "timestamp": "sql::Timestamp", "timestamptz": "sql::TimestampTz",
    "time": "sql::Time",
}  # fmt: skip
_VARIABLE = re.compile(r"v\d+")  # what rules call variables
MOMENTS = ("date", "timestamp", "timestamptz")
"""The kinds of moments. Beside a timestamp a date becomes one; beside an instant both become instants."""
_NUMBERS = ("integer", "decimal", "double")

NULL, BOOLEAN, INTEGER, DOUBLE = SqlType("null"), SqlType("boolean"), SqlType("integer"), SqlType("double")
VARCHAR, DATE, TIMESTAMP, TIME = SqlType("varchar"), SqlType("date"), SqlType("timestamp"), SqlType("time")
TIMESTAMPTZ, INTERVAL, JSON = SqlType("timestamptz"), SqlType("interval"), SqlType("json")
MOST_PLACES, LEAST_PLACES = 38, 6


def decimal(scale: int, digits: int = MOST_PLACES) -> SqlType:
    """Decimals with so many places; without any, integers."""
    return SqlType("decimal" if scale else "integer", scale, digits=digits)


@dataclass(frozen=True, slots=True)
class SqlValue:
    """An expression over the variables of a rule, of the plain type or, if `nullable`, an Option of it.
    `constant` is the value of a literal as Python has it; `when`: a test, outside of which the value is
    NULL, and what has 0 there in place of NULL."""

    tree: Expr
    type: SqlType
    nullable: bool = False
    constant: object = None
    when: tuple[Expr, Expr] | None = None

    @property
    def plain(self) -> str:
        """The type of the expression."""
        return f"Option<{self.type.plain}>" if self.nullable else self.type.plain

    def optional(self) -> SqlValue:
        """The same value as an Option."""
        return self if self.nullable else replace(self, tree=tree("Some{$}", self.tree), nullable=True)

    @property
    def name(self) -> str:
        """The variable that the value is; empty for any other expression."""
        return self.tree.name if isinstance(self.tree, Name) and _VARIABLE.fullmatch(self.tree.name) else ""


def bounded(digits: int, scale: int) -> SqlType:
    """A decimal of at most 38 digits, as Spark has it: of too many places as many go as whole digits need,
    but not the first six."""
    if digits <= MOST_PLACES:
        return decimal(scale, digits)
    return decimal(max(MOST_PLACES - (digits - scale), min(scale, LEAST_PLACES)))


def mean_of(type: SqlType) -> SqlType:
    """The type of an exact mean: of moments theirs, of decimals that of Spark."""
    return type if type.kind != "decimal" else bounded(type.digits + 4, type.scale + 4)


def sum_type(type: SqlType) -> SqlType:
    """The type of a sum of numbers, with ten digits more if they are decimals."""
    return (
        type
        if not type.is_exact
        else decimal(type.scale, min(type.digits + 10, MOST_PLACES) if type.scale else 20)
    )


def variables_in(part: object) -> list[str]:
    """The variables of rules that a tree, or a tuple of trees, mentions."""
    return [each for each in names_in(part) if _VARIABLE.fullmatch(each)]


def list_of(type: SqlType) -> SqlType:
    """Lists of values of a type, each of which may be NULL."""
    return SqlType("list", parts=(type,))


def map_of(keys: SqlType, values: SqlType) -> SqlType:
    """Maps from keys to values, which may be NULL. They are in the order of their keys."""
    return SqlType("map", parts=(keys, values))


STRUCTS: dict[str, SqlType] = {}
"""The types of structs so far, by the names of their types in this language, which follow from them."""


def struct_of(fields: Sequence[str], parts: Sequence[SqlType]) -> SqlType:
    """Structs of some fields, each of which may be NULL."""
    named = "_".join(f"{plain_name(field)}_{_tag(part)}" for field, part in zip(fields, parts, strict=True))
    name = f"Struct_{named}"
    return STRUCTS.setdefault(name, SqlType("struct", parts=tuple(parts), name=name, fields=tuple(fields)))


def plain_name(name: str) -> str:
    """A name as one of this language writes it, if it is no word of it."""
    return "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in name)


def _tag(type: SqlType) -> str:
    inner = "".join(f"_{_tag(each)}" for each in type.parts)
    return type.name.lower() or f"{type.kind}{type.scale or ''}{inner}"


def null(type: SqlType) -> SqlValue:
    """NULL as a value of a type."""
    return SqlValue(tree(f"(None: Option<{type.plain}>)"), type, True)


def common(types: Iterable[SqlType]) -> SqlType | None:
    """The type that values of several types are brought to; None where there is none."""
    found = NULL
    for each in types:
        joined = _joined(found, each)
        if joined is None:
            return None
        found = joined
    return found


def _joined(a: SqlType, b: SqlType) -> SqlType | None:
    if a == b:
        return a if a.digits >= b.digits else b
    if b == NULL:
        return a
    if a == NULL:
        return b
    if a.is_number and b.is_number:
        scale = max(a.scale, b.scale)
        return DOUBLE if DOUBLE in (a, b) else decimal(scale, scale + max(x.digits - x.scale for x in (a, b)))
    if {a.kind, b.kind} <= set(MOMENTS):
        return TIMESTAMPTZ if TIMESTAMPTZ in (a, b) else TIMESTAMP
    if {a.kind, b.kind} == {"json", "varchar"}:
        return VARCHAR
    if a.kind == b.kind and a.fields == b.fields and len(a.parts) == len(b.parts):
        parts = [_joined(*pair) for pair in zip(a.parts, b.parts, strict=True)]
        found = [each for each in parts if each is not None]
        if len(found) == len(parts) > 0:
            return with_parts(a, found)
    return None


def with_parts(type: SqlType, parts: Sequence[SqlType]) -> SqlType:
    """A list, a map or a struct of other parts."""
    return struct_of(type.fields, parts) if type.fields else replace(type, parts=tuple(parts))
