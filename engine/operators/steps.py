"""Row steps: the operations of a join on each valuation besides the matching of terms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..node import Moment
from ..schema import RowExpr

Valuation: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Let:
    """Binds `name` to the expression; where `name` is bound already, keeps the rows that agree."""

    name: str
    value: RowExpr


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps the rows for which the expression is true."""

    condition: RowExpr


@dataclass(frozen=True, slots=True)
class Unnest:
    """A row for each element of the collection, bound to `name`.

    `value.scalar` gives an iterable of elements (a Map yields pairs, a Group (value, weight));
    `value.column` describes one element.
    """

    name: str
    value: RowExpr


@dataclass(frozen=True, slots=True)
class Inspect:
    """Evaluates the expression for its effect, on each row that all terms and other steps leave; keeps every
    row. The expression may read CIRCUMSTANCES, which no term or step binds."""

    value: RowExpr


Step: TypeAlias = Let | Guard | Unnest | Inspect

WEIGHT, EPOCH, ITERATION = "$weight", "$epoch", "$iteration"
CIRCUMSTANCES = frozenset((WEIGHT, EPOCH, ITERATION))
"""The circumstances of a row at a step: the change of its weight, the number of the epoch, and in a recursion
the number of the iteration; both from 0."""


def expression(step: Step) -> RowExpr:
    """The expression that a step evaluates."""
    return step.condition if isinstance(step, Guard) else step.value


def inputs(step: Step) -> tuple[str, ...]:
    """The variables that a step reads."""
    names = expression(step).inputs
    return tuple(n for n in names if n not in CIRCUMSTANCES) if isinstance(step, Inspect) else names


def binds(step: Step) -> str | None:
    """The variable that a step binds, if any."""
    return step.name if isinstance(step, Let | Unnest) else None


def determined(bound: Iterable[str], steps: Collection[Step]) -> frozenset[str]:
    """The variables that have a value where these are bound and these steps run."""
    known = set(bound)
    while True:
        made = {binds(step) for step in steps if known.issuperset(inputs(step))}
        more = {name for name in made if name is not None} - known
        if not more:
            return frozenset(known)
        known |= more


def variables(step: Step) -> tuple[str, ...]:
    """The variables that a step reads, then the one that it binds."""
    name = binds(step)
    return (*expression(step).inputs, *(() if name is None else (name,)))


def has_effect(step: Step) -> bool:
    """Whether a step does something beside its work on the valuation."""
    return isinstance(step, Inspect) or expression(step).effect


def rename_step(step: Step, new: Callable[[str], str]) -> Step:
    """The step over other variables."""
    value = expression(step)
    value = replace(value, inputs=tuple(map(new, value.inputs)))
    match step:
        case Guard():
            return Guard(value)
        case Inspect():
            return Inspect(value)
        case Let() | Unnest():
            return replace(step, name=new(step.name), value=value)


def with_expression(step: Step, value: RowExpr) -> Step:
    """The step with another expression."""
    return Guard(value) if isinstance(step, Guard) else replace(step, value=value)


def step_text(step: Step) -> str:
    """The step as it would stand in a rule."""
    match step:
        case Let(variable, value):
            return f"{variable} = {value.text}"
        case Guard(condition):
            return condition.text
        case Unnest(variable, value):
            return f"{variable} in {value.text}"
        case Inspect(value):
            return f"Inspect {value.text}"


def apply(step: Step, valuation: Valuation, weight: int, moment: Moment) -> Iterable[Valuation]:
    """The meaning of a step: the valuations that it makes of one."""
    match step:
        case Let(name, value):
            result = _call(value, valuation)
            return [valuation | {name: result}] if valuation.get(name, result) == result else []
        case Guard(condition):
            return [valuation] if _call(condition, valuation) else []
        case Unnest(name, value):
            elements = _call(value, valuation)
            return [valuation | {name: e} for e in elements if valuation.get(name, e) == e]
        case Inspect(value):
            epoch, iteration = moment
            _call(value, valuation | {WEIGHT: weight, EPOCH: epoch, ITERATION: iteration})
            return [valuation]


def _call(expression: RowExpr, valuation: Valuation) -> Any:
    return expression.scalar(*(valuation[name] for name in expression.inputs))
