"""Checkpoints of a session: what it has derived, for the sessions after it.

    epoch E ── closed: units and values are written ──►  the file
    next session: units of the same fingerprint are put into the state, the others are derived,
                  and the epochs after E are one more epoch

A unit is written where reading it is expected to be faster than deriving it, and as long as the file stays
small beside what it holds. Whatever does not fit is derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..engine.circuit import Circuit, NodeId
from ..engine.inprocess.resuming import Unit, keep_values, restored_inputs
from ..engine.inprocess.runtime import InProcess
from ..engine.schema import Column
from ..state import checkpoint as file
from ..state.checkpoint import Checkpoint, PieceSink, PieceSource, PieceWriter, SavedUnit, TooLarge
from ..state.store import Store
from .fingerprints import Definitions, made_by
from .valueforms import ValueForms

if TYPE_CHECKING:
    from .program import Program

WORTH = 0.05
"""Seconds of deriving from which on a checkpoint is worth it."""

_RATE = 4e8  # bytes that are read in a second
_SOON = 0.002  # seconds of reading that are of no account
_ROW = 1e-7  # seconds of deriving a row, or of reading it from the log, at least
_ROOM = 4 << 20
_PAGES = 1 << 14  # of SQLite that are given back at once
_TOGETHER = 16  # pieces of a transaction where no commit waits


@dataclass(frozen=True, slots=True)
class Found:
    """What of a checkpoint a session begins with: units by node, and values by the column of their domain.
    `note` says what is derived, and why."""

    epoch: int
    units: Mapping[NodeId, SavedUnit]
    values: Sequence[tuple[Column, SavedUnit]]
    note: str = ""


class Checkpointing:
    """The checkpoint of one session's state."""

    def __init__(self, program: Program, store: Store, runtime: InProcess) -> None:
        self._store, self._runtime, self._relations = store, runtime, program.relations
        self._forms = ValueForms(program.checked.typedefs)
        self._definitions = Definitions(program.checked)
        self._names: list[str | None] | None = None

    @property
    def circuit(self) -> Circuit:
        """The circuit whose state is kept."""
        return self._runtime.circuit

    @property
    def forms(self) -> ValueForms:
        """The forms of interned values."""
        return self._forms

    @property
    def names(self) -> list[str | None]:
        """The fingerprint of each node."""
        if self._names is None:
            self._names = self._definitions.of_circuit(self.circuit)
        return self._names

    # ------------------------------------------------------------- reading

    def found(self) -> Found | None:
        """What the session can begin with; None: nothing. Checks all that it gives."""
        there = file.checkpoint(self._store)
        if there is None:
            return None
        note = there.problem
        if not there.units or there.made != made_by():
            return Found(0, {}, (), note or "it is of another version of ddlog")
        if there.epoch > self._store.head.epoch or self._is_behind(there):
            return Found(0, {}, (), note or "inputs were changed beside it")
        return self._fitting(there)

    def _is_behind(self, there: Checkpoint) -> bool:
        """Whether relations were added or migrated since."""
        return any(span.kind != "epochs" and span.id > there.spans for span in self._store.spans())

    def _fitting(self, there: Checkpoint) -> Found:
        units: dict[NodeId, SavedUnit] = {}
        values: dict[str, tuple[Column, SavedUnit] | None] = {}
        damaged = bool(there.problem)
        for unit in self._runtime.units():
            name = self.names[unit.node]
            saved = there.units.get(name) if name is not None else None
            if saved is None:
                continue
            for column in unit.domains:
                if column.domain not in values:
                    own = self._values_of(there, column)
                    damaged = damaged or (own is not None and not file.is_intact(self._store, own))
                    values[column.domain] = None if own is None or damaged else (column, own)
            if any(values[column.domain] is None for column in unit.domains):
                continue
            if not file.is_intact(self._store, saved):
                damaged = True
                continue
            units[unit.node] = saved
        note = "it is damaged" if damaged else ""
        return Found(there.epoch, units, [each for each in values.values() if each is not None], note)

    def _values_of(self, there: Checkpoint, column: Column) -> SavedUnit | None:
        name = self.name_of_values(column)
        return there.units.get(name) if name is not None else None

    def begin(self, found: Found) -> None:
        """Puts what was found into the runtime. See `InProcess.begin_with`."""
        units = {at: (saved.content, PieceSource(self._store, saved)) for at, saved in found.units.items()}
        values = [(column, saved.content, PieceSource(self._store, saved)) for column, saved in found.values]
        self._runtime.begin_with(units, values, self._forms)

    def inputs_of(self, found: Found) -> set[str]:
        """The input relations that were found."""
        return restored_inputs(self.circuit, found.units)

    # ------------------------------------------------------------- writing

    def write(self, epoch: int, room: int, before: Found | None) -> None:
        """Writes the state of the runtime, which is that after an epoch, if that is worth it. `room`: the
        bytes that there are for what is no output relation. `before`: what the session began with. Raises
        OSError and sqlite3.Error; then the checkpoint before it stands."""
        if not self._runtime.goes_on or (
            before is not None and before.epoch == epoch and self._is_all(before)
        ):
            return
        units = self._runtime.units()
        known = {} if before is None else {at: saved.seconds for at, saved in before.units.items()}
        costs = {unit.node: max(known.get(unit.node, 0.0), unit.seconds, _ROW * unit.rows) for unit in units}
        if sum(costs.values()) < WORTH:
            file.forget(self._store)
            return
        file.make_tables(self._store)
        writing = _Writing(self, PieceWriter(self._store, _TOGETHER), room + _ROOM)
        for unit in sorted(units, key=lambda each: -costs[each.node] / (each.rows + 1)):
            name = self.names[unit.node]
            if name is not None:
                writing.add(unit, name, costs[unit.node])
        made = writing.finish()
        file.install(self._store, epoch, file.last_span(self._store), made_by(), made)
        file.remove_loose(self._store)
        while self._store.give_back(_PAGES):
            pass

    def _is_all(self, before: Found) -> bool:
        """Whether a checkpoint has all that was worth it when it was written."""
        there = file.checkpoint(self._store)
        return (
            there is not None
            and not there.problem
            and {each.name for each in before.units.values()}
            >= {name for name in self.names if name in there.units}
        )

    def keep_values(self, column: Column, sink: PieceSink) -> Any:
        """Writes the values of the domain of a column. Raises ValueError and TooLarge."""
        return keep_values(self._runtime.values, column, self._forms, sink)

    def name_of_values(self, column: Column) -> str | None:
        """The name of the unit of the values of a column; None if they cannot be kept."""
        found = self._definitions.of_type(column.domain)
        return None if found is None else f"values {found}"

    def shown(self, unit: Unit) -> dict[str, Any]:
        """The columns of the output relations of a unit, for those that read it without the program."""
        return {
            name: [[each.name, each.kind.value, each.domain] for each in schema]
            for name, schema in unit.relations.items()
            if self._relations[name].role == "output" and self._relations[name].kind != "stream"
        }

    def internal_part(self, unit: Unit) -> float:
        """The part of a unit that is not the rows of an output relation."""
        return 1 - len(self.shown(unit)) / max(1, len(unit.relations))


class _Writing:
    """A checkpoint that is being written."""

    def __init__(self, of: Checkpointing, writer: PieceWriter, room: int) -> None:
        """`room`: the bytes of what is no output relation."""
        self._of, self._writer, self._room = of, writer, room
        self._saved: dict[str, SavedUnit] = {}
        self._refused: set[str] = set()

    def add(self, unit: Unit, name: str, cost: float) -> None:
        """Writes a unit, with the values that it needs, unless that is not worth it, or there is no room.
        Raises OSError and sqlite3.Error."""
        if name in self._saved or not all(map(self._has_values, unit.domains)):
            return
        internal = self._of.internal_part(unit)
        made = self._written(name, unit.title, cost, int(_RATE * (cost + _SOON)), unit.keep)
        if made is not None and internal * made.bytes <= self._room:
            self._room -= int(internal * made.bytes)
            shown = self._of.shown(unit)
            content = {**made.content, "shown": shown}
            self._saved[name] = replace(made, rows=unit.rows, content=content)

    def _has_values(self, column: Column) -> bool:
        name = self._of.name_of_values(column)
        if name is None or name in self._refused:
            return False
        if name not in self._saved:
            made = self._written(name, column.domain, 0.0, self._room, partial(self._of.keep_values, column))
            if made is None:
                self._refused.add(name)
                return False
            self._room -= made.bytes
            self._saved[name] = replace(made, rows=made.content["count"])
        return True

    def _written(
        self, name: str, title: str, cost: float, most: int, keep: Callable[[PieceSink], Any]
    ) -> SavedUnit | None:
        first, before, sink = self._writer.next, len(self._writer.sums), PieceSink(self._writer.write, most)
        try:
            content = keep(sink)
        except (ValueError, TooLarge):
            return None
        sink.finish()
        sums = tuple(self._writer.sums[before:])
        return SavedUnit(name, title, 0, cost, content, first, len(sums), sink.size, sums)

    def finish(self) -> list[SavedUnit]:
        """The units, all of which are in the file. Raises OSError and sqlite3.Error."""
        self._writer.finish()
        return list(self._saved.values())
