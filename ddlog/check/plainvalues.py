"""Values in queries as commands write them: `NULL`, bare values of a nullable column, dates as text."""

from __future__ import annotations

from collections.abc import Mapping

from .. import core, syntax
from ..syntax.cursor import TextFault
from ..types import Type, TypeDef, User
from ..values.fromtext import parse_value
from ..values.shapes import is_nullable
from ..values.totext import NULL


def plain_value(expr: syntax.Expr, of: Type, typedefs: Mapping[str, TypeDef]) -> core.Const | None:
    """The constant that an argument for a column stands for, if its type has a form in commands that is no
    expression; None for all that is checked as one."""
    if not isinstance(of, User) or of.name not in typedefs:
        return None
    if not (is_nullable(of, typedefs) or typedefs[of.name].text is not None):
        return None
    text = expr.span.text()
    is_variable = isinstance(expr, syntax.Name | syntax.Wildcard | syntax.VarDecl)
    if is_variable and (text.upper() != NULL or not is_nullable(of, typedefs)):
        return None
    try:
        return core.Const(parse_value(text, of, typedefs), of, expr.span)
    except TextFault:
        return None
