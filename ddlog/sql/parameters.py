"""The parameters of a statement, `?`, `$1`, `:name`, `$name`: they are relations of one row, so that a
statement is compiled once for all values, or, where a literal has to stand, values in its place."""

from __future__ import annotations

import datetime
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import Token, TokenType
from sqlglot import expressions as sql

from ..errors import sql as errors
from .places import SqlError, SqlPlaces
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MOST_PLACES,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    decimal,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""Values in order, or by name."""


def numbered(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with `$1`, `$2`, … in the places of the `?`."""
    made, count = list[Token](), 0
    for each in tokens:
        if each.token_type != TokenType.PLACEHOLDER:
            made.append(each)
            continue
        count += 1
        for kind, text in ((TokenType.PARAMETER, "$"), (TokenType.NUMBER, str(count))):
            made.append(Token(kind, text, each.line, each.col, each.start, each.end))
    return made


def value_of(node: sql.Placeholder, parameters: Parameters, places: SqlPlaces) -> Any:
    """The value of a parameter. Raises SqlError."""
    name = str(node.this)
    if isinstance(parameters, Mapping):
        if name in parameters:
            return parameters[name]
    elif name.isdigit() and 0 < int(name) <= len(parameters):
        return parameters[int(name) - 1]
    raise SqlError(errors.NoParameter(f"${name}", span=places.of(node)))


def bound(node: Expression, parameters: Parameters, places: SqlPlaces, given: Container[str]) -> None:
    """Puts values in the places of the parameters of a statement, but of those that are given as relations.
    Raises SqlError."""
    for each in list(node.find_all(sql.Placeholder)):
        if str(each.this) in given:
            continue
        value = value_of(each, parameters, places)
        made = _literal(value)
        if made is None:
            shown = f"${each.this}"
            raise SqlError(errors.BadSqlParameter(shown, type(value).__name__, span=places.of(each)))
        each.replace(made)


def type_of_value(value: Any) -> SqlType | None:
    """The type of a parameter, by its value; None for NULL, and for a value that SQL does not have."""
    match value:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case str():
            return VARCHAR
        case float():
            return DOUBLE
        case Decimal() if value.is_finite() and (places := -int(value.as_tuple().exponent)) <= MOST_PLACES:
            return decimal(max(places, 1))  # one of no places is an integer in Python, too
        case datetime.datetime():
            return TIMESTAMP if value.tzinfo is None else TIMESTAMPTZ
        case datetime.date():
            return DATE
        case datetime.time() if value.tzinfo is None:
            return TIME
        case datetime.timedelta():
            return INTERVAL
    return None


def _literal(value: Any) -> Expression | None:
    """The expression of a value; None for one that SQL does not have."""
    match value:
        case None:
            return sql.Null()
        case bool():
            return sql.Boolean(this=value)
        case int():
            literal = sql.Literal.number(abs(value))
            return sql.Neg(this=literal) if value < 0 else literal
        case str():
            return sql.Literal.string(value)
        case list() | tuple():
            parts = list(map(_literal, value))
            return None if None in parts else sql.Array(expressions=parts)
        case Decimal() if value.is_finite():
            places = max(-int(value.as_tuple().exponent), 0)
            return _cast(f"{value:f}", f"DECIMAL(38, {places})")
    type = type_of_value(value)
    return None if type is None else _cast(str(value), type.kind)


def _cast(text: str, type: str) -> Expression:
    return sql.Cast(this=sql.Literal.string(text), to=sql.DataType.build(type, dialect="duckdb"))
