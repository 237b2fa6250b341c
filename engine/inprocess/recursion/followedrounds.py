"""Rounds of a recursion whose one rule looks an import up, many of them in one call of a kernel.

    Blank(a, c) :- Blank(a, b), Next(b, c), not HasValue(c).

A long chain comes to many rounds of few rows, and a round costs little but the calls for it. Here the kernel
follows the rows of a round through the look-up (see `following`), leaves out what negated imports hold, and
enters new rows into the table, from where the next round begins. The rows, their order and their rounds are
those of `engine.fixpoint`. The kernel ends before a round from many rows, or one with more matches than there
is room for: that round is derived in the general way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import interrupt, thresholds
from ...budget import MADE, STEP, Budget
from ...rules import FixpointRule
from ..arrangements.views import StoreView, View
from ..joins.join import Joiner
from ..kernels import following as kernels
from ..storage.layout import PackedLayout
from .following import NOTHING, Following, following, moved, places
from .growingset import GrowingSet

_NO_FIELDS = np.empty((0, 5), np.int64)
_NO_ROWS: Any = _NO_FIELDS, _NO_FIELDS, np.full(2, -1, np.int64), np.empty(2, np.int32), 1, NOTHING


@dataclass(frozen=True, slots=True)
class FollowedRule:
    """The rule that begins from the relation at term `start`, and looks up the import at term `at`. Each of
    the `excluded` terms has its columns from the row or from the match: whether it is of the match, and its
    position."""

    rule: FixpointRule[Joiner]
    start: int
    at: int
    way: Following
    excluded: Sequence[tuple[int, Sequence[tuple[bool, int]]]]

    def rounds(
        self, relation: GrowingSet, views: Sequence[View | None], most: int, budget: Budget
    ) -> tuple[int, bool]:
        """Runs at most so many rounds of the relation, given what the rule sees of its other terms. Returns
        their number, and whether the last one is to be derived in the general way after all, as a row does
        not fit."""
        table, high, size = relation.table, relation.high, relation.table.size
        view, layout = views[self.at], table.layout
        if not isinstance(view, StoreView) or layout is None:
            return 0, False
        look_up = self.way.look_up(layout, view.relation, layout, False)
        excluding = None if look_up is None else self._excluding(views, layout, view.table.layout)
        if look_up is None or excluding is None:
            return 0, False
        interrupt.check()
        room = max(thresholds.PROPOSED_BY_MEANS, thresholds.FOLLOWED_MATCHES * (size - high))
        reached: Any = np.empty(most, np.int64)
        follow_rounds: Any = kernels.follow_rounds
        reaching, rounds, fits = follow_rounds(
            *table.with_room(room),
            high,
            size,
            *look_up,
            excluding,
            reached,
            thresholds.FOLLOWED_ROWS,
            thresholds.FOLLOWED_WORK,
        )
        if not rounds:
            return 0, False
        table.size = reaching
        relation.advance_through(reached[:rounds].tolist())
        budget.spend(STEP + relation.high - high + MADE * (reaching - size))
        return rounds, not fits

    def _excluding(self, views: Sequence[View | None], left: PackedLayout, right: PackedLayout | None) -> Any:
        """What the kernel is to know of the excluded terms, given the layouts of rows and of their matches;
        None: they are not of the form."""
        assert right is not None, "rows that can be looked up so are packed"
        found = []
        for at, columns in self.excluded:
            view = views[at]
            if not isinstance(view, StoreView) or (view.weighted and view.relation.weights is not None):
                return None
            table, weights = view.table, view.relation.weights
            if not table.size:
                continue
            if table.layout is None or not (table.is_numbered or table.size < thresholds.LARGE_TABLE):
                return None
            ways = [*zip(columns, table.layout.fields, strict=True)]
            of_left = moved([(left.fields[k], to) for (is_match, k), to in ways if not is_match])
            of_right = moved([(right.fields[k], to) for (is_match, k), to in ways if is_match])
            if of_left is None or of_right is None:
                return None
            slots, ids, bits = table.numbered_words()
            found.append((of_left, of_right, slots, ids, bits, NOTHING if weights is None else weights))
        if len({weights.dtype for *_, weights in found}) > 1:
            return None  # ranks and weights: a kernel takes tuples of one type
        return tuple(found) or (_NO_ROWS,)


def followed_rule(rules: Sequence[FixpointRule[Joiner]]) -> FollowedRule | None:
    """The rule of a recursion of one relation that begins from it, if it is the only one, and of the form."""
    starting = [rule for rule in rules if rule.starts]
    if len(starting) != 1:
        return None
    (rule,) = starting
    ((start, _, _), *others) = rule.starts
    terms = rule.node.terms
    if others or terms[start].negated or any(linear for _, linear in rule.heads):
        return None
    bound = terms[start].columns
    way = following(rule.node, rule.sources, bound, rule.node.output)
    if way is None:
        return None
    at = next(k for k, term in enumerate(terms) if k != start and not term.negated)
    of_left, of_match = places(bound), places(terms[at].columns)
    assert of_left is not None and of_match is not None, "what `following` has seen"
    excluded = [
        (
            k,
            [
                (False, of_left[name]) if name in of_left else (True, of_match[str(name)])
                for name in term.columns
            ],
        )
        for k, term in enumerate(terms)
        if term.negated
    ]
    return FollowedRule(rule, start, at, way, excluded)
