"""A session goes on with another program: what both compute stays as it is, and the rest is derived.

program, session ── text added or dropped ──▶ program, checked as a whole
                                                 │
old circuit ─── nodes of one fingerprint ───▶ new circuit ──▶ one epoch derives its other nodes
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..engine.interrupt import deferred
from ..errors.diagnostics import DDlogError
from ..errors.sessions import InTransaction, NoFurtherChanges, ProgramStays, TypeWithValues
from .asking.demandbudget import facts_of, sparing
from .collector import paused
from .computedrelations import check_externs, kept_of, live_rows, may_be_whole, sparing_of, wanted_names
from .hosts.host import here_of
from .hosts.inprocess import InProcessHost
from .persistence.durable import Durable
from .persistence.fingerprints import Definitions
from .program import Program
from .results.views import Changes

if TYPE_CHECKING:
    from ..engine.inprocess.runtime import InProcess
    from ..engine.runtime import Delta
    from .transactions.state import SessionState


def check_changeable(state: SessionState, in_transaction: bool) -> None:
    """Raises DDlogError if the program of a session cannot be another now."""
    state.check_open()
    if state.host.offer.frames is not None:
        raise DDlogError([ProgramStays("it runs on Spark")])
    if in_transaction:
        raise DDlogError([InTransaction()])
    state.start()
    if state.static or not state.updates:
        raise DDlogError([NoFurtherChanges()])


def go_on_with(state: SessionState, program: Program, fill: Mapping[str, Any] | None = None) -> Changes:
    """Lets a session go on with a program. Returns how that changes the output relations. `fill` gives the
    values of new columns of inputs that have rows. Raises DDlogError; then the session is as it was."""
    from .migration import input_changes, migrated
    from .persistence.resumption import check_keys

    before, here = state.program, here_of(state.host)
    check_externs(program)
    asked = _wanted(state, program)
    found = input_changes(state, program)
    if found.migrates or fill:
        return migrated(state, program, asked, found, fill or {})
    check_keys(state, program, found.keyed)
    _check_types(here, before, program)
    lasting = state.durable is not None
    wanted = wanted_names(program, asked, lasting)
    host = InProcessHost(program, here)
    named_before = here.names or Definitions(before.checked).of_circuit(here.circuit)

    def attempt(whole: bool, budget: int | None) -> dict[str, Delta]:
        with paused():
            circuit = host.offer.lowered(program, wanted, not whole)
        kept = kept_of(program, circuit)
        names = Definitions(program.checked).of_circuit(circuit, (before.checked, named_before))
        with here.within(budget), here.extending(circuit, names, named_before) as deltas:
            held = here.all_held()
            if state.durable is not None:
                assert isinstance(state.durable, Durable)
                state.durable = state.durable.with_program(program, kept, host, live_rows(host))
            delays, state.wanted = state.delays, asked
            state.take_up(program, host, kept)
            state.delays.take_over(delays, deltas, held)
            state.sparing = None if whole else sparing_of(program, host, wanted, kept)
            if state.recorder is not None:
                state.recorder = type(state.recorder)()
        return deltas

    with state.diagnosing(), deferred():
        deltas = sparing(facts_of(here), attempt) if may_be_whole(program, wanted) else attempt(False, None)
    return state.told(host.offer.shown(deltas))


def _wanted(state: SessionState, program: Program) -> str | Iterable[str]:
    """The relations that the session keeps of a program; for names, those that are left, and what is new."""
    if isinstance(state.wanted, str) and state.wanted in ("all", "outputs", "inputs"):
        return state.wanted
    asked = (state.wanted,) if isinstance(state.wanted, str) else state.wanted
    known, relations = state.program.relations, program.relations
    new = (name for name, each in relations.items() if name not in known and not each.hidden)
    return tuple(name for name in (*asked, *new) if name in relations)


def _check_types(here: InProcess, before: Program, program: Program) -> None:
    """Raises DDlogError if values of a type that was dropped would count as those of a new one."""
    fresh = {name for name in program.checked.typedefs if "::" not in name} - before.checked.typedefs.keys()

    def used() -> set[str]:
        domains = (name for name, domain in here.values.domains() if len(domain.ids))
        return {name for each in domains for name in re.findall(r"[\w:]+", each)} & fresh

    if used():
        here.tidy()
        if still := sorted(used()):
            raise DDlogError([TypeWithValues(still[0])])
