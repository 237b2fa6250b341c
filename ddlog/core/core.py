"""The checked program: names resolved, every expression typed, sugar removed.

The checker makes it; stratification, lowering, code generation and the sessions read it. Nothing
here is generic: a call names an instance of a function, whose body has no type variables left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from ..errors.source import Span
from ..types import Constructor, Type, TypeDef

# ---------------------------------------------------------------- expressions
# Every expression has `type` and `span`; the span takes no part in equality.


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
    """A function written as an expression; it holds the values that variables around it have there."""

    parameters: tuple[Parameter, ...]
    body: Expr
    type: Type
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """`CheckedProgram.functions[function]` as a value."""

    function: str
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
    | Block | Declare | Assign | For | Break | Continue | Return | Try | Closure | FunctionValue | Apply
)  # fmt: skip


# ------------------------------------------------------------------- patterns


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


# ------------------------------------------------------------------ functions


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    mutable: bool


@dataclass(frozen=True, slots=True)
class Function:
    """One instance of a function. `key` is unique, e.g. `ddlog_std::map_get<string, bigint>`.

    `body` is None for an extern function, implemented in Python by `module`'s function `name`
    (`name` unqualified). `effects` says that an attribute gives it side effects.
    """

    key: str
    module: str
    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Expr | None
    span: Span = field(compare=False, repr=False)
    effects: bool = False


# ---------------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Relation:
    """A declared relation.

    `role` is input, internal, output or delayed; `kind` relation, multiset or stream. `record` is the type
    of an element. When it is a struct of one constructor, that is `constructor` and the columns are its
    fields; otherwise `constructor` is None and there is one column, named `value`, the element itself.
    `key` computes the primary key from the columns: a function whose parameters are the columns.
    `original` is the name that the relation has where it comes from, if an attribute gives it.
    A delayed relation `R-n` holds what R did n transactions ago: `past` is R and n.
    """

    name: str
    role: str
    kind: str
    record: Type
    constructor: Constructor | None
    columns: tuple[Column, ...]
    key: Function | None
    span: Span = field(compare=False, repr=False)
    original: str = ""
    past: tuple[str, int] | None = None

    @property
    def hidden(self) -> bool:
        """Whether the checker made it, for a negated pattern, an index or a delay: nobody declared it."""
        return "$" in self.name or self.role == "delayed"


@dataclass(frozen=True, slots=True)
class Index:
    """A declared index: what looks rows of `relation` up by the values of `variables`.

    The rows are found in `source`: the relation itself, or a hidden one of what the pattern matches, whose
    columns from `start` on are those of the relation. `positions` are the columns that hold each variable.
    """

    name: str
    variables: tuple[Column, ...]
    relation: str
    source: str
    positions: tuple[tuple[int, ...], ...]
    start: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Atom:
    """A relational term. `columns` names the variable that each column is (None: any value).

    A variable that other terms bind too is a join; the same one twice is equality; a constant, an
    expression or a pattern is a fresh variable and a Let, Guard or Destructure beside the atom.
    """

    relation: str
    columns: tuple[str | None, ...]
    negated: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Let:
    """`var name = value`. Where a term binds `name` as well this is a test for equality."""

    name: str
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps the valuations for which the condition holds."""

    condition: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unnest:
    """`var name = FlatMap(value)`: a valuation for each element of the collection."""

    name: str
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupBy:
    """`var name = value.group_by(keys)`: afterwards only the keys and `name` are visible."""

    name: str
    value: Expr
    keys: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inspect:
    """`Inspect e`: evaluated for its side effect; keeps every valuation. The expression may read the
    variables WEIGHT and TIMESTAMP, a DDWeight, and a DDEpoch or, in a recursive rule, a DDNestedTS."""

    value: Expr
    span: Span = field(compare=False, repr=False)


WEIGHT, TIMESTAMP = "$weight", "$timestamp"


Clause: TypeAlias = Atom | Let | Guard | Unnest | GroupBy | Inspect


@dataclass(frozen=True, slots=True)
class Head:
    relation: str
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """Heads that share a body. A fact has an empty body. `variables` types every variable.

    A refutable pattern is a Guard on its shape (a Match to bool) and Lets that take it apart; the
    Let of a field of one constructor of several is a Match with a default that is never reached,
    or better `GetField` after the Guard: values.py gives fields by name.
    """

    heads: tuple[Head, ...]
    body: tuple[Clause, ...]
    variables: dict[str, Type] = field(compare=False)
    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Relations that depend on each other, and all rules with a head among them."""

    relations: tuple[str, ...]
    recursive: bool
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program without errors. `strata` is in dependency order and holds every rule once. `externs` are
    the Python modules that implement the extern functions of its modules, by their names."""

    typedefs: dict[str, TypeDef]
    functions: dict[str, Function]
    relations: dict[str, Relation]
    rules: tuple[Rule, ...]
    strata: tuple[Stratum, ...]
    indexes: dict[str, Index] = field(default_factory=dict)
    externs: Mapping[str, ModuleType] = field(default_factory=dict, compare=False, repr=False, kw_only=True)
