"""Derived columns: what the steps of a join compute of the columns of one term.

    E(A{x, _}, n), F(A{_, x}, m)      x is a function of the first column of E, and of that of F

A look-up may bind a derived column like any other: a runtime arranges the rows of the term by it. Rows on
which the steps give no value, since a condition is false, match nothing. The steps of a join decide alone
what it means; a look-up by a derived column only leaves out rows that they would exclude.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from .circuit import Guard, Let, Step, Term
from .operators.steps import binds, expression, has_effect, inputs, rename_step


class Derived:
    """A column that `steps` compute of a row: the value of the last, a Let, where the Guards among them hold.
    Their inputs are columns by number, as text, and the variables of the Lets before. Two are equal if they
    compute the same."""

    __slots__ = ("_hash", "_key", "places", "steps")

    def __init__(self, steps: tuple[Let | Guard, ...]) -> None:
        self.steps = steps
        self._key: Hashable = tuple(map(_key, steps))
        self._hash = hash(self._key)
        read = {name for step in steps for name in inputs(step)} - {binds(step) for step in steps}
        self.places = tuple(sorted(map(int, read)))

    @property
    def value(self) -> Let:
        """The last step."""
        last = self.steps[-1]
        assert isinstance(last, Let)
        return last

    def __eq__(self, other: Any) -> bool:
        return self is other or (isinstance(other, Derived) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.value.value.text


Position: TypeAlias = int | Derived
"""A column of a term by which it may be looked up. The derived ones stand after the others."""


@dataclass(frozen=True, slots=True)
class DerivedKey:
    """A variable that a term can be looked up by, though no column of it is that variable. `inputs` are the
    variables of the term that the column is made of, and `ensured` the numbers of the steps that hold for
    every row found."""

    name: str
    column: Derived
    inputs: frozenset[str]
    ensured: frozenset[int]


@lru_cache(maxsize=4096)
def derived_keys(terms: tuple[Term, ...], steps: tuple[Step, ...]) -> tuple[tuple[DerivedKey, ...], ...]:
    """For each term of a join, the keys that its steps derive from the term."""
    if not any(isinstance(step, Let) for step in steps) or len(terms) < 2:
        return ((),) * len(terms)
    return tuple(() if term.negated else tuple(_keys(term, steps).values()) for term in terms)


def _keys(term: Term, steps: Sequence[Step]) -> dict[str, DerivedKey]:
    known = term.named
    made: dict[str, frozenset[int]] = {}  # for each variable that the steps derive, the numbers of its steps
    keys: dict[str, DerivedKey] = {}
    for number, step in enumerate(steps):
        if not isinstance(step, Let) or has_effect(step) or not step.value.inputs or step.name in known:
            continue
        if not known.issuperset(step.value.inputs):
            continue
        lets = frozenset((number,)).union(*(made.get(name, ()) for name in step.value.inputs))
        read = {name for k in lets for name in expression(steps[k]).inputs}
        guards = frozenset(k for k in range(number) if _decides(steps[k], read) and not has_effect(steps[k]))
        known.add(step.name)
        made[step.name] = lets
        column = _derived(term, [steps[k] for k in sorted(lets | guards)])
        keys[step.name] = DerivedKey(step.name, column, frozenset(read - set(made)), guards | {number})
    return keys


def _decides(step: Step, read: set[str]) -> bool:
    """Whether a step is a condition on these variables alone."""
    return isinstance(step, Guard) and bool(step.condition.inputs) and read.issuperset(step.condition.inputs)


def _derived(term: Term, steps: Sequence[Step]) -> Derived:
    new = {name: str(place) for place, name in reversed(list(enumerate(term.columns))) if name is not None}
    lets = [step.name for step in steps if isinstance(step, Let)]
    new |= {name: f"let{number}" for number, name in enumerate(lets)}
    renamed = (rename_step(step, new.__getitem__) for step in steps)
    return Derived(tuple(step for step in renamed if isinstance(step, Let | Guard)))


def _key(step: Step) -> Hashable:
    value = expression(step)
    return binds(step), value.inputs, value.key, value.column.kind, value.column.domain
