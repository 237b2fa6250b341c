"""Rounds of a recursion that grows, from a few rows, row by row.

A round from a few rows costs little but the calls for it: batches, views, chunks. Here the rows of the last
round go through the functions that joins of a few rows are written as (`joins.onebyone`):

    rows of round i ──► rules ──► rows derived ──► tables ──► those that are new: the rows of round i + 1

The rows and their rounds are those of `engine.fixpoint`: a rule that reads the recursion in several terms
sees its relations up to round i, or i - 1, by views that move on with the rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ... import thresholds
from ...rules import FixpointRule, Source
from ..arrangements.views import GrowingView, StoreView, View
from ..joins.join import Joiner
from ..joins.onebyone import Row
from .growingset import GrowingSet

_ALONE = (None,)
Coming: TypeAlias = Mapping[int, Sequence[Row]] | Mapping[str, Sequence[Row]]
"""The rows from which a round starts, by the imports or the relations that they come to."""


class RuleStart(NamedTuple):
    """A rule from the rows of one of its terms: what it sees of the others, and the joins to each head."""

    join: Joiner
    term: int
    views: tuple[View | None, ...]
    heads: tuple[tuple[str, tuple[Joiner, ...]], ...]


Starts: TypeAlias = Mapping[Source, Sequence[RuleStart]]
"""The starts of a recursion's rules by the sources of their terms."""


def starts_of(
    rules: Sequence[FixpointRule[Joiner]],
    relations: Mapping[str, GrowingSet],
    imports: Mapping[int, StoreView],
) -> Starts:
    """The starts of rules, as long as the tables and the stores of the imports are these."""
    found: dict[Source, list[RuleStart]] = {}
    for rule in rules:
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
                    else GrowingView(relations[each], now)
                )
            start = RuleStart(rule.join, term, _ALONE if len(views) == 1 else (*views,), rule.heads)
            found.setdefault(source, []).append(start)
    return found


def round_by_rows(starts: Starts, rows: Coming) -> dict[str, list[Row]] | None:
    """The rows that follow from a few in one round, by head; None: it is to be run in the general way."""
    found: dict[str, list[Row]] = {}
    for source, some in rows.items():
        if len(some) > thresholds.ROWS_ONE_BY_ONE:
            return None
        ones = [1] * len(some)
        for start in starts.get(source, ()):
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


def new_rows(
    relations: Mapping[str, GrowingSet], derived: Mapping[str, Sequence[Row]]
) -> dict[str, list[Row]]:
    """Enters rows into the tables of relations; those that are new, by relation."""
    new: dict[str, list[Row]] = {}
    for head, rows in derived.items():
        add = relations[head].table.add_row
        if came := [row for row in rows if add(row)]:
            new[head] = came
    return new
