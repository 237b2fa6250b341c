"""Rules: heads over a body of clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors.source import Span
from ..types import Type
from .expressions import Expr


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
    """`var name = value.group_by(keys)`: afterwards only the keys and `name` are visible. `key` is the key as
    the group has it; None: the variable, or the tuple of the variables, that `keys` names. `bag` (of
    `group_all_by`): a value is in the group as often as it occurs."""

    name: str
    value: Expr
    keys: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
    key: Expr | None = None
    bag: bool = False


@dataclass(frozen=True, slots=True)
class Inspect:
    """`Inspect e`: evaluated for its side effect; keeps every valuation. The expression may read the
    variables WEIGHT and TIMESTAMP, a DDWeight, and a DDEpoch or, in a recursive rule, a DDNestedTS."""

    value: Expr
    span: Span = field(compare=False, repr=False)


WEIGHT, TIMESTAMP = "$weight", "$timestamp"
ROUND = "$round"
"""The variable that stands for the round of the loop, on the left of a comparison that is a Guard."""


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

    An `initial` rule of a loop holds in round 0 only; then the other rules of its heads hold from round 1 on.
    """

    heads: tuple[Head, ...]
    body: tuple[Clause, ...]
    variables: Mapping[str, Type] = field(compare=False)
    text: str
    span: Span = field(compare=False, repr=False)
    initial: bool = False

    @property
    def reads(self) -> set[str]:
        """The relations of its terms."""
        return {clause.relation for clause in self.body if isinstance(clause, Atom)}
