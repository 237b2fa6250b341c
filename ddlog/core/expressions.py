"""Expressions. Each has its `type` and `span`; the span takes no part in equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors.source import Span
from ..types import Bool, Constructor, Type
from .patterns import AnyPattern, Pattern


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    mutable: bool


@dataclass(frozen=True, slots=True)
class Const:
    """A literal, as the run-time value of its type (values.py)."""

    value: Any
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var:
    """A variable. Names are unique within a rule; inside a function a name may be declared again,
    and then means the innermost declaration in scope (the checker renames, so names are unique)."""

    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Op:
    """A built-in operator over operands of types that the checker has made to agree.

    Unary: `neg` `~` `not`. Binary: `+ - * / % << >> & | ^ and or => == != < <= > >=`;
    `++` concatenates two bit vectors; `concat` any number of strings (interpolation is that,
    with calls of to_string). Arithmetic wraps to `type`; `/ %` truncate toward zero and fault on 0.
    """

    op: str
    args: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`arg as type` between number types."""

    arg: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """Bits `high` to `low`, both inclusive, of an integer: `x[high:low]`."""

    arg: Expr
    high: int
    low: int
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MakeTuple:
    items: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MakeStruct:
    """A struct or union value: all fields of the constructor, in its order."""

    constructor: Constructor
    args: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GetField:
    """`arg.name`; every constructor of the type of `arg` has the field."""

    arg: Expr
    name: str
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GetItem:
    """`arg.index` of a tuple."""

    arg: Expr
    index: int
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `CheckedProgram.functions[function]`. An argument for a `mut` parameter is a
    `Var`, `GetField` or `GetItem` and is assigned the parameter's final value."""

    function: str
    args: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Closure:
    """A function as a value: `CheckedProgram.functions[function]` with its first parameters `captured`, the
    values that variables around the closure have there. `typedefs[function]` is the struct of these values,
    its constructor's name the text of the closure."""

    function: str
    captured: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """A call of a function that is a value; arguments for `mut` parameters are as in `Call`."""

    function: Expr
    args: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Expr
    otherwise: Expr  # an empty MakeTuple when the source has no else
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Match:
    """The first arm whose pattern matches; the arms are exhaustive."""

    arg: Expr
    arms: tuple[tuple[Pattern, Expr], ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """`{a; b; c}`: the value of the last; an empty one, or one ending in `;`, ends in unit."""

    items: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Declare:
    """`var x = value` or a destructuring declaration with an irrefutable pattern. Type unit."""

    pattern: Pattern
    value: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`; the target is a chain of GetField and GetItem over a Var. Type unit."""

    target: Expr
    value: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for (pattern in collection) body`. A Map yields pairs, a Group (value, weight). Type unit."""

    pattern: Pattern
    collection: Expr
    body: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Try:
    """`arg?` in a function: the content of Some or Ok, or a return of None or Err from it.
    `result` is the result type of the function."""

    arg: Expr
    result: Type
    type: Type
    span: Span = field(compare=False, repr=False)


Expr: TypeAlias = (
    Const | Var | Op | Cast | Slice | MakeTuple | MakeStruct | GetField | GetItem | Call | If | Match
    | Block | Declare | Assign | For | Break | Continue | Return | Try | Closure | Apply
)  # fmt: skip


def matches(value: Expr, pattern: Pattern, span: Span) -> Match:
    """The condition that a value matches a pattern."""
    arms = ((pattern, Const(True, Bool(), span)), (AnyPattern(pattern.type), Const(False, Bool(), span)))
    return Match(value, arms, Bool(), span)


def matched(condition: Expr) -> tuple[Expr, Pattern] | None:
    """The value and the pattern of a condition that `matches` makes; None for another expression."""
    match condition:
        case Match(value, ((pattern, Const(True)), (AnyPattern(), Const(False)))):
            return value, pattern
    return None
