"""The memory that the state of a circuit takes, by store."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from gc import get_referents
from types import ModuleType
from typing import Any

import numpy as np

from ..circuit import Fixpoint
from ..integrals import shown
from ..runtime import Held
from .arrangements.index import RowIndex
from .arrangements.timeline import Timeline
from .arrangements.views import Readable
from .groups.group import GroupState
from .recursion.loops import LoopRecursion
from .recursion.steplists import StepLists
from .state import State
from .storage.batch import Batch
from .storage.derivedcolumns import DerivedValues
from .storage.interner import Interner, Values
from .storage.layout import PackedColumns
from .storage.table import RowTable

_SAMPLE = 200  # values of a domain that are measured
_DEEPEST = 5  # levels of a value that are measured
_ENTRY = 100  # bytes of an entry of a dictionary of numbers, about
_SHARED = (type, ModuleType, np.ndarray, int, float, bool, type(None))


def footprint(state: State) -> Iterator[Held]:
    """The relations, groups and domains of a state with their sizes. The room that arrays have to grow
    counts; the bytes of interned values are estimated from a sample of them."""
    for name, store in stores_by_name(state):
        yield Held("relation", name, store.present, _parts(store))
    for at, group in state.groups.items():
        text = " ".join(state.circuit.nodes[at].text.split())
        yield Held("groups", text, group.alive, {"groups": _group_bytes(group)})
    for recursion in state.recursions.values():
        if isinstance(recursion, LoopRecursion):
            yield from _loop(recursion)
    yield from _domains(state.values)


def _loop(recursion: LoopRecursion) -> Iterator[Held]:
    """The memory that a loop keeps beside its relations."""
    name, paths, recording, kept = recursion.phase, recursion.paths, recursion.recording, recursion.kept
    if paths is not None and paths.begun:
        yield Held("recursion", name, paths.used, {"paths": sum(map(_bytes, vars(paths).values()))})
    if recording is not None:
        size = sum(map(_batch_bytes, recording.batches()))
        yield Held("recursion", name, recording.rows, {"rounds": size})
    elif kept is not None:
        timelines = kept.all_timelines()
        parts = _timeline_parts(timelines) | {"sums": sum(_bytes(each.arrays) for each in kept.sums)}
        yield Held("recursion", name, sum(each.chains.used for each in timelines), parts)


def _timeline_parts(timelines: Sequence[Timeline]) -> dict[str, int]:
    tables = {id(timeline.table): timeline.table for timeline in timelines}
    return {
        "entries": sum(_bytes(t.chains.arrays) for t in timelines),
        "tables": sum(map(_bytes, tables.values())),
        "indexes": sum(_bytes(timeline.indexes) for timeline in timelines),
    }


def _batch_bytes(batch: Batch) -> int:
    words = 1 if isinstance(batch.columns, PackedColumns) else len(batch.columns)
    return 8 * batch.length * (words + (batch.weights is not None))


def _names(state: State) -> dict[int, str]:
    """The name of each store, by identity: of its relation, or the text of its rule."""
    circuit = state.circuit
    relations = {shown(circuit, at): name for name, at in circuit.relations}
    names: dict[int, str] = {}
    for at, node in enumerate(circuit.nodes):
        if isinstance(node, Fixpoint):
            names |= {id(each): name for name, each in state.recursions[at].relations.items()}
        elif at in state.stores:
            names.setdefault(id(state.stores[at]), relations.get(at, " ".join(node.text.split())))
    for at, store in state.memories.by_node():
        names[id(store)] = " ".join(circuit.nodes[at].text.split())
    return names


def stores_by_name(state: State) -> list[tuple[str, Readable]]:
    """The stores of a state with the names of their relations, or the texts of their rules."""
    names = _names(state)
    return [(names[id(store)], store) for store in state.relations()]


def store_size(store: Readable) -> int:
    """The bytes of a store."""
    return sum(_parts(store).values())


def _parts(store: Readable) -> dict[str, int]:
    """The bytes of the parts of a store."""
    parts = {"table": _bytes(store.table)}
    for positions, index in store.indexes.items():
        by = ", ".join(store.schema[k].name if isinstance(k, int) else repr(k) for k in positions)
        parts[f"index by ({by})"] = parts.get(f"index by ({by})", 0) + _bytes(index)
    if store.weights is not None:
        parts["weights"] = store.weights.nbytes
    apart = {"table", "indexes", "_indexes", "weights"}
    history = sum(_bytes(held) for key, held in vars(store).items() if key not in apart)
    if history:
        parts["history"] = history
    return parts


def _group_bytes(group: GroupState) -> int:
    accumulators = sum(_bytes(held) for each in group.accumulators for held in vars(each).values())
    return accumulators + sum(_bytes(held) for held in vars(group).values())


def _bytes(held: Any) -> int:
    """The bytes of an array, or of the arrays in a table, an index or a collection."""
    match held:
        case np.ndarray():
            return held.nbytes
        case RowTable() | DerivedValues():
            return sum(map(_bytes, vars(held).values()))
        case StepLists():
            return sum(map(_bytes, vars(held).values()))
        case RowIndex():
            return sum(_bytes(each) for key, each in vars(held).items() if key != "table")
        case dict():
            inside = sum(map(_bytes, held.values()))
            return inside or _ENTRY * len(held)
        case list() | tuple():
            return sum(map(_bytes, held))
    return 0


def _domains(values: Values) -> Iterator[Held]:
    for name, interner in values.domains():
        if len(interner):
            yield Held("values", name, len(interner.ids), {"values": _value_bytes(interner)})


def _value_bytes(interner: Interner) -> int:
    held = sys.getsizeof(interner.ids) + sys.getsizeof(interner.values) + sys.getsizeof(interner.free)
    values = interner.values
    sample = values[:: max(1, len(values) // _SAMPLE)]
    return held + sum(map(_size, sample)) * len(interner.ids) // len(sample)


def _size(value: Any, depth: int = 0) -> int:
    """The bytes of a value with the values in it."""
    if depth > _DEEPEST or (depth and isinstance(value, _SHARED)):
        return 0
    inside = () if isinstance(value, str | bytes | int) else get_referents(value)
    return sys.getsizeof(value) + sum(_size(each, depth + 1) for each in inside)
