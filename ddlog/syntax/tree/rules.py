"""Atoms, the other clauses of a rule, attributes, and queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors.source import Span
from .expressions import Argument, Expr


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
class Attribute:
    """`name` or `name = value` of `#[...]`."""

    name: str
    value: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query: the body of a rule, perhaps with attributes of a rule."""

    body: tuple[Clause, ...]
    attributes: tuple[Attribute, ...]
    span: Span = field(compare=False, repr=False)
