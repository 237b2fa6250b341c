"""Relations that only windows read: they need not keep the rows that no window holds.

A row that left all windows, or came too late for them, does not come back, and whether it is there makes no
difference any more: inserting it again, or deleting it, changes no window. The same goes for a relation
between an input and a window if each of its rows is one row of the input, which forgets the row, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .circuit import (
    Circuit,
    Clock,
    Constant,
    DeltaDistinct,
    Exchange,
    Input,
    Integrate,
    Join,
    Late,
    NodeId,
    Sum,
    Trace,
    Window,
)
from .operators.steps import has_effect
from .schedule import readers


@dataclass(frozen=True, slots=True)
class Holder:
    """A window over a relation: `columns` are the places of the window's columns among those of the
    relation."""

    window: NodeId
    columns: tuple[int, ...]


def forgetful_nodes(circuit: Circuit) -> dict[NodeId, tuple[Holder, ...]]:
    """The inputs and the relations between them and windows, in an incremental circuit, of which only windows
    need rows, with these windows."""
    search = _Search(circuit)
    while True:
        found = search.holding()
        lasting = found.keys() - search.forgetting(found)
        if not lasting:
            return found
        search.lasting |= lasting


@dataclass
class _Search:
    """`lasting` are the nodes that keep their rows, though only windows need them: a row of theirs may be
    taken back by a node that keeps it."""

    circuit: Circuit
    lasting: set[NodeId] = field(default_factory=set)

    def __post_init__(self) -> None:
        nodes = self.circuit.nodes
        self.read_by = readers(self.circuit)
        named = {place for _, place in self.circuit.relations}
        self.stored = {
            at
            for at, node in enumerate(nodes)
            if isinstance(node, Input | DeltaDistinct) or (at in named and isinstance(node, Join | Sum))
        }
        self.lasting |= {at for at, node in enumerate(nodes) if isinstance(node, Input) and _stays(node)}

    def holding(self) -> dict[NodeId, tuple[Holder, ...]]:
        """The stored nodes of which only windows need rows."""
        known: dict[NodeId, list[Holder] | None] = {}
        for at in reversed(range(len(self.circuit.nodes))):
            known[at] = None if at in self.lasting else self._of_readers(at, known)
        return {at: tuple(holders) for at in sorted(self.stored) if (holders := known[at])}

    def forgetting(self, found: dict[NodeId, tuple[Holder, ...]]) -> set[NodeId]:
        """The nodes whose rows come from such that all forget them, or never take one back."""
        forgetting: set[NodeId] = set()
        for at, node in enumerate(self.circuit.nodes):
            match node:
                case Constant() | Trace():
                    forgets = True
                case Integrate(source):
                    origin = self.circuit.nodes[source]
                    forgets = isinstance(origin, Late) or (isinstance(origin, Input) and origin.stream)
                case Input():
                    forgets = at in found
                case Join() | Sum() | DeltaDistinct() | Exchange():
                    forgets = (at in found or at not in self.stored) and forgetting.issuperset(node.reads())
                case _:
                    forgets = False
            if forgets:
                forgetting.add(at)
        return forgetting

    def _of_readers(self, at: NodeId, known: dict[NodeId, list[Holder] | None]) -> list[Holder] | None:
        """The windows over a node; None if something else needs its rows. Those over its readers are known,
        but for a reader that comes before it, in a cycle, which needs them."""
        found: list[Holder] = []
        for reader in self.read_by[at]:
            node = self.circuit.nodes[reader]
            match node:
                case Trace() | Clock() | Late():
                    continue
                case Window():
                    found.append(Holder(reader, tuple(range(len(node.schema)))))
                    continue
                case Sum() | DeltaDistinct() | Exchange():
                    holders = known.get(reader)
                case Join() if len(node.terms) == 1 and not node.terms[0].negated:
                    holders = _before(node, known.get(reader))
                case _:
                    holders = None
            if holders is None:
                return None
            found += holders
        width = len(self.circuit.nodes[at].schema)
        if at in self.stored and any(sorted(each.columns) != list(range(width)) for each in found):
            return None
        return found


def _stays(node: Input) -> bool:
    return node.stream or node.lasting


def _before(join: Join, holders: list[Holder] | None) -> list[Holder] | None:
    """The windows over a join of one term as windows over its term."""
    if holders is None or any(map(has_effect, join.steps)):
        return None
    columns: dict[str, int] = {}
    for place, name in enumerate(join.terms[0].columns):
        if name is not None:
            columns.setdefault(name, place)
    found = []
    for holder in holders:
        names = [join.output[place] for place in holder.columns]
        if any(name not in columns for name in names):
            return None
        found.append(Holder(holder.window, tuple(columns[name] for name in names)))
    return found
