"""The place of a recursion: the driver while the recursion is small, the cluster from then on."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ..circuit import DeltaBracket, Fixpoint, Loop, Rounds
from ..epoch import Epoch
from ..maintaining import Maintaining
from ..rules import schemas_of
from ..schema import Schema
from ..settling import Changing
from .change import Change, of_table
from .clusterrecursion import ClusterRecursion, RunningClusterRecursion
from .driverrecursion import DriverRecursion, Outgrown
from .expressions import Expressions
from .memories import Imported
from .operators import difference
from .sqltext import everything, names
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
        expressions: Expressions,
        nan: float,
        most: int,
        maintaining: Maintaining,
    ) -> None:
        self.fixpoint, self.tables, self.expressions = fixpoint, tables, expressions
        self.most = sys.maxsize if isinstance(fixpoint, Rounds | Loop | DeltaBracket) else most
        self.schemas = schemas_of(fixpoint)
        self.maintaining = maintaining
        self.driver = (
            DriverRecursion(fixpoint, imports, weighted, tables, nan, maintaining) if self.most > 0 else None
        )
        self.cluster = None if self.driver else ClusterRecursion(fixpoint, tables, expressions)

    def begin(self, imports: Mapping[int, Imported], epoch: Epoch[Table]) -> RunningRecursion:
        """An epoch, given the imports with their changes. The caller seeds it."""
        return RunningRecursion(self, imports, epoch)

    def held(self) -> list[Table]:
        """The tables that the state needs."""
        return [] if self.cluster is None else self.cluster.held()

    @property
    def on_driver(self) -> bool:
        """Whether it runs on the driver."""
        return self.driver is not None


class RunningRecursion:
    """One epoch of a recursion. See `schedule.Nested`. On the driver all iterations are one."""

    def __init__(self, recursion: Recursion, imports: Mapping[int, Imported], epoch: Epoch[Table]) -> None:
        self._recursion, self._imports, self._epoch = recursion, imports, epoch
        self._cluster: RunningClusterRecursion | None = None
        self._next: ClusterRecursion | None = None  # takes over when the epoch is committed
        self._before: dict[str, Table] = {}  # what the driver held when the cluster took over
        self._found: dict[str, Table] | None = None  # by the driver

    def seed(self) -> None:
        """Derives the rows that follow from the changes outside, on the cluster."""
        if self._recursion.cluster is not None:
            self._run_on(self._recursion.cluster)
        elif sum(imported.spine.rows() for imported in self._imports.values()) > self._recursion.most:
            self._take_over()

    def _run_on(self, cluster: ClusterRecursion) -> None:
        self._cluster = cluster.begin(self._imports)
        self._cluster.seed()

    def _take_over(self) -> None:
        """The cluster begins anew, from all that the imports hold."""
        recursion = self._recursion
        assert recursion.driver is not None
        self._before = recursion.driver.contents()
        self._next = ClusterRecursion(recursion.fixpoint, recursion.tables, recursion.expressions)
        self._run_on(self._next)

    def next_iteration(self) -> int | None:
        if self._cluster is not None:
            return self._cluster.next_iteration()
        return 0 if self._found is None else None

    def iterate(self, time: int) -> None:
        if self._cluster is not None:
            self._cluster.iterate(time)
            return
        driver, epoch = self._recursion.driver, self._epoch
        assert driver is not None
        changes = {
            at: self._recursion.tables.gathered(imported.change, imported.spine.schema)
            for at, imported in self._imports.items()
            if imported.change is not None
        }
        try:
            self._found = driver.run(changes, self._recursion.most, epoch.static, epoch.limit, epoch.progress)
        except Outgrown:
            self._take_over()

    def rows(self) -> int:
        return 0 if self._cluster is None else self._cluster.rows()

    def changing(self) -> Changing:
        return () if self._cluster is None else self._cluster.changing()

    def finish(self) -> dict[str, Change | None]:
        found = self._found if self._cluster is None else self._since_take_over(self._cluster.finish())
        assert found is not None
        tables, schemas = self._recursion.tables, self._recursion.schemas
        return {
            head: of_table(tables, schemas[head], table) if table.rows else None
            for head, table in found.items()
        }

    def _since_take_over(self, found: dict[str, Table]) -> dict[str, Table]:
        """The changes that the cluster found, without the rows that the driver had already."""
        for head, before in self._before.items():
            if before.rows:
                schema = self._recursion.schemas[head]
                query = difference(everything(before.view), everything(found[head].view), names(schema))
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
            recursion.driver, recursion.cluster = None, self._next
        if self._cluster is not None:
            self._cluster.commit()
        elif recursion.driver is not None:
            recursion.driver.commit(self._epoch.number)

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        if self._cluster is not None:
            self._cluster.rollback()
        if self._recursion.driver is not None:
            self._recursion.driver.rollback()
