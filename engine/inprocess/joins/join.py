"""Delta joins: valuations grown from the rows of one term, look-up by look-up."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ... import interrupt, thresholds
from ...budget import MADE, STEP
from ...circuit import DeltaJoin, Guard, Inspect, Join, Let, Step, Unnest
from ...derivedcolumns import DerivedKey, Position, derived_keys
from ...epochcosts import clock
from ...memory import reserve
from ...operators.steps import expression
from ...planner import Exclude, LookUp, PlanStep, RunStep, Stage, Stages, cheapest
from ...schema import Array, Column, RowFault
from ..arrangements.index import FaultyKey
from ..arrangements.timeline import TimedView
from ..arrangements.views import Groups, Matches, TableView, View
from ..storage import threadpool
from ..storage.batch import Batch, few_rows
from ..storage.derivedcolumns import evaluated_keys
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from ..storage.threadpool import Unshared
from . import exclusion, fusedsteps, onebyone, projection
from .proposals import Proposal, Proposer, Tally
from .valuation import Valuation, append

T = TypeVar("T")

_Begun: TypeAlias = tuple[list[Batch], Iterator[Batch]]
_Steady: TypeAlias = tuple[Sequence[View | None], onebyone.RowPlan, Callable[..., Any]]
"""Views that show the same stores in many runs, a plan, and its function with them."""


class Joiner:
    """Runs one join: keeps its stages, what was chosen there, and the steps that it learnt to run late."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        schemas: Sequence[Sequence[Column]],
        evaluator: Evaluator,
        later: Callable[[Array, Array], Array] = np.maximum,
    ) -> None:
        """`later` gives the join of times, of each row."""
        self.node = node
        self._later = later
        self.schemas = schemas
        self.evaluator = evaluator
        self.waiting: list[Batch] = []  # results that wait until none of their chunk has faulted
        self.tallies: dict[Stage, Tally] = {}
        self._late: set[int] = set()
        self._derived: Sequence[Sequence[DerivedKey]] | None = None
        self._faulty: set[tuple[int, Position]] = set()  # terms and derived columns that cannot be looked up
        self._epoch = evaluator.epoch
        self._stages: Stages | None = None
        self._lateness = 0, 0  # the numbers of late steps and faulty columns that the stages know
        self.read = [_read(term.columns) for term in node.terms]
        """The columns of each term that the join reads. None: all."""
        self._pick = [None if read is None else _picking(read) for read in self.read]
        self._shareable = all(map(_is_shareable, node.steps))
        self._mergeable = not any(isinstance(step, Inspect) for step in node.steps)
        self._unshared = 0  # times that a step had to leave its thread
        self._row_plans: dict[tuple[Any, ...], onebyone.RowPlan | None] = {}  # by start and sizes of views
        self._steady: dict[int, _Steady] = {}  # by start
        self._general: dict[int, int] = {}  # by start, runs from few rows to come in the general way
        self.left_out = 0  # rows of heads that were derived and not given, as they are there already

    @property
    def stages(self) -> Stages | None:
        """The stages that the join has gone through. None: it has not run."""
        return self._stages

    def net(self, place: int, change: Batch) -> Batch | None:
        """The change of a term, without rows that cancel out in the columns that the join reads: an update of
        other columns changes nothing. None: no row is left."""
        read, weights = self.read[place], change.weights
        if weights is None or read is None or not int(weights.min()) < 0 < int(weights.max()):
            return change
        if change.length <= thresholds.FEW_ROWS:
            rows = change.rows()
            left = self.net_rows(place, rows, weights.tolist())
            if left[0] is rows:
                return change
            return few_rows(*left, len(change.columns)) if left[0] else None
        table = RowTable(len(read))
        ids = table.insert([change.columns[k] for k in read], change.length)
        if table.size == change.length:
            return change
        sums, alike = np.zeros(table.size, np.int64), np.empty(table.size, np.int64)
        np.add.at(sums, ids, weights)
        alike[ids] = np.arange(change.length)
        kept = np.flatnonzero(sums)
        return replace(change.take(alike[kept]), weights=sums[kept]) if len(kept) else None

    def net_rows(
        self, place: int, rows: list[onebyone.Row], weights: list[int]
    ) -> tuple[list[onebyone.Row], list[int]]:
        """As `net`, of rows with their weights: these themselves, if all are left."""
        pick = self._pick[place]
        if pick is None or len(rows) < 2:
            return rows, weights
        sums: dict[Any, int] = {}  # `dict[…]()` would make a type each time
        keys = [*map(pick, rows)]
        for key, weight in zip(keys, weights, strict=True):
            sums[key] = sums.get(key, 0) + weight
        if len(sums) == len(rows):
            return rows, weights
        alike = dict(zip(keys, rows, strict=True))
        left = {key: weight for key, weight in sums.items() if weight}
        return [alike[key] for key in left], [*left.values()]

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
        if start is not None and batch is not None and batch.length <= thresholds.ROWS_ONE_BY_ONE:
            found = self.one_by_one(start, batch, views)
            if found is not None:
                yield from found
                return
        if self._epoch != self.evaluator.epoch:
            self.forget_faults()
        length = 1 if start is None or batch is None else batch.length
        self.evaluator.budget.spend(STEP + length)
        if length <= thresholds.ROWS_BY_MEANS:
            interrupt.check()
            for out in self._chunk(start, batch, Proposer(views, 1.0, self._faulty, held)) if length else ():
                self.evaluator.budget.spend(MADE * out.length)
                yield out
            return
        at = 0
        size = most = thresholds.JOIN_WHOLE
        if len(views) > 1 or self.node.steps:
            size = most = thresholds.JOIN_ASKING if self.evaluator.asks else thresholds.JOIN_CHUNK
        proposer = Proposer(views, max(1.0, length / size), self._faulty, held)
        while at < length:
            interrupt.check()
            stop = min(at + thresholds.JOIN_WAVE * size, length)
            # Columns of a large batch are unpacked chunk by chunk.
            parts = [
                batch if batch is None or length <= size else batch.slice(first, min(first + size, stop))
                for first in range(at, stop, size)
            ]
            given = 0
            for out in self._wave(start, parts, proposer):
                given += out.length
                self.evaluator.budget.spend(MADE * out.length)
                yield out
            if self.node.steps or not proposer.merged:  # the more rows, the more of them are equal
                size = max(
                    min(most, thresholds.JOIN_ROOM * (stop - at) // max(given, 1)), thresholds.JOIN_LEAST
                )
            at = stop

    def one_by_one(self, start: int, batch: Batch, views: Sequence[View | None]) -> tuple[Batch, ...] | None:
        """The join of a few rows, one by one, as `run` gives it; None: it is to run in the general way."""
        found = self.of_rows(start, batch.rows(), batch.weight_list(), batch.times, views)
        if found is None:
            return None
        rows, weights, times = found
        if not rows:
            return ()
        made = few_rows(rows, weights, len(self.node.output))
        if times:
            made = Batch(made.columns, made.length, made.weights, np.array(times, np.int64))
        return (made,)

    def of_rows(
        self,
        start: int,
        rows: Sequence[onebyone.Row],
        weights: Sequence[int],
        times: Array | None,
        views: Sequence[View | None],
    ) -> tuple[list[onebyone.Row], list[int], Sequence[int]] | None:
        """The join of a few weighted rows: its rows, with their weights and times, if it has times. None: it
        is to run in the general way. It does so at first, since a plan takes time to write, and for a while
        after a plan gave up."""
        steady = self._steady.get(start)
        if steady is None or steady[0] is not views or times is not None or self._late or self._faulty:
            waiting = self._general.get(start, thresholds.GENERAL_RUNS)
            if waiting:
                self._general[start] = waiting - 1
                return None
            plan, run = self.row_plan(start, views, times is not None), None
            if plan is None:
                return None
        else:
            _, plan, run = steady
        evaluator = self.evaluator
        since = clock() if evaluator.measured else 0.0
        try:
            if run is None:
                out, made, dated, counts = plan.run(rows, weights, times, views)
                if views.__class__ is tuple and plan.is_steady:
                    self._steady[start] = views, plan, plan.steady(views)
            else:
                plan.room[0] = thresholds.MATCHES_ONE_BY_ONE
                out, made, dated, counts = run(rows, weights)
        except onebyone.NotOneByOne:
            self._general[start] = 4 * thresholds.GENERAL_RUNS
            self._steady.pop(start, None)
            return None
        matches = self._note(plan.noting, counts, views) if counts else 0
        if since:
            self._note_time(start, plan.noting, clock() - since)
        if evaluator.budget.left is not None:
            evaluator.budget.spend(STEP + len(rows) + matches + MADE * len(out))
        return out, made, dated

    def row_plan(
        self, start: int, views: Sequence[View | None], from_timed: bool = False
    ) -> onebyone.RowPlan | None:
        """The plan from a term by mean fan-outs, as a function; None: there is none, or a step runs late.
        `from_timed`: the rows to start from have times."""
        if self._epoch != self.evaluator.epoch:
            self.forget_faults()
        if self._late or self._faulty or not onebyone.is_known(views):
            return None
        stages = self._staged()
        timed = (*onebyone.timed_terms(views), start) if from_timed else onebyone.timed_terms(views)
        if timed and self._later is not np.maximum:
            return None
        sizes = [0 if view is None else view.size.bit_length() for view in views] if len(views) > 2 else ()
        if (key := (start, timed, *sizes)) not in self._row_plans:
            stage, chosen = stages.first(start), list[tuple[Stage, LookUp]]()
            steps = [*stage.tests]
            while stage.candidates:
                best = stage.candidates[cheapest(stage.candidates, partial(_fanout, views))]
                chosen.append((stage, best))
                stage = stages.after(stage, best)
                steps += (best, *stage.tests)
            fit, values = onebyone.is_fit(steps), self.evaluator.values
            self._row_plans[key] = (
                onebyone.RowPlan(self.node, start, chosen, steps, self.schemas, values, timed)
                if fit
                else None
            )
        return self._row_plans[key]

    def _note(
        self,
        noting: Sequence[onebyone.Noted],
        counts: Sequence[tuple[int, int]],
        views: Sequence[View | None],
    ) -> int:
        """Rows were joined one by one. Returns the matches of their look-ups."""
        total = 0
        for stage, one, place in noting:
            keys, matches = counts[place]
            if keys:
                expected = (
                    keys * _fanout(views, one.term, one.positions) if len(stage.candidates) > 1 else 0.0
                )
                tally = self.tallies.get(stage) or self._tally(stage)
                tally.note_few(one.term, keys, expected, matches)
                total += matches
        return total

    def _note_time(self, start: int, noting: Sequence[onebyone.Noted], seconds: float) -> None:
        """Rows were joined one by one. The time counts for the last look-up."""
        if noting:
            self._tally(noting[-1].stage).spend(noting[-1].look_up.term, seconds)
        elif (first := self._staged().first(start)).tests:
            self._tally(first).test(seconds)

    def _wave(self, start: int | None, parts: Sequence[Batch | None], proposer: Proposer) -> Iterator[Batch]:
        """The joins of some chunks, in their order. Threads share them where none but kernels run. The first
        chunk of a run goes alone: it decides which indexes the others ask."""
        if not proposer.settled:
            yield from self._chunk(start, parts[0], proposer)
            proposer.settle()
            parts = parts[1:]
        outcomes: Sequence[_Begun | BaseException | None] = [None] * len(parts)
        if len(parts) > 1 and threadpool.workers() > 1 and self._may_share(proposer.views):
            outcomes = threadpool.run_all([partial(self._begin, start, p, proposer) for p in parts])
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
            yield from self._chunk(start, part, proposer)

    def _may_share(self, views: Sequence[View | None]) -> bool:
        return self._shareable and self._unshared < thresholds.JOIN_UNSHARED and all(map(_is_steady, views))

    def _begin(self, start: int | None, part: Batch | None, proposer: Proposer) -> _Begun:
        """The first batches of a chunk, as many as may wait for their turn, and the rest."""
        rest = self._grow(self._staged().first(start), self._first(start, part), proposer)
        given: list[Batch] = []
        room = thresholds.JOIN_ROOM
        for out in rest:
            given.append(out)
            room -= out.length
            if room <= 0 and not self.node.steps:
                break
        return given, rest

    def _chunk(self, start: int | None, part: Batch | None, proposer: Proposer) -> Iterable[Batch]:
        chunk = self._first(start, part)
        if not self.node.steps:
            return self._grow(self._staged().first(start), chunk, proposer)
        while True:
            late, faulty = len(self._late), len(self._faulty)
            try:
                # A fault may come from a row that the rest of the body excludes: the
                # step is put off to the end, and if it faults there too the fault is real.
                self.waiting = []
                self.waiting.extend(self._grow(self._staged().first(start), chunk, proposer))
                done, self.waiting = self.waiting, []
                return done
            except RowFault:
                if len(self._late) == late:
                    raise
            except FaultyKey:
                if len(self._faulty) == faulty:
                    raise

    def first_look_up(self, views: Sequence[View | None]) -> LookUp | None:
        """The first look-up from nothing."""
        stage = self._staged().first(None)
        tests = [step for step in stage.tests if isinstance(step, LookUp)]
        if tests or not stage.candidates:
            return tests[0] if tests else None
        return Proposer(views, 1.0, self._faulty).by_means(stage, self._tally(stage))

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

    def _staged(self) -> Stages:
        """The stages, made anew when a step has become late or a derived column faulty."""
        stages, lateness = self._stages, (len(self._late), len(self._faulty))
        if stages is None or lateness != self._lateness:
            node = self.node
            stages = Stages(node.terms, node.steps, node.output, self._late, self._keys())
            self.tallies.clear()
            self._row_plans.clear()
            self._steady.clear()
            self._stages, self._lateness = stages, lateness
        return stages

    def _keys(self) -> Sequence[Sequence[DerivedKey]]:
        """The derived columns that terms may be looked up by."""
        if self._derived is None:
            asks = self.evaluator.asks  # another worker could not be asked by such columns
            keys = derived_keys(self.node.terms, () if asks else self.node.steps)
            self._derived = evaluated_keys(keys, self.schemas, self.evaluator)
        if not self._faulty:
            return self._derived
        return [
            [key for key in keys if (term, key.column) not in self._faulty]
            for term, keys in enumerate(self._derived)
        ]

    def forget_faults(self) -> None:
        """Forgets which steps faulted, and results that wait: other rows come, or an epoch is taken back."""
        self._epoch = self.evaluator.epoch
        self.waiting.clear()
        if self._late or self._faulty:
            self._late.clear()
            self._faulty.clear()
            self._stages = None

    def _tally(self, stage: Stage) -> Tally:
        found = self.tallies.get(stage)
        return self.tallies.setdefault(stage, Tally()) if found is None else found

    def _output(self, rows: Valuation) -> Batch:
        columns = tuple([rows.variables[v][1] for v in self.node.output])
        return Batch(columns, rows.length, rows.weights, rows.times)

    def _grow(
        self, stage: Stage, rows: Valuation, proposer: Proposer, known: tuple[Groups, int] | None = None
    ) -> Iterator[Batch]:
        """The valuations that a stage makes of rows; `known` are the groups of its first test, or else of its
        only candidate."""
        since = clock() if self.evaluator.measured and stage.tests else 0.0
        for number, test in enumerate(stage.tests):
            rows = self._test(stage, test, rows, proposer.views, None if number else known)
            if not rows.length:
                break
        if since:
            self._tally(stage).test(clock() - since)
        if not rows.length:
            return
        if not stage.candidates:
            yield self._output(rows)
            return
        yield from self._chosen(stage, rows, proposer, None if stage.tests else known)

    def _chosen(
        self, stage: Stage, rows: Valuation, proposer: Proposer, known: tuple[Groups, int] | None = None
    ) -> Iterator[Batch]:
        """The valuations that a stage makes of rows that passed its tests; `known` are the groups of its only
        candidate."""
        tally, since = self._tally(stage), clock() if self.evaluator.measured else 0.0
        chosen = proposer.choose(stage, rows.variables, rows.length, tally)
        if since:
            tally.test(clock() - since)
        for proposal in chosen:
            yield from self._extend(stage, proposal, rows, proposer, known)

    def _test(
        self,
        stage: Stage,
        test: PlanStep,
        rows: Valuation,
        views: Sequence[View | None],
        known: tuple[Groups, int] | None = None,
    ) -> Valuation:
        """The rows that pass one of the tests of a stage."""
        if not rows.length:
            return rows
        if isinstance(test, RunStep):
            try:
                return self._step(test, rows)
            except RowFault:
                if isinstance(test.step, Inspect):
                    raise
                if test.number not in self._late:
                    self._late.add(test.number)
                    raise
                return self._step(test, self._without_excluded(stage, test, rows, views))
        view = views[test.term]
        assert view is not None
        keys = [] if known else [rows.variables[v][1] for v in test.keys]
        if isinstance(test, Exclude):
            if isinstance(view, TimedView):
                out = rows.take_times(*view.absence(keys, rows.length), test.keep, self._later)
                return self._summed(rows, out)
            return rows.take(np.flatnonzero(view.presence(keys, rows.length) == 0), test.keep)
        groups, total = known or view.groups(test.positions, keys, rows.length)
        return self._joined(test, rows, view.expand(test.positions, groups, total), test.keep)

    def _without_excluded(
        self, stage: Stage, test: RunStep, rows: Valuation, views: Sequence[View | None]
    ) -> Valuation:
        """The rows, without those on which a late step faults and which the rest of the body excludes. Raises
        the fault of another late step of such a row."""
        found = exclusion.rest_of(self.node, stage, test, rows)
        if found is None:
            return rows
        rest, terms = found
        wrap = tuple if isinstance(test.step, Unnest) else None
        faulty = self.evaluator.faulty(expression(test.step), rows.variables, rows.length, wrap)
        schema, batch = exclusion.as_term(rows.take(faulty, frozenset(rows.variables)))
        joiner = Joiner(rest, [schema, *(self.schemas[k] for k in terms)], self.evaluator, self._later)
        kept = np.ones(rows.length, np.bool_)
        kept[faulty] = False
        for out in joiner.run(0, batch, [None, *(views[k] for k in terms)]):
            kept[faulty[out.columns[0]]] = True
        return rows.take(np.flatnonzero(kept), frozenset(rows.variables))

    def _extend(
        self,
        stage: Stage,
        proposal: Proposal,
        rows: Valuation,
        proposer: Proposer,
        known: tuple[Groups, int] | None = None,
    ) -> Iterator[Batch]:
        """The join of the rows of a proposal with its term, grown to the end."""
        step, since = proposal.look_up, clock() if self.evaluator.measured else 0.0
        part = rows
        if proposal.rows is not None:
            part, known = rows.take(proposal.rows, frozenset(rows.variables)), None
        view = proposer.views[step.term]
        assert view is not None
        if known is None:
            keys = [part.variables[v][1] for v in step.keys]
            with proposer.noting_faults(step):
                known = view.groups(step.positions, keys, part.length)
        groups, total = known
        amiss = proposal.by_sample and total > thresholds.PROPOSED_AMISS * (proposal.expected + rows.length)
        if amiss or (proposal.by_means and total > thresholds.PROPOSED_BY_MEANS):
            for one in proposer.ask(stage, rows.variables, rows.length, self._tally(stage), not amiss):
                yield from self._extend(stage, one, rows, proposer)
            return
        if not total:
            self._tally(stage).note(proposal, part.length, 0, proposer.weight)
            return
        as_set = proposer.held is not None
        are_found = isinstance(view, TableView) and view.are_found(groups)
        if self._mergeable and not are_found and projection.only_counts(step):
            counted = projection.counted(step, view, groups[0], part, as_set)
            if counted is not None:
                self._noted(stage, proposal, part, total, proposer, since)
                after = self._staged().after(stage, step)
                if as_set and not (after.tests or after.candidates):
                    self.left_out += total - counted.length
                yield from self._grow(after, counted, proposer)
                return
        merges = not are_found and self._merges(stage, step, part, proposer, groups, total)
        if not (merges or are_found) and isinstance(view, TableView) and fusedsteps.fits(step, view, total):
            order = fusedsteps.reading_order(step, view, groups[0], total)
            if order is not None:
                part, groups = part.take(order, frozenset(part.variables)), (groups[0][order],)
        if since:
            self._tally(stage).spend(step.term, clock() - since)
        done = 0
        if not (merges or are_found):
            done = yield from self._ahead(stage, step, part, proposer, groups, total)
        since = clock() if since else 0.0
        if done:
            share = done / part.length
            some = proposal._replace(expected=proposal.expected * share)
            self._tally(stage).note(some, done, round(total * share), proposer.weight)
            self.evaluator.budget.spend(round(total * share))
            left = [(done, part.length)] if done < part.length else []
        elif not merges and total > thresholds.JOIN_MOST and part.length > 1:
            threadpool.safe_point()
            left = [(0, part.length // 2), (part.length // 2, part.length)]
        else:
            if merges:
                proposer.merged = True
                joined = self._merged(step, part, proposer, groups)
            else:
                reserve(8 * total * (2 + len(step.keep)))
                joined = self._joined(step, part, view.expand(step.positions, groups, total), step.keep)
            self._noted(stage, proposal, part, total, proposer, since)
            yield from self._grow(self._staged().after(stage, step), joined, proposer)
            return
        for start, stop in left:
            some = Proposal(step, None, proposal.expected * (stop - start) / part.length)
            yield from self._extend(stage, some, part.slice(start, stop), proposer)

    def _noted(
        self, stage: Stage, proposal: Proposal, part: Valuation, total: int, proposer: Proposer, since: float
    ) -> None:
        """A look-up has given so many rows. It is timed if it has a beginning."""
        tally = self._tally(stage)
        tally.note(proposal, part.length, total, proposer.weight)
        self.evaluator.budget.spend(total)
        if since:
            tally.spend(proposal.look_up.term, clock() - since)

    def _merges(
        self, stage: Stage, step: LookUp, rows: Valuation, proposer: Proposer, groups: Groups, total: int
    ) -> bool:
        """Whether what a look-up gives is worth summing up, by what it gives for the first rows. That depends
        on nothing but these rows."""
        view = proposer.views[step.term]
        if not self._mergeable or not isinstance(view, TableView) or view.whole(step.positions):
            return False
        after, as_set = self._staged().after(stage, step), proposer.held is not None
        if not projection.may_pay(step, rows, total, after, proposer.fanout, as_set):
            return False
        counts = np.cumsum(view.index(step.positions).sizes(groups[0]))
        first = int(np.searchsorted(counts, thresholds.MERGED_SAMPLE)) + 1
        if (
            first >= rows.length
            or counts[first - 1] > thresholds.MERGED_ROWS
            or total > thresholds.MERGED_AT_MOST
        ):
            return False
        parts = view.expand(step.positions, (groups[0][:first],), int(counts[first - 1]))
        return projection.pays(self._matched(step, rows.slice(0, first), parts, step.keep), total)

    def _merged(self, step: LookUp, rows: Valuation, proposer: Proposer, groups: Groups) -> Valuation:
        """The matches of a look-up, summed up."""
        view = proposer.views[step.term]
        assert isinstance(view, TableView)
        counts = np.cumsum(view.index(step.positions).sizes(groups[0]))
        total = int(counts[-1])
        cuts = np.searchsorted(counts, np.arange(0, total, thresholds.MERGED_PIECE), side="right")
        merger = projection.Merger(proposer.held is not None)
        for start, stop in pairwise([*np.unique(cuts).tolist(), rows.length]):
            threadpool.safe_point()
            size = int(counts[stop - 1] - (counts[start - 1] if start else 0))
            reserve(8 * size * (2 + len(step.keep)))
            parts = view.expand(step.positions, (groups[0][start:stop],), size)
            merger.add(self._matched(step, rows.slice(start, stop), parts, step.keep))
        return merger.rows()

    def _ahead(
        self,
        stage: Stage,
        step: LookUp,
        rows: Valuation,
        proposer: Proposer,
        groups: Groups,
        total: int,
    ) -> Generator[Batch, None, int]:
        """Runs a look-up together with what comes after it, if that fits. Gives what the whole plan gives,
        and returns the number of rows for which it is done."""
        view, held = proposer.views[step.term], proposer.held
        if not isinstance(view, TableView) or not fusedsteps.fits(step, view, total):
            return 0
        after = self._staged().after(stage, step)
        if not after.tests and not after.candidates:
            if held is None or total <= rows.length:  # one match a row: most are new
                return 0
            return (yield from self._new(stage, step, rows, view, groups, total, held))
        following = after.tests[0] if after.tests else after.candidates[0]
        if not isinstance(following, LookUp) or (not after.tests and len(after.candidates) > 1):
            return 0
        seen = proposer.views[following.term]
        if not isinstance(seen, TableView):
            return 0
        places = following.positions
        with proposer.noting_faults(following):
            keys = seen.keys(places)
        to_come = total * proposer.weight
        found = fusedsteps.found(
            step, view, groups[0], total, rows, keys, following.keys, proposer.sieves, to_come
        )
        found = self._timed(found, stage, step)
        while True:
            try:
                part, ids = next(found)
            except StopIteration as stop:
                reached: int = stop.value
                return reached
            # A candidate may read its keys again, for a part of the rows.
            some = self._matched(step, rows, [part], following.keep if after.tests else step.keep)
            yield from self._grow(after, some, proposer, seen.places(places, ids))

    def _new(
        self,
        stage: Stage,
        step: LookUp,
        rows: Valuation,
        view: TableView,
        groups: Groups,
        total: int,
        held: RowTable,
    ) -> Generator[Batch, None, int]:
        """The last look-up, which gives the new rows of a set only. Returns the rows for which it is done."""
        given = 0
        found = self._timed(
            fusedsteps.new(step, view, groups[0], total, rows, held, self.node.output), stage, step
        )
        while True:
            try:
                batch = next(found)
            except StopIteration as stop:
                done: int = stop.value
                break
            given += batch.length
            yield batch
        if self.evaluator.measured:
            self.left_out += max(0, round(total * done / rows.length) - given)
        return done

    def _timed(self, found: Generator[T, None, int], stage: Stage, step: LookUp) -> Generator[T, None, int]:
        """The results of a look-up, whose time counts while it is measured, without that of its caller."""
        while True:
            since = clock() if self.evaluator.measured else 0.0
            try:
                each = next(found)
            except StopIteration as stop:
                done: int = stop.value
                return done
            finally:
                if since:
                    self._tally(stage).spend(step.term, clock() - since)
            yield each

    def _joined(
        self, step: LookUp, rows: Valuation, parts: Sequence[Matches], keep: frozenset[str]
    ) -> Valuation:
        """The rows with their matches, equal ones as one where that is known to pay."""
        if self._mergeable and projection.only_counts(step) and projection.are_several(rows, parts):
            return projection.weighed(rows, parts, keep)
        return self._summed(rows, self._matched(step, rows, parts, keep))

    def _matched(
        self, step: LookUp, rows: Valuation, parts: Sequence[Matches], keep: frozenset[str]
    ) -> Valuation:
        """The rows with their matches, a row for each."""
        if not parts:
            return rows.slice(0, 0)
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
                out.times = times if out.times is None else self._later(out.times, times)
            found.append(out)
        return found[0] if len(found) == 1 else append([f for f in found if f.length] or found[:1])

    def _summed(self, rows: Valuation, grown: Valuation) -> Valuation:
        """The valuations that a term makes of rows. If they are many, equal valuations at one time are summed
        up: n terms whose rows change at k times would give k^n."""
        if (
            grown.times is None
            or not self._mergeable
            or grown.length <= max(rows.length, thresholds.MERGED_TIMED)
        ):
            return grown
        interrupt.check()
        return projection.summed(grown)

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


def _fanout(views: Sequence[View | None], term: int, positions: tuple[Position, ...]) -> float:
    view = views[term]
    return 0.0 if view is None else view.fanout(positions)


def _read(columns: Sequence[str | None]) -> tuple[int, ...] | None:
    """The places of the columns that have a name; None: all have."""
    places = tuple(place for place, name in enumerate(columns) if name is not None)
    return None if len(places) == len(columns) else places


def _picking(places: tuple[int, ...]) -> Callable[[tuple[int, ...]], Any]:
    """A function that gives some columns of a row."""
    return itemgetter(*places) if places else lambda row: ()


def _is_shareable(step: Step) -> bool:
    """Whether a step runs kernels and array operations only."""
    return isinstance(step, Guard | Let) and expression(step).arrays is not None


def _is_steady(view: View | None) -> bool:
    """Whether reading a view changes nothing but what is built under `sharing.building`."""
    return not isinstance(view, TimedView)
