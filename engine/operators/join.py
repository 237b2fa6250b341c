"""Joins: the valuations of a rule body. Multilinear in the positive terms, so that the change of a join
is a sum over the terms of one join each (Theorem 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import zset
from ..circuit import EPOCH, ITERATION, WEIGHT, Guard, Inspect, Let, Step, Term, Unnest
from ..schema import RowExpr
from ..zset import Row, Zset

Valuation = dict[str, Any]
Moment = tuple[int, int]  # the epoch and the iteration


def join(
    terms: Sequence[Term],
    values: Sequence[Zset],
    steps: Sequence[Step],
    output: Sequence[str],
    change: int = -1,
    moment: Moment = (0, 0),
) -> Zset:
    """The valuations of a rule body, projected; weights multiply.

    A negated term's factor is 1 - presence of its row; that of term `change`, whose value is a
    change of presence, is the change of the factor.
    """
    valuations: list[tuple[Valuation, int]] = [({}, 1)]
    for term, value in zip(terms, values, strict=True):
        if not term.negated:
            valuations = _extend(valuations, term.columns, value)
    negations = [(t, v, j == change) for j, (t, v) in enumerate(zip(terms, values, strict=True)) if t.negated]
    results = [({**valuation}, weight) for valuation, weight in valuations]
    results = _negate(results, negations)
    for step in sorted(steps, key=lambda each: isinstance(each, Inspect)):
        applied = [(r, w) for valuation, w in results for r in _apply(step, valuation, w, moment)]
        results = _negate(applied, negations)
    return zset.zset((tuple(valuation[name] for name in output), weight) for valuation, weight in results)


def delta_join(
    terms: Sequence[Term],
    before: Sequence[Zset],
    changes: Sequence[Zset],
    steps: Sequence[Step],
    output: Sequence[str],
    moment: Moment = (0, 0),
) -> Zset:
    """The change of a join: by the multilinear rule, a sum of joins with one term's change each."""
    signs = [
        zset.sign_change(b, c) if t.negated else c for t, b, c in zip(terms, before, changes, strict=True)
    ]
    now = [zset.add(b, c) for b, c in zip(before, changes, strict=True)]
    parts = (
        join(terms, [*now[:j], signs[j], *before[j + 1 :]], steps, output, j, moment)
        for j in range(len(terms))
    )
    return zset.add(*parts)


def _extend(
    valuations: list[tuple[Valuation, int]], columns: Sequence[str | None], value: Zset
) -> list[tuple[Valuation, int]]:
    bound = [name for name in dict.fromkeys(columns) if valuations and name in valuations[0][0]]
    index: dict[Row, list[tuple[Valuation, int]]] = {}
    for row, weight in value.items():
        fresh = {name: item for name, item in zip(columns, row, strict=True) if name is not None}
        if all(name is None or fresh[name] == item for name, item in zip(columns, row, strict=True)):
            index.setdefault(tuple(fresh[name] for name in bound if name), []).append((fresh, weight))
    return [
        (valuation | fresh, weight * factor)
        for valuation, weight in valuations
        for fresh, factor in index.get(tuple(valuation[name] for name in bound if name), ())
    ]


def _negate(
    valuations: list[tuple[Valuation, int]], negations: list[tuple[Term, Zset, bool]]
) -> list[tuple[Valuation, int]]:
    """Applies each negated term as soon as its variables are bound, and takes it from the list."""
    for negation in tuple(negations):
        term, value, changed = negation
        if valuations and all(name in valuations[0][0] for name in term.columns):
            negations.remove(negation)
            rows = [tuple(valuation[name] for name in term.columns if name) for valuation, _ in valuations]
            factors = [-value.get(row, 0) if changed else value.get(row, 0) <= 0 for row in rows]
            valuations = [(v, w * f) for (v, w), f in zip(valuations, factors, strict=True) if f]
    return valuations


def _apply(step: Step, valuation: Valuation, weight: int, moment: Moment) -> Iterable[Valuation]:
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
