"""Demand that never costs more than it spares: it has a budget, and what goes beyond is computed whole.

    on demand      ├──► budget                             at most what it takes to load the facts, about
    the whole      ├──────────────────► 64 × budget        mostly enough
    on demand      ├──────► 8 × budget                     the whole may have no end, and demand one
    the whole      ├──────────────────────────────────► 512 × budget
    on demand      ├── …

What is asked can need more rows of hidden relations than there are rows to ask for: one for each pair of a
row and a value that is asked. How many cannot be told before. So an evaluation on demand that takes more work
than its budget is given up, and the relations are computed whole; if that takes far more, too, both are tried
again with more. The budget grows with the facts, as the whole reads them all. What is given up is at most
one budget, or a little more than the work of the whole where that is more than 64 budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from ...engine.budget import OverBudget
from ...engine.circuit import Input
from ...errors.diagnostics import DDlogError

if TYPE_CHECKING:
    from ...engine.circuit import Circuit
    from ...engine.runtime import Batch, BudgetedRuntime, Delta

T = TypeVar("T")

LEAST, EACH = 1 << 22, 32
"""Rows of work that a question may always take, some 40 ms, and those for each fact."""

MORE, LESS = 64, 8
"""The factor by which the whole may take more than demand before it, and demand less after it."""


def sparing(facts: int, attempt: Callable[[bool, int | None], T]) -> T:
    """The result of `attempt`, which is told whether to compute all, and the rows of work that it may take;
    it raises OverBudget if they do not do. Where computing all fails, that need not be the fault of what is
    asked. Raises what `attempt` on demand raises without a budget, and DDlogError."""
    budget = LEAST + EACH * facts
    while True:
        try:
            return attempt(False, budget)
        except OverBudget:
            pass
        try:
            return attempt(True, MORE * budget)
        except OverBudget:
            budget *= MORE // LESS
        except DDlogError:
            raise  # the epoch was refused, not its work
        except Exception:
            return attempt(False, None)


def facts_of(here: BudgetedRuntime) -> int:
    """The rows of the inputs of a runtime."""
    return sum(here.size_of(node.relation) for node in here.circuit.nodes if isinstance(node, Input))


class Sparing:
    """The two circuits of a session with outputs on demand: `whole` makes the one that computes all."""

    def __init__(self, here: BudgetedRuntime, whole: Callable[[], Circuit]) -> None:
        self._here, self._asked, self._make, self._whole = here, here.circuit, whole, here.circuit

    def commit(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], run: Callable[[], dict[str, Delta]]
    ) -> dict[str, Delta]:
        """The result of `run`, which commits these changes, on demand or not. Raises what it raises, and
        OverBudget if the epoch begins with a checkpoint: `changes` are only what that does not have."""
        here = self._here
        if here.circuit is not self._asked:
            return run()
        if here.is_restored:
            with self.bounded(changes):
                return run()

        def attempt(all_of_it: bool, budget: int | None) -> dict[str, Delta]:
            with here.within(budget):
                here.take_up(self._all() if all_of_it else self._asked)
                return run()

        return sparing(self._facts(changes), attempt)

    def bounded(self, changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> AbstractContextManager[None]:
        """An epoch inside, of these changes on demand, that takes more than its budget raises OverBudget."""
        rows = LEAST + EACH * self._facts(changes) if self._here.circuit is self._asked else None
        return self._here.within(rows)

    def choose(self, whole: bool) -> None:
        """Takes up one of the two circuits before the first epoch."""
        self._here.take_up(self._all() if whole else self._asked)

    def _all(self) -> Circuit:
        if self._whole is self._asked:
            self._whole = self._make()
        return self._whole

    def _facts(self, changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> int:
        """The rows of the inputs, and those that change."""
        changed: int = sum(batch.length for parts in changes.values() for batch, _ in parts)
        return changed + facts_of(self._here)
