"""Delta joins as SQL: valuations grown from the rows of one term, a subquery for each plan step.

A step that runs as a UDF gives its value and, in place of an exception, its fault. Faults travel in the
column `e` beside the row, and the weight of a row that reaches the end with one raises it: a fault of
a row that the rest of the body excludes is none. A change is sent to every task when it is small;
otherwise both sides are partitioned by the key, as arrangements are already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..circuit import DeltaJoin, Guard, Inspect, Join, Step, Unnest
from ..planner import Exclude, LookUp, PlanStep, RunStep, binds, inputs, plan
from ..schema import Schema
from .expressions import Compiled, Expressions
from .faults import raised
from .spine import Spine
from .sqltext import agree, consolidated, grouping, listed, names, union


class View(Protocol):
    """One version of a relation's contents, as look-ups see it."""

    @property
    def rows(self) -> int:
        """At most so many rows."""

    @property
    def timed(self) -> bool:
        """Whether rows have iterations."""

    def contents(self) -> str:
        """A table expression: columns, weight `w`, and `t` if timed."""

    def arranged(self, positions: tuple[int, ...]) -> str:
        """The contents, partitioned by the columns at these positions."""

    def present(self, aligned: bool = False) -> str:
        """A table expression for the rows present, each once; partitioned by the row if `aligned`."""


@dataclass(frozen=True, slots=True)
class SpineView:
    """A spine, with this epoch's change or without it."""

    spine: Spine
    now: bool

    @property
    def rows(self) -> int:
        return self.spine.rows(self.now)

    @property
    def timed(self) -> bool:
        return self.spine.timed

    def contents(self) -> str:
        return self.spine.contents(self.now)

    def arranged(self, positions: tuple[int, ...]) -> str:
        return self.spine.arranged(positions, self.now)

    def present(self, aligned: bool = False) -> str:
        seen = self.spine.seen(self.now)
        source = self.spine.aligned(seen) if aligned else self.spine.of(seen)
        once = self.spine.once(self.now)
        return source if once else f"({consolidated(self.spine.columns, source)})"


@dataclass(frozen=True, slots=True)
class Start:
    """The rows that a join starts from: a table expression, about how many rows, whether timed."""

    sql: str
    rows: int
    timed: bool = False


class JoinText:
    """Writes the SQL of one join."""

    def __init__(
        self, node: Join | DeltaJoin, schemas: Sequence[Schema], expressions: Expressions, sent: int
    ) -> None:
        """`sent`: up to so many rows one side of a join is sent to every task."""
        self.node, self.schemas, self.expressions, self.sent = node, schemas, expressions, sent
        looked_up = {name for term in node.terms for name in term.columns}
        for step in reversed(node.steps):
            if binds(step) in looked_up:
                looked_up.update(inputs(step))
        # A step that may fault waits for the terms that may exclude its row, unless a term is looked up by
        # what it binds.
        self._late = {
            number
            for number, step in enumerate(node.steps)
            if binds(step) not in looked_up and self._compiled(step, [""] * len(inputs(step))).udf
        }

    def summed(self, queries: Sequence[str], timed: bool) -> str:
        """One SELECT of queries that keep their faults: those are raised that do not cancel out."""
        if not self._late:
            return union(queries)
        columns = [*names(self.node.schema), *(["t"] if timed else [])]
        sums = (
            f"SELECT {listed(columns, 'e', 'sum(w) AS w')} FROM ({union(queries)}) {grouping(columns, 'e')}"
        )
        items = listed(names(self.node.schema), f"{raised(self.node.text)} AS w", ["t"] if timed else [])
        return f"SELECT {items} FROM ({sums}) WHERE w <> 0"

    def query(
        self, start: int | None, rows: Start | None, views: Sequence[View | None], raising: bool = True
    ) -> str:
        """The SELECT of the join of `rows` in place of term `start` with what the views show of the others.

        Columns c0, c1, …, the weight `w`, and `t` where something is timed: the latest iteration of the
        rows used. Not consolidated. Without `raising`, a query that may fault has the column `e` at the end,
        for `summed`.
        """

        def fanout(term: int, positions: tuple[int, ...]) -> float:
            view = views[term]
            size = 0 if view is None else view.rows
            expected: float = float(size) ** (1 - len(positions) / (len(self.schemas[term]) + 0.5))
            return expected

        steps = plan(self.node.terms, self.node.steps, self.node.output, start, fanout, self._late)
        text = _Text(self, start, rows)
        for step in steps:
            text.add(step, views, fanout)
        return text.end(self.node.output, raising or not self._late)

    def _compiled(self, step: Step, given: Sequence[str]) -> Compiled:
        expr = step.condition if isinstance(step, Guard) else step.value
        match step:
            case Unnest():
                return self.expressions.elements(expr, given)
            case Inspect():
                return self.expressions.inspect(expr, given)
        return self.expressions.value(expr, given)


class _Text:
    """The query so far: its variables are the columns v0, v1, …"""

    def __init__(self, join: JoinText, start: int | None, rows: Start | None) -> None:
        self.join = join
        self.variables: dict[str, str] = {}
        self.faults = False
        self.timed = rows is not None and rows.timed
        self.expected = 1.0 if rows is None else float(rows.rows)
        self.made = 0
        if start is None or rows is None:
            self.sql = "(SELECT 1L AS w)"
            return
        term = join.node.terms[start]
        first: dict[str, int] = {}
        items, equal = [], []
        for k, name in enumerate(term.columns):
            if name is None:
                continue
            if name in first:
                equal.append((f"c{first[name]}", f"c{k}"))
            else:
                first[name] = k
                items.append(f"c{k} AS {self.bind(name)}")
        weight = "-w AS w" if term.negated else "w"
        where = f" WHERE {agree(equal)}" if equal else ""
        self.sql = f"(SELECT {listed(items, weight, self.time())} FROM {rows.sql}{where})"

    # ------------------------------------------------------------- columns

    def bind(self, name: str) -> str:
        """A column for a variable."""
        column = f"v{self.made}"
        self.made += 1
        self.variables[name] = column
        return column

    def time(self) -> list[str]:
        return ["t"] if self.timed else []

    def fault(self) -> list[str]:
        return ["e"] if self.faults else []

    def kept(self, keep: frozenset[str], prefix: str = "") -> list[str]:
        """The columns of the variables that are read later; the others are forgotten."""
        self.variables = {name: column for name, column in self.variables.items() if name in keep}
        return [prefix + column for column in self.variables.values()]

    # ------------------------------------------------------------- steps

    def add(self, step: PlanStep, views: Sequence[View | None], fanout: object) -> None:
        """One plan step."""
        match step:
            case RunStep():
                self.run(step)
            case LookUp():
                view = views[step.term]
                assert view is not None and callable(fanout)
                self.look_up(step, view, fanout(step.term, step.positions))
            case Exclude():
                view = views[step.term]
                assert view is not None
                self.exclude(step, view)

    def run(self, run: RunStep) -> None:
        """A row step."""
        step = run.step
        expr = step.condition if isinstance(step, Guard) else step.value
        compiled = self.join._compiled(step, [self.variables[name] for name in expr.inputs])
        name = binds(step)
        bound = self.variables[name] if name is not None and run.check else None
        if isinstance(step, Unnest):
            self.expected *= 4
        if compiled.udf:
            self.run_udf(run, compiled.text, bound)
        elif isinstance(step, Unnest):
            everything = [*self.variables.values(), "w", *self.time(), *self.fault()]
            self.sql = f"(SELECT {listed(everything, f'explode({compiled.text}) AS x')} FROM {self.sql})"
            self.take("x", run, bound)
        elif name is None:
            condition = f"e IS NOT NULL OR {compiled.text}" if self.faults else compiled.text
            items = listed(self.kept(run.keep), "w", self.time(), self.fault())
            self.sql = f"(SELECT {items} FROM {self.sql} WHERE {condition})"
        else:
            self.take(compiled.text, run, bound)

    def take(self, value: str, run: RunStep, bound: str | None) -> None:
        """Binds the step's variable to a value, or keeps the rows where it has it."""
        name = binds(run.step)
        assert name is not None
        if bound is not None:
            condition = f"e IS NOT NULL OR {value} = {bound}" if self.faults else f"{value} = {bound}"
            items = listed(self.kept(run.keep), "w", self.time(), self.fault())
            self.sql = f"(SELECT {items} FROM {self.sql} WHERE {condition})"
            return
        source, kept = self.sql, self.kept(run.keep - {name})
        items = listed(kept, f"{value} AS {self.bind(name)}", "w", self.time(), self.fault())
        self.sql = f"(SELECT {items} FROM {source})"

    def run_udf(self, run: RunStep, call: str, bound: str | None) -> None:
        """A row step that may fault: `f` holds its value `v` or its fault `e`."""
        step, name = run.step, binds(run.step)
        everything = listed(self.variables.values(), "w", self.time(), self.fault())
        source = f"(SELECT {everything}, {call} AS f FROM {self.sql})"
        fault = "coalesce(e, f.e)" if self.faults else "f.e"
        self.faults = True
        if isinstance(step, Unnest):
            type = self.join.expressions.codec.sql_type(step.value.column)
            # A row with a fault goes on, with one element that nobody reads.
            elements = f"CASE WHEN {fault} IS NULL THEN f.v ELSE CAST(array(NULL) AS ARRAY<{type}>) END"
            inner = listed(self.variables.values(), "w", self.time())
            self.sql = f"(SELECT {inner}, {fault} AS e, explode({elements}) AS x FROM {source})"
            self.take("x", run, bound)
            return
        if bound is not None or name is None:
            passes = "f.v" if name is None else f"f.v = {bound}"
            if isinstance(step, Inspect):
                passes = "true"
            items = listed(self.kept(run.keep), "w", self.time(), f"{fault} AS e")
            self.sql = f"(SELECT {items} FROM {source} WHERE {fault} IS NOT NULL OR {passes})"
            return
        kept = self.kept(run.keep - {name})
        items = listed(kept, f"f.v AS {self.bind(name)}", "w", self.time(), f"{fault} AS e")
        self.sql = f"(SELECT {items} FROM {source})"

    def look_up(self, step: LookUp, view: View, fanout: float) -> None:
        """Joins a term by the columns already bound."""
        left = self.guarded()
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}")
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        hint, right = self.sides(step.positions, view)
        kept = self.kept(step.keep, "l.")
        new = [f"r.c{k} AS {self.bind(name)}" for k, name in step.binds if name in step.keep]
        times = [f"{side}.t" for side, timed in (("l", self.timed), ("r", view.timed)) if timed]
        self.timed = bool(times)
        time = [f"greatest({listed(times)}) AS t"] if len(times) > 1 else [f"{t} AS t" for t in times]
        items = listed(kept, new, "l.w * r.w AS w", time)
        self.sql = f"(SELECT {hint}{items} FROM {left} l JOIN {right} r ON {agree(pairs)})"
        self.expected *= max(fanout, 0.1)

    def sides(self, positions: tuple[int, ...], view: View) -> tuple[str, str]:
        """The hint of a join and its right side: what is small is sent to every task, else the smaller
        side is put into hash tables, partition by partition."""
        if view.rows <= min(self.join.sent, max(self.expected, 1000)) or not positions:
            if not positions and self.expected < view.rows:
                return "/*+ BROADCAST(l) */ ", view.contents()
            return "/*+ BROADCAST(r) */ ", view.contents()
        if self.expected <= self.join.sent:
            return "/*+ BROADCAST(l) */ ", view.contents()
        if view.rows <= self.join.sent:
            return "/*+ BROADCAST(r) */ ", view.contents()
        side = "l" if self.expected < view.rows else "r"
        return f"/*+ SHUFFLE_HASH({side}) */ ", view.arranged(positions)

    def exclude(self, step: Exclude, view: View) -> None:
        """Keeps the rows for which a negated term has none."""
        left = self.guarded()
        keys = [(self.variables[name], f"c{k}") for k, name in enumerate(step.keys)]
        on = agree((f"l.{a}", f"r.{b}") for a, b in keys)
        items = listed(self.kept(step.keep, "l."), "l.w", [f"l.{t}" for t in self.time()])
        if view.rows <= self.join.sent:
            hint = "/*+ BROADCAST(r) */ "
            self.sql = f"(SELECT {hint}{items} FROM {left} l LEFT ANTI JOIN {view.present()} r ON {on})"
            return
        # The large side is probed, not built: it lies partitioned by its row already.
        columns = listed(column for _, column in keys)
        right = f"(SELECT {columns + ', ' if columns else ''}true AS there FROM {view.present(True)})"
        self.sql = (
            f"(SELECT /*+ SHUFFLE_HASH(l) */ {items} FROM {left} l LEFT JOIN {right} r ON {on} "
            f"WHERE r.there IS NULL)"
        )

    def guarded(self) -> str:
        """The query so far as the left side of a join. What faulted before cannot be looked up by: it
        raises here."""
        if not self.faults:
            return self.sql
        self.faults = False
        items = listed(self.variables.values(), f"{raised(self.join.node.text)} AS w", self.time())
        return f"(SELECT {items} FROM {self.sql})"

    def end(self, output: Sequence[str], raising: bool) -> str:
        """The whole query; with its faults if it does not raise them."""
        items = [f"{self.variables[name]} AS c{k}" for k, name in enumerate(output)]
        if not raising:
            fault = "e" if self.faults else "CAST(NULL AS STRING) AS e"
            return f"SELECT {listed(items, 'w', self.time(), fault)} FROM {self.sql}"
        weight = f"{raised(self.join.node.text)} AS w" if self.faults else "w"
        return f"SELECT {listed(items, weight, self.time())} FROM {self.sql}"
