"""The runtime of one evaluation: no state but what recursions need, and each relation is one query.

The first commit takes the inputs, and there is no other. Nothing runs until a relation is read. Recursions
run then, and so does what a query would be too long for: both are tables from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from uuid import uuid4

import pyarrow as pa

from ...circuit import Circuit, Constant, FixpointResult, Input, NodeId, Output
from ...epoch import Epoch
from ...incremental import incrementalize
from ...integrals import shown
from ...maintenance import Decision
from ...runtime import Coded, Delta, NotKept, Progress, Seal
from ...schema import Schema
from ..advice import Tell
from ..codec import Codec
from ..expressions import SparkExpressions
from ..faults import raising
from ..runtime import SparkRuntime
from ..settings import changed
from ..sqltext import As, Joined, Select, equal, everything, names, quoted
from ..tables import Guard, LocalTable, Options, Tables
from .lazyrows import LazyDelta, LazyRows
from .queries import Queries
from .recursions import alone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_MEANING = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
"""Settings under which queries mean what they should; all others are the session's own."""


@dataclass(frozen=True, slots=True)
class GivenFrame:
    """Rows for an input relation: makes a frame of the columns c0, c1, …, which is not computed."""

    frame: Callable[[], DataFrame]


class BatchRuntime:
    """The contents of one circuit of changes after its first change. See `engine.runtime.Runtime`."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        keys: Mapping[str, Sequence[int]] | None = None,
        lasting: bool = False,
        guard: Guard = nullcontext,
        memory_limit: int | None = None,
        sendable: Callable[[Circuit], bool] = lambda circuit: True,
        tell: Tell = lambda notice: None,
    ) -> None:
        """`keys`: for input relations, columns in which no two rows agree. `lasting`: frames that are given
        out outlive the runtime, which on a session that looks names up late needs names that stay. `guard`
        surrounds whatever Spark runs. `memory_limit`, `sendable` and `tell` are those of the sessions that
        evaluate recursions; see `SparkRuntime`."""
        self.spark, self.codec, self.options = spark, codec, options or Options()
        self.tables = Tables(spark, codec, self.options, guard)
        self.expressions = SparkExpressions(spark, codec)
        self.circuit = circuit
        self._session = partial(
            SparkRuntime, spark=spark, codec=codec, nan=nan, options=self.options, guard=self._reading,
            memory_limit=memory_limit, sendable=sendable, tell=tell,
        )  # fmt: skip
        nodes = list(enumerate(circuit.nodes))
        self._inputs = {node.relation: at for at, node in nodes if isinstance(node, Input)}
        self._outputs = {node.relation: at for at, node in nodes if isinstance(node, Output)}
        self._relations = self._outputs | dict(circuit.relations)
        self._keys = dict(keys or {})
        self._queries = Queries(circuit, {}, self.expressions)
        self._epoch: Epoch[LocalTable] | None = None
        self._views: list[str] = []
        self._common: set[NodeId] = set()  # nodes that are computed once, if that is dear
        self._unmade: dict[NodeId, tuple[str, Callable[[], DataFrame]]] = {}
        self._lasting = lasting

    # ------------------------------------------------------------- giving rows

    def schema(self, relation: str) -> Schema:
        """The columns of a relation."""
        at = self._inputs.get(relation)
        return self.circuit.nodes[self._relations[relation] if at is None else at].schema

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> GivenFrame:
        return self._given(self.tables.of_rows(self.schema(relation), rows))

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> GivenFrame:
        first = columns[0] if columns else ()
        length = len(first[1] if isinstance(first, tuple) else first)
        return self._given(self.tables.of_columns(self.schema(relation), Coded(columns, None, length)))

    def batch_from_frame(self, relation: str, frame: DataFrame) -> GivenFrame:
        return self.batch_from(relation, lambda: frame)

    def batch_from(self, relation: str, make: Callable[[], DataFrame]) -> GivenFrame:
        """The rows of a frame, its columns in the order of the relation's, as a batch. The frame is made if
        something reads the relation."""

        def renamed() -> DataFrame:
            with self._meaning():
                frame = make()
                columns = zip(frame.columns, names(self.schema(relation)), strict=True)
                return frame.selectExpr(*(str(As(quoted(name), c)) for name, c in columns))

        return GivenFrame(renamed)

    def batches(self, relation: str, delta: Delta) -> NoReturn:
        raise NotImplementedError("there is one commit")

    def _given(self, table: LocalTable) -> GivenFrame:
        return GivenFrame(lambda: table.frame.drop("w"))

    # ------------------------------------------------------------- the commit

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[GivenFrame, int]]],
        *,
        static: bool = True,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        """Takes the rows of the inputs. Nothing runs. A later commit is an error."""
        if self._epoch is not None:
            raise ValueError("an evaluation without state takes one commit")
        self._epoch = Epoch({}, 0, True, max_iterations, progress)
        given = {name: [each.frame for each, _ in some] for name, some in changes.items() if some}
        # A key tells the rows of one table apart, not those of several.
        keys = {name: key for name, key in self._keys.items() if len(given.get(name, ())) < 2}
        self._queries = Queries(self.circuit, keys, self.expressions)
        for relation, at in self._inputs.items():
            self._later(at, partial(self._united, relation, given.get(relation, [])))
        for at, node in enumerate(self.circuit.nodes):
            if isinstance(node, Constant):
                self._later(at, partial(self._facts, node))
        roots = {shown(self.circuit, at) for at in self._outputs.values()}
        self._common = self._queries.common(roots)
        return {name: self._delta(name) for name in self._outputs}

    def _united(self, relation: str, given: Sequence[Callable[[], DataFrame]]) -> DataFrame:
        """The rows of an input relation."""
        if not given:
            return self.tables.nothing(self.schema(relation)).frame.drop("w")
        return reduce(lambda a, b: a.unionAll(b), (make() for make in given))

    def _facts(self, node: Constant) -> DataFrame:
        return self.tables.of_rows(node.schema, node.rows).frame

    def _later(self, at: NodeId, make: Callable[[], DataFrame]) -> None:
        """Gives a node the name of a view, which is made when a query is to read it: to tell Spark of a frame
        takes longer than to plan a small query."""
        view = self._queries.held[at] = _fresh_name()
        self._unmade[at] = view, make

    def _make(self, nodes: Iterable[NodeId]) -> None:
        """Makes the views of some nodes that have names."""
        for at in nodes:
            if at in self._unmade:
                view, make = self._unmade.pop(at)
                self._view(make(), view)

    def _view(self, frame: DataFrame, name: str = "") -> str:
        view = name or _fresh_name()
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        return view

    @contextmanager
    def _passing(self) -> Iterator[Callable[[DataFrame], str]]:
        """A function that gives names to frames, which are dropped when the block ends."""
        before = len(self._views)
        passing: list[str] = []

        def named(frame: DataFrame) -> str:
            passing.append(self._view(frame))
            return passing[-1]

        try:
            yield named
        finally:
            self._views[before:] = [view for view in self._views[before:] if view not in passing]
            for view in passing:
                self.tables.forget(view)

    def _delta(self, relation: str) -> LazyDelta:
        """The contents of an output, as its change."""
        return LazyDelta(self.rows(relation), lambda: self._frame(relation, "weight"))

    # ------------------------------------------------------------- queries

    def text(self, relation: str) -> str:
        """The query of a relation's columns, under their own names."""
        return self._text(relation, "")

    def _text(self, relation: str, weight: str) -> str:
        at, schema = self._at(relation), self.schema(relation)
        items = [str(As(f"c{k}", quoted(column.name))) for k, column in enumerate(schema)]
        if not weight:
            return self._queries.of(at, items)
        return self._counted(at, [*items, As("w", quoted(weight))])

    def _counted(self, at: NodeId, items: Sequence[str | As]) -> str:
        """The query of a node's rows, each once, with the weight `w`."""
        columns = names(self.circuit.nodes[at].schema)
        source = f"n{at}"
        if self._queries.facts.sets[at]:
            each = Select([*columns, As("1L", "w")], source)
        else:
            each = Select([*columns, As("count(*)", "w")], source, grouped=columns)
        return self._queries.text(at, Select(items, each))

    def _at(self, relation: str) -> NodeId:
        """The node of a relation, of which all that its query cannot say is there."""
        at = shown(self.circuit, self._relations[relation])
        self._hold_below(at)
        return at

    def _hold_below(self, at: NodeId) -> None:
        """Computes the recursions on which a node rests, and what would make its query too long."""
        if at in self._queries.held:
            self._make([at])
            return
        nodes = self.circuit.nodes
        for below in self._queries.below(at):
            node = nodes[below]
            if isinstance(node, FixpointResult) and below not in self._queries.held:
                self._recur(node.fixpoint)
        for below in reversed(self._queries.below(at)):
            if below != at and below in self._common and below in self._queries.below(at):
                self._common.remove(below)
                if self._is_dear(below):
                    self._hold(below)
        while (repeated := self._queries.most_repeated(at)) is not None:
            self._hold(repeated)
        self._make(self._queries.below(at))

    def _recur(self, fixpoint: NodeId) -> None:
        """Computes a recursion as sessions do: in the driver, or in workers, which end with it."""
        assert self._epoch is not None
        recursion = alone(self.circuit, fixpoint)
        for at in recursion.inputs:
            self._hold_below(at)
        limit, progress = self._epoch.limit, self._epoch.progress
        with self._reading(), closing(self._session(recursion.circuit)) as runtime:
            changes = {
                name: [(runtime.batch_from_frame(name, self._exactly(at)), 1)]
                for at, name in recursion.inputs.items()
            }
            runtime.commit(changes, static=True, max_iterations=limit, progress=progress)
            found = {at: runtime.counted(name).drop("w") for at, name in recursion.outputs.items()}
        for at, frame in found.items():
            self._queries.held[at] = self._view(frame)

    def _exactly(self, at: NodeId) -> DataFrame:
        """The rows of a node, each as often as it is there."""
        text = self._queries.of(at, [*names(self.circuit.nodes[at].schema), "1L AS w"])
        return self._sql(text).drop("w")

    def _hold(self, at: NodeId) -> None:
        """Computes a node, exactly, for all queries that read it."""
        columns = names(self.circuit.nodes[at].schema)
        self._hold_below(at)
        with self._computing():
            kept = self.tables.stored(everything(f"({self._queries.of(at, [*columns, '1L AS w'])})"))
        self._queries.held[at] = self._view(kept.drop("w"))

    def _is_dear(self, at: NodeId) -> bool:
        """Whether Spark expects that an input on which a node rests has more rows than the driver takes."""
        inputs = set(self._inputs.values())
        below = [each for each in self._queries.below(at) if each in inputs]
        self._make(below)
        held, most = self._queries.held, self.options.driver_rows
        return any(self.tables.are_many(everything(held[each]), most) for each in below)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self.tables.guard(), raising(self.expressions):
            yield

    @contextmanager
    def _computing(self) -> Iterator[None]:
        with self._reading(), self.tables.configured():
            yield

    def _meaning(self) -> AbstractContextManager[None]:
        """The settings under which a query is read."""
        return changed(self.spark, _MEANING)

    # ------------------------------------------------------------- reading

    def frame(self, relation: str, weight: bool | None = None) -> DataFrame:
        """The contents of a relation as a DataFrame that nothing has computed; with the column `weight` each
        row once."""
        if weight is None:
            weight = not self._queries.facts.sets[shown(self.circuit, self._relations[relation])]
        return self._frame(relation, "weight" if weight else "")

    def _frame(self, relation: str, weight: str) -> DataFrame:
        text = self._text(relation, weight)
        with self._meaning():
            frame = self.spark.sql(text)
            if self._lasting:  # its names are looked up, and its settings read, when it is first used
                return self.spark.table(self._view(frame))
        return frame

    def rows(self, relation: str) -> LazyRows:
        schema = self.schema(relation)

        def fetch(part: tuple[int, int] | None) -> pa.Table:
            text = self._counted(self._at(relation), [*names(schema), "w"])
            limit = "" if part is None else f" LIMIT {part[1]} OFFSET {part[0]}"
            return self._fetched(f"{text}{limit}", schema)

        def count() -> int:
            at = self._at(relation)
            once = self._queries.facts.sets[at]
            text = self._queries.of(at, ["count(*)"]) if once else self._counted(at, ["count(*)"])
            with self._reading():
                return int(self._sql(text).collect()[0][0])

        return LazyRows(schema, self.codec, count, fetch)

    def _sql(self, text: str) -> DataFrame:
        with self._meaning():
            return self.spark.sql(text)

    def _fetched(self, text: str, schema: Schema) -> pa.Table:
        with self._reading():
            return self.tables.collected(self._sql(text), schema)

    def size(self, relation: str) -> int:
        return self.rows(relation).count()

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        if not rows:
            return []
        schema = self.schema(relation)
        columns = names(schema)
        found = self._matching(relation, schema, rows, equal("s", "d", columns))
        values = [self.codec.decode(c, found.column(k)) for k, c in enumerate(schema)]
        held = list(zip(*values, strict=True)) if schema else [()] * found.num_rows
        weights = dict(zip(held, found.column("w").to_pylist(), strict=True))
        return [weights.get(tuple(row), 0) for row in rows]

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        whole, positions = self.schema(relation), sorted(values)
        schema = tuple(whole[p] for p in positions)
        on = " AND ".join(f"s.c{p} = d.c{k}" for k, p in enumerate(positions)) or "true"
        found = self._matching(relation, schema, [tuple(values[p] for p in positions)], on)
        return list(LazyRows(whole, self.codec, lambda: found.num_rows, partial(_part, found)))

    def _matching(
        self, relation: str, schema: Schema, wanted: Sequence[tuple[Any, ...]], on: str
    ) -> pa.Table:
        """The rows `s` of a relation, with their weights, for which there is a wanted row `d`."""
        whole = self.schema(relation)
        held = self._counted(self._at(relation), [*names(whole), "w"])
        with self._passing() as named:
            asked = named(self.tables.of_rows(schema, list(dict.fromkeys(wanted))).frame)
            joined = Joined("LEFT SEMI JOIN", asked, "d", on)
            return self._fetched(str(Select(("s.*",), f"({held})", "s", [joined])), whole)

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> LazyRows:
        """The rows of the one output of a circuit whose inputs are relations of this runtime, or `given`."""
        made = incrementalize(circuit)
        queries = Queries(made, {}, self.expressions)
        (root,) = (at for at, node in enumerate(made.nodes) if isinstance(node, Output))
        schema = made.nodes[root].schema
        with self._passing() as named:
            for at, node in enumerate(made.nodes):
                if isinstance(node, Input):
                    if given is not None and node.relation in given:
                        frame = self.tables.of_rows(node.schema, given[node.relation]).frame
                    else:
                        frame = self._sql(self._queries.of(self._at(node.relation), names(node.schema)))
                    queries.held[at] = named(frame)
                elif isinstance(node, Constant):
                    queries.held[at] = named(self._facts(node))
            text = queries.of(root, [*names(schema), "1L AS w"])
            rows = self._fetched(text if most is None else f"{text} LIMIT {most}", schema)
        return LazyRows(schema, self.codec, lambda: rows.num_rows, partial(_part, rows))

    # ------------------------------------------------------------- what there is not

    def attempt(
        self,
        changes: Mapping[str, Sequence[tuple[GivenFrame, int]]],
        look: Callable[[], T],
        limit: int | None,
    ) -> T:
        raise NotKept("this session takes no changes")

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        raise NotKept("this session takes no changes")

    def births(self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]) -> None:
        """Unknown: the executors hold them, if anything does."""

    def footprint(self) -> None:
        """Unknown: the executors hold the rows."""

    def plans(self) -> None:
        """Unknown: Spark settles on the run of a query."""

    def expectations(self) -> None:
        """Unknown: there is no later change."""

    def decisions(self) -> list[Decision]:
        return []

    def tidy(self) -> None:
        """Nothing: values are not interned here."""

    def explained(self, relation: str) -> str:
        """Spark's plan of a relation."""
        (row,) = self._sql(f"EXPLAIN {self.text(relation)}").collect()
        return str(row[0]).rstrip()

    def close(self) -> None:
        """Releases what was computed, and the names; frames that were given out stay."""
        if not self._lasting:
            for view in self._views:
                with suppress(Exception):  # the session may have ended before us
                    self.spark.catalog.dropTempView(view)
            self.tables.close()
        self._views.clear()


def _fresh_name() -> str:
    return f"ddlog_{uuid4().hex[:12]}"


def _part(rows: pa.Table, part: tuple[int, int] | None) -> pa.Table:
    return rows if part is None else rows.slice(*part)
