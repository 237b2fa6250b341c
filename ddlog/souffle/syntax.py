"""The syntax tree of a Soufflé program. Spans take no part in equality."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from ..errors.source import Span


@dataclass(frozen=True, slots=True)
class Phrase:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


# -------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Var(Phrase):
    name: str


@dataclass(frozen=True, slots=True)
class Wildcard(Phrase):
    """`_`"""


@dataclass(frozen=True, slots=True)
class Number(Phrase):
    """An integer literal; `kind` is `unsigned` for one that says so, else empty. `exact` is false for digits
    that stand for bits (`0xff`), which may wrap."""

    value: int
    kind: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Float(Phrase):
    text: str


@dataclass(frozen=True, slots=True)
class Text(Phrase):
    value: str


@dataclass(frozen=True, slots=True)
class Boolean(Phrase):
    """`true` or `false` as a value, which only FlowLog has."""

    value: bool


@dataclass(frozen=True, slots=True)
class Nil(Phrase):
    """`nil`, the record that is none."""


@dataclass(frozen=True, slots=True)
class Record(Phrase):
    """`[a, b]`"""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Branch(Phrase):
    """`$Name(a, b)`"""

    name: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FunctorCall(Phrase):
    """A functor by its name."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Op(Phrase):
    """An operator by its sign; with one argument `-`, `bnot` or `lnot`."""

    sign: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class UserCall(Phrase):
    """`@name(a, b)`"""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Cast(Phrase):
    """`as(x, T)`"""

    value: Expr
    type: str


@dataclass(frozen=True, slots=True)
class Counter(Phrase):
    """`$` or `autoinc()`"""


@dataclass(frozen=True, slots=True)
class Aggregate(Phrase):
    """`sum x : { body }`; a count has no target."""

    function: str
    target: Expr | None
    body: Term


@dataclass(frozen=True, slots=True)
class BracketedBody(Phrase):
    """A body in parentheses where the grammar takes an expression. None is left in a finished tree."""

    body: Term


Expr: TypeAlias = (
    Var
    | Wildcard
    | Number
    | Float
    | Text
    | Boolean
    | Nil
    | Record
    | Branch
    | FunctorCall
    | Op
    | UserCall
    | Cast
    | Counter
    | Aggregate
    | BracketedBody
)


# -------------------------------------------------------------------- bodies


@dataclass(frozen=True, slots=True)
class Atom(Phrase):
    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Compare(Phrase):
    """`a < b`; `op` is one of = != < <= > >=."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Test(Phrase):
    """`match(p, s)` or `contains(a, b)`"""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Truth(Phrase):
    value: bool


@dataclass(frozen=True, slots=True)
class Bare(Phrase):
    """A value where the grammar takes a term, which parentheses may make right. None is left in the end."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Not(Phrase):
    term: Term


@dataclass(frozen=True, slots=True)
class And(Phrase):
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Or(Phrase):
    terms: tuple[Term, ...]


Term: TypeAlias = Atom | Compare | Test | Truth | Bare | Not | And | Or


# -------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Attribute(Phrase):
    """`name: type` of a relation, a record or a branch."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class AliasType(Phrase):
    """A subtype, an equivalent type, or a union: `bases` are the types that it is made of."""

    name: str
    bases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordType(Phrase):
    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class BranchDecl(Phrase):
    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class BranchType(Phrase):
    """An algebraic data type."""

    name: str
    branches: tuple[BranchDecl, ...]


@dataclass(frozen=True, slots=True)
class Qualifier(Phrase):
    """A word of a declaration; a `choice-domain` has the columns of each domain."""

    word: str
    domains: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class RelationDecl(Phrase):
    name: str
    attributes: tuple[Attribute, ...]
    qualifiers: tuple[Qualifier, ...]


@dataclass(frozen=True, slots=True)
class Directive(Phrase):
    """`.input`, `.output`, `.printsize` or `.limitsize` of a relation."""

    what: str
    relation: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RuleDecl(Phrase):
    """A clause; a fact has no body. `plan` is the place of its `.plan`, if it has one."""

    heads: tuple[Atom, ...]
    body: Term | None
    plan: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Subsumption(Phrase):
    """`less <= more :- body`: a row like `less` goes where there is one like `more`."""

    less: Atom
    more: Atom
    body: Term
    plan: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComponentType(Phrase):
    """The name of a component with its type arguments, or with its parameters where it is declared."""

    name: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComponentDecl(Phrase):
    type: ComponentType
    bases: tuple[ComponentType, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Init(Phrase):
    name: str
    component: ComponentType


@dataclass(frozen=True, slots=True)
class Override(Phrase):
    name: str


@dataclass(frozen=True, slots=True)
class FunctorDecl(Phrase):
    """`.functor name(types): result`"""

    name: str
    args: tuple[str, ...]
    result: str
    is_stateful: bool = False


@dataclass(frozen=True, slots=True)
class Ignored(Phrase):
    """Something that changes no result: a pragma."""

    what: str


TypeDecl: TypeAlias = AliasType | RecordType | BranchType
Item: TypeAlias = (
    TypeDecl
    | RelationDecl
    | Directive
    | RuleDecl
    | Subsumption
    | ComponentDecl
    | Init
    | Override
    | FunctorDecl
    | Ignored
)


# The types of fields that hold no nodes.
_PLAIN = ("str", "int", "bool", "tuple[str, ...]", "tuple[tuple[str, ...], ...]", "Span", "Span | None")


_PARTS: dict[type, tuple[str, ...]] = {}
_CHILDREN: dict[type, tuple[str, ...]] = {}


def parts(node: object) -> tuple[str, ...]:
    """The fields of a node that are not places; none for anything else."""
    known = _PARTS.get(type(node))
    if known is None:
        listed = fields(node) if isinstance(node, Phrase) else ()
        known = tuple(each.name for each in listed if each.name not in ("span", "plan"))
        _PARTS[type(node)] = known
    return known


def children(node: object) -> tuple[str, ...]:
    """The fields of a node that hold nodes."""
    known = _CHILDREN.get(type(node))
    if known is None:
        plain = (
            {each.name for each in fields(node) if each.type in _PLAIN} if isinstance(node, Phrase) else ()
        )
        known = tuple(name for name in parts(node) if name not in plain)
        _CHILDREN[type(node)] = known
    return known


def nodes(node: object, closed: type | tuple[type, ...] = ()) -> list[Any]:
    """The node and all nodes in it, in the order of the text; what nodes of the classes `closed` hold is left
    out."""
    found: list[Any] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple):
            waiting += each[::-1]
        elif each is not None:
            found.append(each)
            if not isinstance(each, closed):
                waiting += [getattr(each, name) for name in reversed(children(each))]
    return found


def classes(node: object) -> set[type]:
    """The classes of a node and of all nodes in it."""
    return set(map(type, nodes(node)))


def replaced(node: Any, changes: dict[str, Any]) -> Any:
    """The node with other values of some fields; the same one if these are the values it has."""
    for name, value in changes.items():
        if getattr(node, name) is not value:
            break
    else:
        return node
    plan = (node.plan,) if isinstance(node, RuleDecl | Subsumption) else ()
    values = (changes[name] if name in changes else getattr(node, name) for name in parts(node))
    return type(node)(node.span, *values, *plan)
