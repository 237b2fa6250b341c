"""Equations between terms: conditions by which one term can be looked up from others.

`f(x) == g(y)` is a condition on pairs of rows. As two definitions of one variable, it is a key of the term
that binds x, and one of the term that binds y (see `engine.derivedcolumns`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .. import core
from ..codegen.scalar import free_variables
from ..engine.circuit import Step, Unnest
from ..engine.operators.steps import binds, inputs


@dataclass(frozen=True)
class Equation:
    """A condition `left == right`: the number of its step, and its sides."""

    number: int
    left: core.Expr
    right: core.Expr


def equation(condition: core.Expr, number: int) -> Equation | None:
    """The equation that a condition is; None for another condition, or one that compares with a constant."""
    match condition:
        case core.Op("==", (left, right)) if free_variables(left) and free_variables(right):
            return Equation(number, left, right)
    return None


def between_terms(
    equations: Iterable[Equation], terms: Sequence[Collection[str | None]], steps: Sequence[Step]
) -> Iterator[Equation]:
    """The equations by which one term can be looked up from others: all that one side reads is in a term
    that has not all that the other reads. `terms` are the variables of each."""
    for each in equations:
        sides = [
            _roots(free_variables(side), terms, steps[: each.number]) for side in (each.left, each.right)
        ]
        known = [[roots.issubset(term) for term in terms] for roots in sides]
        if any(a != b for a, b in zip(*known, strict=True)) and not any(map(all, zip(*known, strict=True))):
            yield each


def _roots(names: Iterable[str], terms: Sequence[Collection[str | None]], steps: Sequence[Step]) -> set[str]:
    """The variables of terms that some variables are functions of, and variables that are none."""
    roots = set[str]()
    for name in names:
        defined = [k for k, step in enumerate(steps) if binds(step) == name]
        if any(name in term for term in terms) or not defined or isinstance(steps[defined[0]], Unnest):
            roots.add(name)
        else:
            roots |= _roots(inputs(steps[defined[0]]), terms, steps[: defined[0]])
    return roots
