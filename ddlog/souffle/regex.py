"""The regular expressions that need no engine for them: constant text, open at either end or at both."""

from __future__ import annotations

import re

from . import syntax as ast
from .expressions import quoted

_SIMPLE = re.compile(r"(\.\*)?((?:[^.*+?()\[\]{}|^$\\]|\\[^\w\s])*?)(\.\*)?")


def simple_match(pattern: ast.Expr, text: str) -> str | None:
    """The condition that the whole of a text, given as an expression here, is matched; None where only an
    engine can say."""
    if not isinstance(pattern, ast.Text):
        return None
    parts = _SIMPLE.fullmatch(pattern.value)
    if parts is None:
        return None
    before, constant, after = parts.groups()
    shown = quoted(re.sub(r"\\(.)", r"\1", constant))
    if before and after:
        return f"string_contains({text}, {shown})"
    if before:
        return f"string_ends_with({text}, {shown})"
    return f"string_starts_with({text}, {shown})" if after else f"{text} == {shown}"
