"""Expressions of rules as Spark SQL, which is written when Spark asks for it: a run in process does without
what writes it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from .. import core
from ..core import Expr
from ..engine.schema import SqlForm
from ..types import Opaque, Type
from ..values.shapes import collection_of
from .functiontable import Functions

TOO_LONG = "an integer is beyond the 38 digits that Spark can hold"
_INPUT = re.compile("\0([0-9]+)\0")
_NAME = re.compile(r"\w+", re.ASCII)


def sql_function(expr: Expr, inputs: Collection[str], functions: Functions) -> SqlForm | None:
    """The SQL of an expression, written on first use; None if a quick test shows that there is none."""
    if not may_have_sql_form(expr):
        return None
    return _DeferredSql(expr, tuple(inputs), functions)


def may_have_sql_form(expr: Expr) -> bool:
    """A quick test that spares some expressions the attempt."""
    return not isinstance(expr, core.For | core.Try | core.Assign) and _is_data(expr.type)


def _is_data(type: Type) -> bool:
    return not isinstance(type, Opaque) or collection_of(type) is not None


class _DeferredSql:
    """The SQL of an expression, written when it is first asked for."""

    __slots__ = ("_checked", "_expr", "_functions", "_inputs", "_template")

    def __init__(self, expr: Expr, inputs: tuple[str, ...], functions: Functions) -> None:
        self._expr, self._inputs, self._functions = expr, inputs, functions
        self._template: str | None = None
        self._checked: str | None = None

    def __reduce__(self) -> Any:
        return _nothing, ()  # another process computes values, and does without the functions of the program

    def __call__(self, *texts: str) -> str:
        if self._template is None:
            self._template = self._written(checked=False)
        return _filled(self._template, texts)

    def checked(self, *texts: str) -> tuple[str, str]:
        """SQL that is null where a sum, difference or product of bigints is beyond what Spark can hold."""
        if self._checked is None:
            self._checked = self._written(checked=True)
        return _filled(self._checked, texts), TOO_LONG

    def _written(self, checked: bool) -> str:
        from .sql import MAX_LENGTH, SqlWriter
        from .sqlnumbers import NoSqlForm, NumberText

        writer = SqlWriter(self._functions)
        write = writer.overflowing if checked else writer.stored
        env = {name: NumberText(f"\0{place}\0") for place, name in enumerate(self._inputs)}
        try:
            text = write(self._expr, env)
        except NoSqlForm:
            return ""
        return text if len(text) <= MAX_LENGTH else ""


def _nothing() -> None:
    """No SQL."""


def _filled(template: str, texts: tuple[str, ...]) -> str:
    if not template:
        raise NotImplementedError("the expression has no SQL form")
    given = [text if _NAME.fullmatch(text) else f"({text})" for text in texts]
    return _INPUT.sub(lambda found: given[int(found[1])], template)
