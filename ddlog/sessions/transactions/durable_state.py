"""The durable state of a session: what one in a file (`persistence/durable.py`) and one in a folder share."""

from __future__ import annotations

import atexit
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...durability.history import SHOWN, History
from ...durability.inputs import PAST
from ...durability.log import Durability
from ...durability.positions import POSITIONS, PositionRow, Positions
from ...durability.records import Stored
from ...engine.runtime import Sealed
from ...errors.diagnostics import DDlogError
from ...errors.state import ReadOnlyState, StateOfParent
from ...values.rows import Row

if TYPE_CHECKING:
    from ..options import SessionOptions
    from ..results.views import Changes
    from .state import SessionState


SignedRows = Sequence[tuple[Row, int]]
"""Rows, each with a change of its weight."""

SeedSpan = tuple[int, int, Mapping[str, SignedRows]]
"""The first and the last epoch of a span, and the changes of relations by their names in the state."""

StoredSpan = tuple[int, int, list[tuple[Stored, SignedRows]]]
"""The same by the relations of the state, without those that do not change."""


class StateListener:
    """Hears what becomes of the epochs of a durable state. The methods do nothing here."""

    def sealing(self, sealed: Sealed, epoch: int) -> None:
        """The changes of an epoch are to be written. Whatever is raised refuses them."""

    def on_disk(self, epoch: int) -> None:
        """An epoch, and all before it, are on disk."""

    def noted(self, text: str) -> None:
        """There is something that the user should know."""


@dataclass(frozen=True, slots=True)
class Notes(StateListener):
    """Gives notes on to a function."""

    receive: Callable[[str], None]

    def noted(self, text: str) -> None:
        self.receive(text)


class DurableState(ABC):
    """The state that a session keeps. All methods raise DDlogError."""

    positions: Positions
    """The positions of the streams that drive the session."""

    def __init__(
        self,
        stored: Mapping[str, Stored],
        window_changes: Callable[[Any], Mapping[str, Any]],
        depth: int,
        durability: Durability,
        epoch: int,
        changed: bool,
    ) -> None:
        """`stored` are the relations that the session keeps, `window_changes` gives the changes of those of
        windows in an epoch, and `depth` is the longest delay; `epoch` is the number of the last commit, and
        `changed` says whether another program made it."""
        self.stored, self._window_changes, self.depth = stored, window_changes, depth
        self.durability: Durability = durability
        self.epoch, self.changed = epoch, changed
        self.resumed = self.is_begun
        """Whether the session goes on with what the state held."""
        self._listeners: list[StateListener] = []
        self._process = os.getpid()

    def close_with_process(self) -> None:
        """Lets the state be closed at the end of the process at the latest, if commits may wait then."""
        if self.durability != "commit":
            # Arrow imports pandas, if it is there, when it first packs an array, and pandas imports this,
            # which is an error at the end of a process.
            import concurrent.futures.thread  # noqa: F401

            atexit.register(self.close_at_exit)

    @property
    @abstractmethod
    def place(self) -> str:
        """The file or folder."""

    @property
    @abstractmethod
    def read_only(self) -> bool:
        """Whether the state takes no changes."""

    @property
    def is_begun(self) -> bool:
        """Whether the state has an epoch."""
        return self.epoch > 0

    def listen(self, listener: StateListener) -> None:
        """Lets a listener hear of the epochs from now on."""
        self._listeners.append(listener)

    def note(self, text: str) -> None:
        """Tells the listeners what the user should know."""
        for listener in self._listeners:
            listener.noted(text)

    def tell_on_disk(self, epoch: int) -> None:
        """Tells the listeners that an epoch is on disk."""
        for listener in self._listeners:
            listener.on_disk(epoch)

    def diagnosed(self, error: BaseException) -> DDlogError | None:
        """The error for an exception that comes of what the state held, and not of the session."""
        return None

    def check_process(self) -> None:
        """Raises DDlogError in a process that was forked: two must not write."""
        if os.getpid() != self._process:
            raise DDlogError([StateOfParent(self.place, self._process)])

    # ------------------------------------------------------------- beginning and end

    @abstractmethod
    def begin(self, state: SessionState, static: bool) -> Changes:
        """Lets a session begin with what the state holds. Returns what follows from it."""

    @abstractmethod
    def holds_rows(self) -> bool:
        """Whether an input relation holds rows, before the session has begun."""

    @abstractmethod
    def known_ids(self) -> Collection[str]:
        """The ids of updates that were applied before this session."""

    def keep_positions(self) -> None:
        """Lets the state have the positions of streams from now on."""
        if self.positions.stored is None:
            self._add_relation(POSITIONS)
            self.positions = self._read_positions()

    def _read_positions(self) -> Positions:
        stored = next((each for each in self._relations_there() if each.role == POSITIONS.role), None)
        return Positions(stored, () if stored is None else self._position_rows(stored))

    @abstractmethod
    def _relations_there(self) -> Iterable[Stored]:
        """All relations of the state."""

    @abstractmethod
    def _add_relation(self, stored: Stored) -> Stored:
        """Lets the state have a relation, and returns it with its id."""

    @abstractmethod
    def _position_rows(self, stored: Stored) -> Iterable[tuple[PositionRow, int]]:
        """The rows of the relation of positions, with weights."""

    def seed(self, state: SessionState, spans: Sequence[SeedSpan]) -> None:
        """Lets a state that is empty begin with epochs that are over. Inputs that no span has are as a
        session holds them."""
        self.keep_positions()
        given = {name for _, _, changes in spans for name in changes}
        held = {
            name: each
            for name, each in self.stored.items()
            if each.role == "input" and each.kind != "stream" and name not in given
        }
        seeds = [
            (first, last, [(self.stored[name], rows) for name, rows in changes.items() if rows])
            for first, last, changes in spans
        ]
        self._seed(state, seeds, held)
        self.epoch, self.resumed = seeds[-1][1], True
        self.positions = self._read_positions()

    @abstractmethod
    def _seed(self, state: SessionState, spans: Sequence[StoredSpan], held: Mapping[str, Stored]) -> None:
        """Writes spans, and with the first one the inputs that a session holds."""

    def close(self) -> None:
        """Puts on disk what waits, and gives the state to others; nothing in a process that was forked."""
        atexit.unregister(self.close_at_exit)
        if os.getpid() == self._process:
            self._close()

    @abstractmethod
    def _close(self) -> None:
        """Puts on disk what waits, and gives the state to others."""

    def close_at_exit(self) -> None:
        """Closes the state of a session that was left open when the process ends; says what is lost."""
        try:
            self.close()
        except DDlogError as error:
            print(error, file=sys.stderr)

    # ------------------------------------------------------------- epochs

    def seal(self, sealed: Sealed, ids: Sequence[str] = ()) -> None:
        """Writes the changes of an epoch as the next one, with the ids of its updates."""
        self.check_process()
        if self.read_only:
            raise DDlogError([ReadOnlyState(self.place)])
        epoch = self.epoch + 1
        changes = self._packed(self._changed(sealed), self.positions.changes(epoch))
        for listener in self._listeners:
            listener.sealing(sealed, epoch)
        self._append(epoch, changes, ids)
        self.epoch = epoch
        self.positions.settle(epoch)

    def _changed(self, sealed: Any) -> Iterator[tuple[Stored, Any]]:
        """The changes of relations of the state in an epoch, as the runtime has them."""
        inputs, windows = sealed.inputs(), self._window_changes(sealed)
        for name, stored in self.stored.items():
            if stored.role == "input":
                found = inputs.get(name)
            elif stored.role == "past":
                found = sealed.output(name.removesuffix(PAST))
            else:
                found = windows.get(name)
            if found is not None:
                yield stored, found

    @abstractmethod
    def _packed(self, changed: Iterable[tuple[Stored, Any]], moved: Sequence[tuple[PositionRow, int]]) -> Any:
        """The changes of an epoch as they are written; `moved` are changes of positions."""

    @abstractmethod
    def _append(self, epoch: int, changes: Any, ids: Sequence[str]) -> None:
        """Writes changes as the next epoch."""

    def committed(self) -> None:
        """To be called when the epoch that was sealed is final."""
        if self.durability == "commit":
            self.tell_on_disk(self.epoch)

    # ------------------------------------------------------------- the past

    @abstractmethod
    def past(self, first: int | None = None) -> AbstractContextManager[History[Any, Any]]:
        """The epochs that the state tells of, as of this moment. The contents of those from `first` on are
        checked; None: they are not asked for."""

    @abstractmethod
    def size(self) -> int:
        """The bytes of the state."""

    def described(self) -> list[str]:
        """Lines about the state."""
        with self.past(max(1, self.epoch - SHOWN + 1)) as history:
            head = f"{self.place}: epoch {self.epoch:,}, durability {self.durability}"
            return list(history.described(head, self.size(), self.stored))

    def check_past(self, epoch: int) -> None:
        """Checks that the state as of an epoch can be told."""
        with self.past() as history:
            history.check_past(epoch, self.depth)

    def check_change(self, epoch: int) -> None:
        """Checks that what an epoch changed can be told."""
        with self.past() as history:
            history.check_change(epoch)

    @abstractmethod
    def beside(self, state: SessionState) -> SessionOptions:
        """The options of a session like one, without a state of its own."""

    @abstractmethod
    def stored_changes(self, state: SessionState, told: Any) -> Any:
        """A history of the state, as changes for a session: a `StoredChanges`."""
