"""A session goes on with a program whose inputs have other columns, or whose types are defined otherwise.

rows of inputs ── converted ──▶ session beside, derived ──▶ state: one transaction ──▶ the session goes on

The rows are converted as `--migrate` does with those of a state. All is derived from them anew, beside what
the session holds until then, so that an error leaves it as it was. A program with windows, or that reads
earlier states, needs more than the rows of now. Its session begins with what the durable state tells, as one
that is opened with `--migrate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..durability.forms import RelationForm, Rows
from ..durability.inputs import described, same_rows
from ..durability.migration import Migration, check_fill
from ..engine.machine import UNLIMITED
from ..errors.diagnostics import DDlogError
from ..errors.sessions import NotMigratedHere
from ..values.layouts import Layouts
from .hosts.host import here_of
from .options import SessionOptions
from .persistence.derivedrows import rows_of
from .persistence.durable import Durable
from .persistence.initialchanges import signed
from .persistence.resumption import check_keys
from .persistence.windowcontents import kept_windows
from .program import Program
from .results.records import RecordColumns
from .results.views import Changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core import Relation
    from ..durability.records import Stored
    from ..engine.inprocess.runtime import InProcess
    from ..engine.runtime import Delta
    from .transactions.state import SessionState


@dataclass(frozen=True, slots=True)
class InputChanges:
    """The inputs with rows that another program declares otherwise: those that are `changed`, each with the
    columns that are lost, and those that are `gone`. `keyed` have a primary key that they had not. `types`:
    some type is defined otherwise."""

    changed: Mapping[str, tuple[str, ...]]
    gone: tuple[str, ...]
    keyed: tuple[str, ...]
    types: bool

    @property
    def migrates(self) -> bool:
        """Whether rows of the session have another form in the program."""
        return bool(self.changed) or self.types


def input_changes(state: SessionState, program: Program) -> InputChanges:
    """The inputs of a session that another program declares otherwise."""
    here, before = here_of(state.host), state.program
    changed: dict[str, tuple[str, ...]] = {}
    gone, keyed = list[str](), list[str]()
    for name in before.names("input"):
        one, other = before.relations[name], program.relations.get(name)
        if one.kind == "stream" or name not in here.inputs or not here.size_of(name):
            continue
        if other is None or other.role != "input" or other.kind == "stream":
            gone.append(name)
            continue
        if not same_rows(_stored(one, before), _stored(other, program)):
            kept = {each.name for each in other.columns}
            changed[name] = tuple(each.name for each in one.columns if each.name not in kept)
        if other.key is not None and str(other.key) != str(one.key):
            keyed.append(name)
    old, new = before.checked.typedefs, program.checked.typedefs
    types = any(new[name] != old[name] for name in old.keys() & new.keys())
    return InputChanges(changed, tuple(gone), tuple(keyed), types)


def same_columns(one: Relation, before: Program, other: Relation, after: Program) -> bool:
    """Whether relations of two programs hold the same kind of rows, of types that are defined alike."""
    return same_rows(_stored(one, before), _stored(other, after))


def _stored(relation: Relation, program: Program) -> Stored:
    return described(relation, "input", program.checked.typedefs)


def migrated(
    state: SessionState,
    program: Program,
    wanted: str | Iterable[str],
    found: InputChanges,
    fill: Mapping[str, Any],
) -> Changes:
    """Lets a session go on with a program that has other inputs, of which it keeps the `wanted` relations.
    Returns how that changes the output relations. Raises DDlogError; then the session is as it was."""
    before, here = state.program, here_of(state.host)
    pairs = [
        (_stored(before.relations[n], before), _stored(program.relations[n], program)) for n in found.changed
    ]
    check_fill(fill, map(program.relations.__getitem__, program.names("input")), pairs)
    beside = program.open(
        SessionOptions(
            relations=wanted, engine="in-process", max_iterations=state.max_iterations, workers=here.workers,
            memory_limit=UNLIMITED if here.limit is None else here.limit, maintain=here.mode,
            progress=state.progress, spill=here.spill,
        )
    ).state  # fmt: skip
    keyed = [*found.changed, *found.keyed]
    durable, rows = state.durable, partial(beside.host.runtime.size)
    deltas: dict[str, Delta] = {}
    assert durable is None or isinstance(durable, Durable)

    def begin(made: Durable) -> None:
        made.begin(beside, False)
        check_keys(beside, program, keyed)
        deltas.update(_differences(state, beside))

    reads = _reads(state) or _reads(beside)
    if reads and durable is None:
        what = ", ".join(found.changed) or "inputs with types that are defined otherwise"
        raise DDlogError([NotMigratedHere(what, reads)])
    if reads and durable is not None:
        state.durable = durable.with_program(program, beside.kept, beside.host, rows, fill, begin)
    else:
        now = here_of(beside.host)
        with beside.diagnosing():
            given = _rows(state, program, found, fill).items()
            batches = {name: list(signed(now, rows, name)) for name, rows in given}
        beside.run(batches, False)
        check_keys(beside, program, keyed)
        deltas.update(_differences(state, beside))
        if durable is not None:
            state.durable = durable.with_program(program, beside.kept, beside.host, rows, fill)
    state.take_up(program, beside.host, beside.kept)
    state.delays, state.wanted, state.sparing = beside.delays, beside.wanted, beside.sparing
    if state.recorder is not None:
        state.recorder = type(state.recorder)()
    return state.told(beside.host.offer.shown(deltas))


def _reads(state: SessionState) -> str:
    """The feature of a session's program by which the session holds rows that its inputs do not have now, in
    words; empty if there is none."""
    windows = kept_windows(state.program, state.kept, here_of(state.host).circuit)
    return "reads earlier states" if state.delays.delayed else "has windows" if windows.nodes else ""


def _differences(before: SessionState, after: SessionState) -> Iterator[tuple[str, Delta]]:
    """The change of each output from the session of one program to that of another."""
    here, now = here_of(before.host), here_of(after.host)
    old, new = before.program, after.program
    for name in after.kept:
        one, other = old.relations.get(name), new.relations[name]
        if other.role == "output" and other.kind != "stream":
            same = one is not None and name in before.kept and same_columns(one, old, other, new)
            yield name, now.difference(name, here.rows(name) if same else ())


def _rows(
    state: SessionState, program: Program, found: InputChanges, fill: Mapping[str, Any]
) -> dict[str, Rows]:
    """The rows of the inputs, as those of a program."""
    before, here = state.program, here_of(state.host)
    place = before.source.name if state.durable is None else state.durable.place
    migration = Migration(place, program.checked.typedefs, fill)
    names = [n for n in before.names("input") if n in here.inputs and n not in found.gone and here.size_of(n)]
    return {
        name: _converted(here, before, program, name, migration) if name in found.changed else held
        for name in names
        if before.relations[name].kind != "stream" and (held := rows_of(here.input_held(name)))
    }


def _converted(here: InProcess, before: Program, program: Program, name: str, migration: Migration) -> Rows:
    old, new = before.relations[name], program.relations[name]
    table = RelationForm(old.columns, before.checked.typedefs).table([rows_of(here.input_held(name))])
    columns, weights = migration.migrated(_stored(old, before), new, table)
    layouts = Layouts(program.checked.typedefs)
    parts = RecordColumns(((each.name, each.type) for each in new.columns), layouts).apart(columns.data)
    return Rows(parts, weights, None, columns.count)
