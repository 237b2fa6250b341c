"""Where a recursion runs: on the driver while it is small, on the cluster from then on."""

from __future__ import annotations

from collections.abc import Mapping

from ..circuit import Fixpoint
from ..runtime import Progress
from ..schema import Schema
from .expressions import Expressions
from .ondriver import DriverRecursion, Outgrown
from .operators import difference
from .recursion import ClusterRecursion, Imported
from .rules import schemas_of
from .sqltext import names
from .tables import Table, Tables


class Recursion:
    """The state of one Fixpoint node, and one epoch of it at a time; see schedule.Nested."""

    def __init__(
        self,
        fixpoint: Fixpoint,
        imports: Mapping[int, Schema],
        weighted: set[int],
        tables: Tables,
        expressions: Expressions,
        nan: float,
        most: int,
    ) -> None:
        self.fixpoint, self.tables, self.expressions, self.most = fixpoint, tables, expressions, most
        self.schemas = schemas_of(fixpoint)
        self._driver = DriverRecursion(fixpoint, imports, weighted, tables, nan) if most > 0 else None
        self._cluster = None if self._driver else ClusterRecursion(fixpoint, tables, expressions)
        self._next: ClusterRecursion | None = None  # takes over when the epoch is committed
        self._old: dict[str, Table] = {}
        self._found: dict[str, Table] | None = None
        self._imports: Mapping[int, Imported] = {}
        self._static = False
        self._limit: int | None = None
        self._progress: Progress | None = None

    def begin(
        self, imports: Mapping[int, Imported], static: bool, limit: int | None, progress: Progress | None
    ) -> None:
        """Begins an epoch, given the imports with their changes."""
        self._imports, self._static, self._progress = imports, static, progress
        self._limit = limit
        self._found, self._next, self._old = None, None, {}
        if self._driver is None:
            assert self._cluster is not None
            self._cluster.begin(imports)
        elif sum(i.spine.rows() for i in imports.values()) > self.most:
            self._take_over()

    @property
    def _running(self) -> ClusterRecursion | None:
        return self._next or self._cluster

    def next_iteration(self) -> int | None:
        """The least iteration with pending work; on the driver all of them are one."""
        if self._running is not None:
            return self._running.next_iteration()
        return 0 if self._found is None else None

    def iterate(self, time: int) -> None:
        """One iteration on the cluster, the whole epoch on the driver."""
        if self._running is not None:
            self._running.iterate(time)
            return
        assert self._driver is not None
        changes = {
            at: self.tables.gathered(i.change, i.spine.schema)
            for at, i in self._imports.items()
            if i.change is not None
        }
        try:
            self._found = self._driver.run(changes, self.most, self._static, self._limit, self._progress)
        except Outgrown:
            self._take_over()

    def _take_over(self) -> None:
        """The cluster begins anew, from all that the imports hold."""
        assert self._driver is not None
        self._old = self._driver.contents()
        self._next = ClusterRecursion(self.fixpoint, self.tables, self.expressions)
        self._next.begin(self._imports)

    def rows(self) -> int:
        """Rows so far, for progress."""
        return self._running.rows() if self._running is not None else 0

    def finish(self) -> dict[str, Table]:
        """The net changes of the relations."""
        if self._running is None:
            assert self._found is not None
            return self._found
        found = self._running.finish()
        for head, old in self._old.items():
            if old.rows:
                schema = self.schemas[head]
                query = difference(
                    f"SELECT * FROM {old.view}", f"SELECT * FROM {found[head].view}", names(schema)
                )
                found[head] = self.tables.settled(query, schema, small=False)
        return found

    def prepare(self) -> None:
        """Computes the state that `commit` will make the recursion's."""
        if self._running is not None:
            self._running.prepare()

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        if self._next is not None:
            self._driver, self._cluster, self._next = None, self._next, None
        if self._driver is not None:
            self._driver.commit()
        elif self._cluster is not None:
            self._cluster.commit()
        self._imports, self._found, self._old = {}, None, {}

    def rollback(self) -> None:
        """Takes back the running epoch, finished or not."""
        if self._next is not None:
            self._next.rollback()
            self._next = None
        if self._driver is not None:
            self._driver.rollback()
        elif self._cluster is not None:
            self._cluster.rollback()
        self._imports, self._found, self._old = {}, None, {}

    def held(self) -> list[Table]:
        """The tables that the state needs."""
        return self._running.held() if self._running is not None else []

    @property
    def on_driver(self) -> bool:
        """Whether it runs on the driver."""
        return self._driver is not None
