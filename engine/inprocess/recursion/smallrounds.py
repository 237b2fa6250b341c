"""Rounds of a few rows in a recursion that grows, walked through row by row.

A round from a few rows costs little but the calls for it: batches, views, chunks. One loop runs the functions
of the rules' plans (`joins.onebyone`) from the rows of the last round, and enters the rows that they give:

    rows of round i ──► functions of the rules ──► tables ──► those that are new: the rows of round i + 1

The rows and their rounds are those of `engine.fixpoint`: a rule that reads the recursion in several terms
sees its relations up to round i, or i - 1, by views that move on with the rounds. The loop ends where a round
comes to many rows, or where a function gives up: that round is derived in the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple, TypeAlias

from ... import interrupt, thresholds
from ...budget import MADE, STEP, Budget
from ...rules import FixpointRule
from ..arrangements.views import View, meets_nothing
from ..joins.join import Joiner
from ..joins.onebyone import NotOneByOne, Row, Rows
from .growingset import GrowingSet

_ROUNDS_PER_CHECK = 64
_SECONDS = 0.1  # after which progress is told

Viewing: TypeAlias = Callable[[FixpointRule[Joiner], int], Sequence[View | None]]
"""Gives what a rule sees of the other terms, where it starts from one of them."""


class _Start(NamedTuple):
    """A rule from the rows of a relation: its function, and those on the way to each of its heads."""

    source: str
    rows: Rows
    heads: Sequence[tuple[str, Sequence[Rows]]]


class Walk:
    """The rounds of some relations. `room` is for the matches of the look-ups of one round."""

    def __init__(self, relations: Mapping[str, GrowingSet], budget: Budget) -> None:
        self._relations, self._budget = relations, budget
        self._room = [0]
        self._starts: list[_Start] = []

    def begin(self, rules: Sequence[FixpointRule[Joiner]], views: Viewing) -> bool:
        """Readies the rules. False: they are not of the form, or have no function at present."""
        for rule in rules:
            for start, source, _ in rule.starts:
                seen = views(rule, start)
                if meets_nothing(rule.node.terms, seen):
                    continue
                rows = self._rows(rule.join, start, seen)
                ways = [(head, [self._rows(each, 0, (None,)) for each in way]) for head, way in rule.heads]
                heads = [(head, [each for each in way if each is not None]) for head, way in ways]
                if rows is None or heads != ways:
                    return False
                self._starts.append(_Start(source, rows, heads))
        return True

    def _rows(self, joiner: Joiner, start: int, views: Sequence[View | None]) -> Rows | None:
        plan = joiner.row_plan(start, views)
        try:
            return None if plan is None else plan.bound(views, self._room)
        except NotOneByOne:
            return None

    def rounds(self, most: int) -> tuple[int, bool]:
        """Runs rounds, at least one and at most so many, while few rows are pending and not for long. Returns
        their number, and whether the last one gave up and is to be derived in the general way."""
        relations, done, until = self._relations, 0, monotonic() + _SECONDS
        rows: Mapping[str, list[Row]] = {name: each.pending_rows() for name, each in relations.items()}
        try:
            while done < most and (
                not done or 0 < sum(map(len, rows.values())) <= thresholds.ROWS_ONE_BY_ONE
            ):
                for name, each in relations.items():
                    each.advance_by(rows[name])
                done += 1
                if done % _ROUNDS_PER_CHECK == 0:
                    interrupt.check()
                rows = self._round(rows)
                if monotonic() > until:
                    break
        except NotOneByOne:
            return done, True
        finally:
            for each in relations.values():
                each.settle()
        return done, False

    def _round(self, rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
        """The rows that are new after a round from the rows of the last one."""
        came: dict[str, list[Row]] = {name: [] for name in self._relations}
        self._room[0] = thresholds.MATCHES_ONE_BY_ONE
        for start in self._starts:
            given = rows[start.source]
            if not given:
                continue
            made = start.rows(given)
            self._budget.spend(STEP + len(given) + MADE * len(made))
            for head, way in start.heads:
                found = made
                for step in way:
                    found = step(found)
                add, new = self._relations[head].table.add_row, came[head]
                new += filter(add, found)
        return came
