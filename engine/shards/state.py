"""The shard of the state of a circuit that one worker has."""

from __future__ import annotations

from functools import partial

from ..circuit import Fixpoint, NodeId
from ..incremental import relational
from ..inprocess.arrangements.signedstore import SignedStore
from ..inprocess.arrangements.store import Store
from ..inprocess.recursion.bracket import Bracketed
from ..inprocess.recursion.loops import LoopRecursion
from ..inprocess.recursion.paths import Paths
from ..inprocess.recursion.recursion import Recursion
from ..inprocess.state import State
from ..inprocess.storage.interner import Values
from ..inprocess.storage.marks import Marks
from ..inprocess.storage.steps import Evaluator
from ..maintenance import Maintaining
from .carried import Keys
from .copies import Copies
from .loop import ShardsLoop
from .paths import ShardsPaths, owned_by
from .placement import Placed, keys_of_parts
from .recursion import ShardsRecursion
from .team import Team


class ShardState(State):
    """The state of the nodes of a placed circuit, with the rows that one worker owns."""

    def __init__(self, placed: Placed, values: Values, team: Team, maintaining: Maintaining) -> None:
        self.placed, self._team, self.copies = placed, team, Copies()
        evaluator = Evaluator(values)
        evaluator.asks = True
        super().__init__(placed.circuit, values, evaluator=evaluator, maintaining=maintaining)
        self.remembering = placed.remembered

    def new_store(self, at: NodeId) -> Store:
        if self.placed.keys[at] is None:  # a row may come by one worker and go by another
            return SignedStore(self.circuit.nodes[at].schema)
        return super().new_store(at)

    def mark(self, marks: Marks) -> None:
        self.copies.clear()
        super().mark(marks)

    def give_back(self) -> None:
        self.copies.clear()
        super().give_back()

    def new_recursion(self, at: int, node: Fixpoint) -> Recursion | Bracketed | LoopRecursion:
        placed = self.placed
        if at in placed.loops:
            node, reads = node if node.lifted else relational(node), partial(self._reads, at)
            loop = ShardsLoop(node, self.weighted, self.evaluator, self.maintaining, reads)
            loop.team = self._team
            loop.keys = keys_of_parts(loop.parts, placed.keys, placed.loops[at])
            loop.paths = self._in_shards(loop.paths, placed.inside[at])
            return loop
        if at not in placed.inside:
            return super().new_recursion(at, node)
        recursion = ShardsRecursion(node, self.evaluator, self.maintaining)
        recursion.team, recursion.keys = self._team, placed.inside[at]
        return recursion

    def _in_shards(self, paths: Paths | None, keys: Keys) -> Paths | None:
        """The part of this worker of paths, given the columns by which the rows of the relations have owners;
        None where they need rounds."""
        if paths is None:
            return None
        plan = paths.plan
        owned = owned_by(plan, keys[plan.best])
        if owned is None:
            return None
        return ShardsPaths(plan, self._team, self.values, owned, keys.get(plan.offers, ()), paths.offered)
