"""Runs commands on a session: the same for command files, change files and the REPL."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from ..errors import commands as errors
from ..errors.diagnostics import DDlogError
from ..errors.source import Span
from ..sessions.profile import SessionProfile
from ..sessions.results import Changes, RelationView
from ..sessions.session import Session
from ..stdlib.log import set_level
from .kinds import (
    Clear,
    Commit,
    Dump,
    DumpIndex,
    Echo,
    Exit,
    LogLevel,
    Profile,
    QueryIndex,
    Rollback,
    Sleep,
    Start,
    Timestamp,
    Update,
)
from .reader import Command

Print = Callable[[str], None]


class ChangeSink(Protocol):
    """Where the changes of each commit go."""

    def __call__(self, changes: Changes, asked: bool) -> None:
        """Takes the changes of a commit; `asked` when the command was `commit dump_changes`."""


class Interpreter:
    """Commands in order, with the transaction and the batch of updates that are open.

    `show` prints a line; without `store`, `dump` prints none. Updates go to the session batch by
    batch: one that is wrong takes back its own batch and leaves those before it.
    """

    def __init__(
        self,
        session: Session,
        show: Print,
        changed: ChangeSink,
        outputs: Sequence[str],
        *,
        store: bool = True,
    ) -> None:
        self._session, self._show, self._changed = session, show, changed
        self._outputs, self._store = outputs, store
        self._profile = SessionProfile(session)
        self._filled: set[str] = set()  # output relations that have, or had, rows
        self._batch: list[tuple[Update, Command]] = []
        self.in_transaction = False
        self.ended = False

    def run(self, commands: Iterable[Command]) -> None:
        """Runs commands until the last or `exit`. Raises DDlogError with the place of the command."""
        for command in commands:
            self.step(command)
            if self.ended:
                return

    def step(self, command: Command) -> None:
        """Runs one command. Raises DDlogError with its place."""
        if isinstance(command.action, Update):
            self._update(command.action, command)
            return
        self.flush()
        try:
            self._perform(command)
        except DDlogError as error:
            raise placed(error, command.place()) from None

    def flush(self) -> None:
        """Applies the updates of the batch that is open."""
        batch, self._batch = self._batch, []
        mark = self._session.mark()
        for update, command in batch:
            try:
                self._apply(update)
            except DDlogError as error:
                self._session.undo(mark)
                raise placed(error, command.place()) from None

    def forget(self) -> None:
        """Drops the batch and the transaction."""
        self._batch = []
        self.in_transaction = False
        self._session.rollback()

    def _update(self, update: Update, command: Command) -> None:
        self._need_transaction(command)
        self._batch.append((update, command))
        if update.last:
            self.flush()

    def _apply(self, update: Update) -> None:
        session, relation = self._session, update.relation
        match update.kind:
            case "insert":
                session.insert_rows(relation, [update.row])
            case "delete":
                session.delete_rows(relation, [update.row])
            case "insert_or_update":
                session.upsert_rows(relation, [update.row])
            case "delete_key":
                session.delete_key(relation, update.row)
            case _:
                assert update.change is not None
                session.modify(relation, update.row, update.change)

    def _perform(self, command: Command) -> None:
        match command.action:
            case Start():
                if self.in_transaction:
                    raise DDlogError([errors.TransactionOpen()])
                self.in_transaction = True
            case Commit(dump_changes):
                self._need_transaction(command)
                self.in_transaction = False
                changes = self._profile.commit()
                self._filled.update(changes)
                self._changed(changes, dump_changes)
            case Rollback():
                self._need_transaction(command)
                self.in_transaction = False
                self._session.rollback()
            case Clear(relation):
                self._need_transaction(command)
                self._session.clear(relation)
            case Dump(relation):
                self._dump(relation)
            case QueryIndex(index, key):
                self._print(self._session.index(index).find(key))
            case DumpIndex(index):
                self._print(self._session.index(index).all())
            case Profile(what, on):
                self._measure(what, on)
            case LogLevel(level):
                set_level(level)
            case Echo(text):
                self._show(text)
            case Timestamp():
                self._show(f"Timestamp: {time.time_ns()}")
            case Sleep(milliseconds):
                time.sleep(milliseconds / 1000)
            case Exit():
                self.ended = True

    def _need_transaction(self, command: Command) -> None:
        if not self.in_transaction:
            raise DDlogError([errors.NoTransaction(command.word, span=command.place())])

    def _dump(self, relation: str | None) -> None:
        if not self._store:
            return
        relations = self._session.program.relations
        if relation is not None:
            if relations[relation].kind != "stream":
                self._print(self._session[relation])
            return
        tables = [name for name in self._outputs if relations[name].kind != "stream"]
        for line in dump_lines(self._session, tables, self._filled):
            self._show(line)

    def _print(self, rows: RelationView) -> None:
        for record in rows.records():
            self._show(record)

    def _measure(self, what: str | None, on: bool) -> None:
        match what:
            case None:
                for line in self._profile.lines():
                    self._show(line)
            case "cpu":
                self._profile.cpu = on
            case "change":
                self._profile.change = on
            case _:
                raise DDlogError([errors.NoTimely()])


def dump_lines(session: Session, relations: Sequence[str], filled: Collection[str] = ()) -> Iterator[str]:
    """The text of `dump`: each relation that has or (in `filled`) had rows, its records, an empty line."""
    for name in relations:
        view = session[name]
        if name in filled or len(view):
            yield f"{name}:"
            yield from view.records()
            yield ""


def placed(error: DDlogError, span: Span) -> DDlogError:
    """The error, with a place where it has none."""
    return DDlogError(
        [each if each.span is not None else replace(each, span=span) for each in error.diagnostics]
    )
