"""The past of a session with a state: sessions as they were after earlier epochs, and what epochs changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.interrupt import deferred
from ...errors.diagnostics import DDlogError
from ...errors.state import EpochExpected
from ..hosts.inprocess import InProcessHost
from ..results.views import Changes
from .beginning import Beginning, SignedBatches
from .windowed import kept_windows

if TYPE_CHECKING:
    from ..session import Session
    from ..transactions.durable_state import Keeping
    from ..transactions.state import SessionState
    from .durable import Durable


def session_at(session: Session, keeping: Keeping, epoch: int) -> Session:
    """A session as this one was after an epoch, without a state of its own. Raises DDlogError."""
    _check_number(epoch, "session.at(17)")
    keeping.check_past(epoch)
    past = keeping.beside(session)
    if epoch:
        keeping.begin_at(past.state, epoch)
    return past


def changes_of(session: Session, keeping: Keeping, epoch: int) -> Changes:
    """The changes of the outputs in an epoch. Raises DDlogError."""
    _check_number(epoch, "session.changes_of(17)")
    keeping.check_change(epoch)
    past = session_at(session, keeping, epoch - 1)
    return past.state.run(keeping.changes_in(past.state, epoch), False)


def begin_at(durable: Durable, state: SessionState, epoch: int) -> None:
    """Lets a session begin with what a state in a file held after an epoch. Raises DDlogError."""
    host = state.host
    assert isinstance(host, InProcessHost)
    host.fields.earlier = epoch - 1
    with deferred(), state.diagnosing():
        windows = kept_windows(state.program, state.kept, host.fields.circuit)
        host.fields.remember(windows.nodes)
        with durable.snapshot() as history:
            history.check_past(epoch, durable.kept.depth)
            found = Beginning(durable.kept, history, host.fields).resumption(epoch)
        host.fields.give(found.given)
        state.epoch(found.changes, False, None)
        state.delays.resume(found.past)
        state.started = True


def changes_in(durable: Durable, state: SessionState, epoch: int) -> dict[str, SignedBatches]:
    """The changes of the inputs in an epoch, as those of a session. Raises DDlogError."""
    host = state.host
    assert isinstance(host, InProcessHost)
    with durable.snapshot() as history:
        history.check_change(epoch)
        return Beginning(durable.kept, history, host.fields).changes_of(epoch)


def _check_number(epoch: object, example: str) -> None:
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        raise DDlogError([EpochExpected(repr(epoch), example)])
