"""Why a row does not hold, and the smallest changes of facts that would change it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core import CheckedProgram
from ..errors.diagnostics import DDlogError
from ..errors.explaining import DoesNotHold, Holds, NoAttempt, RowNotWhole
from ..values.rows import Row
from ..values.tojson import json_text
from .absence import DEPTH, Absences, Missing
from .absencejson import missing_json, sets_json
from .absencerounds import in_loop as absences_in_loop
from .absencetext import AbsenceLines
from .derivations import Derivations
from .endings import Endings, EndingSets
from .held import Fact
from .repairrounds import in_loop as repairs_in_loop
from .repairs import Repairs
from .translated import in_sql
from .words import Words

if TYPE_CHECKING:
    from .goals import Goal


class Absence:
    """Why a row does not hold: what is `missing`, and the smallest sets of facts to insert (`insert`) that
    make it hold. `complete`: the time sufficed for the search. `attempted`: insertions could be tried; else
    there was no search. Printed, it is indented text."""

    def __init__(
        self,
        missing: Missing,
        insert: tuple[tuple[Fact, ...], ...],
        complete: bool,
        program: CheckedProgram,
        attempted: bool = True,
    ) -> None:
        rewrite = in_sql(program)
        self.missing = missing if rewrite is None else rewrite.missing(missing)
        self.insert, self.complete, self.attempted = insert, complete, attempted
        self._words = Words(program)

    def lines(self, *, color: bool = False) -> list[str]:
        """The lines of the text, in `color` for a terminal."""
        return list(self._lines(AbsenceLines(self._words, color)))

    def _lines(self, lines: AbsenceLines) -> Iterator[str]:
        yield from lines.missing(self.missing)
        yield from lines.sets("it would hold with", self.insert)
        if not self.attempted:
            yield "no facts to insert were tried, as that could not be taken back without a trace"
        elif not self.complete:
            yield "the search for facts to insert did not end in time"

    def to_json(self) -> dict[str, Any]:
        """The objects that `json` writes."""
        made = missing_json(self.missing, self._words)
        made["insert"] = sets_json(self.insert, self._words)
        return {**made, "complete": self.complete, "attempted": self.attempted}

    def json(self) -> str:
        """What is missing, as JSON text."""
        return json_text(self.to_json())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<why not {self._words.row(self.missing.relation, self.missing.pattern)}>"


def why_not(
    derivations: Derivations, relation: str, row: Row, depth: int = DEPTH, within: float = 2.0
) -> Absence:
    """Why a row does not hold, as far as so many seconds suffice. Raises DDlogError if it holds."""
    derivations.check(relation)
    held = derivations.held
    if held.holds(relation, [row])[0]:
        raise DDlogError([Holds(Words(held.program).row(relation, row))])
    until = time.monotonic() + within
    missing = Absences(derivations, until, absences_in_loop).missing(relation, row, depth)
    if not held.can_attempt:
        return Absence(missing, (), False, held.program, attempted=False)
    repairs = Repairs(derivations, until, repairs_in_loop)
    return Absence(missing, repairs.insertions((relation, row)), repairs.complete, held.program)


def ends(derivations: Derivations, relation: str, row: Row, within: float = 2.0) -> EndingSets:
    """The smallest sets of changes of facts that end a row that holds. Raises DDlogError."""
    derivations.check(relation)
    held = derivations.held
    if not held.holds(relation, [row])[0]:
        raise DDlogError([DoesNotHold(Words(held.program).row(relation, row))])
    if not held.can_attempt:
        raise DDlogError([NoAttempt()])
    endings = Endings(derivations, time.monotonic() + within)
    return EndingSets(endings.of((relation, row)), endings.complete)


def whole_row(goal: Goal) -> Row:
    """The row that a question is about. Raises DDlogError if it leaves values open."""
    if goal.row is None:
        raise DDlogError([RowNotWhole(span=goal.query.rule.span)])
    return goal.row
