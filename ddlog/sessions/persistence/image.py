"""Images: what a session has derived, as of one epoch. An image is made in little time, and written to the
file as a checkpoint when there is time, also while the session goes on.

    epoch E ── image ── epoch E + 1 ── epoch E + 2 ── …
                 └─ piece, piece, … ─► one transaction lets them be the checkpoint
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...durability.checkpoint import PieceSink, PieceWriter, SavedUnit, UnitTooLarge
from ...engine.inprocess.resumption import FrozenValues, ValueCodec
from ...engine.inprocess.storage.serialization import Frozen, Still, written
from ...engine.schema import Column

RATE = 4e8
"""Bytes that are read in a second."""
_SOON = 0.002  # seconds of reading that are of no account


@dataclass(frozen=True)
class UnitImage:
    """A unit. `values` are the names of the units of values that it needs; `shown` are the columns of the
    output relations in it, and `internal` is the part of its bytes that is not theirs. `saved`: it is in the
    file already."""

    name: str
    title: str
    rows: int
    cost: float
    values: Sequence[str | None]
    shown: Mapping[str, Any]
    internal: float
    frozen: Frozen
    saved: SavedUnit | None


@dataclass(frozen=True)
class ValuesImage:
    """The values of the domain of a column. `saved`: they are in the file already."""

    column: Column
    values: FrozenValues
    saved: SavedUnit | None


@dataclass(frozen=True)
class Image:
    """The rows that were derived as of an epoch, when the last span was `spans`: units, those first that are
    dearest to derive, and values by their names."""

    epoch: int
    spans: int
    units: Sequence[UnitImage]
    values: Mapping[str, ValuesImage]

    @property
    def saved(self) -> list[SavedUnit]:
        """The units, and units of values, whose pieces are in the file already."""
        every = [each.saved for each in self.units] + [each.saved for each in self.values.values()]
        return [each for each in every if each is not None]


class ImageWriter:
    """Writes the parts of an image that are worth it, as long as there is room."""

    def __init__(self, image: Image, codec: ValueCodec, still: Still, writer: PieceWriter, room: int) -> None:
        """`still` keeps the state from changing; `room`: the bytes of what is no output relation."""
        self._image, self._codec, self._still = image, codec, still
        self._writer, self._room = writer, room
        self._saved: dict[str, SavedUnit] = {}
        self._refused: set[str] = set()

    def write(self) -> list[SavedUnit]:
        """Writes the image. Returns what is in the file then. Raises OSError and sqlite3.Error."""
        for unit in self._image.units:
            self._add(unit)
        self._writer.finish()
        return list(self._saved.values())

    def _add(self, unit: UnitImage) -> None:
        if unit.name in self._saved or not all(map(self._has_values, unit.values)):
            return
        most = int(RATE * (unit.cost + _SOON))
        made = unit.saved or self._written(unit.name, unit.title, unit.cost, most, partial(self._unit, unit))
        if made is None:
            return
        internal = int(unit.internal * made.bytes)
        if internal <= self._room:
            self._room -= internal
            content = {**made.content, "shown": unit.shown, "internal": internal}
            self._saved[unit.name] = replace(made, rows=unit.rows, content=content)

    def _unit(self, unit: UnitImage, sink: PieceSink) -> Any:
        return written(unit.frozen, sink, self._still)

    def _has_values(self, name: str | None) -> bool:
        if name is None or name in self._refused:
            return False
        if name in self._saved:
            return True
        of = self._image.values[name]
        keep = partial(of.values.written, of.column, self._codec)
        made = of.saved or self._written(name, of.column.domain, 0.0, self._room, keep)
        if made is None or made.bytes > self._room:
            self._refused.add(name)
            return False
        self._room -= made.bytes
        content = {**made.content, "internal": made.bytes}
        self._saved[name] = replace(made, rows=made.content["count"], content=content)
        return True

    def _written(
        self, name: str, title: str, cost: float, most: int, keep: Callable[[PieceSink], Any]
    ) -> SavedUnit | None:
        first, before, sink = self._writer.next, len(self._writer.sums), PieceSink(self._writer.write, most)
        try:
            content = keep(sink)
        except (ValueError, UnitTooLarge):
            return None
        sink.finish()
        sums = tuple(self._writer.sums[before:])
        return SavedUnit(name, title, 0, cost, content, first, len(sums), sink.size, sums)
