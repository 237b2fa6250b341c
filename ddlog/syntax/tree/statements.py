"""The statements of a rule that is written with `for`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors.source import Span
from .expressions import Expr
from .rules import Atom


@dataclass(frozen=True, slots=True)
class ForStatement:
    """`for (pattern in atom if condition) body`, or without a pattern."""

    pattern: Expr | None
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
