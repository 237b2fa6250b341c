"""What a session asks of its durable state: a file (`durable.py`), or on Spark a folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...durability.log import Durability
from ...durability.positions import PositionRow, Positions
from ...engine.runtime import Batch, Sealed
from ...values.rows import Row

if TYPE_CHECKING:
    from ..options import SessionOptions
    from ..results.views import Changes
    from .state import SessionState


SignedRows = Sequence[tuple[Row, int]]
"""Rows, each with a change of its weight."""

SeedSpan = tuple[int, int, Mapping[str, SignedRows]]
"""The first and the last epoch of a span, and the changes of relations by their names in the state."""


class DurableState(Protocol):
    """The state that a session keeps. All methods raise DDlogError."""

    epoch: int
    """The number of its last commit."""
    resumed: bool
    """Whether the session goes on with what the state held."""
    changed: bool
    """Whether the program is another one than the state's last."""
    before: list[Callable[[Sealed, int], None]]
    """Called with the changes of an epoch and its number before they are written. May refuse them."""
    after: list[Callable[[int], None]]
    """Called with the number of an epoch when it, and all before it, are on disk."""
    told: Callable[[str], None]
    """Called with what the user should know, as a text."""
    durability: Durability
    """When a commit is on disk."""
    positions: Positions
    """Where the streams are that drive the session."""

    @property
    def place(self) -> str:
        """The file or folder."""

    @property
    def read_only(self) -> bool:
        """Whether the state takes no changes."""

    @property
    def is_begun(self) -> bool:
        """Whether the state has an epoch."""

    def begin(self, state: SessionState, static: bool) -> Changes:
        """Lets a session begin with what the state holds. Returns what follows from it."""

    def seal(self, sealed: Sealed, ids: Sequence[str] = ()) -> None:
        """Writes the changes of an epoch as the next one, with the ids of its updates."""

    def committed(self) -> None:
        """To be called when the epoch that was sealed is final."""

    def holds_rows(self) -> bool:
        """Whether an input relation holds rows, before the session has begun."""

    def known_ids(self) -> Collection[str]:
        """The ids of updates that were applied before this session."""

    def described(self) -> list[str]:
        """Lines about the state."""

    def check_past(self, epoch: int) -> None:
        """Checks that the state as of an epoch can be told."""

    def check_change(self, epoch: int) -> None:
        """Checks that what an epoch changed can be told."""

    def beside(self, state: SessionState) -> SessionOptions:
        """The options of a session like one, without a state of its own."""

    def begin_at(self, state: SessionState, epoch: int) -> None:
        """Lets another session begin with what the state held after an epoch."""

    def changes_in(self, state: SessionState, epoch: int) -> Mapping[str, Sequence[tuple[Batch, int]]]:
        """How an epoch changed the inputs, as changes of another session."""

    def keep_positions(self) -> None:
        """Lets the state have the positions of streams from now on."""

    def seed(self, state: SessionState, spans: Sequence[SeedSpan], positions: Sequence[PositionRow]) -> None:
        """Lets a state that is empty begin with epochs that are over. Inputs that no span has are as a
        session holds them."""

    def close(self) -> None:
        """Puts on disk what waits, and gives the state to others."""
