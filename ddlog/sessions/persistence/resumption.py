"""A session begins with what its durable state holds: a checkpoint of what was derived, and the epochs since;
or one epoch, which derives all anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Final

from ...durability.contents import FileHistory
from ...durability.corruption import FAULTS
from ...durability.forms import Rows
from ...engine.budget import OverBudget
from ...engine.divergence import Unsettled
from ...engine.inprocess.runtime import InProcess
from ...engine.interrupt import deferred
from ...engine.runtime import Batch
from ...engine.schema import RowFault
from ...errors.diagnostics import DDlogError
from ...errors.state import KeyOfSeveral
from ..hosts.host import here_of
from ..program import Program
from ..results.views import Changes
from ..transactions.state import SessionState
from .checkpoint_policy import CheckpointPolicy
from .checkpoints import FoundUnits, many_changes
from .derivedrows import settle, settle_windows
from .durable import Durable
from .initialchanges import Beginning, signed
from .stored_changes import SignedBatches

_BEGINNING_ERRORS: Final = (DDlogError, RowFault, Unsettled, *FAULTS)
"""The errors of the first epochs that go on from wrong numbers."""


def resume(state: SessionState, durable: Durable, static: bool) -> Changes:
    """Brings the session to the state of the last commit, and returns what follows from it as changes. Raises
    DDlogError."""
    runtime = here_of(state.host)
    with deferred(), state.diagnosing():
        runtime.earlier = durable.epoch - 1
        contents = _from_checkpoint(state, durable, static)
        if contents is None:
            contents = durable.contents()
            Beginning(durable.kept, contents, runtime).begin(state, durable.epoch, durable.changed, static)
        kept = durable.kept
        if not static and kept.derived and (kept.changed or durable.begun_with is None):
            held = {name: runtime.held(name) for name in kept.derived}
            for name, rows in settle(kept, contents, held).items():
                state.delays.correct(name, partial(_signed, runtime, rows))
        if not static and kept.windows.nodes and (kept.changed or durable.begun_with is None):
            settle_windows(kept, contents, runtime, durable.epoch)
        if durable.read_only and durable.begun_with is not None:
            runtime.read_all()
        durable.store.let_go()
        deltas = state.host.offer.shown(runtime.all_held())
        if not static and durable.upkeep is not None and runtime.is_settled:
            durable.upkeep.committed(durable.epoch, 0)
        state.started, state.static = True, static
    return state.told(deltas)


def _signed(runtime: InProcess, rows: Rows, name: str) -> list[tuple[Batch, int]]:
    return list(signed(runtime, rows, name))


def _from_checkpoint(state: SessionState, durable: Durable, static: bool) -> FileHistory | None:
    """Begins with the checkpoint of the state, and returns what the state tells of its epoch; None: there is
    none that can be used. Then the runtime is empty."""
    upkeep = durable.upkeep
    if upkeep is None:
        return None
    found = _found(state, upkeep)
    if found is None:
        return None
    if found.note:
        _left_out(durable, found.note)
    if not found.units:
        return None
    try:
        return _begun(state, durable, upkeep, found, static)
    except OverBudget:
        here_of(state.host).start_over()
        return None
    except _BEGINNING_ERRORS as error:
        here_of(state.host).start_over()
        _left_out(durable, _said(error))
        return None


def _found(state: SessionState, upkeep: CheckpointPolicy) -> FoundUnits | None:
    """The units that the session can begin with; of a session with outputs on demand perhaps the whole, if
    that is in the checkpoint."""
    found = upkeep.checkpointing.found()
    if found is None or not found.others or state.sparing is None:
        return found
    state.sparing.choose(whole=True)
    whole = upkeep.checkpointing.found()
    if whole is not None and whole.seconds > found.seconds:
        return whole
    state.sparing.choose(whole=False)
    return found


def _bounded(state: SessionState, changes: Mapping[str, SignedBatches]) -> AbstractContextManager[None]:
    return nullcontext() if state.sparing is None else state.sparing.bounded(changes)


def _left_out(durable: Durable, why: str) -> None:
    durable.note(f"the checkpoint of {durable.place}, or a part of it, is left out: {why}")


def _said(error: Exception) -> str:
    return error.diagnostics[0].message if isinstance(error, DDlogError) else f"{error!r}"


def _begun(
    state: SessionState, durable: Durable, upkeep: CheckpointPolicy, found: FoundUnits, static: bool
) -> FileHistory | None:
    runtime, checkpointing = here_of(state.host), upkeep.checkpointing
    behind = found.epoch < durable.epoch
    there = checkpointing.inputs_of(found)
    contents = _as_of(durable, found.epoch, there) if durable.kept.has_all_windows else None
    if contents is None:
        return None
    checkpointing.begin(found)
    then = Beginning(durable.kept, contents, runtime)
    latest = Beginning(durable.kept, durable.contents(found.epoch), runtime)
    begun, given = then.changes(found.epoch, there), then.given(found.epoch)
    changes = latest.since(found.epoch, durable.epoch) if behind else {}
    held = sum(map(runtime.size_of, there)) + _count(begun)
    if changes is None or _many(changes, held):
        runtime.start_over()
        return None
    runtime.give(given)
    state.epoch(begun, static and not behind, None)
    if behind:
        upkeep.behind = _count(changes)
        given = then.given(durable.epoch)
        at_once = static or durable.read_only or durable.changed
        if at_once:
            with _bounded(state, changes):
                runtime.catch_up(changes, given)
        else:
            runtime.later(partial(_catch_up, state, durable, upkeep, changes, given))
    past = latest.past(durable.epoch)
    upkeep.begin_with(found)
    state.delays.resume(past)
    return contents


def _as_of(durable: Durable, epoch: int, there: Collection[str]) -> FileHistory | None:
    """The contents that a session reads as of an epoch, beside the relations that are there: of all, if their
    differences to what is derived are to be found. None: an epoch of a stream cannot be told any more."""
    kept = durable.kept
    needed = kept.without(there)
    relations = kept.ids if kept.changed else {each.id for each in needed}
    if epoch == durable.epoch or all(each.kind != "stream" for each in needed):
        return durable.contents(relations=relations)
    history = durable.history(relations)
    return history if history.first <= max(1, epoch - kept.depth) else None


def _catch_up(
    state: SessionState,
    durable: Durable,
    upkeep: CheckpointPolicy,
    changes: Mapping[str, SignedBatches],
    given: Mapping[str, SignedBatches],
) -> None:
    """Applies the epochs after a checkpoint, when the session needs its relations for the first time. Raises
    DDlogError."""
    runtime = here_of(state.host)
    with deferred(), state.diagnosing():
        if upkeep.begun_with is not None:
            try:
                with _bounded(state, changes):
                    runtime.catch_up(changes, given)
                return
            except OverBudget:
                upkeep.begin_anew()
            except _BEGINNING_ERRORS as error:
                _left_out(durable, _said(error))
                upkeep.begin_anew()
        runtime.start_over()
        Beginning(durable.kept, durable.contents(), runtime).begin(state, durable.epoch, durable.changed)


def _many(changes: Mapping[str, SignedBatches], held: int) -> bool:
    """Whether changes are so many that all is derived sooner anew."""
    return many_changes(_count(changes), held)


def _count(changes: Mapping[str, Sequence[tuple[Batch, int]]]) -> int:
    return sum(_length(batch) for pairs in changes.values() for batch, _ in pairs)


def _length(batch: Batch) -> int:
    """The number of rows of a batch."""
    return int(batch.length)


def check_keys(state: SessionState, program: Program, inputs: Iterable[str]) -> None:
    """Raises DDlogError if two rows of one of these inputs have the same primary key in a program."""
    for name in inputs:
        if program.relations[name].key is not None:
            key_of, rows = program.key_function(program.relations[name]), state.host.runtime.rows(name)
            if len(set(map(key_of, rows))) < len(rows):
                raise DDlogError([KeyOfSeveral(name)])
