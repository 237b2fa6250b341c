"""The types of SQL, and how their values lie in columns.

Inside of rules a value is a plain one: dates are days, times and timestamps microseconds, decimals whole
numbers of their smallest unit, all of them integers without bounds. A table or a view has the types of the
library module `sql` instead (`sql::Date{days}`), which are written as SQL writes them. NULL is `None` of an
Option. A list is a `Vec` of such Options, inside of rules and outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..syntax import Expr, Name
from ..syntax.templates import names_in, tree


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type: its kind, of a decimal the number of digits after the point, and of a list the type of its
    elements. `name` is that of a type of this language which SQL does not have: its values are only passed
    on and compared. `digits` are those of a number in all, by which Spark chooses the places of a quotient."""

    kind: str
    scale: int = 0
    parts: tuple[SqlType, ...] = ()
    name: str = ""
    digits: int = field(default=38, compare=False)

    def __str__(self) -> str:
        if self.kind == "other":
            return self.name
        if self.parts:
            return f"{self.parts[0]}[]"
        return f"DECIMAL with {self.scale} places" if self.kind == "decimal" else self.kind.upper()

    @property
    def declared(self) -> str:
        """The type as CREATE TABLE writes it."""
        return f"DECIMAL(38, {self.scale})" if self.scale else self.kind.upper()

    @property
    def plain(self) -> str:
        """The type inside of rules."""
        if self.kind == "row":
            return f"({', '.join(each.plain for each in self.parts)})"
        if self.parts:
            return f"Vec<Option<{self.parts[0].outside}>>"
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
_WRAPPERS = {"date": "sql::Date", "timestamp": "sql::Timestamp", "time": "sql::Time"}
_VARIABLE = re.compile(r"v\d+")  # what rules call variables
_NUMBERS = ("integer", "decimal", "double")

NULL, BOOLEAN, INTEGER, DOUBLE = SqlType("null"), SqlType("boolean"), SqlType("integer"), SqlType("double")
VARCHAR, DATE, TIMESTAMP, TIME = SqlType("varchar"), SqlType("date"), SqlType("timestamp"), SqlType("time")
INTERVAL, JSON = SqlType("interval"), SqlType("json")
MOST_PLACES, LEAST_PLACES = 38, 6


def decimal(scale: int, digits: int = MOST_PLACES) -> SqlType:
    """Decimals with so many places; without any, integers."""
    return SqlType("decimal" if scale else "integer", scale, digits=digits)


@dataclass(frozen=True, slots=True)
class SqlValue:
    """An expression over the variables of a rule, of the plain type or, if `nullable`, an Option of it.
    `constant` is the value of a literal as Python has it."""

    tree: Expr
    type: SqlType
    nullable: bool = False
    constant: object = None

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
    """The type of a mean of decimals, as Spark has it."""
    return bounded(type.digits + 4, type.scale + 4)


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
    if {a.kind, b.kind} == {"date", "timestamp"}:
        return TIMESTAMP
    if {a.kind, b.kind} == {"json", "varchar"}:
        return VARCHAR
    if a.parts and b.parts:
        part = _joined(a.parts[0], b.parts[0])
        return None if part is None else list_of(part)
    return None
