"""The Spark runtime: the state of a circuit in tables, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import interrupt
from ..circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Import,
    Input,
    Join,
    Negate,
    Node,
    NodeId,
    Output,
    Sum,
    Trace,
)
from ..incremental import incrementalize
from ..integrals import shown, weighted
from ..runtime import Delta, Progress
from ..schedule import Epoch, downstream, readers
from ..schema import Schema
from .change import Change, of_table
from .codec import Codec
from .exchange import distinct_rows
from .expressions import Expressions
from .faults import raising
from .grouping import GroupText
from .joins import JoinText, SpineView, Start, View, versions
from .operators import distinct, multiset_input, set_input
from .placement import Recursion
from .recursion import Imported
from .rows import FrameDelta, FrameRows
from .spine import Spine
from .sqltext import consolidated, equal, grouping, listed, names, quoted, union
from .tables import Options, Table, Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SparkOptions = Options


class SparkRuntime:
    """The state of one circuit of changes on a Spark session. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        *,
        within: SparkRuntime | None = None,
    ) -> None:
        """`within`: a runtime whose relations are this one's inputs, for a query."""
        self.circuit, self.spark, self.codec = circuit, spark, codec
        self.options = options or Options()
        self._within = within
        self.tables: Tables = within.tables if within else Tables(spark, codec, self.options)
        self.expressions: Expressions = within.expressions if within else Expressions(spark, codec)
        self._nan = nan
        self._outputs = {n.relation: at for at, n in enumerate(circuit.nodes) if isinstance(n, Output)}
        self._relations = self._outputs | dict(circuit.relations)
        self._inputs = {n.relation: at for at, n in enumerate(circuit.nodes) if isinstance(n, Input)}
        self._read_by = readers(circuit)
        self._downstream: dict[str, set[int]] = {}
        self._spines: dict[int, Spine] = {}  # the integrals of nodes
        self._counts: dict[int, Spine] = {}  # those of the sources of distinct nodes
        self._joins: dict[int, JoinText] = {}
        self._groups: dict[int, GroupText] = {}
        self._recursions: dict[int, Recursion] = {}
        self._pending: Mapping[str, Sequence[tuple[Table, int]]] = {}
        self._begun: list[Recursion] = []
        self._epochs = 0
        self._static = False
        self._limit: int | None = None
        self._progress: Progress | None = None
        self._failed = False
        self._prepare()

    # ------------------------------------------------------------- building

    def _prepare(self) -> None:
        nodes = self.circuit.nodes
        self._ungrouped = self._read_by_groups()
        self._kept_static = self._kept(static=True)
        for at in self._kept():
            node = nodes[at]
            if self._within is not None and isinstance(node, Input):
                self._spines[at] = self._within.spine(node.relation)
            elif not isinstance(node, Fixpoint | Output):
                self._spines[at] = Spine(self.tables, node.schema)
        for at, node in enumerate(nodes):
            match node:
                case Join() | DeltaJoin():
                    schemas = [nodes[term.source].schema for term in node.terms]
                    self._joins[at] = JoinText(node, schemas, self.expressions, self.tables.most_sent)
                case DeltaDistinct():
                    self._counts[at] = Spine(self.tables, node.schema)
                case DeltaGroup():
                    self._groups[at] = GroupText(node, nodes[node.source].schema, self.expressions)
                case Fixpoint():
                    imports = {n.node: n.schema for n in node.body.nodes if isinstance(n, Import)}
                    counted = {n for n in imports if weighted(self.circuit, n)}
                    self._recursions[at] = Recursion(
                        node,
                        imports,
                        counted,
                        self.tables,
                        self.expressions,
                        self._nan,
                        self.options.driver_rows,
                    )

    def _kept(self, static: bool = False) -> set[NodeId]:
        """The nodes whose integrals some operator or reader needs; `static`: in an epoch that is the only
        one."""
        kept = {shown(self.circuit, node) for _, node in self.circuit.relations}
        for at, node in enumerate(self.circuit.nodes):
            match node:
                case Input():
                    kept.add(at)
                case DeltaJoin():
                    kept.update(term.source for term in node.terms)
                case DeltaGroup() if not static:
                    kept.update({node.source, at} - self._ungrouped)
                case Fixpoint():
                    kept.update(n.node for n in node.body.nodes if isinstance(n, Import))
                case Output():
                    kept.add(shown(self.circuit, node.source))
        return kept

    def _read_by_groups(self) -> set[NodeId]:
        """The distinct nodes that only groups read. A group looks up the members of its keys and sees by
        their counts which are present, so that looking up the rows of the change first would be for
        nothing: these nodes pass the counts on."""
        nodes = self.circuit.nodes
        found = {at for at, node in enumerate(nodes) if isinstance(node, DeltaDistinct)}
        found -= {shown(self.circuit, node) for _, node in self.circuit.relations}
        return {
            at
            for at in found
            if all(
                isinstance(nodes[k], DeltaGroup) for k in self._read_by[at] if not isinstance(nodes[k], Trace)
            )
        }

    # ------------------------------------------------------------- reading

    def spine(self, relation: str) -> Spine:
        """The integral of a relation."""
        return self._spines[shown(self.circuit, self._relations[relation])]

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""
        return self.circuit.nodes[self._at(relation)].schema

    def _at(self, relation: str) -> NodeId:
        return self._inputs[relation] if relation in self._inputs else self._relations[relation]

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Table:
        """Rows as a batch for `commit`."""
        return self.tables.of_rows(self.schema(relation), rows)

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Table:
        """Columns as a batch for `commit`."""
        return self.tables.of_columns(self.schema(relation), columns)

    def batch_from_frame(self, relation: str, frame: DataFrame, *, once: bool = False) -> Table:
        """The rows of a frame, with the relation's columns in order, as a batch for `commit`; they are
        computed now. `once`: if the relation is a set, each row once will do."""
        schema = self.schema(relation)
        with raising(self.expressions), self.tables.configured():
            columns = [f"{quoted(name)} AS {c}" for name, c in zip(frame.columns, names(schema), strict=True)]
            renamed = self.tables.named(frame.selectExpr(*columns, "1L AS w"))
            try:
                return self._taken(relation, f"SELECT * FROM {renamed}", once)
            finally:
                self.tables.forget(renamed)

    def _taken(self, relation: str, query: str, once: bool) -> Table:
        """The rows of a query for a relation. What a recursion on the driver reads is brought there if it is
        not too much, and stays off the cluster if nothing else reads it."""
        at, schema, most = self._at(relation), self.schema(relation), self.options.driver_rows
        readers = self._read_by[at]
        driven = [k for k in readers if k in self._recursions and self._recursions[k].on_driver]
        if driven == readers and driven and not self.size(relation):
            rows = self.tables.few(query, schema, most)
            if rows is not None:
                return self.tables.local(rows)
        node = self.circuit.nodes[at]
        if once and isinstance(node, Input) and not node.multiset:
            columns = names(schema)
            # Facts seldom come twice: each is moved at once, not first looked for in its partition.
            moved = f"(SELECT {self.tables.moving(columns)}* FROM ({query}))"
            distinct = f"SELECT {listed(columns, 'max(w) AS w')} FROM {moved} {grouping(columns)}"
            table = self.tables.stored(distinct, lies=columns)
            table.once = True
        else:
            table = self.tables.stored(query)
        return self.tables.gathered(table, schema) if driven and table.rows <= most else table

    def batches(self, relation: str, delta: Delta) -> list[tuple[Table, int]]:
        """The changes for `commit` that change an input relation as a delta of this runtime: a small one from
        here, a large one where it lies."""
        assert isinstance(delta, FrameDelta)
        columns = names(self.schema(relation))
        if len(delta) <= self.options.small_rows or not columns:
            counted = list(zip(delta.rows, delta.weights, strict=True))
            few = ((sign, [row for row, w in counted for _ in range(w * sign)]) for sign in (-1, 1))
            return [(self.batch(relation, rows), sign) for sign, rows in few if rows]
        frame = delta.frame().toDF(*columns, "w")
        repeated = f"inline(array_repeat(struct({listed(columns)}), CAST(abs(w) AS INT)))"
        many = ((sign, frame.where(f"{sign} * w > 0").selectExpr(repeated)) for sign in (-1, 1))
        made = [(self.batch_from_frame(relation, part), sign) for sign, part in many]
        return [(table, sign) for table, sign in made if table.rows]

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        """Which rows the relation holds."""
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        """The weight of each row."""
        spine = self.spine(relation)
        if not rows or not spine.rows():
            return [0] * len(rows)
        with raising(self.expressions), self.tables.configured():
            wanted = self.tables.of_rows(spine.schema, list(dict.fromkeys(rows)))
            query = (
                f"SELECT /*+ BROADCAST(d) */ s.* FROM {spine.contents()} s LEFT SEMI JOIN {wanted.view} d ON "
                f"{equal('s', 'd', spine.columns)}"
            )
            found = self.tables.fetch(consolidated(spine.columns, f"({query})"), spine.schema)
            wanted.release()
        held = self._values(spine.schema, found)
        weights = dict(zip(held, found.column("w").to_pylist(), strict=True))
        return [weights.get(tuple(row), 0) for row in rows]

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        """The rows with these values in the columns at these positions."""
        spine = self.spine(relation)
        if not spine.rows():
            return []
        positions = sorted(values)
        schema = tuple(spine.schema[p] for p in positions)
        with raising(self.expressions), self.tables.configured():
            wanted = self.tables.of_rows(schema, [tuple(values[p] for p in positions)])
            on = " AND ".join(f"s.c{p} = d.c{k}" for k, p in enumerate(positions)) or "true"
            query = (
                f"SELECT /*+ BROADCAST(d) */ s.* FROM {spine.contents()} s LEFT SEMI JOIN {wanted.view} d "
                f"ON {on}"
            )
            found = self.tables.fetch(consolidated(spine.columns, f"({query})"), spine.schema)
            wanted.release()
        return sorted(self._values(spine.schema, found))

    def _values(self, schema: Schema, rows: Any) -> list[tuple[Any, ...]]:
        if not schema:
            return [()] * rows.num_rows
        return list(zip(*(self.codec.decode(c, rows.column(k)) for k, c in enumerate(schema)), strict=True))

    def rows(self, relation: str) -> FrameRows:
        """The contents of a relation."""
        at = shown(self.circuit, self._relations[relation])
        spine, counted = self._spines[at], weighted(self.circuit, at)
        tables = list(spine.seen())

        def fetch() -> Any:
            if not counted and len(tables) == 1 and tables[0].least >= 1 and tables[0].local is not None:
                return tables[0].local
            with raising(self.expressions), self.tables.configured():
                return self.tables.fetch(consolidated(spine.columns, spine.of(tables)), spine.schema)

        return FrameRows(spine.schema, self.codec, lambda: self.size(relation), fetch)

    def frame(self, relation: str) -> DataFrame:
        """The contents of a relation as a DataFrame, its columns named as the relation's; of a multiset
        also `weight`. It stays what it is when the relation changes."""
        at = shown(self.circuit, self._relations[relation])
        spine = self._spines[at]
        counted = weighted(self.circuit, at)
        with raising(self.expressions), self.tables.configured():
            frame = self.tables.united(spine.seen() or [self.tables.nothing(spine.schema)], spine.columns)
            if counted or not spine.once():
                frame = (
                    frame.groupBy(*spine.columns)
                    .agg({"w": "sum"})
                    .withColumnRenamed("sum(w)", "w")
                    .where("w <> 0")
                )
            return _renamed(frame, spine.schema, "weight" if counted else None)

    def size(self, relation: str) -> int:
        """The number of rows of a relation."""
        at = shown(self.circuit, self._relations[relation])
        spine = self._spines[at]
        if not weighted(self.circuit, at):
            return spine.total()
        if not spine.rows():
            return 0
        with raising(self.expressions), self.tables.configured():
            (row,) = self.spark.sql(f"SELECT count(*) FROM {spine.net()}").collect()
        return int(row[0])

    def query(self, circuit: Circuit) -> FrameRows:
        """Evaluates a circuit without recursion on the contents of this runtime's relations."""
        asked = SparkRuntime(
            incrementalize(circuit), self.spark, self.codec, self._nan, self.options, within=self
        )
        (name,) = asked._outputs
        with raising(self.expressions), self.tables.configured():
            deltas = Epoch(asked.circuit, asked, None, None).run()
            change = deltas[name]
            schema = asked.circuit.nodes[asked._outputs[name]].schema
            rows = self.tables.nothing(schema) if change is None else change.table
            local = rows.local or self.tables.fetch(f"SELECT * FROM {rows.view}", schema)
        self._sweep()
        return FrameRows(schema, self.codec, lambda: local.num_rows, lambda: local)

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Table, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Delta]:
        """Runs one epoch. A failed job, a Ctrl-C or a fault leaves the state as it was."""
        with interrupt.deferred(), self.tables.configured(reading=False):
            changes = self._with_ends(changes)
            self._static, self._pending = static, changes
            self._limit, self._progress = max_iterations, progress
            self._begun.clear()
            self._epochs += 1
            try:
                with raising(self.expressions):
                    outputs = Epoch(self.circuit, self, max_iterations, progress, self._active(changes)).run()
                    deltas = {name: self._delta(name, outputs.get(name)) for name in self._outputs}
                    interrupt.check()
                    for spine in self._states():
                        spine.prepare()
                    for recursion in self._begun:
                        recursion.prepare()
            except BaseException:
                self._rollback()
                raise
            for spine in self._states():
                spine.commit()
            for recursion in self._begun:
                recursion.commit()
            self._begun.clear()
            self._pending = {}
            self._sweep()
            return dict(deltas)

    def _states(self) -> list[Spine]:
        return [*self._spines.values(), *self._counts.values()]

    def _with_ends(
        self, changes: Mapping[str, Sequence[tuple[Table, int]]]
    ) -> Mapping[str, Sequence[tuple[Table, int]]]:
        """The changes of an epoch with the ends of the streams: what they hold goes."""
        nodes = self.circuit.nodes
        held = {name: self._spines[at] for name, at in self._inputs.items() if _is_stream(nodes[at])}
        ended = {name: self._whole(spine) for name, spine in held.items() if spine.rows()}
        signed = {name: [(gone, -1), *changes.get(name, ())] for name, gone in ended.items()}
        return {**changes, **signed} if signed else changes

    def _whole(self, spine: Spine) -> Table:
        """The contents of a spine as one table, a row perhaps more than once."""
        seen = spine.seen()
        if all(table.small for table in seen):
            return self.tables.concatenated(seen)
        return self.tables.lazy(seen, spine.columns)

    def _active(self, changes: Mapping[str, Sequence[tuple[Table, int]]]) -> Sequence[int] | None:
        """The nodes that may change, in order; None: all, as in the first epoch."""
        if self._epochs == 1:
            return None
        active: set[int] = set()
        for name, parts in changes.items():
            if any(batch.rows for batch, _ in parts):
                if name not in self._downstream:
                    self._downstream[name] = downstream(self._read_by, self._inputs[name])
                active |= self._downstream[name]
        return sorted(active)

    def _delta(self, output: str, change: Change | None) -> FrameDelta:
        """What a commit gives of an output."""
        at = self._outputs[output]
        schema = self.circuit.nodes[at].schema
        if _is_stream(self.circuit.nodes[at]):
            spine = self._spines[shown(self.circuit, at)]
            small = all(table.small for table in spine.seen())
            net = consolidated(spine.columns, spine.contents())
            return self._shown_delta(schema, self.tables.settled(net, schema, small=small))
        if change is None or not change.table.rows:
            return self._shown_delta(schema, self.tables.nothing(schema))
        table = change.table
        if weighted(self.circuit, shown(self.circuit, at)):
            table = self.tables.settled(consolidated(names(schema), table.view), schema, small=table.small)
        return self._shown_delta(schema, table)

    def _shown_delta(self, schema: Schema, table: Table) -> FrameDelta:
        def fetch() -> Any:
            if table.local is not None:
                return table.local
            return self.tables.collected(table.frame, schema)

        def frame() -> DataFrame:
            return _renamed(table.frame, schema, "weight")

        return FrameDelta(schema, self.codec, table.rows, fetch, frame)

    def _rollback(self) -> None:
        for spine in self._states():
            spine.rollback()
        for recursion in self._begun:
            recursion.rollback()
        self._begun.clear()
        self._pending = {}
        self._epochs -= 1
        self._sweep()

    def _sweep(self) -> None:
        """Forgets the tables that no state needs."""
        if self._within is not None:
            return
        held = [table for spine in self._states() for table in spine.held()]
        held += [table for recursion in self._recursions.values() for table in recursion.held()]
        self.tables.release_but(held)

    def close(self) -> None:
        """Releases the state. The Spark session goes on."""
        self._spines.clear()
        self._counts.clear()
        self._recursions.clear()
        self.tables.close()

    # ------------------------------------------------------------- operators

    def nothing(self) -> None:
        """No change."""

    def _change(self, at: NodeId, query: str, small: bool, by_row: bool = False) -> Change:
        """A change by a query; `by_row`: it ends in a grouping by the whole row."""
        schema = self.circuit.nodes[at].schema
        return Change(self.tables, schema, query, small, lies=names(schema) if by_row else ())

    def input(self, at: NodeId, node: Input) -> Change | None:
        """The legal part of the change of an input."""
        spine = self._spines[at]
        if self._within is not None:
            contents = spine.net() if self._weighted_within(node) or not spine.once() else spine.contents()
            return self._change(at, f"SELECT * FROM {contents}", False) if spine.rows() else None
        given = [(table, sign) for table, sign in self._pending.get(node.relation, ()) if table.rows]
        if not given:
            return None
        first = not spine.rows() and not node.multiset and len(given) == 1 and given[0][1] > 0
        if first and given[0][0].once:
            return of_table(self.tables, node.schema, given[0][0])
        if first and given[0][0].local is not None:
            once = distinct_rows(given[0][0].local)
            if once is not None:
                return of_table(self.tables, node.schema, self.tables.local(once))
        parts = [(table.view, sign, table.rows) for table, sign in given]
        query = multiset_input(spine.columns, parts) if node.multiset else set_input(spine, parts)
        return self._change(at, query, all(table.small for table, _ in given), by_row=True)

    def _weighted_within(self, node: Input) -> bool:
        assert self._within is not None
        return weighted(
            self._within.circuit, shown(self._within.circuit, self._within._relations[node.relation])
        )

    def constant(self, at: NodeId, node: Constant) -> Change | None:
        """The facts, in the first epoch."""
        if self._epochs > 1 or not node.rows:
            return None
        return of_table(self.tables, node.schema, self.tables.of_rows(node.schema, node.rows))

    def sum(self, at: NodeId, node: Sum, changes: Sequence[Change | None]) -> Change | None:
        """The sum of changes."""
        some = [change for change in changes if change is not None]
        if not some:
            return None
        return self._change(
            at, union([change.query for change in some]), all(change.small for change in some)
        )

    def negate(self, at: NodeId, node: Negate, change: Change | None) -> Change | None:
        """The change with its weights negated."""
        if change is None:
            return None
        return self._change(
            at, f"SELECT {listed(names(node.schema), '-w AS w')} FROM {change.sql}", change.small
        )

    def join(self, at: NodeId, node: Join | DeltaJoin, changes: Sequence[Change | None]) -> Change | None:
        """The change of a join, term by term."""
        text = self._joins[at]
        if isinstance(node, Join) and len(node.terms) == 1:
            (change,) = changes
            if change is None:
                return None
            size = change.rows or (1000 if change.small else 1_000_000)
            return self._change(at, text.query(0, Start(change.sql, size), (None,)), change.small)
        sizes = [None if change is None else change.table.rows for change in changes]
        queries = []
        positive = all(change is None or change.table.least >= 0 for change in changes) and all(
            self._spines[term.source].once() for term in node.terms
        )
        for start, now in versions(node.terms, sizes, self._first_epoch):
            views: list[View | None] = [
                None if k == start else SpineView(self._spines[term.source], now[k])
                for k, term in enumerate(node.terms)
            ]
            if self._nothing_to_meet(node, views, now):
                continue
            rows = None
            if start is not None:
                change = changes[start]
                assert change is not None
                rows = Start(change.sql, change.table.rows)
            queries.append(text.query(start, rows, views, raising=positive))
        if not queries:
            return None
        query = union(queries) if positive else text.summed(queries, False)
        return self._change(at, query, all(c is None or c.small for c in changes))

    def _nothing_to_meet(
        self, node: Join | DeltaJoin, views: Sequence[View | None], now: Sequence[bool]
    ) -> bool:
        """Whether a positive term shows no row; in the first epoch those seen without their change."""
        return any(
            view is not None and not term.negated and (not view.rows or (self._first_epoch and not seen))
            for view, term, seen in zip(views, node.terms, now, strict=True)
        )

    @property
    def _first_epoch(self) -> bool:
        return self._epochs <= 1

    def distinct(self, at: NodeId, node: DeltaDistinct, change: Change | None) -> Change | None:
        """The change of presence; for groups, of the counts."""
        kept = not self._static and self._within is None
        if change is None or (kept and not change.table.rows):
            return None
        counts, found = self._counts[at], change
        if at not in self._ungrouped:
            found = self._change(at, distinct(counts, change), change.small, by_row=True)
        if kept:
            counts.add(change.table)
        return found

    def group(self, at: NodeId, node: DeltaGroup, change: Change | None) -> Change | None:
        """The change of the groups."""
        if change is None:
            return None
        members = self._counts[node.source] if node.source in self._ungrouped else self._spines[node.source]
        text, groups = self._groups[at], self._spines[at]
        if self._within is not None or not (groups.rows(False) or members.rows(False)):
            return self._change(at, text.first(change), change.small)
        if not change.table.rows:
            return None
        return self._change(at, text.again(members, groups, change), change.small, by_row=True)

    def recursion(self, at: NodeId, node: Fixpoint, changes: Mapping[int, Change | None]) -> RunningRecursion:
        """Begins an epoch of a fixpoint."""
        recursion = self._recursions[at]
        self._begun.append(recursion)
        imports = {
            source: Imported(self._spines[source], None if change is None else change.table)
            for source, change in changes.items()
        }
        recursion.begin(imports, self._static, self._limit, self._progress)
        return RunningRecursion(recursion, self.tables)

    def keep(self, at: NodeId, change: Change | None) -> None:
        """Takes a change into the node's integral; what several nodes read is computed once."""
        if change is None:
            return
        kept = self._kept_static if self._static else self._spines
        if at in kept and not (self._within and isinstance(self.circuit.nodes[at], Input)):
            self._spines[at].add(change.table)
        elif len(self._read_by[at]) > 1:
            change.settle()


def _is_stream(node: Node) -> bool:
    return isinstance(node, Input | Output) and node.stream


def _renamed(frame: DataFrame, schema: Schema, weight: str | None) -> DataFrame:
    """A frame with the columns' own names."""
    shown = [f"c{k} AS {quoted(column.name)}" for k, column in enumerate(schema)]
    return frame.selectExpr(*shown, *([f"w AS {weight}"] if weight else []))


class RunningRecursion:
    """One epoch of a fixpoint, as the schedule drives it."""

    def __init__(self, recursion: Recursion, tables: Tables) -> None:
        self._recursion, self._tables = recursion, tables

    def next_iteration(self) -> int | None:
        """The least iteration with pending work; None at the fixpoint."""
        return self._recursion.next_iteration()

    def iterate(self, time: int) -> None:
        """The changes of the recursive relations at an iteration."""
        self._recursion.iterate(time)

    def rows(self) -> int:
        """Rows so far, for progress."""
        return self._recursion.rows()

    def finish(self) -> Mapping[str, Change | None]:
        """The net change of each relation."""
        schemas = self._recursion.schemas
        return {
            head: of_table(self._tables, schemas[head], table) if table.rows else None
            for head, table in self._recursion.finish().items()
        }
