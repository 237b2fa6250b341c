"""Join orders: which term to look up next, and when to run each row step.

A plan starts from the rows of one term, or from the empty valuation, and is greedy. A step runs as soon as
its inputs are bound; a test (a negated term, or a term whose columns are all bound) comes before every
look-up; then follows the look-up with the smallest expected fan-out. Inspect steps come last. A plan is
chosen at run time, from statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .circuit import Inspect, Step, Term
from .derived import DerivedKey, Position
from .operators.steps import binds, inputs


@dataclass(frozen=True, slots=True)
class RunStep:
    """Runs a row step. `check`: the variable that it binds is bound already, so the step tests for equality.
    `keep` names the variables that are read later."""

    step: Step
    number: int
    check: bool
    keep: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LookUp:
    """Joins a term by the columns at `positions`, which are bound to `keys`; `binds` gives the new
    variables' columns, `equal` pairs of columns that must agree."""

    term: int
    positions: tuple[Position, ...]
    keys: tuple[str, ...]
    binds: tuple[tuple[int, str], ...]
    equal: tuple[tuple[int, int], ...]
    keep: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Exclude:
    """Keeps the rows for which a negated term, all of whose columns are bound, has no row."""

    term: int
    keys: tuple[str, ...]
    keep: frozenset[str] = frozenset()


PlanStep: TypeAlias = RunStep | LookUp | Exclude
Fanout: TypeAlias = Callable[[int, tuple[Position, ...]], float]
"""The expected number of rows of a term that agree on the columns at these positions."""

FEW = 16  # rows that a look-up by columns may give before derived columns narrow it down, too


def plan(
    terms: tuple[Term, ...],
    steps: tuple[Step, ...],
    output: tuple[str, ...],
    start: int | None,
    fanout: Fanout,
    late: Collection[int] = (),
    derived: Sequence[Sequence[DerivedKey]] = (),
) -> tuple[PlanStep, ...]:
    """The order of look-ups and steps from term `start`'s rows (None: from one empty valuation).

    The steps whose numbers are in `late` run after all others: they faulted, perhaps on rows that the
    rest of the body excludes. `derived` are the derived columns that each term may be looked up by.
    """
    derived = derived or ((),) * len(terms)
    bound: set[str] = set() if start is None else {v for v in terms[start].columns if v is not None}
    waiting = [k for k in range(len(terms)) if k != start]
    undone = list(range(len(steps)))
    done: list[PlanStep] = []
    while True:
        _run_ready(steps, undone, bound, done, late if waiting or set(undone) - set(late) else (), waiting)
        if not waiting:
            if not undone:
                return _with_keeps(tuple(done), output)
            if not late:
                raise ValueError("a step reads a variable that nothing binds")
            late = ()
            continue
        term, keys = _next_term(terms, waiting, bound, fanout, derived)
        waiting.remove(term)
        done.append(_term_step(term, terms[term], bound, keys))
        ensured = frozenset[int]().union(*(key.ensured for key in keys))
        undone = [number for number in undone if number not in ensured]
        bound.update(v for v in terms[term].columns if v is not None)


def _run_ready(
    steps: tuple[Step, ...],
    undone: list[int],
    bound: set[str],
    done: list[PlanStep],
    late: Collection[int],
    waiting: Sequence[int],
) -> None:
    """Runs each step whose inputs are bound; an Inspect only when no term is `waiting` and no other step is
    left."""
    progress = True
    while progress:
        progress = False
        for number in list(undone):
            step = steps[number]
            if number in late or not bound.issuperset(inputs(step)):
                continue
            others = (steps[k] for k in undone if k != number)
            if isinstance(step, Inspect) and (waiting or not all(isinstance(s, Inspect) for s in others)):
                continue
            name = binds(step)
            done.append(RunStep(step, number, name is not None and name in bound))
            if name is not None:
                bound.add(name)
            undone.remove(number)
            progress = True


def _next_term(
    terms: tuple[Term, ...],
    waiting: list[int],
    bound: set[str],
    fanout: Fanout,
    derived: Sequence[Sequence[DerivedKey]],
) -> tuple[int, Sequence[DerivedKey]]:
    """The next term, and the derived columns that it is looked up by."""
    best, best_cost, by = -1, float("inf"), list[DerivedKey]()
    for number in waiting:
        term = terms[number]
        missing = [v for v in term.columns if v is None or v not in bound]
        if term.negated:
            if not missing:
                return number, ()
            continue
        if not missing:
            return number, ()
        positions = _positions(term, bound)
        cost = fanout(number, positions)
        keys = [key for key in derived[number] if key.name in bound and not bound.issuperset(key.inputs)]
        if keys and positions and cost <= FEW:
            keys = []
        if keys:
            cost = fanout(number, (*positions, *(key.column for key in keys)))
        elif not positions:
            cost += 1e12  # a product comes after every join
        if cost < best_cost:
            best, best_cost, by = number, cost, keys
    if best < 0:
        raise ValueError("a negated term has a variable that no other term binds")
    return best, by


def _positions(term: Term, bound: Collection[str]) -> tuple[int, ...]:
    return tuple(k for k, v in enumerate(term.columns) if v is not None and v in bound)


def _term_step(number: int, term: Term, bound: Collection[str], derived: Sequence[DerivedKey]) -> PlanStep:
    if term.negated:
        return Exclude(number, tuple(v for v in term.columns if v is not None))
    positions = _positions(term, bound)
    new: dict[str, int] = {}
    equal: list[tuple[int, int]] = []
    for k, variable in enumerate(term.columns):
        if variable is None or variable in bound:
            continue
        if variable in new:
            equal.append((new[variable], k))
        else:
            new[variable] = k
    keys = [v for v in (term.columns[k] for k in positions) if v is not None]
    return LookUp(
        number,
        (*positions, *(key.column for key in derived)),
        (*keys, *(key.name for key in derived)),
        tuple((k, v) for v, k in new.items()),
        tuple(equal),
    )


def _with_keeps(done: tuple[PlanStep, ...], output: tuple[str, ...]) -> tuple[PlanStep, ...]:
    """Notes at each plan step which variables are read after it."""
    needed = set(output)
    kept: list[PlanStep] = []
    for one in reversed(done):
        kept.append(replace(one, keep=frozenset(needed)))
        match one:
            case RunStep():
                name = binds(one.step)
                if name is not None and not one.check:
                    needed.discard(name)
                if name is not None and one.check:
                    needed.add(name)
                needed.update(inputs(one.step))
            case LookUp():
                needed.difference_update(v for _, v in one.binds)
                needed.update(one.keys)
            case Exclude():
                needed.update(one.keys)
    return tuple(reversed(kept))
