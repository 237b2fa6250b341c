"""The transaction of a session: pending changes of input relations, marks to go back to, and the commit.

A transaction begins with the first change and ends with `commit` or `rollback`. A session has one, whichever
threads use it. Its changes are checked as they come; a commit applies them as one epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any

from ...core import Relation
from ...engine.interrupt import deferred, immediate
from ...errors.changes import NotAnInput
from ...errors.diagnostics import DDlogError
from ...errors.sessions import InTransaction, NoFurtherChanges
from ...errors.source import Span
from ...errors.sql import NoSavepoint
from ...values.rows import Row
from ..hosts.inputrows import IncomingRows
from ..pending import KeyedChanges, PendingChanges
from ..pending.presentrows import SignedBatch
from ..pending.runs import Runs
from ..results.views import Changes
from .state import Diagnosing, SessionState


class _Changing(Diagnosing[tuple[Relation, PendingChanges]]):
    """See `Transaction.changing`."""

    __slots__ = ("_known", "_mark", "_transaction")

    def __init__(
        self,
        transaction: Transaction,
        state: SessionState,
        declared: Relation,
        changes: PendingChanges,
        known: bool,
    ) -> None:
        super().__init__(state, (declared, changes))
        self._transaction, self._known, self._mark = transaction, known, changes.mark()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except BaseException:
            self._undo()
            raise
        if error is not None:
            self._undo()

    def _undo(self) -> None:
        with deferred():
            self._transaction.take_back(self._given[0], self._mark, self._known)


class Transaction:
    """The pending changes of each input relation. Relations keep what they know of their rows from one
    transaction to the next."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._inputs: dict[str, PendingChanges] = {}
        self._declared: dict[str, Relation] = {}  # inputs by the names by which they were asked for
        self._touched: set[str] = set()
        self._begun = False
        self._points: list[tuple[str, Mapping[str, int]]] = []

    @property
    def is_open(self) -> bool:
        """Whether there are changes that are neither committed nor rolled back."""
        return self._begun or bool(self._touched)

    def begin(self) -> None:
        """Begins a transaction that has no changes yet."""
        self._begun = True

    def batches(self) -> dict[str, list[SignedBatch]]:
        """The pending changes, as the commit gives them to the runtime."""
        return {name: self._inputs[name].batches() for name in self._touched}

    def input(self, name: str) -> Relation:
        """The input relation with a name. Raises DDlogError for another name, or if the session is closed."""
        self._state.check_open()
        declared = self._state.declared(name)
        if declared.role != "input":
            inputs = tuple(self._state.program.names("input"))
            raise DDlogError([NotAnInput(name, declared.role, inputs)])
        self._declared[name] = declared
        return declared

    def changing(self, name: str) -> AbstractContextManager[tuple[Relation, PendingChanges]]:
        """The pending changes of an input relation, to add to. An error takes back the changes made
        inside."""
        declared = self._changeable(name)
        known = declared.name in self._touched
        return _Changing(self, self._state, declared, self._pending(declared), known)

    def _changeable(self, name: str) -> Relation:
        """The input relation with a name. Raises DDlogError if there is none, or none may change."""
        state, declared = self._state, self._declared.get(name)
        if declared is None or state.closed:
            declared = self.input(name)
        if state.updates and not state.started:
            state.start()
        if state.static or not state.updates:
            raise DDlogError([NoFurtherChanges()])
        return declared

    def run(self, name: str, rows: Sequence[Any], sign: int, are_taken: bool = False) -> bool:
        """Adds rows to the runs of an input relation: rows as users give them, if its columns are plain, or
        tuples of canonical values. False: it is to be changed in the general way. Raises DDlogError; then
        nothing was added."""
        declared = self._changeable(name)
        changes = self._inputs.get(declared.name)
        if not isinstance(changes, Runs):
            return False
        if not are_taken:
            take = self._state.plain_taker(declared)
            if take is None:
                return False
            rows = [*map(take, rows)]
        self._touched.add(declared.name)
        (changes.insert if sign > 0 else changes.delete)(rows)
        return True

    def take_back(self, declared: Relation, mark: int, known: bool) -> None:
        """Takes back the changes of a relation after a mark, `known` if it had changes before that."""
        self._inputs[declared.name].undo(mark)
        if not known:
            self._touched.discard(declared.name)

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Facts are loaded inside, in a transaction of their own; an error rolls it back. Raises DDlogError
        if a transaction is open."""
        self._state.check_open()
        if self.is_open:
            raise DDlogError([InTransaction()])
        if self._state.durable is not None and self._state.durable.is_begun:
            self._state.start()
        try:
            with self._state.diagnosing():
                yield
        except BaseException:
            self.rollback()
            raise

    def load(self, declared: Relation, facts: IncomingRows) -> None:
        """Inserts facts, inside `loading`. Raises DDlogError."""
        self._pending(declared).load(facts.batch(), facts.rows)

    def load_new(
        self, declared: Relation, rows: Iterable[tuple[Row, Span]], refuse: Callable[[DDlogError], None]
    ) -> None:
        """Inserts facts of a relation with a primary key, each with its place, inside `loading`. Rows with
        the key of another row are refused."""
        changes = self._pending(declared)
        assert isinstance(changes, KeyedChanges)
        changes.load_new(rows, refuse)

    def clear(self, declared: Relation) -> None:
        """Deletes all rows of a relation, inside `loading`."""
        self._pending(declared).clear()

    def commit(self, static: bool) -> Changes:
        """Applies the pending changes as one epoch, and returns the changes of the outputs. Whatever is
        raised, the transaction is over and the session is at its last commit."""
        with deferred():  # a Ctrl-C too late to end the epoch finds the session past it
            try:
                with self._state.diagnosing():
                    with immediate():
                        batches = self.batches()
                    for name in self._touched:
                        self._inputs[name].hand_over()
                    deltas = self._state.ran(batches, static)
                    self._settle(True)
            except BaseException:
                self.rollback()
                raise
            return self._state.told(deltas)

    def rollback(self) -> None:
        """Forgets the pending changes."""
        with deferred():
            self._settle(False)

    def forget(self) -> None:
        """Forgets what is known of inputs and their rows: the program is another one."""
        self._inputs.clear()
        self._declared.clear()

    def mark(self) -> Mapping[str, int]:
        """A point of the transaction, for `undo`."""
        return {name: self._inputs[name].mark() for name in self._touched}

    def undo(self, mark: Mapping[str, int]) -> None:
        """Takes the transaction back to a point."""
        for name in self._touched:
            self._inputs[name].undo(mark.get(name, 0))

    def keep_point(self, name: str) -> None:
        """Keeps the present point under a name."""
        self._points.append((name, self.mark()))

    def back_to_point(self, name: str) -> None:
        """Takes the transaction back to the last point that was kept under a name. Raises DDlogError."""
        self.undo(self._points[self._point(name)][1])
        del self._points[self._point(name) + 1 :]

    def release_point(self, name: str) -> None:
        """Forgets the last point of a name, and those after it. Raises DDlogError."""
        del self._points[self._point(name) :]

    def _point(self, name: str) -> int:
        for at in reversed(range(len(self._points))):
            if self._points[at][0] == name:
                return at
        raise DDlogError([NoSavepoint(name)])

    def _pending(self, declared: Relation) -> PendingChanges:
        name = declared.name
        if name not in self._inputs:
            self._inputs[name] = self._state.host.pending(declared)
        self._touched.add(name)
        return self._inputs[name]

    def _settle(self, committed: bool) -> None:
        for name in self._touched:
            self._inputs[name].settle(committed)
        self._touched.clear()
        self._points.clear()
        self._begun = False
        if self._state.applied.pending:
            self._state.applied.settle(committed)
