"""The interpreter of commands: the same for command files, change files and the REPL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..errors import commands as errors
from ..errors.diagnostics import DDlogError, Diagnostic, warn
from ..errors.source import Span
from ..io.refusals import Refuse, stop
from ..sessions.profile import SessionProfile
from ..sessions.results import Changes, RelationView, Result
from ..sessions.results.lines import RowLines, record_lines
from ..sessions.session import Session
from ..values.rows import Row
from .update import Update, UpdateRun, apply

if TYPE_CHECKING:
    from ..explaining.explanation import Explanation
    from ..sessions.statements import Outcome

_UPDATES = Update, UpdateRun

Locate: TypeAlias = Callable[[], Span]
"""Computes the place of a command, which only an error needs."""


class Action(Protocol):
    """A command with its arguments. `kinds` declares all of them but `Update`."""

    def perform(self, on: Interpreter) -> None:
        """Carries out the command. Raises DDlogError."""


@dataclass(slots=True, eq=False)
class Command:
    """An action, the word that begins it in the text, and its place. Nobody changes it: a frozen class would
    take twice as long to make, and small transactions make many."""

    action: Action | Update | UpdateRun
    word: str
    place: Locate


class CommitSink(Protocol):
    """Takes the changes of each commit."""

    def __call__(self, changes: Changes, dump_changes: bool) -> None:
        """Takes the changes of a commit; `dump_changes` tells `commit dump_changes` from `commit`."""


class Interpreter:
    """Carries out commands in order. It holds the open batch of updates.

    `show` prints a line; `color`: explanations are in color. Without `store`, `dump` prints nothing. Updates
    go to the session batch by batch: an error takes back the whole batch, and leaves the batches before it;
    `refuse` takes the error. `lines` gives the lines of rows. `warned` takes warnings about queries.
    """

    def __init__(
        self,
        session: Session,
        show: Callable[[str], None],
        changed: CommitSink,
        outputs: Sequence[str],
        *,
        store: bool = True,
        color: bool = False,
        refuse: Refuse = stop,
        lines: RowLines = record_lines,
        warned: Callable[[Sequence[Diagnostic]], None] = warn,
    ) -> None:
        self.session, self.show, self._changed, self.color = session, show, changed, color
        self._refuse, self.warned, self._lines = refuse, warned, lines
        self._outputs, self._store = outputs, store
        self.profile = SessionProfile(session)
        self._filled: set[str] = set()  # output relations that have, or had, rows
        self._batch: list[tuple[Update | UpdateRun, Command]] = []
        self.ended = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.session.transaction.is_open

    def values_in(self, question: str) -> Mapping[str, Any]:
        """The values of the names in braces of a question: none, but in a notebook."""
        return {}

    def run(self, commands: Iterable[Command]) -> None:
        """Runs commands until the last or `exit`. Raises DDlogError with the place of the command."""
        for command in commands:
            self.step(command)
            if self.ended:
                return

    def step(self, command: Command) -> None:
        """Runs one command. Raises DDlogError with its place."""
        action = command.action
        if isinstance(action, _UPDATES):
            self._gather(action, command)
            return
        self.flush()
        try:
            action.perform(self)
        except DDlogError as error:
            raise placed(error, command.place()) from None

    def flush(self) -> None:
        """Applies the open batch of updates. Raises DDlogError."""
        batch, self._batch = self._batch, []
        if not batch:
            return
        mark = self.session.mark()
        ids = [update.id for update, _ in batch if isinstance(update, Update) and update.id is not None]
        if ids and all(map(self.session.applied.has, ids)):
            return
        for update, command in batch:
            try:
                update.apply(self.session)
            except DDlogError as error:
                if isinstance(update, UpdateRun):
                    error = self._singled_out(update, error)
                self.session.undo(mark)
                self._refuse(placed(error, command.place()))
                return
        self.session.applied.note(ids)

    def _singled_out(self, run: UpdateRun, error: DDlogError) -> DDlogError:
        """The error of a run that cannot be applied, with the place of the update that it is about."""
        for number, update in enumerate(run.singly()):
            try:
                update.apply(self.session)
            except DDlogError as found:
                return placed(found, run.place(number))
        return error

    def go_on(self, outputs: Sequence[str]) -> None:
        """Takes in that the session has another program, with these outputs."""
        self._outputs = outputs
        before, self.profile = self.profile, SessionProfile(self.session)
        self.profile.cpu, self.profile.change = before.cpu, before.change

    def forget(self) -> None:
        """Drops the open batch and the open transaction."""
        self.forget_batch()
        self.session.rollback()

    def forget_batch(self) -> None:
        """Drops the open batch."""
        self._batch = []

    def _gather(self, update: Update | UpdateRun, command: Command) -> None:
        try:
            self.need_transaction(command.word)
        except DDlogError as error:
            raise placed(error, command.place()) from None
        if isinstance(update, UpdateRun) and update.apart:
            self._apply_apart(update, command)
            return
        self._batch.append((update, command))
        if update.last:
            self.flush()

    def _apply_apart(self, run: UpdateRun, command: Command) -> None:
        """Applies a run of batches at once, or, if that fails, batch by batch up to the error. An open batch
        ends with the first update of the run."""
        if not self._batch:
            try:
                run.apply(self.session)
                return
            except DDlogError:
                pass
        for number, update in enumerate(run.singly()):
            self._gather(update, Command(update, command.word, partial(run.place, number)))

    def need_transaction(self, word: str) -> None:
        """Checks that a transaction is open. Raises DDlogError."""
        if not self.session.transaction.is_open:
            raise DDlogError([errors.NoTransaction(word)])

    def start(self) -> None:
        """Opens a transaction. Raises DDlogError."""
        transaction = self.session.transaction
        if transaction.is_open:
            raise DDlogError([errors.TransactionOpen()])
        transaction.begin()

    def commit(self, dump_changes: bool) -> None:
        """Commits the open transaction and passes on its changes. Raises DDlogError."""
        self.need_transaction("commit")
        self._committed(self.profile.commit(), dump_changes)

    def transact(
        self,
        kind: str,
        relation: str,
        row: Row,
        dump_changes: bool,
        place: Callable[[int, str], Span],
        number: int,
    ) -> None:
        """Carries out `start`, an update of this kind, and `commit`, as `step` does. `place` gives the places
        of the three by the transaction's `number` and their words. Raises DDlogError with that of one."""
        word = "start"
        try:
            self.start()
            word = kind
            try:
                apply(self.session, kind, relation, (row,))
            except DDlogError:
                update = Update(kind, relation, row, True)
                self._gather(update, Command(update, kind, partial(place, number, kind)))
            word = "commit"
            self._committed(self.profile.commit(), dump_changes)
        except DDlogError as error:
            raise placed(error, place(number, word)) from None

    def rollback(self) -> None:
        """Drops the open transaction. Raises DDlogError."""
        self.need_transaction("rollback")
        self.session.rollback()

    def execute(self, statement: str, name: str) -> Outcome:
        """Carries out a statement of SQL, and passes on the changes of a commit, not those of other views;
        `name` names the text in errors. Raises DDlogError."""
        program = self.session.program
        outcome = self.session.carry_out(self.profile.commit, statement, (), name)
        if self.session.program is not program:
            self.go_on(self.session.program.names("output"))
        elif outcome.changes is not None:
            self._committed(outcome.changes, False)
        return outcome

    def _committed(self, changes: Changes, dump_changes: bool) -> None:
        self._filled.update(changes)
        self._changed(changes, dump_changes)

    def show_all(self, lines: Iterable[str]) -> None:
        """Prints lines."""
        for line in lines:
            self.show(line)

    def ask(self, query: str, name: str) -> Result:
        """The answer to a query, whose text is called `name` in errors. Raises DDlogError."""
        return self.session.ask(query, name=name, warned=self.warned)

    def explain(self, explanation: Explanation) -> None:
        """Prints an explanation."""
        self.show_all(explanation.lines(color=self.color))

    def show_rows(self, rows: RelationView | Result) -> None:
        """Prints rows."""
        self.show_all(self._lines([rows], False))

    def dump(self, relation: str | None) -> None:
        """Prints a relation, or all output relations; streams are empty."""
        relations = self.session.program.relations
        if not self._store:
            return
        if relation is None:
            tables = [self.session[name] for name in self._outputs if relations[name].kind != "stream"]
            shown = [each for each in tables if each.relation.name in self._filled or len(each)]
            self.show_all(self._lines(shown, True))
        elif relations[relation].kind != "stream":
            self.show_rows(self.session[relation])


def placed(error: DDlogError, span: Span) -> DDlogError:
    """The error, with the place in each diagnostic that has none."""
    return DDlogError(
        [each if each.span is not None else replace(each, span=span) for each in error.diagnostics]
    )
