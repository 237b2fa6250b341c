"""Checkpoints of a session: what it has derived, for the sessions after it.

    epoch E ── closed, or after a long commit: units and values are written ──►  the file
    next session: units of the same fingerprint are put into the state, the others are derived,
                  and the epochs after E are one more epoch

A unit is written where reading it is expected to be faster than deriving it, and as long as the file stays
small beside what it holds. Whatever does not fit is derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...durability import checkpoint as file
from ...durability.checkpoint import Checkpoint, PieceSource, PieceWriter, SavedUnit
from ...durability.store import FileStore
from ...engine.circuit import Circuit, NodeId
from ...engine.inprocess.resumption import Unit, restored_inputs
from ...engine.inprocess.runtime import InProcess
from ...engine.schema import Column
from .fingerprints import Definitions, made_by
from .image import Image, ImageWriter, UnitImage, ValuesImage
from .valueforms import ValueForms

if TYPE_CHECKING:
    from ..program import Program

WORTH = 0.05
"""Seconds of deriving from which on a checkpoint is worth it."""

MOST = 0.3
"""The changes since a checkpoint, as a part of the rows of the inputs, beyond which all is derived anew."""

_ROW = 1e-7  # seconds of deriving a row, or of reading it from the log, at least
_ROOM = 4 << 20  # bytes that a checkpoint may have beyond its share
_PAGES, _FEW_PAGES = 1 << 14, 1 << 8  # of SQLite that are given back at once, where commits wait a few
_TOGETHER = 16  # pieces of a transaction where no commit waits


@dataclass(frozen=True, slots=True)
class FoundUnits:
    """The part of a checkpoint that a session begins with: units by node of the circuit, and values by the
    column of their domain. `note` says what is derived, and why; `others`: whether the checkpoint has more
    units."""

    epoch: int
    units: Mapping[NodeId, SavedUnit]
    values: Sequence[tuple[Column, SavedUnit]]
    note: str = ""
    circuit: Circuit | None = None
    others: bool = False

    @property
    def seconds(self) -> float:
        """The seconds that deriving the units takes, about."""
        return sum(each.seconds for each in self.units.values())


def many_changes(count: int, held: int) -> bool:
    """Whether to derive all anew is faster than to apply `count` changes to a checkpoint of `held` rows of
    inputs."""
    return count > max(1000, MOST * held)


class Checkpointing:
    """The checkpoint of one session's state."""

    def __init__(self, program: Program, store: FileStore, runtime: InProcess) -> None:
        self._store, self._runtime, self._relations = store, runtime, program.relations
        self._forms = ValueForms(program.checked.typedefs)
        self._definitions = Definitions(program.checked)
        self._names: tuple[Circuit, Sequence[str | None]] | None = None

    @property
    def circuit(self) -> Circuit:
        """The circuit whose state is kept."""
        return self._runtime.circuit

    @property
    def names(self) -> Sequence[str | None]:
        """The fingerprint of each node."""
        if self._names is None or self._names[0] is not self.circuit:
            found = self._runtime.names or self._definitions.of_circuit(self.circuit)
            self._names = self.circuit, found.names
        return self._names[1]

    # ------------------------------------------------------------- reading

    def found(self) -> FoundUnits | None:
        """The part that the session can begin with; None: nothing. Checks all that it gives."""
        there = file.checkpoint(self._store)
        if there is None:
            return None
        note = there.problem
        if not there.units and not note:
            return None
        if not there.units or there.made != made_by():
            return FoundUnits(0, {}, (), note or "it is of another version of ddlog")
        if there.epoch > self._store.head.epoch or self._is_behind(there):
            return FoundUnits(0, {}, (), note or "inputs were changed beside it")
        return self._fitting(there)

    def _is_behind(self, there: Checkpoint) -> bool:
        """Whether relations were added or migrated since."""
        return any(span.kind != "epochs" and span.id > there.spans for span in self._store.spans())

    def _fitting(self, there: Checkpoint) -> FoundUnits:
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
        kept = [each for each in values.values() if each is not None]
        more = {each.name for each in units.values()} | {saved.name for _, saved in kept} < there.units.keys()
        return FoundUnits(there.epoch, units, kept, note, self.circuit, more)

    def _values_of(self, there: Checkpoint, column: Column) -> SavedUnit | None:
        name = self.name_of_values(column)
        return there.units.get(name) if name is not None else None

    def begin(self, found: FoundUnits) -> None:
        """Puts what was found into the runtime. See `InProcess.begin_with`."""
        units = {at: (saved.content, PieceSource(self._store, saved)) for at, saved in found.units.items()}
        values = [(column, saved.content, PieceSource(self._store, saved)) for column, saved in found.values]
        self._runtime.begin_with(units, values, self._forms)

    def inputs_of(self, found: FoundUnits) -> set[str]:
        """The input relations that were found."""
        return restored_inputs(self.circuit, found.units)

    # ------------------------------------------------------------- writing

    def costs(self, before: FoundUnits | None) -> dict[NodeId, float]:
        """The seconds that deriving each unit takes, about. `before`: what the session began with."""
        return self._costs(self._runtime.units(), self._of_circuit(before))

    def _of_circuit(self, before: FoundUnits | None) -> FoundUnits | None:
        """The part that the session began with, unless it has taken up another circuit since."""
        return before if before is not None and before.circuit is self.circuit else None

    @staticmethod
    def _costs(units: Sequence[Unit], before: FoundUnits | None) -> dict[NodeId, float]:
        known = {} if before is None else {at: saved.seconds for at, saved in before.units.items()}
        return {unit.node: max(known.get(unit.node, 0.0), unit.seconds, _ROW * unit.rows) for unit in units}

    def image(self, epoch: int, before: FoundUnits | None, copied: bool) -> Image | None:
        """The image of the runtime after an epoch; None if it is not worth a checkpoint. `before`: the
        checkpoint that the session began with, whose pieces are in the file. `copied`: the image outlives the
        epoch, so it has copies of the arrays that commits change."""
        units, before = self._runtime.units(), self._of_circuit(before)
        costs = self._costs(units, before)
        if sum(costs.values()) < WORTH:
            return None
        units.sort(key=lambda each: -costs[each.node] / (each.rows + 1))
        values = self._values_image([column for unit in units for column in unit.domains], before, copied)
        found = []
        for unit in units:
            name = self.names[unit.node]
            if name is not None:
                saved = before.units.get(unit.node) if before is not None and unit.unread else None
                frozen = None if saved is not None else unit.freeze(copied)
                shown, needed = self._shown(unit), [self.name_of_values(each) for each in unit.domains]
                internal = 1 - len(shown) / max(1, len(unit.relations))
                cost = costs[unit.node]
                found.append(
                    UnitImage(name, unit.title, unit.rows, cost, needed, shown, internal, frozen, saved)
                )
        return Image(epoch, file.last_span(self._store), found, values)

    def _values_image(
        self, columns: Sequence[Column], before: FoundUnits | None, copied: bool
    ) -> dict[str, ValuesImage]:
        kept = {} if before is None else {saved.name: saved for _, saved in before.values}
        values: dict[str, ValuesImage] = {}
        for column in columns:
            name = self.name_of_values(column)
            if name is not None and name not in values:
                frozen = self._runtime.freeze_values(column, copied, name in kept)
                values[name] = ValuesImage(column, frozen, kept[name] if frozen.unread else None)
        return values

    def put(self, image: Image, room: int, pause: Callable[[], None] | None = None) -> bool:
        """Lets an image be the checkpoint; False: its epoch is not on disk. `room`: the bytes that there are
        for what is no output relation; `pause`: commits go on, and it is called between the pieces, and may
        raise. Raises OSError and sqlite3.Error; then the checkpoint before it stands, or none if there is
        not room for both."""
        store, aside = self._store, pause is not None
        file.make_tables(store)
        there = file.checkpoint(store)
        if aside and there is not None and there.internal > room // 2:
            self._read_others(image, image.saved)
            file.forget(store, image.saved, pause)
        writer = PieceWriter(store, 1 if aside else _TOGETHER, pause)
        made = ImageWriter(image, self._forms, self._runtime.still, writer, room + _ROOM).write()
        if aside:
            self._read_others(image, made)
        if image.epoch > store.head.epoch:
            return False
        file.install(store, image.epoch, image.spans, made_by(), made, aside)
        file.remove_loose(store, made, pause)
        while store.give_back(_FEW_PAGES if aside else _PAGES):
            if pause is not None:
                pause()
        return True

    def _read_others(self, image: Image, saved: Sequence[SavedUnit]) -> None:
        """Reads what the session began with, and has not needed yet, if its pieces are not among these."""
        names = {each.name for each in saved}
        domains = {image.values[name].column.domain for name in names if name in image.values}
        with self._runtime.still:
            units = (self.names[unit.node] for unit in self._runtime.units() if unit.unread)
            if not (names.issuperset(units) and domains.issuperset(self._runtime.unread_domains())):
                self._runtime.read_all()

    @property
    def goes_on(self) -> bool:
        """Whether the runtime takes further epochs, so that its state is worth a checkpoint."""
        return self._runtime.goes_on

    @property
    def is_settled(self) -> bool:
        """Whether the runtime has applied all epochs; otherwise it applies the last ones on first use."""
        return self._runtime.is_settled

    def read_ahead(self, ends: Callable[[], bool]) -> None:
        """See `InProcess.read_ahead`."""
        self._runtime.read_ahead(ends)

    @property
    def took(self) -> float:
        """The seconds of the last epoch."""
        return self._runtime.took

    def forget(self) -> None:
        """Removes the checkpoint. Raises OSError and sqlite3.Error."""
        file.forget(self._store)

    def is_all(self, before: FoundUnits) -> bool:
        """Whether a checkpoint has all that was worth it when it was written."""
        there = file.checkpoint(self._store)
        return (
            self._of_circuit(before) is not None
            and there is not None
            and not there.problem
            and {each.name for each in before.units.values()}
            >= {name for name in self.names if name in there.units}
        )

    def name_of_values(self, column: Column) -> str | None:
        """The name of the unit of the values of a column; None if they cannot be kept."""
        found = self._definitions.of_type(column.domain)
        return None if found is None else f"values {found}"

    def _shown(self, unit: Unit) -> dict[str, Any]:
        """The columns of the output relations of a unit, for those that read it without the program."""
        return {
            name: [[each.name, each.kind.value, each.domain] for each in schema]
            for name, schema in unit.relations.items()
            if name in self._relations  # others come of rules on demand
            and self._relations[name].role == "output"
            and self._relations[name].kind != "stream"
        }
