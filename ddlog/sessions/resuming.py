"""A session begins with what its durable state holds: one epoch, which derives all else anew."""

from __future__ import annotations

from functools import partial

from ..engine.interrupt import deferred
from ..errors.diagnostics import DDlogError
from ..errors.state import KeyOfSeveral
from .durable import Durable, signed
from .inprocess import InProcessHost
from .results import Changes
from .state import SessionState


def resume(state: SessionState, durable: Durable, static: bool) -> Changes:
    """Runs the epoch, and returns what follows from it as changes. Raises DDlogError."""
    host = state.host
    assert isinstance(host, InProcessHost)
    runtime = host.fields
    with deferred(), state.diagnosing():
        runtime.earlier = durable.epoch - 1
        found = durable.resumption(runtime)
        deltas = state.epoch(found.changes, static, None)
        state.delays.resume(found.past)
        if durable.changed:
            check_keys(state)
        if not static and durable.derived:
            held = {name: runtime.held(name) for name in durable.derived}
            for name, rows in durable.settle(found.contents, held).items():
                state.delays.correct(name, partial(signed, runtime, rows))
        durable.store.let_go()
        state.started, state.static = True, static
    return state.told(deltas)


def check_keys(state: SessionState) -> None:
    """Raises DDlogError if two rows of an input have one primary key, as the program says it now."""
    for name in state.program.names("input"):
        relation = state.program.relations[name]
        if relation.key is not None:
            key_of, rows = state.program.key_function(relation), state.host.runtime.rows(name)
            if len(set(map(key_of, rows))) < len(rows):
                raise DDlogError([KeyOfSeveral(name)])
