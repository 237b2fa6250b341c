"""Why the last commit made a row come or go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..core import CheckedProgram
from ..errors.diagnostics import DDlogError
from ..errors.explaining import NotChanged, NothingChanged
from ..values.rows import Row
from ..values.tojson import json_text
from .changejson import change_json
from .changes import Change, Changes
from .changetext import ChangeLines
from .derivations import Derivations
from .explanation import SHOWN_ROWS
from .held import Held
from .translated import in_sql
from .tree import DEPTH
from .words import Words

if TYPE_CHECKING:
    from .goals import Goal


class ChangeExplanation:
    """Why a row came or went with the last commit: the `change`, a tree of changes. `matches` are the rows
    that match the question and changed, if it leaves values open. Printed, it is indented text."""

    def __init__(self, change: Change, program: CheckedProgram, matches: Sequence[Row] = ()) -> None:
        rewrite = in_sql(program)
        self.change, self.matches = change if rewrite is None else rewrite.change(change), matches
        self._words = Words(program)

    def lines(self, *, color: bool = False) -> list[str]:
        """The lines of the text, in `color` for a terminal."""
        return [*self._offered(), *ChangeLines(self._words, color).change(self.change)]

    def _offered(self) -> Iterator[str]:
        if len(self.matches) > 1:
            yield f"{len(self.matches)} rows match and changed, of which the first is explained:"
            for row in self.matches[:SHOWN_ROWS]:
                yield f"  {self._words.row(self.change.relation, row)}"
            if len(self.matches) > SHOWN_ROWS:
                yield f"  … and {len(self.matches) - SHOWN_ROWS} more"

    def to_json(self) -> dict[str, Any]:
        """The objects that `json` writes."""
        return change_json(self.change, self._words)

    def json(self) -> str:
        """The tree of changes as JSON text."""
        return json_text(self.to_json())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        did = "came" if self.change.came else "went"
        return f"<why {self._words.row(self.change.relation, self.change.row)} {did}>"


def why_change(
    held: Held, relation: str, row: Row, depth: int = DEPTH, matches: Sequence[Row] = ()
) -> ChangeExplanation:
    """Why the last commit changed a row. Raises DDlogError, also if it did not."""
    Derivations(held).check(relation)
    changes = Changes(held, depth)
    changed = changes.changed(relation, [row])
    if row not in changed:
        there = held.holds(relation, [row])[0]
        raise DDlogError(
            [NotChanged(Words(held.program).row(relation, row), "held" if there else "did not hold")]
        )
    return ChangeExplanation(changes.explained(relation, row, changed[row]), held.program, matches)


def row_changed(held: Held, goal: Goal) -> tuple[Row, Sequence[Row]]:
    """The row that a question is about, and all rows that changed and match if it leaves values open. Raises
    DDlogError."""
    if goal.row is not None:
        return goal.row, ()
    from .goals import matching

    found = list(Changes(held, DEPTH).matching(lambda: matching(held, goal)))
    if not found:
        raise DDlogError([NothingChanged(Words(held.program).row(goal.relation, goal.pattern))])
    return found[0], found
