"""Output relations of a checkpoint as Arrow tables, without the program: for `ddlog state FILE --export`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...durability.checkpoint import Checkpoint, PieceSource, SavedUnit, checkpoint, is_intact
from ...durability.parts import unpacked
from ...durability.store import FileStore
from ...engine.inprocess.storage.serialization import read_array

if TYPE_CHECKING:
    import pyarrow as pa

_LIMIT = 1 << 62  # numbers from it on stand for values


def output_tables(store: FileStore) -> Iterator[tuple[str, pa.Table]]:
    """The output relations of the checkpoint of a state, if it is that of the last epoch: all rows, each as
    often as it is there. Fields of records are columns of their own."""
    import pyarrow as pa

    there = checkpoint(store)
    if there is None or there.problem or there.epoch != store.head.epoch:
        return
    values = _Values(store, there)
    for unit in there.units.values():
        for name, columns in unit.content.get("shown", {}).items():
            if not is_intact(store, unit):
                continue
            source = PieceSource(store, unit)
            table, weights = _held(unit, name)
            arrays = [read_array(each, source) for each in table["columns"]]
            if weights is not None:
                times = read_array(weights[0], source)
                times = np.minimum(times, 1) if weights[1] else times
                arrays = [np.repeat(each, np.maximum(times, 0)) for each in arrays]
            found = [
                values.column(column[1], column[2], array)
                for column, array in zip(columns, arrays, strict=True)
            ]
            if found and all(each is not None for each in found):
                yield name, pa.table(found, [column[0] for column in columns])


def _held(unit: SavedUnit, name: str) -> tuple[Mapping[str, Any], tuple[Any, bool] | None]:
    """The table of a relation of a unit, and its weights, with whether they only tell what is present."""
    content = unit.content
    if "store" in content:
        store = content["store"]
        weights = store["weights"]
        return store["table"], None if weights is None else (weights, store["set"])
    relation = content["relations"][name]
    return relation[0], (relation[1], True) if content["ranked"] else None


class _Values:
    """The interned values of a checkpoint, by their type."""

    def __init__(self, store: FileStore, there: Checkpoint) -> None:
        self._store = store
        self._units = {unit.title: unit for name, unit in there.units.items() if name.startswith("values ")}

    def column(self, kind: str, domain: str, codes: Any) -> pa.Array | None:
        """A column of numbers of a kind as its values; None if they are not there."""
        import pyarrow as pa

        if kind == "bool":
            return pa.array(codes != 0)
        if kind == "float":
            return pa.array(codes.view(np.float64))
        if kind == "int" and (not len(codes) or int(codes.max()) < _LIMIT):
            return pa.array(codes)
        unit = self._units.get(domain)
        if unit is None or unit.content["free"] or not is_intact(self._store, unit):
            return None
        return self._values(unit, kind, codes)

    def _values(self, unit: SavedUnit, kind: str, codes: Any) -> pa.Array | None:
        import pyarrow as pa

        kept, source = unit.content["values"], PieceSource(self._store, unit)
        if kind == "int":
            return None
        if len(kept) == 2:  # texts: their sizes and bytes
            ends = np.cumsum(read_array(kept[0], source))
            data = read_array(kept[1], source).tobytes()
            starts = [0, *ends.tolist()]
            listed = [data[a:b].decode("utf-8", "replace") for a, b in pairwise(starts)]
            array = pa.array(listed, pa.string())
        else:
            array = unpacked(read_array(kept, source).tobytes()).column("value").combine_chunks()
        return array.take(pa.array(codes))
