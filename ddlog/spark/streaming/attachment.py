"""A state for a session that has none when its first stream comes: in the directory `checkpoint`.

A session that has not begun begins with what the state holds. One that has begun gives what it holds to a
state that is empty, and then, too, begins anew with the state, which also has what rules read with a delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...durability.inputs import PAST
from ...errors.checkpoints import CheckpointTooLate
from ...errors.diagnostics import DDlogError
from ...sessions.opening import open_durable
from ...sessions.options import SessionOptions
from ...sessions.persistence.kept_schema import KeptSchema, kept_schema
from ...sessions.persistence.windowcontents import KeptWindows
from ...sessions.session import Session
from ...sessions.transactions.delays import Delays
from ...sessions.transactions.durable_state import DurableState, SignedRows
from ...values.rows import Row
from ..sessions.host import SparkHost
from .places import prepare, state_place

Spans = list[tuple[int, int, dict[str, SignedRows]]]
"""See `SeedSpan`."""


def attach(session: Session, directory: Path) -> None:
    """Lets a session keep the state of a checkpoint directory. Raises DDlogError."""
    state, program = session.state, session.program
    missing = sorted(set(program.names("input")) - state.kept)
    if missing:
        raise DDlogError([CheckpointTooLate(", ".join(missing), "the session does not keep these inputs")])
    prepare(directory)
    windows = sorted({each.name.partition("$")[0] for each in program.relations.values() if each.window})
    if windows and state.started:
        raise DDlogError([CheckpointTooLate(", ".join(windows), "these windows have begun without a state")])
    place = str(state_place(directory, session.on_spark))
    options = SessionOptions(state=place, max_iterations=state.max_iterations)
    durable = open_durable(program, state.kept, state.host, options)
    try:
        if state.started and not durable.is_begun:
            _seed_from_session(session, durable)
    except BaseException:
        durable.close()
        raise
    if state.started:
        _begin_anew(session)
    state.durable = durable
    state.start()


def _begin_anew(session: Session) -> None:
    """Makes a session empty."""
    state = session.state
    if state.host.offer.here is not None:
        state.host.offer.here.start_over()
    else:
        assert isinstance(state.host, SparkHost)
        state.host.runtime.start_over()
    state.forget_questions()
    state.delays = Delays((session.program.relations[name] for name in state.kept), state.host.runtime)
    state.started = False


def _needed(session: Session) -> KeptSchema:
    return kept_schema(session.program, session.state.kept, KeptWindows())


def _spans(epochs: int, depth: int) -> Spans:
    """Spans of so many epochs: those that have to be told apart, each by itself, and the ones before them."""
    before = epochs - min(epochs, max(1, depth))
    ends = [(1, before)] if before else []
    return [(first, last, {}) for first, last in (*ends, *((k, k) for k in range(before + 1, epochs + 1)))]


def _seed_from_session(session: Session, durable: DurableState) -> None:
    """Gives what a session holds to a state that is empty."""
    state, needed = session.state, _needed(session)
    spans, past = _spans(state.epochs, needed.depth), state.delays.past
    for source, deltas in past.items():
        name = f"{source}{PAST}" if f"{source}{PAST}" in needed.stored else source
        told = [each for each in deltas if not isinstance(each, dict)]  # those of this session: all
        changes = [list(zip(each.rows, each.weights, strict=True)) for each in told]
        if needed.stored[name].kind != "stream" and len(changes) < state.epochs:
            gone = [(row, -weight) for change in changes for row, weight in change]
            spans[0][2][name] = _summed([*_held(session, source), *gone])
        for span, change in zip(spans[len(spans) - len(changes) :], changes, strict=True):
            span[2][name] = change
    for name, stored in needed.stored.items():
        if stored.role == "input" and stored.kind == "stream" and name not in past:
            spans[-1][2][name] = _held(session, name)
    durable.seed(state, spans)


def _held(session: Session, relation: str) -> SignedRows:
    rows = session.state.host.runtime.rows(relation)
    return list(zip(rows, rows.weights or [1] * len(rows), strict=True))


def _summed(rows: Sequence[tuple[Row, int]]) -> SignedRows:
    sums: dict[Row, int] = {}
    for row, weight in rows:
        sums[row] = sums.get(row, 0) + weight
    return [(row, weight) for row, weight in sums.items() if weight]
