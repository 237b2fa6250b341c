"""An epoch in which a recursion grows by a few rows: tuples from round to round, and no batches between.

    rows that come outside ──► joins ──► rows that are new ──► joins ──► …  until a round brings none
                                 └── nothing is derived: the recursion is not even begun

The rounds are those of `engine.fixpoint`, by the joins of a few rows (`joins.onebyone`). A round from many
rows, or one of whose joins declines, changes nothing: `MaintainedRecursion` derives it, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ... import thresholds
from ...clock import work
from ...maintenance import Decision, ImportSize, Situation
from ...rules import Source
from ..arrangements.views import GrowingView, StoreView, View
from ..joins.join import Joiner
from ..joins.onebyone import Row
from ..storage.batch import Batch, Rows, few_rows
from .recursion import Recursion

GROWS = "it only grows"
"""Why it is maintained."""
_ALONE = (None,)
Coming: TypeAlias = Mapping[int, Sequence[Row]] | Mapping[str, Sequence[Row]]
"""The rows from which a round starts, by the imports or the relations that they come to."""


class RuleStart(NamedTuple):
    """A rule from the rows of one of its terms: what it sees of the others, and the joins to each head."""

    join: Joiner
    term: int
    views: tuple[View | None, ...]
    heads: tuple[tuple[str, tuple[Joiner, ...]], ...]


class Starts(NamedTuple):
    """The starts of a recursion's rules by the sources of their terms, and what they see of the imports."""

    of: Mapping[Source, Sequence[RuleStart]]
    imports: Mapping[int, StoreView]


def starts_of(recursion: Recursion, imports: Mapping[int, StoreView]) -> Starts:
    """The starts of a recursion that grows, as long as its tables and the stores of its imports are these."""
    found: dict[Source, list[RuleStart]] = {}
    for rule in recursion.rules:
        seen_from = {term: seen for term, _, seen in rule.starts}
        for term, source in enumerate(rule.sources):
            views: list[View | None] = []
            for k, each in enumerate(rule.sources):
                now = term not in seen_from or seen_from[term][k]
                views.append(
                    None
                    if k == term
                    else imports[each]
                    if isinstance(each, int)
                    else GrowingView(recursion.sets[each], now)
                )
            start = RuleStart(rule.join, term, _ALONE if len(views) == 1 else (*views,), rule.heads)
            found.setdefault(source, []).append(start)
    return Starts(found, imports)


class GrowthByRows:
    """One epoch of a recursion."""

    def __init__(self, recursion: Recursion, given: Mapping[int, Rows], starts: Starts, number: int) -> None:
        """`given` are the changes of imports, by rows that come; `number` is that of the epoch."""
        self._recursion, self._given, self._starts, self._number = recursion, given, starts, number
        self._changes: Mapping[int, Batch] = {}
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
            derived = self._derived(rows)
            if derived is None:
                return False
            if not self.rounds:
                if not derived:
                    return True
                self._begin()
            self.rounds += 1
            new = {head: [*filter(sets[head].table.add_row, found)] for head, found in derived.items()}
            rows = came = {head: found for head, found in new.items() if found}
            if came:
                for relation in sets.values():
                    relation.advance()
            for head, found in came.items():
                self.came[head] = self.came.get(head, []) + found
        return not rows

    def _begin(self) -> None:
        self._since = work()
        batches = {node: few_rows(*each, len(each[0][0])) for node, each in self._given.items()}
        self._changes = self._recursion.noted(batches)
        for relation in self._recursion.sets.values():
            relation.begin()

    def _derived(self, rows: Coming) -> dict[str, list[Row]] | None:
        """The rows that follow from some in one round, by head; None: it is to be run in the general way."""
        found: dict[str, list[Row]] = {}
        for source, some in rows.items():
            if len(some) > thresholds.ROWS_ONE_BY_ONE:
                return None
            ones = [1] * len(some)
            for start in self._starts.of.get(source, ()):
                made = start.join.of_rows(start.term, some, ones, None, start.views)
                if made is None:
                    return None
                for head, way in start.heads if made[0] else ():
                    out = made
                    for join in way:
                        through = join.of_rows(0, out[0], out[1], None, _ALONE)
                        if through is None:
                            return None
                        out = through
                    if out[0]:
                        found[head] = found.get(head, []) + out[0]
        return found

    def batches(self) -> dict[str, Batch | None]:
        """The rows that came, as the changes of the relations."""
        sets = self._recursion.relations
        ones = {head: [1] * len(rows) for head, rows in self.came.items()}
        return {
            head: few_rows(self.came[head], ones[head], len(each.schema)) if head in ones else None
            for head, each in sets.items()
        }

    def commit(self) -> None:
        """The epoch's changes stay."""
        if not self.rounds:
            return
        recursion, seconds = self._recursion, max(0.0, work() - self._since)
        sets, given = recursion.sets, self._given
        recursion.note(self._changes, {head: relation.new_rows() for head, relation in sets.items()})
        sizes = [
            ImportSize(view.size, len(given[node][0]) if node in given else 0)
            for node, view in self._starts.imports.items()
        ]
        found = Situation(sum([relation.present for relation in sets.values()]), sizes)
        recursion.maintaining.note(
            Decision(self._number, (*sets,), "maintained", GROWS, found, None, seconds)
        )

    def rollback(self) -> None:
        """Takes the epoch back, wherever it is."""
        if self.rounds:
            for relation in self._recursion.sets.values():
                relation.rollback()
