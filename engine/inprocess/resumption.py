"""A runtime that begins with units that were kept: the first epoch derives the others alone.

kept units      ██ ██ ██            are put into the state, and read when they are needed
other nodes         ░░ ░░           are walked: what they read of kept units is their change
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..circuit import Circuit, Fixpoint, FixpointResult, Input, Node, NodeId, Output, Trace
from ..epoch import FirstEpoch
from ..integrals import shown
from ..schedule import readers
from ..schema import Array, Column, Kind, Schema
from . import durablecontents
from .arrangements.store import Store
from .arrangements.views import Readable
from .state import State
from .storage.batch import Batch, TableColumns
from .storage.interner import Values
from .storage.serialization import MOST_ROWS, ByteSource, Frozen, Kept, Sink, checked_number
from .units import domains_of, freeze_unit, is_unit, is_unread, restore_unit, rows_of, unit_nodes


@dataclass(frozen=True)
class Unit:
    """A part of the state that can be kept. `relations` are those that it holds, by name, with their rows;
    `seconds` is what deriving it took; `domains` are columns of the values of which it holds numbers.
    `unread`: it is as it was kept before. `freeze` gives it as it is now; see `freeze_unit`."""

    node: NodeId
    title: str
    relations: Mapping[str, Schema]
    rows: int
    seconds: float
    domains: Sequence[Column]
    unread: bool
    freeze: Callable[[bool], Frozen]


def units(state: State, times: Mapping[NodeId, float]) -> Iterator[Unit]:
    """The units of a state."""
    nodes = state.circuit.nodes
    columns = _columns(state.circuit)
    seconds = _seconds(state, times)
    names = {shown(state.circuit, at): name for name, at in state.circuit.relations}
    for at in unit_nodes(state):
        if is_unit(state, at):
            domains = [columns[name] for name in sorted(domains_of(state, at)) if name in columns]
            title = names.get(at) or _title(nodes[at]) or _purpose(state.circuit, at, names)
            shown_by = _relations(state, at, names)
            freeze, unread = partial(freeze_unit, state, at), is_unread(state, at)
            yield Unit(at, title, shown_by, rows_of(state, at), seconds[at], domains, unread, freeze)


def _relations(state: State, at: NodeId, names: Mapping[NodeId, str]) -> dict[str, Schema]:
    """The declared relations that a unit holds."""
    nodes = state.circuit.nodes
    if at in state.recursions:
        results = (
            (k, node)
            for k, node in enumerate(nodes)
            if isinstance(node, FixpointResult) and node.fixpoint == at
        )
        return {names[k]: node.schema for k, node in results if k in names}
    return {names[at]: nodes[at].schema} if at in names and at in state.stores else {}


def _title(node: Node) -> str:
    if isinstance(node, Fixpoint):
        return ", ".join(name for name, _ in node.results)
    return " ".join(node.text.split())


def _purpose(circuit: Circuit, at: NodeId, names: Mapping[NodeId, str]) -> str:
    """A text for a node that has none: the nearest relation or rule that reads it."""
    read_by, waiting = readers(circuit), [at]
    for node in waiting:
        found = names.get(node) or _title(circuit.nodes[node])
        if found:
            return f"for {found}"
        waiting += [each for each in read_by[node] if each not in waiting]
    return "without a reader"


def _columns(circuit: Circuit) -> dict[str, Column]:
    """A column of each domain that has one."""
    schemas = [node.schema for node in circuit.nodes]
    schemas += [
        node.schema for each in circuit.nodes if isinstance(each, Fixpoint) for node in each.body.nodes
    ]
    kinds = (Kind.OBJECT, Kind.INT)
    return {column.domain: column for schema in schemas for column in schema if column.kind in kinds}


def _seconds(state: State, times: Mapping[NodeId, float]) -> dict[NodeId, float]:
    """The seconds of each unit, with the nodes that only it is derived through."""
    found, nodes = dict(times), state.circuit.nodes
    holding = set(unit_nodes(state))
    passed: dict[NodeId, float] = {}
    for at, node in enumerate(nodes):
        below = sum(passed.get(source, 0.0) for source in dict.fromkeys(node.reads()))
        found[at] = times.get(at, 0.0) + below
        passed[at] = 0.0 if at in holding else found[at]
    return found


# ----------------------------------------------------------------- values


class ValueCodec(Protocol):
    """Writes interned values, and reads them again."""

    def keep(self, column: Column, values: Sequence[Any], sink: Sink) -> Kept:
        """Writes values of a column. Raises ValueError for one that cannot be written."""

    def read(self, column: Column, kept: Kept, source: ByteSource) -> Sequence[Any]:
        """The values that were written."""


@dataclass(frozen=True)
class FrozenValues:
    """The values of a domain, to be written; so many ids were `given` to values. `unread`: they are as they
    were kept before, and none are given here."""

    count: int
    given: int
    free: Sequence[int]
    listed: Sequence[Any]
    unread: bool

    def written(self, column: Column, codec: ValueCodec, sink: Sink) -> Kept:
        """Writes the values, with their numbers. Raises ValueError."""
        values = codec.keep(column, self.listed, sink)
        return {"count": self.count, "given": self.given, "free": self.free, "values": values}


def freeze_values(values: Values, column: Column, copied: bool, unread: bool) -> FrozenValues:
    """The values of the domain of a column as they are now; `copied`: whatever becomes of them. `unread`:
    values that were kept before, and not needed since, need not be read."""
    interner = values.domain(column.domain)
    if unread and interner.is_unread:
        return FrozenValues(len(interner), interner.given, (), (), True)
    listed, free = interner.listed(), list(interner.free)
    return FrozenValues(len(interner), interner.given, free, list(listed) if copied else listed, False)


def restore_values(
    values: Values, column: Column, codec: ValueCodec, kept: Mapping[str, Any], source: ByteSource
) -> None:
    """Gives a domain without values those that were written."""
    count = checked_number(kept["count"], MOST_ROWS, source)
    given = checked_number(kept["given"], MOST_ROWS, source)
    free = [checked_number(each, count + len(kept["free"]) - 1, source) for each in kept["free"]]

    def read() -> Sequence[Any]:
        try:
            found = codec.read(column, kept["values"], source)
        except (ValueError, TypeError, LookupError) as error:
            raise source.refused(str(error)) from None
        if len(found) != count:
            raise source.refused("there are not as many values")
        return found

    if len({*free}) != len(free):
        raise source.refused("a number is free twice")
    values.domain(column.domain).restore(count, free, given, read)


# --------------------------------------------------------------- beginning


def begun(
    state: State, found: Mapping[NodeId, tuple[Mapping[str, Any], ByteSource]]
) -> FirstEpoch[Batch | None]:
    """Puts kept units into a state that has had no epoch. Returns what the first epoch does."""
    for at, (kept, source) in found.items():
        restore_unit(state, at, kept, source)
    return beginning(state, found)


def beginning(state: State, found: Collection[NodeId]) -> FirstEpoch[Batch | None]:
    """The plan of the first epoch of a state in which these nodes have all their rows."""
    nodes = state.circuit.nodes
    there = {*found}
    there |= {
        at for at, node in enumerate(nodes) if isinstance(node, FixpointResult) and node.fixpoint in found
    }
    wanted = _wanted(state, there)
    read = {source for at in wanted for source in nodes[at].reads()} - wanted
    known = {at: _contents(state, at) for at in read if at in there and not isinstance(nodes[at], Fixpoint)}
    return FirstEpoch(sorted(wanted), known)


def _wanted(state: State, there: Collection[NodeId]) -> set[NodeId]:
    """The nodes that are to be walked, where some are there."""
    nodes = state.circuit.nodes
    waiting = [at for at in unit_nodes(state) if at not in there]
    wanted: set[NodeId] = set()
    while waiting:
        at = waiting.pop()
        if at in wanted or at in there or isinstance(nodes[at], Trace):
            continue
        wanted.add(at)
        waiting.extend(nodes[at].reads())
    ends = (FixpointResult, Output)
    for at, node in enumerate(nodes):  # in order: an output may show a result
        if isinstance(node, ends) and any(source in wanted for source in node.reads()):
            wanted.add(at)
    return wanted


def _contents(state: State, at: NodeId) -> Batch | None:
    """The rows of a node that is there."""
    if at in state.stores:
        batch = state.stores[at].batch()
    elif at in state.groups:
        batch = state.groups[at].contents()
    elif at in state.clocks:
        batch = durablecontents.contents_of(state, at)
    else:
        node = state.circuit.nodes[at]
        assert isinstance(node, FixpointResult)
        batch = state.recursions[node.fixpoint].relations[node.relation].batch()
    return batch if batch.length else None


class _Contents(TableColumns):
    """The columns of all rows of a store, which are looked up when they are first read."""

    def __init__(self, store: Readable) -> None:
        super().__init__(store.table, 0, store.present)
        self._store, self._rows = store, None

    _rows: Array | None

    def unpack(self, position: int) -> Array:
        if self._rows is None:
            self._rows = self._store.rows()
        return self._store.table.column_at(self._rows, position)

    def rows(self) -> list[tuple[int, ...]]:
        """The rows of the store, one by one. Its table may also have rows that were deleted."""
        return list(zip(*[column.tolist() for column in self], strict=True)) or [()] * self._stop

    def part(self, start: int, stop: int) -> Any:
        return tuple(self[position][start:stop] for position in range(len(self)))


def held(store: Readable) -> Batch:
    """All rows of a relation, to be read before the next epoch."""
    if isinstance(store, Store) and not store.is_set:
        return store.batch()
    return Batch(_Contents(store), store.present)


def restored_inputs(circuit: Circuit, found: Collection[NodeId]) -> set[str]:
    """The input relations among nodes."""
    nodes = (circuit.nodes[at] for at in found)
    return {node.relation for node in nodes if isinstance(node, Input)}
