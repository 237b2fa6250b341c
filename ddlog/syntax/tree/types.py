"""Types as written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors.source import Span


@dataclass(frozen=True, slots=True)
class NamedType:
    """`bool`, `string`, `u32`, `Vec<T>`, `m::T<A, B>`: built-in, declared and library types by name."""

    name: str
    args: tuple[Type, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntType:
    """`bit<width>`, or `signed<width>`."""

    width: int
    signed: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TupleType:
    """`(A, B)`, and `()`."""

    items: tuple[Type, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VarType:
    """`'A`; the name is without the tick."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionType:
    """`function(A, mut B): C`, also written `|A, mut B|: C`. No result means unit."""

    parameters: tuple[Type, ...]
    mutable: tuple[bool, ...]
    result: Type | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RelationType:
    """`relation[T]` (or stream, multiset), a parameter of a transformer."""

    kind: str
    element: Type
    span: Span = field(compare=False, repr=False)


Type: TypeAlias = NamedType | IntType | TupleType | VarType | FunctionType | RelationType
