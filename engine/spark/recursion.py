"""The place of a recursion: the driver while the recursion is small, the cluster from then on.

    driver ──── outgrown ────► cluster, evaluated anew ◄──── given up, or dearer ────┐
                                        └──────────────► maintained in nested time ──┘

On the driver the in-process runtime chooses for each epoch whether the recursion is maintained. On the
cluster the choice is the same, by the seconds that pass there. To evaluate it anew is to begin once more,
from all that the imports hold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

from ..account import Account
from ..circuit import DeltaJoin, Fixpoint, Join
from ..epoch import Epoch
from ..maintaining import Costs, ImportSize, Maintaining, Situation
from ..operators.steps import has_effect
from ..rules import schemas_of
from ..schema import Schema
from ..settling import Changing
from .change import Change, of_table
from .clusterrecursion import ClusterRecursion, RunningClusterRecursion
from .driverrecursion import DriverRecursion, RecursionOutgrown
from .expressions import SparkExpressions
from .memories import Imported
from .operators import difference
from .sqltext import Query, everything, names
from .tables import Table, Tables


class Recursion:
    """The state of one Fixpoint node, on the driver or on the cluster: up to `most` rows on the driver. One
    by rounds, a loop and a bracket stay on the driver: only the in-process runtime has operators for them."""

    def __init__(
        self,
        fixpoint: Fixpoint,
        imports: Mapping[int, Schema],
        weighted: set[int],
        tables: Tables,
        expressions: SparkExpressions,
        nan: float,
        most: int,
        maintaining: Maintaining,
    ) -> None:
        self.fixpoint, self.tables, self.expressions = fixpoint, tables, expressions
        self.most = sys.maxsize if fixpoint.lifted else most
        self.schemas = schemas_of(fixpoint)
        self.maintaining, self.costs = maintaining, Costs(starting=sys.maxsize)
        joins = (node for node in fixpoint.body.nodes if isinstance(node, Join | DeltaJoin))
        self.has_effects = any(has_effect(step) for join in joins for step in join.steps)
        self.driver = (
            DriverRecursion(fixpoint, imports, weighted, tables, nan, maintaining) if self.most > 0 else None
        )
        self.cluster = None if self.driver else ClusterRecursion(fixpoint, tables, expressions)
        self.before: Mapping[str, Table] | None = None  # the relations, if it begins anew in the next epoch

    def begin(self, imports: Mapping[int, Imported], epoch: Epoch[Table], number: int) -> RunningRecursion:
        """An epoch, given the imports with their changes. The caller seeds it. Rows are told that it has this
        number."""
        return RunningRecursion(self, imports, epoch, number)

    def held(self) -> list[Table]:
        """The tables that the state needs."""
        before = list((self.before or {}).values())
        spines = () if self.cluster is None else self.cluster.spines()
        return [*before, *(table for spine in spines for table in spine.held())]

    def contents(self, head: str) -> Query | None:
        """The rows of a relation as of the last commit, as a query; None if there are none."""
        table = (self.before or (self.driver.contents() if self.driver else {})).get(head)
        if self.cluster is not None:
            events = self.cluster.events[head]
            return everything(events.net()) if events.rows() else None
        return everything(table.view) if table is not None and table.rows else None

    def take_over(self, relations: Mapping[str, Table]) -> None:
        """Comes to have these relations, which were computed elsewhere from the same imports. The cluster
        begins anew when something changes."""
        self.before, self.driver, self.cluster = relations, None, None


class RunningRecursion:
    """One epoch of a recursion. See `schedule.NestedEpoch`. On the driver all iterations are one."""

    def __init__(
        self, recursion: Recursion, imports: Mapping[int, Imported], epoch: Epoch[Table], number: int
    ) -> None:
        self._recursion, self._imports, self._epoch, self._number = recursion, imports, epoch, number
        self._cluster: RunningClusterRecursion | None = None
        self._next: ClusterRecursion | None = None  # takes over when the epoch is committed
        self._before: Mapping[str, Query] = {}  # the relations before, where the cluster begins anew
        self._found: dict[str, Table] | None = None  # by the driver
        self._account = Account(
            recursion.maintaining,
            recursion.costs,
            recursion.schemas,
            situation(recursion, imports),
            epoch.number,
            clock=time.perf_counter,
        )

    def seed(self) -> None:
        """Derives the rows that follow from the changes outside, on the cluster."""
        recursion = self._recursion
        if recursion.before is not None:
            self._account.settle("it is more than the driver is to hold")
            self._begin_anew(
                {head: everything(table.view) for head, table in recursion.before.items() if table.rows}
            )
        elif recursion.cluster is not None:
            self._change(recursion.cluster)
        elif sum(imported.spine.rows() for imported in self._imports.values()) > recursion.most:
            self._take_over()

    def _take_over(self) -> None:
        """The cluster begins in place of the driver."""
        driver = self._recursion.driver
        assert driver is not None
        self._account.settle("it is more than the driver is to hold")
        self._begin_anew(
            {head: everything(table.view) for head, table in driver.contents().items() if table.rows}
        )

    # ------------------------------------------------------------- on the cluster

    def _change(self, cluster: ClusterRecursion) -> None:
        """The epoch of a recursion on the cluster."""
        account = self._account
        if not cluster.filled:
            account.settle("it begins")
            account.begin_anew()
            self._cluster = cluster.begin(self._imports, self._number)
            self._cluster.seed()
        elif self._chosen(cluster):
            self._go_on(lambda: self._maintain(cluster))
        else:
            self._evaluate_anew(cluster)

    def _chosen(self, cluster: ClusterRecursion) -> bool:
        """Whether the recursion is to be maintained."""
        account = self._account
        if not account.situation.changed:
            return account.settle("").maintain
        if self._recursion.has_effects:
            return account.settle("a rule has an effect").maintain
        if self._epoch.limit is not None:
            return account.settle("its iterations are limited").maintain
        return account.choose(cluster.is_counted).maintain

    def _maintain(self, cluster: ClusterRecursion) -> None:
        ready, since = cluster.is_counted, time.perf_counter()
        self._cluster = cluster.begin(self._imports, self._number)
        if not ready:
            self._account.prepared(since)
        self._cluster.seed()
        self._account.choice.watch.seeded()

    def _go_on(self, act: Callable[[], None]) -> None:
        """Maintains the recursion further, or gives up."""
        cluster = self._recursion.cluster
        assert cluster is not None
        if not self._account.goes_on(act, self._undo, look_into_faults=False):
            self._evaluate_anew(cluster)

    def _undo(self) -> None:
        if self._cluster is not None:
            self._cluster.rollback()

    def _evaluate_anew(self, cluster: ClusterRecursion) -> None:
        self._begin_anew(
            {head: everything(spine.net()) for head, spine in cluster.events.items() if spine.rows()}
        )

    def _begin_anew(self, before: Mapping[str, Query]) -> None:
        """The cluster begins, from all that the imports hold."""
        recursion = self._recursion
        self._account.begin_anew()
        self._before = before
        self._next = ClusterRecursion(recursion.fixpoint, recursion.tables, recursion.expressions)
        self._cluster = self._next.begin(self._imports, self._number)
        self._cluster.seed()

    # ------------------------------------------------------------- iterating

    def next_iteration(self) -> int | None:
        if self._cluster is not None:
            return self._cluster.next_iteration()
        return 0 if self._found is None else None

    def iterate(self, time: int) -> None:
        cluster = self._cluster
        if cluster is None:
            self._run_on_driver()
        elif cluster.is_anew:
            cluster.iterate(time)
        else:
            self._account.choice.watch.reached = self._recursion.costs.profile.reached(time)
            self._go_on(lambda: cluster.iterate(time))

    def _run_on_driver(self) -> None:
        driver, epoch = self._recursion.driver, self._epoch
        assert driver is not None
        changes = {
            at: self._recursion.tables.gathered(imported.change, imported.spine.schema)
            for at, imported in self._imports.items()
            if imported.change is not None
        }
        try:
            most = self._recursion.most
            self._found = driver.run(changes, most, epoch.static, epoch.limit, epoch.progress, self._number)
        except RecursionOutgrown:
            self._take_over()

    def rows(self) -> int:
        return 0 if self._cluster is None else self._cluster.rows()

    def changing(self) -> Changing:
        return () if self._cluster is None else self._cluster.changing()

    # ------------------------------------------------------------- the end

    def finish(self) -> dict[str, Change | None]:
        found = self._found if self._cluster is None else self._finished(self._cluster)
        assert found is not None
        tables, schemas = self._recursion.tables, self._recursion.schemas
        return {
            head: of_table(tables, schemas[head], table) if table.rows else None
            for head, table in found.items()
        }

    def _finished(self, cluster: RunningClusterRecursion) -> dict[str, Table]:
        """The changes that the cluster found."""
        found, account = cluster.finish(), self._account
        if cluster.is_anew:
            rows = cluster.rows()
            account.evaluated(rows, cluster.depths)
            self._recursion.costs.iterated(cluster.seconds)
            found = self._since(found)
            account.compared(rows)
        else:
            account.maintained()
        account.finish()
        return found

    def _since(self, found: dict[str, Table]) -> dict[str, Table]:
        """The changes, without the rows that were there already."""
        for head, before in self._before.items():
            schema = self._recursion.schemas[head]
            query = difference(before, everything(found[head].view), names(schema))
            found[head] = self._recursion.tables.settled(query, schema, small=False)
        return found

    def prepare(self) -> None:
        """Computes the state that `commit` will make the recursion's: after it, nothing can fail."""
        if self._cluster is not None:
            self._cluster.prepare()

    def commit(self) -> None:
        """The epoch's changes stay."""
        recursion = self._recursion
        if self._next is not None:
            recursion.driver, recursion.cluster, recursion.before = None, self._next, None
        if self._cluster is not None:
            self._cluster.commit()
            self._account.close()
        elif recursion.driver is not None:
            recursion.driver.commit(self._epoch.number)

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        self._undo()
        if self._recursion.driver is not None:
            self._recursion.driver.rollback()


def situation(recursion: Recursion, imports: Mapping[int, Imported]) -> Situation:
    """The sizes of a recursion on the cluster, and of its imports with their changes."""
    cluster = recursion.cluster
    rows = 0 if cluster is None else sum(events.total() for events in cluster.events.values())
    return Situation(rows, [_import(each) for each in imports.values()])


def _import(imported: Imported) -> ImportSize:
    rows, change = imported.spine.total(), imported.change
    if change is None or not change.rows:
        return ImportSize(rows)
    gone = max(0, change.rows - change.total) // 2
    return ImportSize(rows, change.rows - gone, gone)
