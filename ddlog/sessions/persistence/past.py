"""The past of a session with a state: sessions as they were after earlier epochs, and what epochs changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...durability.corruption import trusting
from ...engine.interrupt import deferred
from ...errors.diagnostics import DDlogError
from ...errors.state import EpochExpected
from .windowcontents import kept_windows

if TYPE_CHECKING:
    from ..transactions.durable_state import DurableState
    from ..transactions.state import SessionState
    from .stored_changes import SignedBatches, StoredChanges


def begin_at(durable: DurableState, state: SessionState, epoch: int) -> None:
    """Lets a session begin with what a state held after an epoch. Raises DDlogError."""
    with (
        deferred(),
        state.diagnosing(),
        trusting(durable.place),
        durable.past(max(1, epoch - durable.depth)) as history,
    ):
        history.check_past(epoch, durable.depth)
        changes: StoredChanges[Any] = durable.stored_changes(state, history)
        runtime = changes.runtime
        runtime.remember(kept_windows(state.program, state.kept, runtime.circuit).nodes)
        changes.begin(state, epoch, durable.changed)
        state.started = True


def changes_in(durable: DurableState, state: SessionState, epoch: int) -> Mapping[str, SignedBatches]:
    """The changes of the inputs in an epoch, as those of a session. Raises DDlogError."""
    with state.diagnosing(), trusting(durable.place), durable.past(epoch) as history:
        history.check_change(epoch)
        changes: StoredChanges[Any] = durable.stored_changes(state, history)
        return changes.changes_of(epoch)


def check_number(epoch: object, example: str) -> None:
    """Raises DDlogError for what is not the number of an epoch."""
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        raise DDlogError([EpochExpected(repr(epoch), example)])
