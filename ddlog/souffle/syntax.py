"""The syntax tree of a Soufflé program. Spans take no part in equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors.source import Span


@dataclass(frozen=True, slots=True)
class SouffleNode:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


# -------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Named(SouffleNode):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Unnamed(SouffleNode):
    """`_`"""


@dataclass(frozen=True, slots=True)
class Number(SouffleNode):
    """An integer literal; `kind` is `unsigned` for one that says so, else empty. `exact` is false for digits
    that stand for bits (`0xff`), which may wrap."""

    value: int
    kind: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Real(SouffleNode):
    text: str


@dataclass(frozen=True, slots=True)
class Text(SouffleNode):
    value: str


@dataclass(frozen=True, slots=True)
class Boolean(SouffleNode):
    """`true` or `false` as a value, which only FlowLog has."""

    value: bool


@dataclass(frozen=True, slots=True)
class Nil(SouffleNode):
    """`nil`, the record that is none."""


@dataclass(frozen=True, slots=True)
class RecordValue(SouffleNode):
    """`[a, b]`"""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Branch(SouffleNode):
    """`$Name(a, b)`"""

    name: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FunctorCall(SouffleNode):
    """A functor by its name."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Operation(SouffleNode):
    """An operator by its sign; with one argument `-`, `bnot` or `lnot`."""

    sign: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class UserCall(SouffleNode):
    """`@name(a, b)`"""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TypeCast(SouffleNode):
    """`as(x, T)`"""

    value: Expr
    type: str


@dataclass(frozen=True, slots=True)
class Counter(SouffleNode):
    """`$` or `autoinc()`"""


@dataclass(frozen=True, slots=True)
class Aggregator(SouffleNode):
    """`sum x : { body }`; a count has no target."""

    function: str
    target: Expr | None
    body: Term


@dataclass(frozen=True, slots=True)
class BracketedBody(SouffleNode):
    """A body in parentheses where the grammar takes an expression. None is left in a finished tree."""

    body: Term


Expr: TypeAlias = (
    Named
    | Unnamed
    | Number
    | Real
    | Text
    | Boolean
    | Nil
    | RecordValue
    | Branch
    | FunctorCall
    | Operation
    | UserCall
    | TypeCast
    | Counter
    | Aggregator
    | BracketedBody
)


# -------------------------------------------------------------------- bodies


@dataclass(frozen=True, slots=True)
class Predicate(SouffleNode):
    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Compare(SouffleNode):
    """`a < b`; `op` is one of = != < <= > >=."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Test(SouffleNode):
    """`match(p, s)` or `contains(a, b)`"""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Truth(SouffleNode):
    value: bool


@dataclass(frozen=True, slots=True)
class Bare(SouffleNode):
    """A value where the grammar takes a term, which parentheses may make right. None is left in the end."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Not(SouffleNode):
    term: Term


@dataclass(frozen=True, slots=True)
class And(SouffleNode):
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Or(SouffleNode):
    terms: tuple[Term, ...]


Term: TypeAlias = Predicate | Compare | Test | Truth | Bare | Not | And | Or


# -------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class TypedName(SouffleNode):
    """`name: type` of a relation, a record or a branch."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class AliasType(SouffleNode):
    """A subtype, an equivalent type, or a union: `bases` are the types that it is made of."""

    name: str
    bases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordType(SouffleNode):
    name: str
    fields: tuple[TypedName, ...]


@dataclass(frozen=True, slots=True)
class BranchDecl(SouffleNode):
    name: str
    fields: tuple[TypedName, ...]


@dataclass(frozen=True, slots=True)
class BranchType(SouffleNode):
    """An algebraic data type."""

    name: str
    branches: tuple[BranchDecl, ...]


@dataclass(frozen=True, slots=True)
class Qualifier(SouffleNode):
    """A word of a declaration; a `choice-domain` has the columns of each domain."""

    word: str
    domains: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SouffleRelation(SouffleNode):
    name: str
    attributes: tuple[TypedName, ...]
    qualifiers: tuple[Qualifier, ...]


@dataclass(frozen=True, slots=True)
class Directive(SouffleNode):
    """`.input`, `.output`, `.printsize` or `.limitsize` of a relation."""

    what: str
    relation: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SouffleRule(SouffleNode):
    """A clause; a fact has no body. `plan` is the place of its `.plan`, if it has one."""

    heads: tuple[Predicate, ...]
    body: Term | None
    plan: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Subsumption(SouffleNode):
    """`less <= more :- body`: a row like `less` goes where there is one like `more`."""

    less: Predicate
    more: Predicate
    body: Term
    plan: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComponentType(SouffleNode):
    """The name of a component with its type arguments, or with its parameters where it is declared."""

    name: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComponentDecl(SouffleNode):
    type: ComponentType
    bases: tuple[ComponentType, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Init(SouffleNode):
    name: str
    component: ComponentType


@dataclass(frozen=True, slots=True)
class Override(SouffleNode):
    name: str


@dataclass(frozen=True, slots=True)
class FunctorDecl(SouffleNode):
    """`.functor name(types): result`"""

    name: str
    args: tuple[str, ...]
    result: str
    is_stateful: bool = False


@dataclass(frozen=True, slots=True)
class Ignored(SouffleNode):
    """Something that changes no result: a pragma."""

    what: str


TypeDecl: TypeAlias = AliasType | RecordType | BranchType
Item: TypeAlias = (
    TypeDecl
    | SouffleRelation
    | Directive
    | SouffleRule
    | Subsumption
    | ComponentDecl
    | Init
    | Override
    | FunctorDecl
    | Ignored
)
