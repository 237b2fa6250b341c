"""An epoch in which a recursion grows by a few rows: tuples from round to round, and no batches between.

    rows that come outside ──► joins ──► rows that are new ──► joins ──► …  until a round brings none
                                 └── nothing is derived: the recursion is not even begun

The rounds are those of `rowrounds`. A round from many rows, or one of whose joins declines, changes nothing:
`MaintainedRecursion` derives it, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ... import thresholds
from ...clock import work
from ...maintenance import Decision, ImportSize, Situation
from ..arrangements.views import StoreView
from ..joins.onebyone import Row
from ..storage.batch import Rows
from .recursion import Recursion
from .rowrounds import Coming, Starts, new_rows, round_by_rows

GROWS = "it only grows"
"""Why it is maintained."""


class Known(NamedTuple):
    """The starts of a recursion's rules, and what they see of the imports."""

    of: Starts
    imports: Mapping[int, StoreView]


class GrowthByRows:
    """One epoch of a recursion."""

    def __init__(self, recursion: Recursion, given: Mapping[int, Rows], starts: Known, number: int) -> None:
        """`given` are the changes of imports, by rows that come; `number` is that of the epoch."""
        self._recursion, self._given, self._starts, self._number = recursion, given, starts, number
        self._since = 0.0
        self.rounds = 0
        """The rounds that are done, with that from the rows of imports; 0: the recursion has not begun."""
        self.came: dict[str, list[Row]] = {}
        """The rows that came, by relation."""

    def run(self) -> bool:
        """Runs all rounds. False: it ends after `rounds` of them."""
        rows: Coming = {source: come for source, (come, _) in self._given.items()}
        sets = self._recursion.sets
        while rows and self.rounds < thresholds.FOLLOWED_ROUNDS:
            derived = round_by_rows(self._starts.of, rows)
            if derived is None:
                return False
            if not self.rounds:
                if not derived:
                    return True
                self._begin()
            self.rounds += 1
            rows = came = new_rows(sets, derived)
            if came:
                for relation in sets.values():
                    relation.advance()
            for head, found in came.items():
                self.came[head] = self.came.get(head, []) + found
        return not rows

    def _begin(self) -> None:
        self._since = work()
        self._recursion.knows_births = False
        for relation in self._recursion.sets.values():
            relation.begin()

    def commit(self) -> None:
        """The epoch's changes stay."""
        if not self.rounds:
            return
        recursion, seconds = self._recursion, max(0.0, work() - self._since)
        sets, given = recursion.sets, self._given
        sizes = [
            ImportSize(view.size, len(given[node][0]) if node in given else 0)
            for node, view in self._starts.imports.items()
        ]
        found = Situation(sum([relation.table.size for relation in sets.values()]), sizes)
        recursion.maintaining.note(
            Decision(self._number, (*sets,), "maintained", GROWS, found, None, seconds)
        )

    def rollback(self) -> None:
        """Takes the epoch back, wherever it is."""
        if self.rounds:
            for relation in self._recursion.sets.values():
                relation.rollback()
