"""Valuations: the rows that a join has grown so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...schema import Array
from ..storage.steps import Variables


@dataclass(slots=True)
class Valuation:
    """Rows of variables under construction: a column a variable. `weights` and `times` as in a batch."""

    variables: Variables
    length: int
    weights: Array | None
    times: Array | None

    def take(self, rows: Array, keep: frozenset[str]) -> Valuation:
        """The rows at these positions, of the variables that are kept."""
        return Valuation(
            {v: (c, a[rows]) for v, (c, a) in self.variables.items() if v in keep},
            len(rows),
            None if self.weights is None else self.weights[rows],
            None if self.times is None else self.times[rows],
        )

    def take_times(
        self,
        rows: Array,
        times: Array,
        weights: Array,
        keep: frozenset[str],
        later: Callable[[Array, Array], Array],
    ) -> Valuation:
        """The rows at these positions, each from a time on and with a factor, of the variables that are
        kept. `later` gives the join of times."""
        out = self.take(rows, keep)
        out.weights = weights if out.weights is None else out.weights * weights
        out.times = times if out.times is None else later(out.times, times)
        return out

    def slice(self, start: int, stop: int) -> Valuation:
        """The rows start .. stop."""
        return Valuation(
            {v: (c, a[start:stop]) for v, (c, a) in self.variables.items()},
            min(stop, self.length) - start,
            None if self.weights is None else self.weights[start:stop],
            None if self.times is None else self.times[start:stop],
        )


def append(found: Sequence[Valuation]) -> Valuation:
    """The rows of all of them, at least one, over the same variables."""
    if len(found) == 1:
        return found[0]
    length = sum(f.length for f in found)
    weights = times = None
    if any(f.weights is not None for f in found):
        weights = np.concatenate(
            [np.ones(f.length, np.int64) if f.weights is None else f.weights for f in found]
        )
    if any(f.times is not None for f in found):
        times = np.concatenate([np.full(f.length, -1) if f.times is None else f.times for f in found])
    variables = {
        v: (c, np.concatenate([f.variables[v][1] for f in found])) for v, (c, _) in found[0].variables.items()
    }
    return Valuation(variables, length, weights, times)
