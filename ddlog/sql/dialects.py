"""The dialects of SQL: how a text is read, and the meaning of operators, functions, types and casts in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .types import SqlType, SqlValue

if TYPE_CHECKING:
    from sqlglot import Dialect
    from sqlglot.expressions import Expr as Expression
    from sqlglot.expressions import TryCast


Translation: TypeAlias = Callable[[Any, "Expression"], SqlValue]
"""The value of an expression, by what translates expressions (`Scalars`)."""


class Casting(Protocol):
    """CAST, or TRY_CAST if it `may_fail`; None where there is no such cast."""

    def __call__(self, value: SqlValue, type: SqlType, *, may_fail: bool) -> SqlValue | None: ...


@dataclass(frozen=True)
class SqlDialect:
    """A dialect: its parser; the translations of nodes by their class, and of functions that it knows by name
    alone; types by the parser's names; casts, and whether the parser's TryCast is one that may fail.
    `modules` are those of the library that its functions are in, besides the usual ones. `is_ansi`: arguments
    are cast to the types that functions take, and a mean of decimals is a decimal."""

    reader: Dialect
    functions: Mapping[type[Expression], Translation]
    named: Mapping[str, Translation]
    types: Mapping[str, SqlType]
    cast: Casting
    tries: Callable[[TryCast], bool] = lambda node: True
    modules: tuple[str, ...] = ()
    is_ansi: bool = False
