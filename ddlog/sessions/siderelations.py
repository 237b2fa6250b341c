"""Relations that are evaluated beside those of a session: the answers of statements of SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core.program import needed
from ..demand.program import there_anyway
from ..demand.question import over
from ..engine.schema import Schema
from ..stdlib.options import NONE
from ..values.rows import Row
from .program import Program

if TYPE_CHECKING:
    from ..engine.circuit import Circuit
    from .hosts.host import Host
    from .pending.presentrows import SignedBatch
    from .transactions.state import SessionState

_NULL = type(NONE)
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A relation that a program has beside that of a session, ready to be evaluated: the relations that it is
    given, and the circuit that computes it."""

    answer: str
    given: frozenset[str]
    program: Program
    circuit: Circuit


def prepared(state: SessionState, program: Program, answer: str) -> Prepared:
    """A relation of a program beside that of a session, to be evaluated, again and again perhaps."""
    checked = program.checked
    there = there_anyway(checked) | state.kept
    given = needed(checked, [answer], there) & there
    made = Program(program.source, over(checked, given))
    return Prepared(answer, frozenset(given), made, circuit_of(state, made, answer))


def circuit_of(state: SessionState, program: Program, answer: str) -> Circuit:
    """The circuit that computes a relation of a program on the host of a session."""
    records = "values" if state.host.offer.frames is not None else "columns"
    return program.circuit("incremental", [answer], records=records)


def evaluated(
    state: SessionState,
    asked: Prepared,
    pending: Mapping[str, Sequence[SignedBatch]] = NOTHING,
    rows_of: Mapping[str, Sequence[Row]] = NOTHING,
    look: Callable[[Host], None] | None = None,
) -> tuple[Schema, list[Row]]:
    """The columns and the rows of a relation beside those of a session, rows as often as they are there.
    Relations have the rows of `rows_of`, or those of the session with the changes of `pending`. `look`
    sees the host before it is closed."""
    host = state.host.beside(asked.program, asked.circuit)
    try:
        changes = {
            name: [(host.runtime.batch(name, rows_of[name]), 1)]
            if name in rows_of
            else [(state.host.handed(name, host), 1), *pending.get(name, ())]
            for name in asked.given
        }
        host.runtime.commit(changes, static=True, max_iterations=state.max_iterations)
        if look is not None:
            look(host)
        rows = host.runtime.rows(asked.answer)
        weights = rows.weights or repeat(1)
        return rows.schema, [r for r, weight in zip(rows, weights, strict=False) for _ in range(weight)]
    finally:
        host.runtime.close()


def in_order(rows: list[Row], order: Sequence[tuple[int, bool, bool]]) -> list[Row]:
    """Rows in an order by columns: their places from 1 on, whether downwards, and whether NULL is first."""
    for by, is_downward, nulls_first in reversed(order):
        rows.sort(key=lambda row: row[by - 1], reverse=is_downward)
        rows.sort(key=lambda row: (type(row[by - 1]) is _NULL) != nulls_first)
    return rows
