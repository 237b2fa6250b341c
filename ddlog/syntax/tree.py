"""The syntax tree: one class a construct of the language, as written, with nothing resolved.

A pattern is an expression. Names keep their module prefix (`a::b`). `span` takes no part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors.source import Span

# ---------------------------------------------------------------------- types


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

# ---------------------------------------------------------------- expressions


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
class Typed:
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


Expr: TypeAlias = (
    Name | Wildcard | VarDecl | BoolLit | IntLit | FloatLit | StringLit | Interpolated | Interned
    | VectorLit | MapLit | TupleExpr | Struct | Closure | Unary | Binary | Assign | Typed | Cast | Slice
    | GetField | GetItem | Call | MethodCall | Try | Block | If | Match | For | Break | Continue | Return
    | Binding | FlatMap | Aggregate
)  # fmt: skip

# ---------------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class Atom:
    """A relational term, in a body or a head: `R(args)`, `R[element]`, or bare `R` (only in `for`).

    One of `args` and `element` is None; both are for a bare relation. `binder` is the v of `v in R(..)`,
    `by_ref` says `&R`, `differentiated` says `R'`, `delay` is the n of `R-n`, `location` the e of `@e`.
    """

    relation: str
    args: tuple[Argument, ...] | None
    element: Expr | None
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)
    binder: str | None = None
    negated: bool = False
    by_ref: bool = False
    differentiated: bool = False
    delay: int | None = None
    location: Expr | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A clause that is an expression: a filter, an assignment `pattern = e`, a FlatMap, a grouping."""

    expr: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inspect:
    """`Inspect e`"""

    expr: Expr
    span: Span = field(compare=False, repr=False)


Clause: TypeAlias = Atom | Condition | Inspect


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query: the body of a rule."""

    body: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


# ------------------------------------------- statements of the `for` rule form


@dataclass(frozen=True, slots=True)
class ForStatement:
    """`for (pattern in atom if condition) body`"""

    pattern: Expr
    atom: Atom
    condition: Expr | None
    body: Statement
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IfStatement:
    condition: Expr
    then: Statement
    otherwise: Statement | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MatchStatement:
    arg: Expr
    arms: tuple[tuple[Expr, Statement], ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LetStatement:
    """`pattern = value in body`"""

    pattern: Expr
    value: Expr
    body: Statement
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InsertStatement:
    """`R(args)` or `R[e]`"""

    atom: Atom
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BlockStatement:
    """`{ s1; s2 }`; `skip` is the empty one."""

    items: tuple[Statement, ...]
    span: Span = field(compare=False, repr=False)


Statement: TypeAlias = (
    ForStatement | IfStatement | MatchStatement | LetStatement | InsertStatement | BlockStatement
)

# --------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name` or `name = value` of `#[...]`."""

    name: str
    value: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Field:
    """`name: T` of a constructor, a relation or an index. Unnamed columns are named "0", "1", ..."""

    name: str
    type: Type
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Import:
    """`import module as alias`"""

    module: str
    alias: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AliasDecl:
    """`typedef N<'A> = T`. `typedef N = M` of one bare upper-case name is read as this too: M may
    turn out to be no type, and then the line declares a constructor M without fields."""

    name: str
    parameters: tuple[str, ...]
    type: Type
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConstructorDecl:
    name: str
    fields: tuple[Field, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeDecl:
    """`typedef N<'A> = C{f: T} | D`"""

    name: str
    parameters: tuple[str, ...]
    constructors: tuple[ConstructorDecl, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExternTypeDecl:
    """`extern type N<'A>`"""

    name: str
    parameters: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name: mut T`"""

    name: str
    type: Type
    mutable: bool
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """`function f(x: T): R { ... }`; an extern one has no body. No result means unit."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Type | None
    body: Expr | None
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TransformerDecl:
    """`extern transformer T(R: relation[X], f: function(e: X): Y) -> (Out: relation[Z])`"""

    name: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ApplyDecl:
    """`apply T(In, f) -> (Out)`"""

    transformer: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """`primary key (variable) value`"""

    variable: str
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RelationDecl:
    """`role kind [&]R(fields)` or `role kind [&]R[element]`: one of `fields` and `element` is None.

    `role` is input, internal or output; `kind` relation, stream or multiset.
    """

    name: str
    role: str
    kind: str
    by_ref: bool
    fields: tuple[Field, ...] | None
    element: Type | None
    key: PrimaryKey | None
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IndexDecl:
    """`index I(v: T) on R(pattern)`"""

    name: str
    fields: tuple[Field, ...]
    atom: Atom
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RuleDecl:
    """`H1(..), H2(..) :- body.`; a fact has an empty body."""

    heads: tuple[Atom, ...]
    body: tuple[Clause, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ForDecl:
    """`for (pattern in atom) statement` as a declaration."""

    statement: ForStatement
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


Declaration: TypeAlias = (
    Import | AliasDecl | TypeDecl | ExternTypeDecl | FunctionDecl | TransformerDecl | ApplyDecl
    | RelationDecl | IndexDecl | RuleDecl | ForDecl
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    declarations: tuple[Declaration, ...]
    span: Span = field(compare=False, repr=False)
