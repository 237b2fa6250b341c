"""The regular expressions that need no engine for them: constant text, open at either end or at both."""

from __future__ import annotations

import re

from .. import syntax
from ..errors.source import Span
from ..syntax.templates import string, tree
from . import syntax as ast

_SIMPLE = re.compile(r"(\.\*)?((?:[^.*+?()\[\]{}|^$\\]|\\[^\w\s])*?)(\.\*)?")


def simple_match(pattern: ast.Expr, text: syntax.Expr, at: Span) -> syntax.Expr | None:
    """The condition that the whole of a text is matched; None where only an engine can say."""
    if not isinstance(pattern, ast.Text):
        return None
    parts = _SIMPLE.fullmatch(pattern.value)
    if parts is None:
        return None
    before, constant, after = parts.groups()
    if before and after:
        template = "string_contains($, $)"
    elif before:
        template = "string_ends_with($, $)"
    else:
        template = "string_starts_with($, $)" if after else "$ == $"
    return tree(template, text, string(re.sub(r"\\(.)", r"\1", constant), pattern.span), at=at)
