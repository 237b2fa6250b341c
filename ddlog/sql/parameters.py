"""The parameters of a statement, `?`, `$1`, `:name`, `$name`: values are put in their places in the tree."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import Token, TokenType
from sqlglot import expressions as sql

from ..errors import sql as errors
from .places import SqlError, SqlPlaces

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


def bound(node: Expression, parameters: Parameters, places: SqlPlaces) -> None:
    """Puts values in the places of the parameters of a statement. Raises SqlError."""
    for each in list(node.find_all(sql.Placeholder)):
        name = str(each.this)
        shown = f"${name}"
        if isinstance(parameters, Mapping):
            found = name in parameters
            value = parameters.get(name)
        else:
            found = name.isdigit() and 0 < int(name) <= len(parameters)
            value = parameters[int(name) - 1] if found else None
        if not found:
            raise SqlError(errors.NoParameter(shown, span=places.of(each)))
        made = _literal(value)
        if made is None:
            raise SqlError(errors.BadParameter(shown, type(value).__name__, span=places.of(each)))
        each.replace(made)


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
        case float():
            return _cast(repr(value), "DOUBLE")
        case Decimal() if value.is_finite():
            places = max(-int(value.as_tuple().exponent), 0)
            return _cast(f"{value:f}", f"DECIMAL(38, {places})")
        case datetime.datetime() if value.tzinfo is None:
            return _cast(str(value), "TIMESTAMP")
        case datetime.date() if not isinstance(value, datetime.datetime):
            return _cast(str(value), "DATE")
        case datetime.time() if value.tzinfo is None:
            return _cast(str(value), "TIME")
    return None


def _cast(text: str, type: str) -> Expression:
    return sql.Cast(this=sql.Literal.string(text), to=sql.DataType.build(type, dialect="duckdb"))
