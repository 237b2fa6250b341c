"""Values in queries as commands write them: `NULL` and bare values for a nullable column, dates as text, sets
and maps as they are printed, and the values of references and interned ones."""

from __future__ import annotations

from collections.abc import Mapping

from .. import core, syntax
from ..syntax.cursor import TextFault
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, TypeDef
from ..values.fromtext import parse_value
from ..values.shapes import is_nullable
from ..values.totext import NULL
from .erase import Eraser

_SCALARS = (BigInt, Bit, Bool, Float, Signed, String)  # of which commands write what expressions do


def plain_value(expr: syntax.Expr, of: Type, typedefs: Mapping[str, TypeDef]) -> core.Const | None:
    """The constant that an argument for a column stands for, if it is one in commands; None for all that is
    checked as an expression."""
    text, stored = expr.span.text(), Eraser().type(of)
    if isinstance(of, _SCALARS) or "${" in text:
        return None
    is_variable = isinstance(expr, syntax.Name | syntax.Wildcard | syntax.VarDecl)
    if is_variable and not (text.upper() == NULL and is_nullable(stored, typedefs)):
        return None
    try:
        return core.Const(parse_value(text, stored, typedefs), of, expr.span)
    except TextFault:
        return None
