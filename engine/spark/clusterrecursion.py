"""A recursion on the cluster: one Fixpoint node's relations in tables, each iteration a few jobs.

The first epoch with anything in it fills growing sets, by semi-naive evaluation; each row is kept with the
iteration of its birth. The first change after that counts the derivations of every row from the births, and
from then on the relations have histories, in nested time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from time import perf_counter as clock

from ..budget import MADE
from ..circuit import DeltaJoin, Fixpoint, Join
from ..fixpoint import iterate, seed
from ..rules import rules_of, schemas_of
from ..schema import Schema
from ..settling import Changing
from .expressions import SparkExpressions
from .growingset import GrowingSet
from .history import DerivationHistory
from .inspecting import Inspecting
from .joins import JoinText
from .memories import Counting, GrowingSets, Histories, Imported
from .spine import Spine
from .tables import Table, Tables


class ClusterRecursion:
    """The state of one Fixpoint node: the rows by birth, and their derivations by iteration."""

    def __init__(self, fixpoint: Fixpoint, tables: Tables, expressions: SparkExpressions) -> None:
        def compiled(node: Join | DeltaJoin, schemas: Sequence[Schema]) -> JoinText:
            return JoinText(node, schemas, expressions, tables.most_sent)

        self.tables = tables
        self.rules, self.facts = rules_of(fixpoint, compiled)
        self.schemas = schemas_of(fixpoint)
        self.events = {head: Spine(tables, schema, True) for head, schema in self.schemas.items()}
        self.histories = {head: Spine(tables, schema, True) for head, schema in self.schemas.items()}
        self.filled = False  # whether an epoch with anything in it was committed
        self.is_counted = False  # whether the histories hold the derivations

    def begin(self, imports: Mapping[int, Imported], epoch: int) -> RunningClusterRecursion:
        """An epoch of this number, given the imports with their changes."""
        if self.filled and not self.is_counted:
            self._count(imports)
        return RunningClusterRecursion(self, imports, Inspecting(self.tables, epoch))

    def _count(self, imports: Mapping[int, Imported]) -> None:
        """Counts all derivations of every row at their iterations."""
        counting = Counting(self.events, self.histories, imports, self.tables)
        seed(self.rules, self.facts, counting, True)
        self.is_counted = True

    def spines(self) -> Iterator[Spine]:
        """The spines of the state."""
        yield from self.events.values()
        yield from self.histories.values()


class RunningClusterRecursion:
    """One epoch of a recursion on the cluster. See `schedule.NestedEpoch`."""

    def __init__(
        self, recursion: ClusterRecursion, imports: Mapping[int, Imported], inspecting: Inspecting
    ) -> None:
        self._recursion = recursion
        self._relations: dict[str, GrowingSet] | dict[str, DerivationHistory]
        self._memory: GrowingSets | Histories
        self.depths: list[tuple[int, int]] = []  # the rows that came at each iteration of an evaluation
        self.seconds = inf  # of the shortest iteration
        if recursion.filled:
            histories = {
                head: DerivationHistory(schema, recursion.events[head], recursion.histories[head])
                for head, schema in recursion.schemas.items()
            }
            self._relations, self._memory = histories, Histories(histories, imports, inspecting)
        else:
            sets = {h: GrowingSet(schema, recursion.events[h]) for h, schema in recursion.schemas.items()}
            self._relations, self._memory = sets, GrowingSets(sets, imports, inspecting)

    @property
    def is_anew(self) -> bool:
        """Whether the relations are evaluated from empty ones."""
        return isinstance(self._memory, GrowingSets)

    def seed(self) -> None:
        """Derives the rows that follow from the changes outside."""
        seed(self._recursion.rules, self._recursion.facts, self._memory, not self._recursion.filled)
        self._came(0)

    def next_iteration(self) -> int | None:
        return self._memory.next_iteration()

    def iterate(self, time: int) -> None:
        started = clock()
        iterate(self._recursion.rules, self._memory, time)
        self.seconds = min(self.seconds, clock() - started)
        self._came(time + 1)

    def _came(self, time: int) -> None:
        """Counts the rows that came last, which are of an iteration."""
        rows = sum(relation.delta.rows for relation in self._relations.values())
        if self.is_anew:
            self.depths.append((time, rows))
        self._recursion.tables.budget.spend(MADE * rows)

    def rows(self) -> int:
        return sum(events.total() for events in self._recursion.events.values())

    def changing(self) -> Changing:
        return ()  # finding them would be a job

    def finish(self) -> dict[str, Table]:
        return {head: relation.net() for head, relation in self._relations.items()}

    def prepare(self) -> None:
        """Computes the state that `commit` will make the recursion's: after it, nothing can fail."""
        for head, relation in self._relations.items():
            if isinstance(relation, DerivationHistory):
                for table in relation.derived:
                    self._recursion.histories[head].add(table)
        for spine in self._spines():
            spine.prepare()

    def commit(self) -> None:
        """The epoch's changes stay."""
        for spine in self._spines():
            spine.commit()
        if isinstance(self._memory, GrowingSets):
            imported = any(spine.rows() for spine in self._memory.imports.values())
            derived = any(events.parts for events in self._recursion.events.values())
            self._recursion.filled = imported or derived or bool(self._recursion.facts)

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        for spine in self._spines():
            spine.rollback()

    def _spines(self) -> list[Spine]:
        return [*self._recursion.events.values(), *self._recursion.histories.values()]
