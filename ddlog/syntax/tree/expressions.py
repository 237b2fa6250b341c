"""Expressions as written. A pattern is an expression, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...errors.source import Span
from .types import Type


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or a function, by a name that begins with a small letter or `_`."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`_`"""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VarDecl:
    """`var x`, in a pattern or left of `=`."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BoolLit:
    value: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntLit:
    """An integer. `12` has neither width nor sign; `8'd12` is unsigned, `8'sd12` signed; `'hff`
    has no width. A minus sign directly before a literal is part of it: its value is negative."""

    value: int
    width: int | None
    signed: bool | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FloatLit:
    """`1.5` (no width), `32'f1.5` or `64'f1.5`; a minus sign directly before it is part of it."""

    value: float
    width: int | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StringLit:
    """A string without interpolation, escapes decoded, adjacent pieces joined."""

    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Interpolated:
    """`"text ${e} text"`: the pieces in order; literal text is a StringLit."""

    parts: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Interned:
    """`i"..."`: `intern` of a StringLit or Interpolated."""

    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VectorLit:
    """`[a, b]`"""

    items: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapLit:
    """`[k -> v, ...]`"""

    items: tuple[tuple[Expr, Expr], ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TupleExpr:
    """`()` and `(a, b)`; `(a)` is just `a`."""

    items: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument by position (no name), or `.name = value`."""

    name: str | None
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Struct:
    """`C{a, b}`, `C{.f = a}`; the args are None when it is written without braces."""

    constructor: str
    args: tuple[Argument, ...] | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ClosureParameter:
    name: str
    type: Type | None
    mutable: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Closure:
    """`|x, y: T|: R expr` and `function(x: T): R { ... }`."""

    parameters: tuple[ClosureParameter, ...]
    result: Type | None
    body: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-e`, `~e`, `not e`, and the pattern `&e`."""

    op: str
    arg: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`% * / + - >> << ++ == != < <= > >= & ^ | and or =>`"""

    op: str
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`: a declaration when the target holds `var x`, otherwise an assignment, or,
    as a clause of a rule, a match of the value with a pattern."""

    target: Expr
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypedExpr:
    """`e: T`"""

    arg: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`e as T`"""

    arg: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """`e[high:low]`"""

    arg: Expr
    high: int
    low: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GetField:
    """`e.name`"""

    arg: Expr
    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GetItem:
    """`e.0`"""

    arg: Expr
    index: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`f(a, b)`; the function is mostly a Name."""

    function: Expr
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MethodCall:
    """`e.f(a, b)`: the call `f(e, a, b)`; `group_by` too is written like this."""

    arg: Expr
    name: str
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Try:
    """`e?`"""

    arg: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """`{a; b; c}`. One that ends in `;`, or is empty, ends in an empty TupleExpr."""

    items: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Expr
    otherwise: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arm:
    """`pattern -> body`"""

    pattern: Expr
    body: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Match:
    arg: Expr
    arms: tuple[Arm, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for (pattern in collection) body`"""

    pattern: Expr
    collection: Expr
    body: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binding:
    """The pattern `name @ pattern`."""

    name: str
    pattern: Expr
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FlatMap:
    """`FlatMap(e)`"""

    arg: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`Aggregate((k1, k2), f(e))`"""

    keys: Expr
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GivenValue:
    """`{x}` in a query that is given a value for x; `of` makes it a value of a type, or raises ValueError."""

    name: str
    of: Callable[[Any], Any] = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


Expr: TypeAlias = (
    Name | Wildcard | VarDecl | BoolLit | IntLit | FloatLit | StringLit | Interpolated | Interned
    | VectorLit | MapLit | TupleExpr | Struct | Closure | Unary | Binary | Assign | TypedExpr | Cast | Slice
    | GetField | GetItem | Call | MethodCall | Try | Block | If | Match | For | Break | Continue | Return
    | Binding | FlatMap | Aggregate | GivenValue
)  # fmt: skip
