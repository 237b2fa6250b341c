"""Statements of SQL on a session: what they read is the state of the transaction so far.

A statement is a query of the rows that it concerns, over stored relations; then the session changes as by
`insert` and `delete`. Outside of a transaction it is one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ..core import Relation
from ..errors.diagnostics import DDlogError, InternalError, render
from ..errors.sessions import FaultInRule, FaultInStatement, InTransaction
from ..errors.source import Source
from ..errors.sql import MatchedTwice, NullInColumn
from ..syntax.printing import module_text
from ..types import User
from ..values.rows import Row, row_of
from .amending import extended, imports_of
from .pending.keys import key_places, primary_key
from .program import OPTION, Program, compile_source
from .results.listedrows import ListedRows
from .results.views import Changes, Result
from .selecting import evaluated, in_order

if TYPE_CHECKING:
    from ..engine.schema import Schema
    from ..sql.changing import SqlStatement
    from ..sql.parameters import Parameters
    from .transactions.inputs import Inputs
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
    session: Inputs, commit: Callable[[], Changes], text: str, parameters: Parameters, name: str
) -> Outcome:
    """Carries out a statement; `commit` ends the transaction, `name` names the text in errors. Raises
    DDlogError; then the transaction is as it was before."""
    from ..sql.changing import statement_of

    state, source = session.state, Source(name, text)
    state.check_open()
    state.start()
    statement = statement_of(source, _readable(state.program), key_places, parameters)
    transaction = session.transaction
    match statement.kind:
        case "begin":
            if transaction.is_open:
                raise DDlogError([InTransaction()])
            transaction.begin()
            return Outcome()
        case "commit":
            return Outcome(changes=commit())
        case "rollback":
            transaction.rollback()
            return Outcome()
        case "savepoint":
            transaction.keep_point(statement.name)
            return Outcome()
        case "back":
            transaction.back_to_point(statement.name)
            return Outcome()
        case "release":
            transaction.release_point(statement.name)
            return Outcome()
        case "select":
            from ..sql.asked import order_of

            program = _program(state.program, statement, state.kept)
            found = _asked(session, program, statement)
            return Outcome(rows=_result(state, program, statement.answer, found, order_of(text)))
    alone, mark = not transaction.is_open, transaction.mark()
    try:
        outcome = _changed(session, statement)
    except BaseException:
        if alone:
            transaction.rollback()
        else:
            transaction.undo(mark)
        raise
    return replace(outcome, changes=commit()) if alone else outcome


def _changed(session: Inputs, statement: SqlStatement) -> Outcome:
    """Changes the rows that a statement says."""
    state = session.state
    program = _program(state.program, statement, state.kept)
    declared = state.program.relations[statement.relation]
    _, rows = _asked(session, program, statement)
    changes = _row_changes(statement, rows, program.relations[statement.answer], declared, state)
    session.delete_rows(declared.name, [old for old, _ in changes if old is not None])
    session.insert_rows(declared.name, [new for _, new in changes if new is not None])
    come = [old if new is None else new for old, new in changes]
    if not statement.returned:
        return Outcome(len(come))
    with _in_statement(), state.diagnosing():
        given = {statement.changed: [each for each in come if each is not None]}
        found = evaluated(state, program, statement.returned, {}, given)
    return Outcome(len(come), _result(state, program, statement.returned, found, ()))


def _row_changes(
    statement: SqlStatement, rows: Sequence[Row], answer: Relation, declared: Relation, state: SessionState
) -> list[RowChange]:
    """What rows of a statement's answer change. Raises DDlogError."""
    from ..sql.changing import MERGED

    width, begin, kind = (
        len(declared.columns),
        1 if statement.kind in ("merge", "conflict") else 0,
        statement.kind,
    )
    first = replace(answer, columns=answer.columns[begin : begin + width])
    second = replace(answer, columns=answer.columns[begin + width :])

    def change(row: Row) -> RowChange:
        done = MERGED[row[0]] if begin else kind
        parts = row[begin : begin + width], row[begin + width :]
        if begin and done == "insert":
            return None, _fitting(parts[1], second, declared, state)
        made = _fitting(parts[0], first, declared, state)
        if done == "update":
            return made, _fitting(parts[1], second, declared, state)
        return (None, made) if done == "insert" else (made, None)

    changes = list(map(change, rows))
    if declared.kind == "multiset" or kind in ("insert", "delete"):
        return changes
    matched = [old for old, _ in changes if old is not None]
    if kind == "merge" and len(set(matched)) < len(matched):
        twice = next(old for old in matched if matched.count(old) > 1)
        raise DDlogError([MatchedTwice(declared.original or declared.name, _shown(twice, declared, state))])
    key = primary_key(state.program, declared) if kind == "conflict" else None
    once: dict[Hashable, RowChange] = {}  # of several matches, and of several new rows of a key, the first
    for number, each in enumerate(changes):
        old, new = each
        if old is None and new is not None:
            once.setdefault(("new", number if key is None else key.of(new)), each)
        else:
            once.setdefault(old, each)
    return list(once.values())


def _readable(program: Program) -> list[Relation]:
    """The relations that statements know."""
    return [
        each
        for each in program.relations.values()
        if not each.hidden and each.kind != "stream" and "::" not in each.name and "__" not in each.name
    ]


# --------------------------------------------------------------------- what is asked


def _program(program: Program, statement: SqlStatement, kept: frozenset[str]) -> Program:
    """The rules of a statement over the relations that it reads, which are there; or else after those of the
    program."""
    from ..sql.attached import table_of
    from ..syntax.templates import written_type

    read = [program.relations[name] for name in sorted(statement.reads)]
    known = all(
        (each.role == "input" or each.name in kept)
        and len(table_of(each.name, [(c.name, written_type(str(c.type))) for c in each.columns]).names)
        == len(each.columns)
        and each.columns
        and each.constructor is not None
        for each in read
    )
    lines = statement.text.split("\n")
    imports = [each for each in lines if each.startswith("import ")]
    rules = [each for each in lines if not each.startswith("import ")]
    if not known:
        base = program if not program.source.name.endswith(".sql") else _in_rules(program)
        there = imports_of(base)
        new = [each for each in imports if each.removeprefix("import ").strip() not in there]
        return extended(base, "\n".join([*new, *rules]), "<statement>")
    try:
        return compile_source(Source("<statement>", "\n".join([*imports, *map(_declared, read), *rules])))
    except DDlogError as error:
        raise InternalError(f"the rules of a statement are not valid:\n{render(error.diagnostics)}") from None


def _declared(relation: Relation) -> str:
    """The declaration of a relation as an input."""
    columns = ", ".join(f"{each.name}: {each.type}" for each in relation.columns)
    return f"input {relation.kind} {relation.name}({columns})"


def _in_rules(program: Program) -> Program:
    """A program of SQL as one of rules."""
    from ..sql.translate import translate

    assert program.again is not None
    text = module_text(translate(program.source))
    return program.again(Source(program.source.name.removesuffix(".sql") + ".dl", text))


@contextmanager
def _in_statement() -> Iterator[None]:
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


def _asked(session: Inputs, program: Program, statement: SqlStatement) -> tuple[Schema, list[Row]]:
    """The rows that a statement asks for, as of the transaction so far."""
    state, answer, pending = session.state, statement.answer, session.transaction.batches()
    relations = state.program.relations
    with _in_statement(), state.diagnosing():
        if not pending:
            return evaluated(state, program, answer)
        plain = all(relations[name].role == "input" for name in statement.reads)
        if plain and state.host.offer.frames is None:
            return evaluated(state, program, answer, pending)
        changes = {**pending, **state.delays.changes()}
        return state.host.runtime.attempt(
            changes, lambda: evaluated(state, program, answer), state.max_iterations
        )


# --------------------------------------------------------------------- rows


def _fitting(row: Row, answer: Relation, declared: Relation, state: SessionState) -> Row:
    """A row of an answer as one of a relation. Raises DDlogError for NULL where the relation has none."""
    made = []
    for value, of, column in zip(row, answer.columns, declared.columns, strict=True):
        if _is_option(of.type) and not _is_option(column.type):
            if value[0] == 0:
                table = declared.original or declared.name
                raise DDlogError([NullInColumn(table, column.name, _shown(row, answer, state))])
            value = value[1]
        made.append(value)
    return row_of(tuple(made), declared, state.typedefs)


def _is_option(type: object) -> bool:
    return isinstance(type, User) and type.name == OPTION


def _shown(row: Row, answer: Relation, state: SessionState) -> str:
    from .. import values

    typedefs = state.typedefs
    shown = ("NULL" if value == () else value for value in row)
    return ", ".join(
        values.show(value, column.type, typedefs) if column.type and value != "NULL" else "NULL"
        for value, column in zip(shown, answer.columns, strict=True)
    )


def _result(
    state: SessionState,
    program: Program,
    answer: str,
    found: tuple[Schema, list[Row]],
    order: Sequence[tuple[str | int, bool, bool]],
) -> Result:
    declared, typedefs = program.relations[answer], dict(program.checked.typedefs)
    if state.program.source.name.endswith(".sql") and OPTION in typedefs:
        typedefs[OPTION] = replace(typedefs[OPTION], nullable=True)
    names = [each.name for each in declared.columns]
    return Result(declared, ListedRows(found[0], in_order(found[1], names, order)), typedefs)
