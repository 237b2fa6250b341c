"""A module of SQL as one of this language: tables are input relations, views output relations.

Statements are parsed (`sqlglot`), and each view becomes rules (`queries`, `selects` and what they use). The
text of the rules is then read like any program. All errors of a module come at once, a place each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import sql as errors
from ..errors.diagnostics import DDlogError, Diagnostic, in_order
from ..errors.source import Source as Text
from .places import Places, SqlError

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


@dataclass(frozen=True, slots=True)
class Translation:
    """The rules of a module, as text, and the relations of its tables and views by their names in SQL."""

    text: str
    tables: dict[str, str] = field(default_factory=dict)


def translate(source: Text) -> Translation:
    """The module as a text of this language. Raises DDlogError with all errors."""
    try:
        import sqlglot
    except ImportError:
        raise DDlogError([errors.NoParser()]) from None
    from .statements import Module

    places = Places(source)
    try:
        statements = sqlglot.parse(source.text, dialect="duckdb")
    except (sqlglot.errors.ParseError, sqlglot.errors.TokenError) as error:
        raise DDlogError(_syntax(error, places)) from None
    module, found = Module(places), list[Diagnostic]()
    for statement in statements:
        if statement is not None:
            found += _one(module, statement)
    if found:
        raise DDlogError(in_order(found))
    return Translation(module.text(source.name), module.relations)


def _one(module: object, statement: Expression) -> list[Diagnostic]:
    from .statements import Module

    assert isinstance(module, Module)
    try:
        module.add(statement)
    except SqlError as error:
        return [error.diagnostic]
    return []


def _syntax(error: Exception, places: Places) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for each in getattr(error, "errors", None) or [{}]:
        span = None
        highlight, line, column = (each.get(k) for k in ("highlight", "line", "col"))
        if line and column:
            text = places.source.text
            start = 0
            for _ in range(line - 1):
                start = text.find("\n", start) + 1
            end = start + column
            span = places.between(max(end - len(highlight or " "), start), max(end, start + 1))
        reason = (each.get("description") or str(error).split("\n")[0]).rstrip(".")
        found.append(errors.SqlSyntax(reason=reason[:1].lower() + reason[1:], span=span))
    return found
