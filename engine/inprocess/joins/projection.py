"""Equal valuations are one: projections inside a join are made distinct early, where that pays.

    R(x) :- A(x, y), B(y, z), C(z, w).        50 rows a key:  A ── 50 ──> (x, z) ── 50 ──> x

A variable that nothing later needs leaves many equal rows behind, and all that comes after is done for each
of them. There are three remedies, which keep the sum of weights of each row:

- A look-up that binds nothing that is needed is not expanded, or its matches are summed up at once: each row
  gets the number or the weight of its matches as a factor of its weight.
- Rows that a look-up gives are summed up before the next look-up, if they are many, and a sample of them says
  that at least half of them are equal to others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ... import thresholds
from ...planner import LookUp, Stage
from ...schema import Array
from ..arrangements.views import Matches, TableView, View
from ..kernels import addition
from ..storage.arrays import grow
from ..storage.table import RowTable
from .valuation import Valuation


def only_counts(step: LookUp) -> bool:
    """Whether a look-up says no more of its matches than how many there are."""
    return not step.equal and not any(name in step.keep for _, name in step.binds)


def counted(step: LookUp, view: View, groups: Array, rows: Valuation, as_set: bool) -> Valuation | None:
    """The result of such a look-up: each row that has a match once. None where matches differ in weight or
    time, or may be absent. `as_set`: weights are of no account."""
    if not isinstance(view, TableView) or not view.alike(step.positions):
        return None
    counts = view.index(step.positions).sizes(groups)
    left = np.flatnonzero(counts)
    out = rows.take(left, step.keep)
    if not as_set:
        factors = counts[left]
        out.weights = factors if out.weights is None else out.weights * factors
    return out


def are_several(rows: Valuation, parts: Sequence[Matches]) -> bool:
    """Whether matches without times are more than the rows, so that some row has several."""
    if rows.times is not None or any(part.times is not None for part in parts):
        return False
    return sum(len(part.left) for part in parts) > rows.length


def weighed(rows: Valuation, parts: Sequence[Matches], keep: frozenset[str]) -> Valuation:
    """Each row that has matches once, with the sum of their weights as a factor of its own."""
    sums = np.zeros(rows.length, np.int64)
    for part in parts:
        ones = np.ones(len(part.left), np.int64)
        addition.add(sums, part.left, ones if part.weights is None else part.weights)
    left = np.flatnonzero(sums)
    out = rows.take(left, keep)
    out.weights = sums[left] if out.weights is None else out.weights * sums[left]
    return out


def may_pay(
    step: LookUp, rows: Valuation, total: int, after: Stage, fanout: Callable[..., float], as_set: bool
) -> bool:
    """Whether it is worth to look how many of the rows that a look-up gives are equal: a variable is not
    needed any more, and the next look-up gives several rows for each, or the rows are complete and have to be
    summed up anyway."""
    bound = {name for _, name in step.binds}
    if total < thresholds.MERGED_ROWS or step.keep.isdisjoint({*rows.variables, *bound}):
        return False
    if step.keep >= rows.variables.keys() and step.keep >= bound:
        return False
    if not after.candidates:
        return not as_set
    return min(fanout(each.term, each.positions) for each in after.candidates) >= thresholds.MERGING_FANOUT


def pays(sample: Valuation, total: int) -> bool:
    """Whether many of so many rows are equal, by some of them, and not too many are left. If rows are drawn
    from u alike, n of them meet about n * n / 2u times."""
    met = sample.length - _distinct(sample).size
    if not met:
        return False
    universe = sample.length * sample.length / (2 * met)
    left = universe * (1 - math.exp(-total / universe))
    return total >= thresholds.MERGING_GAIN * left and left <= thresholds.MERGED_LEFT


class Merger:
    """Sums up valuations over the same variables. `as_set`: weights are of no account."""

    def __init__(self, as_set: bool) -> None:
        self._as_set = as_set
        self._table: RowTable | None = None
        self._weights: Array = np.empty(0, np.int64)
        self._like: Valuation | None = None

    def add(self, rows: Valuation) -> None:
        """Takes rows in, at least one variable wide."""
        columns = _columns(rows)
        table = self._table = self._table or RowTable(len(columns))
        self._like = self._like or rows
        if self._as_set:
            table.insert_new(columns, rows.length)
            return
        ids = table.insert(columns, rows.length)
        grow(self, "_weights", table.size, 0)
        each = np.ones(rows.length, np.int64) if rows.weights is None else rows.weights
        addition.add(self._weights, ids, each)

    def rows(self) -> Valuation:
        """The sum of what was taken in, at least once."""
        table, like = self._table, self._like
        assert table is not None and like is not None
        weights: Array | None = None
        if self._as_set:
            kept = table.columns()
        else:
            left = np.flatnonzero(self._weights[: table.size])
            kept, weights = table.columns_at(left), self._weights[left]
        variables = {name: (c, kept[k]) for k, (name, (c, _)) in enumerate(like.variables.items())}
        return Valuation(variables, len(kept[0]), weights, None if like.times is None else kept[-1])


def summed(rows: Valuation) -> Valuation:
    """Rows with times, of which equal ones at one time are one."""
    merger = Merger(as_set=False)
    merger.add(rows)
    return merger.rows()


def _columns(rows: Valuation) -> list[Array]:
    columns = [column for _, column in rows.variables.values()]
    return columns if rows.times is None else [*columns, rows.times]


def _distinct(rows: Valuation) -> RowTable:
    columns = _columns(rows)
    table = RowTable(len(columns))
    table.insert_new(columns, rows.length)
    return table
