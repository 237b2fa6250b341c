"""The past of a session with a state: sessions as they were after earlier epochs, and what epochs changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.interrupt import deferred
from ..errors.diagnostics import DDlogError
from ..errors.state import EpochExpected, NotInFolders
from .durable import Durable
from .inprocess import InProcessHost
from .results import Changes
from .windowed import kept_windows

if TYPE_CHECKING:
    from .keeping import Keeping
    from .session import Session


def session_at(session: Session, keeping: Keeping, epoch: int) -> Session:
    """A session as this one was after an epoch, without a state of its own. Raises DDlogError."""
    _check_number(epoch, "session.at(17)")
    durable = _with_history(keeping)
    durable.check_past(epoch)
    past = session.program.session(relations=tuple(session.state.kept), engine="in-process")
    state, host = past.state, past.state.host
    assert isinstance(host, InProcessHost)
    if epoch:
        host.fields.earlier = epoch - 1
        with deferred(), state.diagnosing():
            windows = kept_windows(session.program, state.kept, host.fields.circuit)
            host.fields.remember(windows.nodes)
            found = durable.resumption(host.fields, epoch)
            host.fields.give(found.given)
            state.epoch(found.changes, False, None)
            state.delays.resume(found.past)
            state.started = True
    return past


def changes_of(session: Session, keeping: Keeping, epoch: int) -> Changes:
    """The changes of the outputs in an epoch. Raises DDlogError."""
    _check_number(epoch, "session.changes_of(17)")
    durable = _with_history(keeping)
    durable.check_change(epoch)
    past = session_at(session, durable, epoch - 1)
    host = past.state.host
    assert isinstance(host, InProcessHost)
    return past.state.run(durable.changes_of(host.fields, epoch), False)


def _with_history(keeping: Keeping) -> Durable:
    """The state, if it keeps history. Raises DDlogError."""
    if not isinstance(keeping, Durable):
        instead = "a state in a file, of a session in-process, has the last epochs by themselves"
        raise DDlogError([NotInFolders(keeping.place, "history", instead)])
    return keeping


def _check_number(epoch: object, example: str) -> None:
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        raise DDlogError([EpochExpected(repr(epoch), example)])
