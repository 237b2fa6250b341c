"""The aggregates in expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def aggregates_of(nodes: Sequence[Expression]) -> list[Expression]:
    """The aggregates in expressions, each once, with their FILTER; not those of windows and subqueries."""
    found: dict[Expression, None] = {}
    for node in nodes:
        _collect(node, found)
    return list(found)


def _collect(node: Expression, found: dict[Expression, None]) -> None:
    if isinstance(node, sql.Query):
        return
    if isinstance(node, sql.Window):
        inner = node.this
        tests: list[Expression] = []
        while isinstance(inner, sql.Filter | sql.IgnoreNulls | sql.RespectNulls):
            tests += [inner.expression] if isinstance(inner, sql.Filter) else []
            inner = inner.this
        parts: list[Expression] = list(inner.iter_expressions()) if isinstance(inner, sql.AggFunc) else []
        parts += tests + [each for key, each in _arguments(node) if key != "this"]
        for each in parts:
            _collect(each, found)
        return
    if isinstance(node, sql.Filter | sql.WithinGroup | sql.AggFunc | sql.Grouping | sql.IgnoreNulls):
        found[node] = None
        return
    for each in node.iter_expressions():
        _collect(each, found)


def _arguments(node: Expression) -> Iterator[tuple[str, Expression]]:
    for key, value in node.args.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, sql.Expression):
                yield key, each
