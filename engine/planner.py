"""Join orders: which terms can be looked up next, and when each row step runs.

A join grows valuations from the rows of one term, or from the empty valuation, stage by stage. At a stage,
all that can only remove rows is done at once: a step whose inputs are bound, a negated term, a term whose
columns are all bound. One of the candidates, the other terms, comes next. `plan` chooses the one with the
smallest expected fan-out; a runtime may instead go from stage to stage and choose by the rows that it has.
Inspect steps come last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from .circuit import Inspect, Step, Term
from .derivedcolumns import DerivedKey, Position
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
    variables' columns, `equal` pairs of columns that must agree, and `ensured` the numbers of the steps that
    hold for every row found."""

    term: int
    positions: tuple[Position, ...]
    keys: tuple[str, ...]
    binds: tuple[tuple[int, str], ...]
    equal: tuple[tuple[int, int], ...]
    keep: frozenset[str] = frozenset()
    ensured: frozenset[int] = frozenset()

    @property
    def derived(self) -> bool:
        """Whether a derived column is among those that are bound."""
        return bool(self.positions) and not isinstance(self.positions[-1], int)


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


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A point of a plan from term `start`: `tests` are done at once, then one of the `candidates`, if there
    are any. Without candidates the valuations are complete. Terms that share no variable with what is bound
    are candidates only where no other is left."""

    start: int | None
    waiting: frozenset[int]  # terms, after the tests
    undone: frozenset[int]  # steps, after the tests
    bound: frozenset[str]  # after the tests
    tests: tuple[PlanStep, ...]
    candidates: tuple[LookUp, ...]


class Stages:
    """The stages of one join, made when they are reached.

    The steps whose numbers are in `late` run after all others: they faulted, perhaps on rows that the
    rest of the body excludes. `derived` are the derived columns that each term may be looked up by.
    """

    def __init__(
        self,
        terms: tuple[Term, ...],
        steps: tuple[Step, ...],
        output: tuple[str, ...],
        late: Collection[int] = (),
        derived: Sequence[Sequence[DerivedKey]] = (),
    ) -> None:
        self._terms, self._steps, self._output, self._late = terms, steps, frozenset(output), frozenset(late)
        self._derived = derived or ((),) * len(terms)
        self._names = [{v for v in (*inputs(step), binds(step)) if v is not None} for step in steps]
        self._first: dict[int | None, Stage] = {}
        self._after: dict[tuple[int | None, frozenset[int], frozenset[int], int], Stage] = {}

    def first(self, start: int | None) -> Stage:
        """The stage at which the rows of term `start` enter; None: one empty valuation."""
        found = self._first.get(start)
        if found is None:
            bound = set() if start is None else self._terms[start].named
            waiting = set(range(len(self._terms))) - {start}
            made = self._make(start, waiting, set(range(len(self._steps))), bound)
            found = self._first.setdefault(start, made)
        return found

    def after(self, stage: Stage, look_up: LookUp) -> Stage:
        """The stage that follows one of the candidates of a stage."""
        key = stage.start, stage.waiting, stage.undone - look_up.ensured, look_up.term
        found = self._after.get(key)
        if found is None:
            waiting = stage.waiting - {look_up.term}
            bound = stage.bound | self._terms[look_up.term].named
            made = self._make(stage.start, set(waiting), set(key[2]), set(bound))
            found = self._after.setdefault(key, made)
        return found

    def _make(self, start: int | None, waiting: set[int], undone: set[int], bound: set[str]) -> Stage:
        tests: list[PlanStep] = []
        late: Collection[int] = self._late
        needed = _ReadLater((self._output, *self._read_by(waiting, undone)))
        while True:
            tests += self._ready_steps(waiting, undone, bound, late, needed)
            test = self._ready_term(waiting, bound, needed)
            if test is not None:
                tests.append(test)
                continue
            candidates = self._candidates(waiting, undone, bound)
            if candidates or not (waiting or undone):
                break
            if not late:
                raise ValueError(_unbound(bool(waiting)))
            late = ()
        left = frozenset(waiting), frozenset(undone), frozenset(bound)
        return Stage(start, *left, tuple(tests), tuple(candidates))

    def _ready_steps(
        self,
        waiting: set[int],
        undone: set[int],
        bound: set[str],
        late: Collection[int],
        needed: _ReadLater,
    ) -> Iterator[RunStep]:
        """The steps whose inputs are bound, in their order; Inspects only when all else is done."""
        left = [k for k in sorted(undone) if not isinstance(self._steps[k], Inspect)]
        is_last = not left
        if is_last and not waiting:
            left = sorted(undone)
        at = 0
        while at < len(left):
            number = left[at]
            step = self._steps[number]
            if number in late or not bound.issuperset(inputs(step)):
                at += 1
                continue
            del left[at]
            undone.remove(number)
            name = binds(step)
            check = name is not None and name in bound
            if name is not None and not check:
                bound.add(name)
                at = 0  # of what another step before may have waited for
            needed.drop(self._names[number])
            yield RunStep(step, number, check, needed.names)
        if not is_last and not left:
            yield from self._ready_steps(waiting, undone, bound, late, needed)

    def _ready_term(self, waiting: set[int], bound: set[str], needed: _ReadLater) -> LookUp | Exclude | None:
        """A term whose columns are all bound."""
        for number in sorted(waiting):
            term = self._terms[number]
            if all(v is not None and v in bound for v in term.columns):
                waiting.remove(number)
                needed.drop(term.named)
                if term.negated:
                    return Exclude(number, tuple(v for v in term.columns if v is not None), needed.names)
                return _look_up(number, term, bound, needed.names)
        return None

    def _candidates(self, waiting: set[int], undone: set[int], bound: set[str]) -> list[LookUp]:
        """The look-ups of positive terms that can come next: of those that share a bound variable, or derive
        one, else of all. A term that does both can be looked up by its columns alone and by all keys."""
        positive = [k for k in sorted(waiting) if not self._terms[k].negated]
        keys = {k: self._keys(k, undone, bound) for k in positive}
        joined = [k for k in positive if self._terms[k].named & bound or keys[k]]
        found = []
        for number in joined or positive:
            term, left = self._terms[number], waiting - {number}
            if keys[number]:
                ensured = frozenset[int]().union(*(key.ensured for key in keys[number]))
                keep = self._needed(left, undone - ensured)
                found.append(_look_up(number, term, bound, keep, keys[number], ensured))
            if term.named & bound or not keys[number]:
                found.append(_look_up(number, term, bound, self._needed(left, undone)))
        return found

    def _keys(self, number: int, undone: set[int], bound: set[str]) -> list[DerivedKey]:
        """The derived columns of a term that are bound, though their inputs are not. One whose step is done,
        by another term's rows, says nothing that the others do not, and its variable may be forgotten."""
        made = {binds(self._steps[k]) for k in undone}
        return [
            k
            for k in self._derived[number]
            if k.name in bound and k.name in made and not bound.issuperset(k.inputs)
        ]

    def _needed(self, waiting: Collection[int], undone: Collection[int]) -> frozenset[str]:
        """The variables that these terms and steps, and the output, read."""
        return self._output.union(*self._read_by(waiting, undone))

    def _read_by(self, waiting: Collection[int], undone: Collection[int]) -> list[set[str]]:
        """The variables of each of these terms and steps."""
        return [self._terms[k].named for k in waiting] + [self._names[k] for k in undone]


class _ReadLater:
    """The variables that are read later, while terms and steps are done one after another."""

    def __init__(self, read: Iterable[Collection[str]]) -> None:
        """`read` are the variables of each term and step, and those of the output."""
        self._counts = Counter(chain.from_iterable(read))
        self.names = frozenset(self._counts)

    def drop(self, read: Collection[str]) -> None:
        """A term or a step that reads these is done."""
        self._counts.subtract(read)
        over = [name for name in read if not self._counts[name]]
        if over:
            self.names = self.names.difference(over)


def plan(stages: Stages, start: int | None, fanout: Fanout) -> tuple[PlanStep, ...]:
    """The tests and look-ups from term `start`'s rows (None: from one empty valuation), by expected
    fan-outs."""
    stage = stages.first(start)
    done = [*stage.tests]
    while stage.candidates:
        best = stage.candidates[cheapest(stage.candidates, fanout)]
        stage = stages.after(stage, best)
        done += (best, *stage.tests)
    return tuple(done)


def cheapest(candidates: Sequence[LookUp], fanout: Fanout) -> int:
    """The position of the candidate with the smallest expected fan-out. A derived column is bound only where
    the other columns leave many rows."""
    costs = [fanout(each.term, each.positions) for each in candidates]
    few = {c.term for c, cost in zip(candidates, costs, strict=True) if not c.derived and cost <= FEW}
    return min(
        (k for k, each in enumerate(candidates) if not (each.derived and each.term in few)),
        key=costs.__getitem__,
    )


def guessed(size: int, bound: int, arity: int) -> float:
    """A guess of the rows that agree on so many of a relation's columns."""
    return float(max(size, 1) ** (1 - bound / (arity + 0.5)))


def _look_up(
    number: int,
    term: Term,
    bound: Collection[str],
    keep: frozenset[str],
    derived: Sequence[DerivedKey] = (),
    ensured: frozenset[int] = frozenset(),
) -> LookUp:
    positions = tuple(k for k, v in enumerate(term.columns) if v is not None and v in bound)
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
        keep,
        ensured,
    )


def _unbound(negated: bool) -> str:
    if negated:
        return "a negated term has a variable that no other term binds"
    return "a step reads a variable that nothing binds"
