"""The answers of statements of SQL, as of the transaction so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ..errors.diagnostics import DDlogError
from ..errors.sessions import FaultInRule, FaultInStatement
from ..values.rows import Row
from .program import OPTION
from .results.listedrows import ListedRows
from .results.views import Changes, Result
from .siderelations import evaluated, in_order

if TYPE_CHECKING:
    from ..core import Relation
    from ..engine.schema import Schema
    from ..explaining.explanation import Explanation
    from ..sql.parameters import Parameters
    from .hosts.host import Host
    from .program import Program
    from .statementplans import Plans, SelectPlan
    from .transactions.state import SessionState
    from .transactions.transaction import Transaction


class Executing(Protocol):
    """A session as statements see it. Methods raise DDlogError."""

    state: SessionState
    transaction: Transaction
    program: Program

    @property
    def plans(self) -> Plans: ...
    def insert_rows(self, relation: str, rows: Sequence[Row]) -> None: ...
    def delete_rows(self, relation: str, rows: Sequence[Row]) -> None: ...
    def why(self, relation: str, row: Any) -> Explanation: ...
    def go_on_with(self, program: Program) -> Changes: ...


@contextmanager
def in_statement() -> Iterator[None]:
    """Faults that are raised inside are those of a statement, and not of the rules that it became."""
    try:
        yield
    except DDlogError as error:
        raise DDlogError(
            [
                FaultInStatement(each.problem) if isinstance(each, FaultInRule) else each
                for each in error.diagnostics
            ]
        ) from None


def asked(
    session: Executing, plan: SelectPlan, parameters: Parameters, look: Callable[[Host], None] | None = None
) -> tuple[Schema, list[Row]]:
    """The rows that a statement asks for, as of the transaction so far. `look` sees the host that has
    them."""
    state, pending = session.state, session.transaction.batches()
    relations = state.program.relations
    with in_statement(), state.diagnosing():
        ready, given = plan.prepared(state, plan.statement.answer), plan.given(parameters)
        plain = all(relations[name].role == "input" for name in plan.statement.reads)
        if not pending or (plain and state.host.offer.frames is None):
            return evaluated(state, ready, pending, given, look)
        changes = {**pending, **state.delays.changes()}
        return state.host.runtime.attempt(
            changes, lambda: evaluated(state, ready, {}, given, look), state.max_iterations
        )


def selected(session: Executing, plan: SelectPlan, parameters: Parameters) -> Result:
    """The rows of a SELECT."""
    schema, rows = asked(session, plan, parameters)
    shown = len(plan.answer.columns)
    found = in_order(rows, plan.statement.order)
    kept = [row[:shown] for row in found] if plan.statement.hidden else found
    return result_of(session.state, plan, plan.answer, (schema[:shown], kept))


def result_of(
    state: SessionState, plan: SelectPlan, declared: Relation, found: tuple[Schema, list[Row]]
) -> Result:
    """Rows of an answer, as they are declared."""
    assert plan.program is not None
    typedefs = dict(plan.program.checked.typedefs)
    if state.program.source.name.endswith(".sql") and OPTION in typedefs:
        typedefs[OPTION] = replace(typedefs[OPTION], nullable=True)
    return Result(declared, ListedRows(*found), typedefs)
