"""Delta joins: valuations grown from the rows of one term, look-up by look-up."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

import numpy as np

from .. import interrupt
from ..circuit import DeltaJoin, Guard, Inspect, Join, Let, Unnest
from ..derived import DerivedKey, Position, derived_keys
from ..memory import reserve
from ..planner import Exclude, LookUp, PlanStep, RunStep, plan
from ..schema import Array, Column, RowFault
from . import fused, sharing
from .batch import Batch
from .derivedcolumns import evaluated_keys
from .index import FaultyKey
from .sharing import Unshared
from .steps import Evaluator
from .table import RowTable
from .timeline import TimelineBeforeView, TimelineView
from .valuation import Valuation, append
from .views import Groups, Part, TableView, View

CHUNK = 1 << 15  # rows that one pass of a plan starts from, at most
LEAST = 1 << 10  # the same, at least
WAVE = 8  # chunks that are run before the results of the first are taken
ROOM = 1 << 19  # rows of a chunk's results that wait for those of the chunks before it, about
MOST = 1 << 21  # rows that one look-up may give before its left side is halved
PATIENCE = 3  # times that a step may leave its thread until the join is not shared any more

_Begun: TypeAlias = tuple[list[Batch], Iterator[Batch]]


class Joiner:
    """Runs one join: keeps its plans, and the steps that it learnt to run late."""

    def __init__(
        self, node: Join | DeltaJoin, schemas: Sequence[Sequence[Column]], evaluator: Evaluator
    ) -> None:
        self.node = node
        self.schemas = schemas
        self.evaluator = evaluator
        self.waiting: list[Batch] = []  # results that wait until none of their chunk has faulted
        self._late: set[int] = set()
        self._derived: Sequence[Sequence[DerivedKey]] | None = None
        self._faulty: set[tuple[int, Position]] = set()  # terms and derived columns that cannot be looked up
        self._epoch = evaluator.epoch
        self._plans: dict[int | None, tuple[tuple[int, ...], tuple[PlanStep, ...]]] = {}
        self._unshared = 0  # times that a step had to leave its thread

    def run(
        self,
        start: int | None,
        batch: Batch | None,
        views: Sequence[View | None],
        held: RowTable | None = None,
    ) -> Iterator[Batch]:
        """The join of a batch in place of term `start` with what the views show of the other terms.

        `start` None: no term is replaced and the valuation starts empty. A negated start enters with
        the sign reversed. Gives batches of the output columns, not consolidated. `held`: only new rows of a
        set are asked for, so those of this table may be left out, and weights and times, too.
        """
        self._forget_faults()
        length = 1 if start is None or batch is None else batch.length
        at, size = 0, CHUNK
        while at < length:
            interrupt.check()
            stop = min(at + WAVE * size, length)
            # Columns of a large batch are unpacked chunk by chunk.
            parts = [
                batch if batch is None or length <= size else batch.slice(first, min(first + size, stop))
                for first in range(at, stop, size)
            ]
            given = 0
            for out in self._wave(start, parts, views, held):
                given += out.length
                yield out
            size = max(min(CHUNK, ROOM * (stop - at) // max(given, 1)), LEAST)
            at = stop

    def _wave(
        self,
        start: int | None,
        parts: Sequence[Batch | None],
        views: Sequence[View | None],
        held: RowTable | None,
    ) -> Iterator[Batch]:
        """The joins of some chunks, in their order. Threads share them where none but kernels run."""
        outcomes: Sequence[_Begun | BaseException | None] = [None] * len(parts)
        if len(parts) > 1 and sharing.workers() > 1 and self._unshared < PATIENCE:
            steps = self._plan(start, views)
            if all(map(_is_shareable, steps)) and all(map(_is_steady, views)):
                begin = partial(self._begin, steps, start, views, held)
                outcomes = sharing.run_all([partial(begin, part) for part in parts])
                interrupt.check()
        for number, part in enumerate(parts):
            outcome = outcomes[number]
            if isinstance(outcome, tuple):
                given, rest = outcome
                yield from given
                yield from rest
                continue
            # What failed fails again here, in its turn, and changes the plan of the chunks after it.
            self._unshared += isinstance(outcome, Unshared)
            if outcome is not None:
                outcomes = [None] * len(parts)
            yield from self._chunk(start, part, views, held)

    def _begin(
        self,
        steps: tuple[PlanStep, ...],
        start: int | None,
        views: Sequence[View | None],
        held: RowTable | None,
        part: Batch | None,
    ) -> _Begun:
        """The first batches of a chunk, as many as may wait for their turn, and the rest."""
        rest = self._grow(steps, 0, self._first(start, part), views, held)
        given: list[Batch] = []
        room = ROOM
        for out in rest:
            given.append(out)
            room -= out.length
            if room <= 0 and not self.node.steps:
                break
        return given, rest

    def _chunk(
        self,
        start: int | None,
        part: Batch | None,
        views: Sequence[View | None],
        held: RowTable | None,
    ) -> Iterable[Batch]:
        chunk = self._first(start, part)
        if not self.node.steps:
            return self._grow(self._plan(start, views), 0, chunk, views, held)
        while True:
            late, faulty = len(self._late), len(self._faulty)
            try:
                # A fault may come from a row that the rest of the body excludes: the
                # step is put off to the end, and if it faults there too the fault is real.
                self.waiting = []
                self.waiting.extend(self._grow(self._plan(start, views), 0, chunk, views, held))
                done, self.waiting = self.waiting, []
                return done
            except RowFault:
                if len(self._late) == late:
                    raise
            except FaultyKey:
                if len(self._faulty) == faulty:
                    raise

    def first_look_up(self, views: Sequence[View | None]) -> LookUp | None:
        """The first look-up of the plan that starts from nothing."""
        return next((s for s in self._plan(None, views) if isinstance(s, LookUp)), None)

    def _first(self, start: int | None, batch: Batch | None) -> Valuation:
        if start is None or batch is None:
            return Valuation({}, 1, None, None)
        term = self.node.terms[start]
        weights = -batch.weight_array() if term.negated else batch.weights
        valuation = Valuation({}, batch.length, weights, batch.times)
        agree: Array | None = None
        for k, name in enumerate(term.columns):
            if name is None:
                continue
            column, described = batch.columns[k], self.schemas[start][k]
            if name in valuation.variables:
                same = valuation.variables[name][1] == column
                agree = same if agree is None else agree & same
            else:
                valuation.variables[name] = (described, column)
        if agree is not None:
            valuation = valuation.take(np.flatnonzero(agree), frozenset(valuation.variables))
        return valuation

    def _plan(self, start: int | None, views: Sequence[View | None]) -> tuple[PlanStep, ...]:
        sizes = (
            len(self._late),
            len(self._faulty),
            *(0 if view is None else view.size.bit_length() for view in views),
        )
        held = self._plans.get(start)
        if held is not None and held[0] == sizes:
            return held[1]

        def fanout(term: int, positions: tuple[Position, ...]) -> float:
            view = views[term]
            return 0.0 if view is None else view.fanout(positions)

        node = self.node
        made = plan(node.terms, node.steps, node.output, start, fanout, self._late, self._keys())
        self._plans[start] = (sizes, made)
        return made

    def _keys(self) -> Sequence[Sequence[DerivedKey]]:
        """The derived columns that terms may be looked up by."""
        if self._derived is None:
            keys = derived_keys(self.node.terms, self.node.steps)
            self._derived = evaluated_keys(keys, self.schemas, self.evaluator)
        if not self._faulty:
            return self._derived
        return [
            [key for key in keys if (term, key.column) not in self._faulty]
            for term, keys in enumerate(self._derived)
        ]

    def _forget_faults(self) -> None:
        """A new epoch may be without the rows on which steps faulted."""
        if self._epoch != self.evaluator.epoch:
            self._epoch = self.evaluator.epoch
            if self._late or self._faulty:
                self._late.clear()
                self._faulty.clear()
                self._plans.clear()

    @contextmanager
    def _faulty_keys(self, step: LookUp) -> Iterator[None]:
        """Notes the derived columns by which the step's term cannot be looked up, if one faults."""
        try:
            yield
        except FaultyKey:
            self._faulty.update((step.term, p) for p in step.positions if not isinstance(p, int))
            raise

    def _grow(
        self,
        steps: tuple[PlanStep, ...],
        at: int,
        rows: Valuation,
        views: Sequence[View | None],
        held: RowTable | None,
        known: tuple[Groups, int] | None = None,
    ) -> Iterator[Batch]:
        """What the steps from `at` on make of rows; `known` are the groups of the first of them."""
        for number in range(at, len(steps)):
            if rows.length == 0:
                return
            step = steps[number]
            if isinstance(step, RunStep):
                try:
                    rows = self._step(step, rows)
                except RowFault:
                    if not isinstance(step.step, Inspect):
                        self._late.add(step.number)
                    raise
            elif isinstance(step, Exclude):
                view = views[step.term]
                assert view is not None
                keys = [rows.variables[v][1] for v in step.keys]
                if isinstance(view, TimelineView | TimelineBeforeView):
                    rows = rows.take_times(*view.absence(keys, rows.length), step.keep)
                else:
                    there = view.presence(keys, rows.length)
                    rows = rows.take(np.flatnonzero(there == 0), step.keep)
            else:
                view = views[step.term]
                assert view is not None
                if known is None:
                    keys = [rows.variables[v][1] for v in step.keys]
                    with self._faulty_keys(step):
                        known = view.groups(step.positions, keys, rows.length)
                groups, total = known
                known = None
                if total == 0:
                    return
                done = yield from self._ahead(steps, number, rows, views, held, groups, total)
                if done:
                    if done < rows.length:
                        yield from self._grow(steps, number, rows.slice(done, rows.length), views, held)
                    return
                if total > MOST and rows.length > 1:
                    sharing.safe_point()
                    half = rows.length // 2
                    yield from self._grow(steps, number, rows.slice(0, half), views, held)
                    yield from self._grow(steps, number, rows.slice(half, rows.length), views, held)
                    return
                reserve(8 * total * (2 + len(step.keep)))
                rows = self._joined(step, rows, view.expand(step.positions, groups, total), step.keep)
        if rows.length:
            columns = tuple(rows.variables[v][1] for v in self.node.output)
            yield Batch(columns, rows.length, rows.weights, rows.times)

    def _ahead(
        self,
        steps: tuple[PlanStep, ...],
        number: int,
        rows: Valuation,
        views: Sequence[View | None],
        held: RowTable | None,
        groups: Groups,
        total: int,
    ) -> Generator[Batch, None, int]:
        """Runs a look-up together with what comes after it, if that fits. Gives what the whole plan gives,
        and returns the number of rows for which it is done."""
        step, following = steps[number], steps[number + 1] if number + 1 < len(steps) else None
        assert isinstance(step, LookUp)
        view = views[step.term]
        if not isinstance(view, TableView) or not fused.fits(step, view, total):
            return 0
        if following is None:
            if held is None or total <= rows.length:  # one match a row: most are new
                return 0
            return (yield from fused.new(step, view, groups[0], total, rows, held, self.node.output))
        after = views[following.term] if isinstance(following, LookUp) else None
        if not isinstance(following, LookUp) or not isinstance(after, TableView):
            return 0
        found = fused.found(
            step, view, groups[0], total, rows, after.keys(following.positions), following.keys
        )
        while True:
            try:
                part, ids = next(found)
            except StopIteration as stop:
                reached: int = stop.value
                return reached
            some = self._joined(step, rows, [part], following.keep)
            known = after.places(following.positions, ids)
            yield from self._grow(steps, number + 1, some, views, held, known)

    def _joined(
        self, step: LookUp, rows: Valuation, parts: Sequence[Part], keep: frozenset[str]
    ) -> Valuation:
        schema = self.schemas[step.term]
        found = []
        for part in parts:
            left, right = part.left, part.rows
            weights, times = part.weights, part.times
            for a, b in step.equal:
                same = np.flatnonzero(part.table.column_at(right, a) == part.table.column_at(right, b))
                left, right = left[same], right[same]
                weights = None if weights is None else weights[same]
                times = None if times is None else times[same]
            out = rows.take(left, keep)
            for position, name in step.binds:
                if name in keep:
                    out.variables[name] = (schema[position], part.table.column_at(right, position))
            if weights is not None:
                out.weights = weights if out.weights is None else out.weights * weights
            if times is not None:
                out.times = times if out.times is None else np.maximum(out.times, times)
            found.append(out)
        return found[0] if len(found) == 1 else append([f for f in found if f.length] or found[:1])

    def _step(self, planned: RunStep, rows: Valuation) -> Valuation:
        step, rule = planned.step, self.node.text
        evaluate = self.evaluator
        if isinstance(step, Guard):
            true = evaluate.condition(step.condition, rows.variables, rows.length, rule)
            return rows.take(np.flatnonzero(true), planned.keep)
        if isinstance(step, Inspect):
            weights = np.ones(rows.length, np.int64) if rows.weights is None else rows.weights
            evaluate.effect(step.value, rows.variables, weights, rows.times, rule)
            return rows
        if isinstance(step, Let):
            column = evaluate.column(step.value, rows.variables, rows.length, rule)
            if planned.check:
                return rows.take(np.flatnonzero(rows.variables[step.name][1] == column), planned.keep)
            kept = {v: c for v, c in rows.variables.items() if v in planned.keep}
            if step.name in planned.keep:
                kept[step.name] = (step.value.column, column)
            return Valuation(kept, rows.length, rows.weights, rows.times)
        return self._unnest(step, planned, rows)

    def _unnest(self, step: Unnest, planned: RunStep, rows: Valuation) -> Valuation:
        left, elements = self.evaluator.elements(step.value, rows.variables, rows.length, self.node.text)
        if planned.check:
            same = np.flatnonzero(rows.variables[step.name][1][left] == elements)
            return rows.take(left[same], planned.keep)
        out = rows.take(left, planned.keep)
        if step.name in planned.keep:
            out.variables[step.name] = (step.value.column, elements)
        return out


def _is_shareable(step: PlanStep) -> bool:
    """Whether a step of a plan runs kernels and array operations only."""
    if not isinstance(step, RunStep):
        return True
    match step.step:
        case Guard(condition):
            return condition.arrays is not None
        case Let(_, value):
            return value.arrays is not None
    return False


def _is_steady(view: View | None) -> bool:
    """Whether reading a view changes nothing but what is built under `sharing.building`."""
    return not isinstance(view, TimelineView | TimelineBeforeView)
