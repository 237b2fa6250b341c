"""A recursion of an evaluation without state: from tables of what it imports to tables of its relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...circuit import Fixpoint, NodeId, Result
from ...epoch import Epoch
from ...schedule import walk
from ..change import Change
from ..memories import Imported
from ..recursion import RunningRecursion
from ..running import RunningEpoch
from ..spine import Spine
from ..state import State
from ..tables import Table


def evaluated(
    state: State, at: NodeId, imported: Callable[[NodeId], Table], epoch: Epoch[Table]
) -> dict[NodeId, Table]:
    """The rows of the Result nodes of a Fixpoint, each once. `imported` gives the rows of a node that it
    reads. Raises what `walk` raises."""
    nodes = state.circuit.nodes
    results = [k for k, node in enumerate(nodes) if isinstance(node, Result) and node.fixpoint == at]
    running = _Alone(state, epoch, imported)
    walk(state.circuit, running, [at, *results], epoch.limit, epoch.progress)
    return {
        k: state.tables.nothing(nodes[k].schema) if change is None else change.table
        for k, change in running.found.items()
    }


class _Alone(RunningEpoch):
    """An epoch in which one recursion runs."""

    def __init__(self, state: State, epoch: Epoch[Table], imported: Callable[[NodeId], Table]) -> None:
        super().__init__(state, epoch)
        self.found: dict[NodeId, Change | None] = {}
        self._imported = imported

    def recursion(self, at: NodeId, node: Fixpoint, changes: Mapping[int, Change | None]) -> RunningRecursion:
        imports = {source: self._import(source) for source in dict.fromkeys(node.reads())}
        running = self.state.recursions[at].begin(imports, self.epoch, self.epoch.number)
        running.seed()
        return running

    def _import(self, at: NodeId) -> Imported:
        table = self._imported(at)
        spine = Spine(self.tables, self.circuit.nodes[at].schema)
        spine.parts += [table] if table.rows else []
        return Imported(spine, table)

    def keep(self, at: NodeId, change: Change | None) -> None:
        self.found[at] = change
