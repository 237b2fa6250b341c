"""Statements of SQL on a session: what they read is the state of the transaction so far.

A statement is a query of the rows that it concerns, over stored relations; then the session changes as by
`insert` and `delete`. Outside of a transaction it is one of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ..core import Relation
from ..errors.commands import NoTransaction
from ..errors.diagnostics import DDlogError
from ..errors.sessions import InTransaction
from ..errors.source import Source
from ..errors.sql import FactStays, MatchedTwice, NullInColumn, WrongSql
from ..types import TypeDef, User
from ..values.rows import Row, row_of
from .amendments import at_end
from .answers import Executing, asked, in_statement, result_of, selected
from .descriptions import told
from .extension import check_changeable
from .pending.keys import primary_key
from .program import OPTION
from .results.views import Changes, Result
from .runtimeviews import changes_views, with_views_changed
from .siderelations import evaluated

if TYPE_CHECKING:
    from ..sql.changerules import SqlStatement
    from ..sql.parameters import Parameters
    from .statementplans import SelectPlan
    from .transactions.state import SessionState


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a statement: the number of rows that it changed, the rows of a SELECT or of RETURNING,
    and, where it ended a transaction, the changes of the output relations."""

    count: int = 0
    rows: Result | None = None
    changes: Changes | None = None


RowChange: TypeAlias = tuple[Row | None, Row | None]
"""The row before and the row after; None where there is none."""


def execute(
    session: Executing, commit: Callable[[], Changes], text: str, parameters: Parameters, name: str
) -> Outcome:
    """Carries out a statement; `commit` ends the transaction, `name` names the text in errors. Raises
    DDlogError; then the transaction is as it was before."""
    plans = session.plans
    state = session.state
    state.check_open()
    state.start()
    plain = plans.plain(text, parameters)
    if plain is not None:
        return _changing(session, commit, lambda: _inserted(session, *plain))
    tells = told(session, text, name)
    if tells is not None:
        return Outcome(rows=tells)
    if changes_views(text):
        check_changeable(state, session.transaction.is_open)
        program = with_views_changed(session.program, text, name)
        with at_end(program, text, name):
            return Outcome(changes=session.go_on_with(program))
    source = session.program.source.another(name, text)
    plan, given = plans.of(source, parameters)
    if plan.statement.kind == "select":
        return Outcome(rows=selected(session, plan, given))
    if not plan.statement.answer:
        return _of_transaction(session, commit, plan.statement)
    return _changing(session, commit, lambda: _changed_by(session, source, plan, given, parameters))


def select(session: Executing, text: str, name: str) -> Result:
    """The answer to a SELECT; `name` names the text in errors. Raises DDlogError."""
    state = session.state
    state.check_open()
    state.start()
    tells = told(session, text, name)
    if tells is not None:
        return tells
    source = session.program.source.another(name, text)
    plan, given = session.plans.of(source, ())
    if plan.statement.kind != "select":
        raise DDlogError([WrongSql("this asks for no rows: `execute` carries it out")])
    return selected(session, plan, given)


def _of_transaction(session: Executing, commit: Callable[[], Changes], statement: SqlStatement) -> Outcome:
    """Begins or ends a transaction, or goes to a point of it."""
    transaction, kind = session.transaction, statement.kind
    if transaction.is_open == (kind == "begin"):
        word = "rollback to" if kind == "back" else kind
        raise DDlogError([InTransaction() if kind == "begin" else NoTransaction(word)])
    match kind:
        case "begin":
            transaction.begin()
        case "commit":
            return Outcome(changes=commit())
        case "rollback":
            transaction.rollback()
        case "savepoint":
            transaction.keep_point(statement.name)
        case "back":
            transaction.back_to_point(statement.name)
        case _:
            transaction.release_point(statement.name)
    return Outcome()


def _changing(session: Executing, commit: Callable[[], Changes], change: Callable[[], Outcome]) -> Outcome:
    """Makes a change, outside of a transaction in one of its own. After an error the transaction is as it was
    before."""
    transaction = session.transaction
    alone, mark = not transaction.is_open, transaction.mark()
    try:
        outcome = change()
    except BaseException:
        if alone:
            transaction.rollback()
        else:
            transaction.undo(mark)
        raise
    return replace(outcome, changes=commit()) if alone else outcome


def _inserted(session: Executing, relation: str, rows: Sequence[Row]) -> Outcome:
    session.insert_rows(relation, rows)
    return Outcome(len(rows))


def _changed_by(
    session: Executing, source: Source, plan: SelectPlan, given: Parameters, own: Parameters
) -> Outcome:
    """Changes rows by a plan. If literals, and not `own` parameters, are given, an error is that of
    the statement as it is written, which knows more of them."""
    mark = session.transaction.mark()
    try:
        return _changed(session, plan, given)
    except DDlogError:
        if given is own:
            raise
        session.transaction.undo(mark)
    written, _ = session.plans.of(source, own, as_written=True)
    return _changed(session, written, own)


def _changed(session: Executing, plan: SelectPlan, parameters: Parameters) -> Outcome:
    """Changes the rows that a statement says."""
    state, statement = session.state, plan.statement
    declared = state.program.relations[statement.relation]
    _, rows = asked(session, plan, parameters)
    changes = _row_changes(plan, rows, declared, state)
    gone, facts = [old for old, _ in changes if old is not None], session.plans.facts(declared)
    for row in gone if facts else ():
        if row in facts:
            shown = _shown(row, declared, state.typedefs)
            raise DDlogError([FactStays(declared.source_name, shown)])
    session.delete_rows(declared.name, gone)
    session.insert_rows(declared.name, [new for _, new in changes if new is not None])
    if not statement.returned:
        return Outcome(len(changes))
    come = [each for old, new in changes if (each := old if new is None else new) is not None]
    with in_statement(), state.diagnosing():
        given = {**plan.given(parameters), statement.changed: come}
        found = evaluated(state, plan.prepared(state, statement.returned), {}, given)
    assert plan.program is not None
    returned = plan.program.relations[statement.returned]
    return Outcome(len(changes), result_of(state, plan, returned, found))


def _row_changes(
    plan: SelectPlan, rows: Sequence[Row], declared: Relation, state: SessionState
) -> list[RowChange]:
    """The changes that the rows of a statement's answer say. Raises DDlogError."""
    from ..sql.changerules import MERGED

    assert plan.program is not None
    answer, kind = plan.program.relations[plan.statement.answer], plan.statement.kind
    width, begin = len(declared.columns), 1 if kind in ("merge", "conflict") else 0
    first = replace(answer, columns=answer.columns[begin : begin + width])
    second = replace(answer, columns=answer.columns[begin + width :])

    typedefs = {**plan.program.checked.typedefs, **state.typedefs}

    def fitting(row: Row, part: Relation) -> Row:
        return _fitting(row, part, declared, typedefs)

    def change(row: Row) -> RowChange:
        done = MERGED[row[0]] if begin else kind
        parts = row[begin : begin + width], row[begin + width :]
        if begin and done == "insert":
            return None, fitting(parts[1], second)
        made = fitting(parts[0], first)
        if done == "update":
            return made, fitting(parts[1], second)
        return (None, made) if done == "insert" else (made, None)

    changes = list(map(change, rows))
    if declared.kind == "multiset" or kind in ("insert", "delete"):
        return changes
    changed = [old for old, new in changes if old is not None and new is not None]
    if kind == "merge" and changed:
        matched = Counter(old for old, _ in changes if old is not None)
        if twice := next((old for old in changed if matched[old] > 1), None):
            shown = _shown(twice, declared, state.typedefs)
            raise DDlogError([MatchedTwice(declared.source_name, shown)])
    key = primary_key(state.program, declared) if kind == "conflict" else None
    once: dict[Hashable, RowChange] = {}  # of several matches, and of several new rows of a key, the first
    for number, each in enumerate(changes):
        old, new = each
        if old is None and new is not None:
            once.setdefault(("new", number if key is None else key.of(new)), each)
        else:
            once.setdefault(old, each)
    return list(once.values())


# --------------------------------------------------------------------- rows


def _fitting(row: Row, answer: Relation, declared: Relation, typedefs: Mapping[str, TypeDef]) -> Row:
    """A row of an answer, whose types are these, as one of a relation. Raises DDlogError for NULL where the
    relation has none."""
    made = []
    for value, of, column in zip(row, answer.columns, declared.columns, strict=True):
        if _is_option(of.type) and not _is_option(column.type):
            if value[0] == 0:
                table = declared.source_name
                raise DDlogError([NullInColumn(table, column.name, _shown(row, answer, typedefs))])
            value = value[1]
        made.append(value)
    return row_of(tuple(made), declared, typedefs)


def _is_option(type: object) -> bool:
    return isinstance(type, User) and type.name == OPTION


def _shown(row: Row, answer: Relation, typedefs: Mapping[str, TypeDef]) -> str:
    from .. import values

    shown = ("NULL" if value == () else value for value in row)
    return ", ".join(
        values.show(value, column.type, typedefs) if column.type and value != "NULL" else "NULL"
        for value, column in zip(shown, answer.columns, strict=True)
    )
