"""Proposals: which term extends which rows of a join (count, propose, validate).

At a stage of a join, each candidate is asked how many rows it would give these rows. The indexes know the
counts, and a sample of the rows is enough to decide, unless what was chosen by it gives many more rows than
were expected: the sample may lack the few rows with the most matches. The cheapest candidate proposes for
all rows, or each row is extended by the candidate that proposes least for it: rows for which one proposes
nothing are dropped, and the others validate what is proposed, at the stages to come. This is the delta
query form of GenericJoin (Ammar, McSherry, Salihoglu, Joglekar: Distributed Evaluation of Subgraph Queries
Using Worst-case Optimal Low-Memory Dataflows, 2018), with a choice where asking pays.

Costs are in proposed rows. To ask a candidate for the counts of all rows costs `ASKING` a row, and each part
that rows are split into `PART`. To build an index costs `BUILDING` for each of its rows: one that there is
not is built where its rows, estimated from a sample of both sides, and its building are less than what the
best other candidate proposes, for the rows of this run and for all rows before it that met the same choice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...derivedcolumns import Position
from ...planner import LookUp, Stage, cheapest
from ...schema import Array
from ..arrangements.index import FaultyKey
from ..arrangements.views import View, strided
from ..storage.steps import Variables
from ..storage.table import RowTable
from .sieves import Sieves

ASKING = 1.0
PART = 512.0
BUILDING = 4.0


_noting = threading.Lock()


class Proposal(NamedTuple):
    """The rows (None: all) that a candidate extends, and about how many it gives. `by_means`: the rows were
    not asked for. `by_sample`: some of them were, for all, by several candidates."""

    look_up: LookUp
    rows: Array | None
    expected: float
    by_means: bool = False
    by_sample: bool = False


@dataclass(slots=True)
class Tally:
    """The choices at a stage so far, and the rows that came of them."""

    rows: int = 0  # that reached the stage
    asked: int = 0  # times that candidates were asked
    split: int = 0  # times that rows were split
    wasted: float = 0.0  # rows proposed since an index was last considered
    chosen: dict[int, list[float]] = field(default_factory=dict)  # by term: rows, expected, proposed, seconds
    tested: float = 0.0  # seconds of the stage's tests and of its choices; like all seconds, while measured
    sizes: tuple[int, ...] = ()
    favourite: int = 0  # by means, at these sizes

    def note(self, proposal: Proposal, rows: int, proposed: int, weight: float) -> None:
        """A candidate has proposed rows. `weight`: how often that counts for what an index may save."""
        with _noting:
            entry = self._entry(proposal.look_up.term)
            entry[0] += rows
            entry[1] += proposal.expected
            entry[2] += proposed
        self.wasted += proposed * weight

    def note_few(self, term: int, rows: int, expected: float, proposed: int) -> None:
        """As `choose` and `note`, of rows that are looked up one by one, and while no other thread notes."""
        self.rows += rows
        entry = self.chosen.get(term) or self._entry(term)
        entry[0] += rows
        entry[1] += expected
        entry[2] += proposed

    def spend(self, term: int, seconds: float) -> None:
        """The look-up of a term took time."""
        with _noting:
            self._entry(term)[3] += seconds

    def test(self, seconds: float) -> None:
        """The tests of the stage took time."""
        with _noting:
            self.tested += seconds

    def _entry(self, term: int) -> list[float]:
        entry = self.chosen.get(term)
        if entry is None:
            entry = self.chosen[term] = [0.0, 0.0, 0.0, 0.0]
        return entry


class Proposer:
    """Chooses candidates in one run of a join, over these views. `more` is the number of times that a
    chunk's rows come in this run; `faulty` takes the terms and derived columns that cannot be looked up.
    `held`: see `Joiner.run`."""

    def __init__(
        self,
        views: Sequence[View | None],
        more: float,
        faulty: set[tuple[int, Position]],
        held: RowTable | None = None,
    ) -> None:
        self.views, self.weight, self._faulty, self.held = views, more, faulty, held
        self._arranged: list[frozenset[tuple[Position, ...]]] | None = None
        self.sieves = Sieves()
        self.merged = False  # whether rows were summed up in this run

    @property
    def settled(self) -> bool:
        """Whether it is decided which indexes are asked."""
        return self._arranged is not None

    def settle(self) -> None:
        """From now on only the indexes that there are now are asked. So what is chosen for a chunk depends on
        its rows alone, and not on the chunks that other threads run."""
        views = self.views
        self._arranged = [frozenset() if view is None else frozenset(view.arranged()) for view in views]
        self.weight = 0.0

    def _is_arranged(self, look_up: LookUp) -> bool:
        if self._arranged is None:
            return look_up.positions in self._view(look_up).arranged()
        return look_up.positions in self._arranged[look_up.term]

    def choose(self, stage: Stage, variables: Variables, length: int, tally: Tally) -> list[Proposal]:
        """The look-ups that extend the rows at a stage. Rows that are in no proposal have no extension."""
        with _noting:
            tally.rows += length
        if len(stage.candidates) == 1:
            return [Proposal(stage.candidates[0], None, 0.0)]
        if length <= thresholds.ROWS_BY_MEANS or not stage.candidates[0].positions:
            best = self.by_means(stage, tally)
            return [
                Proposal(best, None, length * self.fanout(best.term, best.positions), bool(best.positions))
            ]
        return self.ask(stage, variables, length, tally)

    # ------------------------------------------------------------- means

    def by_means(self, stage: Stage, tally: Tally) -> LookUp:
        """The candidate with the smallest mean fan-out."""
        if self.settled:
            return stage.candidates[cheapest(stage.candidates, self.fanout)]
        sizes = tuple(self._view(each).size.bit_length() for each in stage.candidates)
        if tally.sizes != sizes:
            tally.sizes = sizes
            tally.favourite = cheapest(stage.candidates, self.fanout)
        return stage.candidates[tally.favourite]

    def fanout(self, term: int, positions: tuple[Position, ...]) -> float:
        """The expected number of matches of a key."""
        view = self.views[term]
        if view is None:
            return 0.0
        if self._arranged is not None and positions not in self._arranged[term]:
            return float(view.size * 0.25 ** len(positions))  # an index may be there by chance
        return view.fanout(positions)

    def _view(self, look_up: LookUp) -> View:
        view = self.views[look_up.term]
        assert view is not None
        return view

    # ------------------------------------------------------------- counts

    def ask(
        self, stage: Stage, variables: Variables, length: int, tally: Tally, by_sample: bool = True
    ) -> list[Proposal]:
        """The look-ups that extend the rows at a stage, by the counts of these rows, or of a sample first."""
        with _noting:
            tally.asked += 1
        candidates = stage.candidates
        keys = {name: variables[name][1] for one in candidates for name in one.keys}
        rows = strided(length, thresholds.PROPOSED_SAMPLE if by_sample else length)
        sample = Sample(
            {name: column[rows] for name, column in keys.items()} if len(rows) < length else keys,
            len(rows),
            length / len(rows),
        )
        counts = self._sampled(candidates, sample, tally)
        asked = _worth_asking(counts, sample)
        if len(asked) == 1:
            best, sampled = asked[0], len(rows) < length and len(candidates) > 1
            return [Proposal(candidates[best], None, sample.total(counts[best]), by_sample=sampled)]
        with _noting:
            tally.split += 1
        if len(rows) < length:
            counts = {k: self._counts(candidates[k], keys, length) for k in asked}
        return _split(asked, candidates, counts, length)

    def _counts(self, look_up: LookUp, keys: Mapping[str, Array], length: int) -> Array:
        with self.noting_faults(look_up):
            return self._view(look_up).counts(
                look_up.positions, [keys[name] for name in look_up.keys], length
            )

    @contextmanager
    def noting_faults(self, look_up: LookUp) -> Iterator[None]:
        """A context in which a look-up may raise FaultyKey: its derived columns are noted."""
        try:
            yield
        except FaultyKey:
            self._faulty.update((look_up.term, p) for p in look_up.positions if not isinstance(p, int))
            raise

    def _sampled(self, candidates: Sequence[LookUp], sample: Sample, tally: Tally) -> dict[int, Array]:
        """The counts of the sampled rows by the candidates that have an index or are worth one."""
        counts = {
            k: self._counts(one, sample.keys, sample.length)
            for k, one in enumerate(candidates)
            if self._is_arranged(one)
        }
        while len(counts) < len(candidates) and not (counts and self.settled):
            built = self._worth_building(candidates, counts, sample, tally)
            if built is None:
                break
            counts[built] = self._counts(candidates[built], sample.keys, sample.length)
        return counts

    def _worth_building(
        self, candidates: Sequence[LookUp], counts: Mapping[int, Array], sample: Sample, tally: Tally
    ) -> int | None:
        """The candidate whose index is worth building, if there is one; without any counts, the cheapest."""
        building = {k: BUILDING * self._view(one).size for k, one in enumerate(candidates) if k not in counts}
        if not counts:
            if len(building) == 1:
                return next(iter(building))
            return min(building, key=lambda k: building[k] + self.weight * self._guess(candidates[k], sample))
        least = min(sample.total(each) for each in counts.values())
        to_come = tally.wasted + least * self.weight
        saved = {
            k: to_come * (1 - self._guess(candidates[k], sample) / least) - cost
            for k, cost in building.items()
            if least and cost < to_come
        }
        if not saved:
            return None
        tally.wasted = 0.0
        best = max(saved, key=lambda k: saved[k])
        return best if saved[best] > 0 else None

    def _guess(self, look_up: LookUp, sample: Sample) -> float:
        """About how many rows a candidate without an index proposes, by a sample of its rows."""
        if look_up.derived:
            return self.fanout(look_up.term, look_up.positions) * sample.length * sample.each
        positions = [p for p in look_up.positions if isinstance(p, int)]
        columns, stride = self._view(look_up).some(positions, thresholds.PROPOSED_PEEK)
        if not len(columns[0]):
            return 0.0
        table = RowTable(len(columns))
        ids = table.insert([sample.keys[name] for name in look_up.keys], sample.length)
        found = table.find(columns, len(columns[0]))
        rows_of_key = np.bincount(ids, minlength=table.size)
        return float(rows_of_key[found[found >= 0]].sum()) * stride * sample.each


class Sample(NamedTuple):
    """Some of the rows at a stage: their keys. Each row stands for `each` rows."""

    keys: Mapping[str, Array]
    length: int
    each: float

    def total(self, counts: Array) -> float:
        """The sum over all rows, given the counts of these."""
        return float(counts.sum()) * self.each


def _worth_asking(counts: Mapping[int, Array], sample: Sample) -> list[int]:
    """The candidates that all rows are worth asking for their counts; the first is the best for all."""
    best = min(counts, key=lambda k: int(counts[k].sum()))
    asked, least = [best], counts[best]
    others = [k for k in counts if k != best]
    while others:
        lower = {k: np.minimum(least, counts[k]) for k in others}
        best = min(others, key=lambda k: int(lower[k].sum()))
        if sample.total(least - lower[best]) <= ASKING * sample.length * sample.each + PART:
            break
        others.remove(best)
        asked.append(best)
        least = lower[best]
    return asked


def _split(
    asked: Sequence[int], candidates: Sequence[LookUp], counts: Mapping[int, Array], length: int
) -> list[Proposal]:
    """Each row to the candidate that proposes least for it; the first of equals, or none if it is nothing."""
    table = np.stack([counts[k] for k in asked])
    chosen = np.argmin(table, axis=0)
    least = table[chosen, np.arange(length)]
    chosen[least == 0] = -1
    parts = [np.flatnonzero(chosen == number) for number in range(len(asked))]
    return [
        Proposal(candidates[k], part, float(least[part].sum()))
        for k, part in zip(asked, parts, strict=True)
        if len(part)
    ]
