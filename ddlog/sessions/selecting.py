"""SELECT over the relations of a session: a view that is evaluated beside it, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..demand.demanded import needed, there_anyway
from ..demand.question import over
from ..engine.schema import Schema
from ..errors.source import Source
from ..values.rows import Row
from .amending import below, extended, imports_of
from .program import Program
from .results.listedrows import ListedRows
from .results.views import Result

if TYPE_CHECKING:
    from .pending.present import SignedBatch
    from .transactions.state import SessionState

_VIEW = "Answer"
NOTHING: Mapping[str, Any] = MappingProxyType({})


def select(state: SessionState, text: str, name: str) -> Result:
    """The answer to a SELECT; `name` names the text in errors. Raises DDlogError."""
    from ..sql.asked import order_of

    state.check_open()
    text = text.strip().rstrip(";")
    order = order_of(text)
    answer = _free(state.program)
    view = f"CREATE VIEW {answer} AS\n{text}"
    with below(1, Source(name, view), Source(name, text)):
        program = with_views(state.program, view, name)
    state.start()
    with state.diagnosing():
        schema, rows = evaluated(state, program, answer)
    declared = program.relations[answer]
    ordered = in_order(rows, [each.name for each in declared.columns], order)
    return Result(declared, ListedRows(schema, ordered), program.checked.typedefs)


def with_views(program: Program, text: str, name: str) -> Program:
    """The program with views over its relations, as a text of SQL declares them. Raises DDlogError."""
    return extended(program, views_text(program, text, name), name)


def views_text(program: Program, text: str, name: str) -> str:
    """Views over the relations of a program in the language of its text. Raises DDlogError."""
    if program.source.name.endswith(".sql"):
        return text
    from ..sql.asked import rules_of

    relations = {
        each.name: [(column.name, str(column.type)) for column in each.columns]
        for each in program.relations.values()
        if not each.hidden and each.kind != "stream" and "::" not in each.name
    }
    return rules_of(Source(name, text), relations, imports_of(program))


def _free(program: Program) -> str:
    """A name for a view that no relation has, in whatever case."""
    taken = {each.lower() for each in program.relations}
    return next(
        name for name in (f"{_VIEW}{number or ''}" for number in count()) if name.lower() not in taken
    )


def evaluated(
    state: SessionState,
    program: Program,
    answer: str,
    pending: Mapping[str, Sequence[SignedBatch]] = NOTHING,
    rows_of: Mapping[str, Sequence[Row]] = NOTHING,
) -> tuple[Schema, list[Row]]:
    """The columns and the rows of a relation that the program has beside that of the session, rows as often
    as they are there. Relations have the rows of `rows_of`, or those of the session with the changes of
    `pending`."""
    checked = program.checked
    there = there_anyway(checked) | state.kept
    given = needed(checked, [answer], there) & there
    made = Program(program.source, over(checked, given))
    records = "values" if state.host.offer.frames is not None else "columns"
    host = state.host.beside(made, made.circuit("incremental", [answer], records=records))
    try:
        changes = {
            name: [(host.runtime.batch(name, rows_of[name]), 1)]
            if name in rows_of
            else [(state.host.handed(name, host), 1), *pending.get(name, ())]
            for name in given
        }
        host.runtime.commit(changes, static=True, max_iterations=state.max_iterations)
        rows = host.runtime.rows(answer)
        weights = rows.weights or repeat(1)
        return rows.schema, [r for r, weight in zip(rows, weights, strict=False) for _ in range(weight)]
    finally:
        host.runtime.close()


def in_order(
    rows: list[Row], names: Sequence[str], order: Sequence[tuple[str | int, bool, bool]]
) -> list[Row]:
    """Rows in an order by columns; an order by a column that the rows lack does not count."""
    for by, is_downward, nulls_first in reversed(order):
        at = by - 1 if isinstance(by, int) else names.index(by) if by in names else -1
        if 0 <= at < len(names):
            rows.sort(key=lambda row: row[at], reverse=is_downward)
            rows.sort(key=lambda row: (row[at] == ()) != nulls_first)
    return rows
