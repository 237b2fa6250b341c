"""The units of a state that can be kept beyond the process, and a state that begins with some of them.

A unit is what one node of a circuit holds: the store of its rows, its groups, or the relations of its
recursion. What is kept of it is enough to go on exactly as before; indexes are built again on demand.
Loops and memories of earlier epochs are no units: they are derived again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from .. import thresholds
from ..circuit import DeltaGroup, FixpointResult, NodeId
from ..maintenance import Costs, IterationRows, number
from ..schema import Array, Kind, Schema
from .arrangements.store import Store
from .arrangements.windows import WindowStore
from .groups.accumulators import Accumulator, Count, FloatSum, IntegerSum
from .groups.extremes import BY_RANK, Extreme
from .groups.group import GroupState
from .groups.wholegroups import FirstRows, Whole
from .recursion.growingset import GrowingSet
from .recursion.rankedrelation import Ranked
from .recursion.recursion import Recursion
from .state import State
from .storage.interner import Values
from .storage.serialization import (
    Bounds,
    ByteSource,
    Frozen,
    Kept,
    checked_number,
    frozen_table,
    later_array,
    part_of,
    read_array,
    restore_table,
)
from .storage.unread import AHEAD, all_unread, read_later, some_read

_COSTS = ("rate", "comparing", "going", "coming", "preparing")


def unit_nodes(state: State) -> Iterator[NodeId]:
    """The nodes that hold something, whether it is a unit or not."""
    nodes = state.circuit.nodes
    clocked = {at for at, _ in state.memories.by_node()}
    for at, node in enumerate(nodes):
        own = at in state.stores and not isinstance(node, FixpointResult)
        if own or at in state.groups or at in state.clocks or at in state.recursions or at in clocked:
            yield at


def is_unit(state: State, at: NodeId) -> bool:
    """Whether all that a node holds can be kept."""
    if at in state.clocks or at in state.forgetful or at in state.remembering:
        return False
    if any(at == each for each, _ in state.memories.by_node()):
        return False
    if at in state.recursions:
        return isinstance(state.recursions[at], Recursion)
    if at in state.groups and not all(map(_is_kept, state.groups[at].accumulators)):
        return False
    store = state.stores.get(at)
    return store is None or (isinstance(store, Store) and not isinstance(store, WindowStore))


def _is_kept(accumulator: Accumulator) -> bool:
    match accumulator:
        case FloatSum():
            return len(accumulator.sums) <= thresholds.KEPT_SUMS
        case IntegerSum():
            return len(accumulator.huge) <= thresholds.KEPT_SUMS
    return isinstance(accumulator, Count | Extreme | Whole | FirstRows)


def domains_of(state: State, at: NodeId) -> set[str]:
    """The domains whose interned values the rows of a unit may have."""
    schemas: list[Schema] = []
    node = state.circuit.nodes[at]
    if at in state.stores:
        schemas.append(state.stores[at].schema)
    if at in state.recursions:
        schemas += [each.schema for each in state.recursions[at].relations.values()]
    if isinstance(node, DeltaGroup):
        schemas += [node.schema, state.circuit.nodes[node.source].schema]
    kinds = (Kind.OBJECT, Kind.INT)
    return {column.domain for schema in schemas for column in schema if column.kind in kinds}


def is_unread(state: State, at: NodeId) -> bool:
    """Whether a unit was restored, and nothing of it was needed: then it is as it was kept."""
    owners: list[Any] = []
    if at in state.recursions:
        owners += state.recursions[at].relations.values()
    if at in state.stores and at not in state.recursions:
        owners.append(state.stores[at])
    tables = [each.table for each in owners]
    if at in state.groups:
        owners.append(state.groups[at])
        tables.append(state.groups[at].keys)
    return all(all_unread(each) and not each.made for each in tables) and not any(map(some_read, owners))


def rows_of(state: State, at: NodeId) -> int:
    """The number of rows of a unit."""
    if at in state.recursions:
        return sum(each.present for each in state.recursions[at].relations.values())
    return state.stores[at].present if at in state.stores else state.groups[at].alive


# ---------------------------------------------------------------- freezing


def freeze_unit(state: State, at: NodeId, copied: bool) -> Frozen:
    """A unit as it is now, between epochs, to be written. `copied`: whatever epochs follow."""
    frozen: dict[str, Frozen] = {}
    if at in state.recursions:
        recursion = state.recursions[at]
        assert isinstance(recursion, Recursion)
        return _recursion(recursion, copied)
    if at in state.stores:
        frozen["store"] = _store(state.own_store(at), copied)
    if at in state.groups:
        frozen["group"] = _group(state.groups[at], copied)
    return frozen


def _store(store: Store, copied: bool) -> Frozen:
    weights = None if store.weights is None else part_of(store.weights[: store.table.size], copied)
    return {
        "weights": weights,
        "table": frozen_table(store.table),
        "present": store.present,
        "set": store.is_set,
        "indexes": _arrangements(store),
    }


def _arrangements(store: Any) -> Kept:
    """The columns by which the rows of a relation are arranged."""
    return [list(by) for by in store.indexes if all(isinstance(each, int) for each in by)]


def _to_be_arranged(store: Any, kept: Kept, source: ByteSource) -> None:
    arity = len(store.schema)
    vars(store)[AHEAD] = [tuple(checked_number(each, arity - 1, source) for each in by) for by in kept]


def _group(group: GroupState, copied: bool) -> Frozen:
    size = group.keys.size
    return {
        "keys": frozen_table(group.keys),
        "alive": group.alive,
        "counts": part_of(group.counts[:size], copied),
        "results": [part_of(each[:size], copied) for each in group.results],
        "accumulators": [_accumulator(each, size, copied) for each in group.accumulators],
    }


def _accumulator(accumulator: Accumulator, size: int, copied: bool) -> Frozen:
    match accumulator:
        case IntegerSum():
            huge = [[group, f"{total:x}"] for group, total in accumulator.huge.items()]
            low, high = (part_of(each[:size], copied) for each in (accumulator.low, accumulator.high))
            return [low, high, huge]
        case FloatSum():
            return [[group, f"{finite:x}", *rest] for group, (finite, *rest) in accumulator.sums.items()]
        case Extreme():
            return [accumulator.mode, *(part_of(each, copied) for each in accumulator.kept(size))]
    return None


def _recursion(recursion: Recursion, copied: bool) -> Frozen:
    costs = recursion.costs
    return {
        "flags": [recursion.knows_births] * 2,  # of growing sets, and of ranks
        "costs": [*(getattr(costs, name) for name in _COSTS), 0.0, costs.is_measured],  # 0.0: read by nothing
        "known": sorted(costs.known),
        "profile": costs.profile.kept(),
        "ranked": recursion.ranked is not None,
        "relations": {name: _relation(each, copied) for name, each in recursion.relations.items()},
        "indexes": {name: _arrangements(each) for name, each in recursion.relations.items()},
    }


def _relation(relation: Any, copied: bool) -> Frozen:
    table, size = frozen_table(relation.table), relation.table.size
    if isinstance(relation, Ranked):
        return [table, part_of(relation.weights[:size], copied), relation.latest, relation.present]
    assert isinstance(relation, GrowingSet)
    came, reached = relation.arrivals
    times = [part_of(np.array(each, np.int64)) for each in (came, reached)]
    return [table, relation.iterations_run, *times]


# --------------------------------------------------------------- restoring


def restore_unit(state: State, at: NodeId, kept: Mapping[str, Any], source: ByteSource) -> None:
    """Puts a unit into a state that has had no epoch. Raises what `source` refuses it by, if it can be none;
    and KeyError, TypeError and ValueError."""
    if at in state.recursions:
        recursion = state.recursions[at]
        assert isinstance(recursion, Recursion)
        _restore_recursion(state.values, recursion, kept, source)
        state.reread(at)
        return
    if "store" in kept:
        _restore_store(state.values, state.own_store(at), kept["store"], source)
    if "group" in kept:
        _restore_group(state.values, state.groups[at], kept["group"], source)


def _restore_store(values: Values, store: Store, kept: Mapping[str, Any], source: ByteSource) -> None:
    restore_table(store.table, kept["table"], source, _bounds(values, store.schema))
    store.present = checked_number(kept["present"], store.table.size, source)
    _to_be_arranged(store, kept["indexes"], source)
    if kept["weights"] is not None:
        read_later(store, "weights", later_array(kept["weights"], source, store.table.size))


def _bounds(values: Values, schema: Schema) -> list[Bounds]:
    """The least and the greatest number in each column."""
    return [values.bounds(column) for column in schema]


def _restore_group(values: Values, group: GroupState, kept: Mapping[str, Any], source: ByteSource) -> None:
    bounds = _bounds(values, group.node.schema)
    restore_table(group.keys, kept["keys"], source, bounds[: group.arity])
    size = group.keys.size
    group.alive = checked_number(kept["alive"], size, source)
    counts = later_array(kept["counts"], source, size)
    read_later(group, "counts", partial(_counts, counts, group.alive, source))
    results = [
        later_array(each, source, size, of)
        for each, of in zip(kept["results"], bounds[group.arity :], strict=True)
    ]
    read_later(group, "results", lambda: [read() for read in results])
    for accumulator, of in zip(group.accumulators, kept["accumulators"], strict=True):
        _restore_accumulator(accumulator, of, source, size)


def _counts(read: Callable[[], Array], alive: int, source: ByteSource) -> Array:
    """The numbers of the rows of groups, so many of which have rows."""
    counts = read()
    if np.count_nonzero(counts > 0) != alive:
        raise source.refused("other groups have rows")
    return counts


def _restore_accumulator(accumulator: Accumulator, kept: Kept, source: ByteSource, size: int) -> None:
    match accumulator:
        case IntegerSum():
            low, high, huge = kept
            read_later(accumulator, "low", later_array(low, source, size))
            read_later(accumulator, "high", later_array(high, source, size))
            accumulator.huge = {checked_number(group, size, source): int(total, 16) for group, total in huge}
        case FloatSum():
            accumulator.sums = {
                checked_number(group, size, source): (int(finite, 16), int(nans), int(plus), int(minus))
                for group, finite, nans, plus, minus in kept
            }
        case Extreme():
            mode, best, known = kept
            parts = later_array(best, source, size), later_array(known, source, size, (0, 1))
            accumulator.restore(checked_number(mode, BY_RANK, source), parts)


def _restore_recursion(
    values: Values, recursion: Recursion, kept: Mapping[str, Any], source: ByteSource
) -> None:
    recursion.knows_births = bool(kept["flags"][bool(kept["ranked"])])
    recursion.costs = Costs(
        **{name: number(value) for name, value in zip(_COSTS, kept["costs"][:5], strict=True)}
    )
    recursion.costs.resume(kept["costs"][-1], kept["known"], IterationRows.restored(kept["profile"]))
    if kept["ranked"]:
        recursion.ranked = {
            name: _ranked(values, recursion.schemas[name], kept["relations"][name], source)
            for name in recursion.relations
        }
        recursion.sets = {}
    else:
        _restore_sets(values, recursion, kept, source)
    for name, relation in recursion.relations.items():
        _to_be_arranged(relation, kept["indexes"][name], source)


def _restore_sets(values: Values, recursion: Recursion, kept: Mapping[str, Any], source: ByteSource) -> None:
    for name, relation in recursion.sets.items():
        table, iterations, came, reached = kept["relations"][name]
        restore_table(relation.table, table, source, _bounds(values, relation.schema))
        arrived = [read_array(came, source), read_array(reached, source, (0, relation.table.size))]
        if len(arrived[0]) != len(arrived[1]) or any(bool((np.diff(each) <= 0).any()) for each in arrived):
            raise source.refused("iterations are not in order")
        relation.restore(iterations, *(array("q", each.tolist()) for each in arrived))


def _ranked(values: Values, schema: Schema, kept: Kept, source: ByteSource) -> Ranked:
    table, weights, latest, present = kept
    found = Ranked.empty(schema)
    restore_table(found.table, table, source, _bounds(values, schema))
    read_later(found, "weights", later_array(weights, source, found.table.size))
    found.restore(latest, checked_number(present, found.table.size, source))
    return found
