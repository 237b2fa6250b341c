"""Declarations, and the module that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors.source import Span
from ..hidden import Hidden
from .expressions import Expr
from .rules import Atom, Attribute, Clause
from .statements import ForStatement
from .types import Type


@dataclass(frozen=True, slots=True)
class Field:
    """`name: T` of a constructor, a relation or an index. Unnamed columns are named "0", "1", ..."""

    name: str
    type: Type
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImportDecl:
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
    """`apply T(In, f) -> (Out)`. An input is a name, or an expression that is none."""

    transformer: str
    inputs: tuple[str | Expr, ...]
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
    """`H1(..), H2(..) :- body.`; a fact has an empty body. `initial`: the word stands before it."""

    heads: tuple[Atom, ...]
    body: tuple[Clause, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    initial: bool = False


@dataclass(frozen=True, slots=True)
class ForDecl:
    """`for (pattern in atom) statement` as a declaration."""

    statement: ForStatement
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LoopDecl:
    """`loop N rounds 20 limit 30 { .. }`, `loop N until empty(R) { .. }`: relations, rules and loops.

    `rounds`, `empty` and `most` are what the ends say, None where they do not. `empty_span` is the place of
    the relation.
    """

    name: str
    rounds: int | None
    empty: str | None
    most: int | None
    declarations: tuple[Declaration, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)
    empty_span: Span | None = field(compare=False, repr=False, default=None)


Declaration: TypeAlias = (
    ImportDecl | AliasDecl | TypeDecl | ExternTypeDecl | FunctionDecl | TransformerDecl | ApplyDecl
    | RelationDecl | IndexDecl | RuleDecl | ForDecl | LoopDecl
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    declarations: tuple[Declaration, ...]
    span: Span = field(compare=False, repr=False)
    hidden: Hidden = field(default_factory=dict, compare=False, repr=False)
