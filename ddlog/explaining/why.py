"""Why a row holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.explaining import DoesNotHold, NoRowMatches
from ..values.rows import Row
from .byrounds import with_rounds
from .derivations import Derivations
from .explanation import Explanation
from .heights import UNKNOWN
from .held import Held
from .tree import DEPTH, Trees
from .words import Words

if TYPE_CHECKING:
    from .goals import Goal


def why(derivations: Derivations, relation: str, row: Row, depth: int = DEPTH) -> Explanation:
    """A proof of least height of a row that holds, with so many levels. Raises DDlogError."""
    held, heights = derivations.held, with_rounds(derivations)
    _check(derivations, relation, row)
    heights.search((relation, row))
    heights.prepare((relation, row), depth)
    return Explanation(Trees(held, heights).tree((relation, row), depth), held.program)


def why_all(derivations: Derivations, relation: str, row: Row, depth: int = DEPTH) -> list[Explanation]:
    """A proof of a row that holds for each of its derivations, those of least height first. One for a row
    that is given. Raises DDlogError."""
    held, heights, fact = derivations.held, with_rounds(derivations), (relation, row)
    _check(derivations, relation, row)
    trees = Trees(held, heights)
    if heights.is_given(fact):
        return [Explanation(trees.tree(fact, depth), held.program)]
    heights.search_all(fact)
    if heights.rounds_of(fact) is not None:
        return [Explanation(trees.tree(fact, depth), held.program)]
    ways = sorted(heights.searched[fact], key=heights.of)
    found = [
        Explanation(trees.by(fact, each, depth), held.program) for each in ways if heights.of(each) < UNKNOWN
    ]
    return found or [Explanation(trees.tree(fact, depth), held.program)]


def row_asked(held: Held, goal: Goal) -> tuple[Row, Sequence[Row]]:
    """The row that a goal is about, and all rows that match if it leaves values open. Raises DDlogError."""
    if goal.row is not None:
        return goal.row, ()
    from .goals import matching

    found = matching(held, goal)
    if not found:
        words = Words(held.program)
        pattern = words.row(goal.relation, goal.pattern)
        shown = pattern if goal.exact else goal.query.rule.span.source.text.strip()
        raise DDlogError([NoRowMatches(words.relation(goal.relation), shown)])
    return found[0], found


def _check(derivations: Derivations, relation: str, row: Row) -> None:
    held = derivations.held
    if not held.holds(relation, [row])[0]:
        raise DDlogError([DoesNotHold(Words(held.program).row(relation, row))])
