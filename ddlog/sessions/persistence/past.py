"""The past of a session with a state: sessions as they were after earlier epochs, and what epochs changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.interrupt import deferred
from ...errors.diagnostics import DDlogError
from ...errors.state import EpochExpected
from ..hosts.host import here_of
from .beginning import Beginning, SignedBatches
from .windowed import kept_windows

if TYPE_CHECKING:
    from ..transactions.state import SessionState
    from .durable import Durable


def begin_at(durable: Durable, state: SessionState, epoch: int) -> None:
    """Lets a session begin with what a state in a file held after an epoch. Raises DDlogError."""
    fields = here_of(state.host)
    fields.earlier = epoch - 1
    with deferred(), state.diagnosing():
        windows = kept_windows(state.program, state.kept, fields.circuit)
        fields.remember(windows.nodes)
        with durable.past() as history:
            history.check_past(epoch, durable.kept.depth)
            found = Beginning(durable.kept, history, fields).resumption(epoch)
        fields.give(found.given)
        state.epoch(found.changes, False, None)
        state.delays.resume(found.past)
        state.started = True


def changes_in(durable: Durable, state: SessionState, epoch: int) -> dict[str, SignedBatches]:
    """The changes of the inputs in an epoch, as those of a session. Raises DDlogError."""
    with durable.past() as history:
        history.check_change(epoch)
        return Beginning(durable.kept, history, here_of(state.host)).changes_of(epoch)


def check_number(epoch: object, example: str) -> None:
    """Raises DDlogError for what is not the number of an epoch."""
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        raise DDlogError([EpochExpected(repr(epoch), example)])
