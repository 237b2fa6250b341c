"""The questions about rows, and their answers. All functions raise DDlogError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.why import (
    DoesNotHold,
    Holds,
    NoAttempt,
    NoRowMatches,
    NotChanged,
    NothingChanged,
    RowNotWhole,
)
from ..values.rows import Row
from .byrounds import with_rounds
from .derivations import Derivations
from .explanation import Absence, ChangeExplanation, EndingSets, Explanation
from .heights import UNKNOWN
from .snapshot import Fact, HeldRelations
from .tree import DEPTH, Trees
from .words import Words

if TYPE_CHECKING:
    from .goals import Goal

MISSING_DEPTH = 3
"""The levels of missing rows that are looked into, if nobody says."""

WITHIN = 2.0
"""The seconds of a search for changes of facts, if nobody says."""


def why(
    derivations: Derivations, relation: str, row: Row, depth: int = DEPTH, matches: Sequence[Row] = ()
) -> Explanation:
    """A proof of least height of a row that holds, with so many levels."""
    held, heights, fact = derivations.held, with_rounds(derivations), (relation, row)
    _check_holds(held, fact)
    heights.search(fact)
    heights.prepare(fact, depth)
    return Explanation(Trees(held, heights).tree(fact, depth), held.program, matches)


def why_all(derivations: Derivations, relation: str, row: Row, depth: int = DEPTH) -> list[Explanation]:
    """A proof of a row that holds for each of its derivations, those of least height first. One for a row
    that is given."""
    held, heights, fact = derivations.held, with_rounds(derivations), (relation, row)
    _check_holds(held, fact)
    trees, ways = Trees(held, heights), list[Explanation]()
    if not heights.is_given(fact):
        heights.search_all(fact)
        if heights.rounds_of(fact) is None:
            found = sorted(heights.searched[fact], key=heights.of)
            ways = [
                Explanation(trees.by(fact, each, depth), held.program)
                for each in found
                if heights.of(each) < UNKNOWN
            ]
    return ways or [Explanation(trees.tree(fact, depth), held.program)]


def why_not(
    derivations: Derivations, relation: str, row: Row, depth: int = MISSING_DEPTH, within: float = WITHIN
) -> Absence:
    """Why a row does not hold, and the smallest sets of facts that would change it, as far as the steps
    of so many seconds suffice."""
    from .absence import Absences
    from .patience import Patience
    from .places import ProofPlace
    from .repairs import Repairs

    derivations.check(relation)
    held = derivations.held
    if held.holds(relation, [row])[0]:
        raise DDlogError([Holds(Words(held.program).row(relation, row))])
    place, patience = ProofPlace(derivations), Patience(within)
    missing = Absences(place, patience).missing(relation, row, depth)
    if not held.can_attempt:
        return Absence(missing, (), False, held.program, attempted=False)
    repairs = Repairs(place, patience)
    return Absence(missing, repairs.insertions((relation, row)), repairs.complete, held.program)


def why_ends(derivations: Derivations, relation: str, row: Row, within: float = WITHIN) -> EndingSets:
    """The smallest sets of changes of facts that end a row that holds."""
    from .endings import Endings
    from .patience import Patience

    derivations.check(relation)
    held, fact = derivations.held, (relation, row)
    _check_holds(held, fact)
    if not held.can_attempt:
        raise DDlogError([NoAttempt()])
    endings = Endings(derivations, Patience(within))
    return EndingSets(fact, endings.of(fact), endings.complete, held.program)


def why_change(
    held: HeldRelations, relation: str, row: Row, depth: int = DEPTH, matches: Sequence[Row] = ()
) -> ChangeExplanation:
    """Why the last commit changed a row. An error also if it did not."""
    from .changes import ChangeProofs

    Derivations(held).check(relation)
    changes = ChangeProofs(held, depth)
    changed = changes.changed(relation, [row])
    if row not in changed:
        there = held.holds(relation, [row])[0]
        said = Words(held.program).row(relation, row)
        raise DDlogError([NotChanged(said, "held" if there else "did not hold")])
    return ChangeExplanation(changes.explained(relation, row, changed[row]), held.program, matches)


def row_asked(held: HeldRelations, goal: Goal) -> tuple[Row, Sequence[Row]]:
    """The row that a goal is about, and all rows that match if it leaves values open."""
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


def row_changed(held: HeldRelations, goal: Goal) -> tuple[Row, Sequence[Row]]:
    """The row that a goal is about, and all rows that changed and match if it leaves values open."""
    if goal.row is not None:
        return goal.row, ()
    from .changes import ChangeProofs
    from .goals import matching

    found = list(ChangeProofs(held, DEPTH).matching(lambda: matching(held, goal)))
    if not found:
        raise DDlogError([NothingChanged(Words(held.program).row(goal.relation, goal.pattern))])
    return found[0], found


def whole_row(held: HeldRelations, goal: Goal) -> tuple[Row, Sequence[Row]]:
    """The row that a goal is about. An error if it leaves values open."""
    if goal.row is None:
        raise DDlogError([RowNotWhole(span=goal.query.rule.span)])
    return goal.row, ()


def _check_holds(held: HeldRelations, fact: Fact) -> None:
    if not held.holds(fact[0], [fact[1]])[0]:
        raise DDlogError([DoesNotHold(Words(held.program).row(*fact))])
