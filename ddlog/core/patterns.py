"""Patterns of `match`, `for` and declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from ..types import Constructor, Type


@dataclass(frozen=True, slots=True)
class AnyPattern:
    """`_`"""

    type: Type


@dataclass(frozen=True, slots=True)
class VarPattern:
    """Binds `name`; with `inner`, `name @ inner`."""

    name: str
    type: Type
    inner: Pattern | None = None


@dataclass(frozen=True, slots=True)
class ConstPattern:
    """Equality with a bool, integer or string."""

    value: Any
    type: Type


@dataclass(frozen=True, slots=True)
class TuplePattern:
    items: tuple[Pattern, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class StructPattern:
    constructor: Constructor
    args: tuple[Pattern, ...]
    type: Type


Pattern: TypeAlias = AnyPattern | VarPattern | ConstPattern | TuplePattern | StructPattern
