"""The query of one delta join while it is written, a subquery for each plan step.

A step that runs as a UDF gives its value and, in place of an exception, its fault. Faults travel in the
column `e` beside the row. A fault of a row that the rest of the body excludes is none, so a fault is raised
only by the weight of a row that reaches the end, or before a join, as a failed value cannot be looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..circuit import DeltaJoin, Guard, Inspect, Join, Step, Unnest
from ..derived import Derived, Position
from ..operators.steps import binds, inputs
from ..planner import Exclude, Fanout, LookUp, PlanStep, RunStep
from .expressions import Compiled, Expressions
from .faults import raised
from .sqltext import As, Joined, Select, Source, agree, broadcast, of_side, shuffle_hash
from .views import JoinStart, View

_FEW = 1000  # rows that are sent to every task, however few they are joined to


def compiled(step: Step, given: Sequence[str], expressions: Expressions) -> Compiled:
    """The SQL of what a step computes from the SQL texts of its inputs."""
    match step:
        case Guard():
            return expressions.value(step.condition, given)
        case Unnest():
            return expressions.elements(step.value, given)
        case Inspect():
            return expressions.inspect(step.value, given)
    return expressions.value(step.value, given)


class Valuations:
    """The valuations of a body so far, as a query.

    The columns v0, v1, … are the bound variables, `w` is the weight, `t` the latest iteration of the rows
    used, where something is timed, and `e` the fault, where a step may have failed. `expected` is a guess of
    the number of rows.
    """

    def __init__(
        self,
        node: Join | DeltaJoin,
        expressions: Expressions,
        sent: int,
        start: int | None,
        rows: JoinStart | None,
    ) -> None:
        """The rows of term `start`, or the empty valuation. `sent`: see JoinText."""
        self.node, self.expressions, self.sent = node, expressions, sent
        self.variables: dict[str, str] = {}
        self.faults = False
        self.timed = rows is not None and rows.timed
        self.expected = 1.0 if rows is None else float(rows.rows)
        self.made = 0
        self.query: Source = Select([As("1L", "w")])
        if start is not None and rows is not None:
            self._begin(node.terms[start].columns, node.terms[start].negated, rows)

    def _begin(self, columns: Sequence[str | None], negated: bool, rows: JoinStart) -> None:
        """Binds the variables of a term to the columns of its rows."""
        first: dict[str, int] = {}
        items, equal = [], []
        for k, name in enumerate(columns):
            if name is None:
                continue
            if name in first:
                equal.append((f"c{first[name]}", f"c{k}"))
            else:
                first[name] = k
                items.append(As(f"c{k}", self.bind(name)))
        weight = As("-w", "w") if negated else "w"
        where = agree(equal) if equal else ""
        self.query = Select([*items, weight, *self.time()], rows.sql, where=where)

    # ------------------------------------------------------------- columns

    def bind(self, name: str) -> str:
        """A column for a variable."""
        column = f"v{self.made}"
        self.made += 1
        self.variables[name] = column
        return column

    def time(self) -> list[str]:
        """The column of the iteration, if there is one."""
        return ["t"] if self.timed else []

    def fault(self) -> list[str]:
        """The column of the fault, if there is one."""
        return ["e"] if self.faults else []

    def kept(self, keep: frozenset[str]) -> list[str]:
        """The columns of the variables that are read later; the others are forgotten."""
        self.variables = {name: column for name, column in self.variables.items() if name in keep}
        return list(self.variables.values())

    # ------------------------------------------------------------- row steps

    def add(
        self,
        step: PlanStep,
        views: Sequence[View | None],
        fanout: Fanout,
    ) -> None:
        """Takes one plan step. `fanout` guesses how many rows of a term a look-up by some columns finds."""
        match step:
            case RunStep():
                self._run(step)
            case LookUp():
                self._look_up(step, _of_term(views, step.term), fanout(step.term, step.positions))
            case Exclude():
                self._exclude(step, _of_term(views, step.term))

    def _run(self, run: RunStep) -> None:
        step = run.step
        expr = step.condition if isinstance(step, Guard) else step.value
        written = compiled(step, [self.variables[name] for name in expr.inputs], self.expressions)
        name = binds(step)
        bound = self.variables[name] if name is not None and run.check else None
        if isinstance(step, Unnest):
            self.expected *= 4
        if written.udf:
            self._run_udf(run, written.text, bound)
        elif isinstance(step, Unnest):
            element = As(f"explode({written.text})", "x")
            self.query = Select([*self._everything(), element], self.query)
            self._take("x", run, bound)
        elif name is None:
            self._filter(written.text, run)
        else:
            self._take(written.text, run, bound)

    def _everything(self) -> list[str]:
        return [*self.variables.values(), "w", *self.time(), *self.fault()]

    def _filter(self, condition: str, run: RunStep) -> None:
        """Keeps the rows for which a condition holds, and those that have failed."""
        where = f"e IS NOT NULL OR {condition}" if self.faults else condition
        self._select(self.kept(run.keep), self.query, where)

    def _select(self, columns: Iterable[str | As], source: Source, where: str = "") -> None:
        self.query = Select([*columns, "w", *self.time(), *self.fault()], source, where=where)

    def _take(self, value: str, run: RunStep, bound: str | None) -> None:
        """Binds the step's variable to a value, or keeps the rows where it has it."""
        name = binds(run.step)
        assert name is not None
        if bound is not None:
            self._filter(f"{value} = {bound}", run)
            return
        kept = self.kept(run.keep - {name})
        self._select([*kept, As(value, self.bind(name))], self.query)

    def _run_udf(self, run: RunStep, call: str, bound: str | None) -> None:
        """A row step that may fault: `f` holds its value `v` or its fault `e`."""
        step, name = run.step, binds(run.step)
        source = Select([*self._everything(), As(call, "f")], self.query)
        fault = "coalesce(e, f.e)" if self.faults else "f.e"
        self.faults = True
        if isinstance(step, Unnest):
            self._explode(step, fault, source)
            self._take("x", run, bound)
            return
        passes, new = "", []
        if isinstance(step, Inspect):
            passes = "true"
        elif name is None:
            passes = "f.v"
        elif bound is not None:
            passes = f"f.v = {bound}"
        if passes:
            kept = self.kept(run.keep)
        else:
            assert name is not None
            kept, new = self.kept(run.keep - {name}), [As("f.v", self.bind(name))]
        items: list[str | As] = [*kept, *new, "w", *self.time(), As(fault, "e")]
        self.query = Select(items, source, where=f"{fault} IS NOT NULL OR {passes}" if passes else "")

    def _explode(self, step: Unnest, fault: str, source: Source) -> None:
        """A row for each element of `f`; a row with a fault goes on, with one element that nobody reads."""
        type = self.expressions.codec.sql_type(step.value.column)
        elements = f"CASE WHEN {fault} IS NULL THEN f.v ELSE CAST(array(NULL) AS ARRAY<{type}>) END"
        inner = [*self.variables.values(), "w", *self.time()]
        self.query = Select([*inner, As(fault, "e"), As(f"explode({elements})", "x")], source)

    # ------------------------------------------------------------- joins

    def _look_up(self, step: LookUp, view: View, fanout: float) -> None:
        """Joins a term by the columns already bound."""
        left = self._guarded()
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}" if isinstance(k, int) else self._derived(k, "r"))
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        hint, right = self._sides(step.positions, view)
        kept = of_side("l", self.kept(step.keep))
        new = [As(f"r.c{k}", self.bind(name)) for k, name in step.binds if name in step.keep]
        times = [f"{side}.t" for side, timed in (("l", self.timed), ("r", view.timed)) if timed]
        self.timed = bool(times)
        latest = f"greatest({', '.join(times)})" if len(times) > 1 else "".join(times)
        time = [As(latest, "t")] if times else []
        items: list[str | As] = [*kept, *new, As("l.w * r.w", "w"), *time]
        joined = Joined("JOIN", right, "r", agree(pairs))
        self.query = Select(items, left, "l", [joined], hints=[hint])
        self.expected *= max(fanout, 0.1)

    def _derived(self, column: Derived, side: str) -> str:
        """The SQL of a derived column of one side of a join; null where its conditions do not hold."""
        known = {str(k): f"{side}.c{k}" for k in column.places}
        conditions = []
        for step in column.steps:
            text = compiled(step, [known[name] for name in inputs(step)], self.expressions).text
            name = binds(step)
            if name is None:
                conditions.append(text)
            else:
                known[name] = text if not conditions else _where(conditions, text)
        return known[column.value.name]

    def _sides(self, positions: tuple[Position, ...], view: View) -> tuple[str, str]:
        """The hint of a join and its right side: a small side is sent to every task, else the smaller
        side is put into hash tables, partition by partition."""
        if view.rows <= min(self.sent, max(self.expected, _FEW)) or not positions:
            side = "l" if not positions and self.expected < view.rows else "r"
            return broadcast(side), view.contents()
        if self.expected <= self.sent:
            return broadcast("l"), view.contents()
        if view.rows <= self.sent:
            return broadcast("r"), view.contents()
        # A derived column cannot partition a table: Spark moves the rows by it.
        by = tuple(k for k in positions if isinstance(k, int))
        right = view.arranged(by) if len(by) == len(positions) else view.contents()
        return shuffle_hash("l" if self.expected < view.rows else "r"), right

    def _exclude(self, step: Exclude, view: View) -> None:
        """Keeps the rows for which a negated term has none: an antijoin."""
        left = self._guarded()
        keys = [(self.variables[name], f"c{k}") for k, name in enumerate(step.keys)]
        on = agree((f"l.{a}", f"r.{b}") for a, b in keys)
        items = of_side("l", [*self.kept(step.keep), "w", *self.time()])
        if view.rows <= self.sent:
            joined = Joined("LEFT ANTI JOIN", view.present(), "r", on)
            self.query = Select(items, left, "l", [joined], hints=[broadcast("r")])
            return
        # The large side is probed, not built: it lies partitioned by its row already.
        right = Select([*(column for _, column in keys), As("true", "there")], view.present(True))
        joined = Joined("LEFT JOIN", right, "r", on)
        self.query = Select(items, left, "l", [joined], "r.there IS NULL", hints=[shuffle_hash("l")])

    def _guarded(self) -> Source:
        """The query so far as the left side of a join, where faults are raised."""
        if not self.faults:
            return self.query
        self.faults = False
        weight = As(raised(self.node.text), "w")
        return Select([*self.variables.values(), weight, *self.time()], self.query)

    # ------------------------------------------------------------- the end

    def end(self, output: Sequence[str], raising: bool) -> Select:
        """The whole query; with its faults, in the column `e`, if it does not raise them."""
        items = [As(self.variables[name], f"c{k}") for k, name in enumerate(output)]
        if not raising:
            fault = "e" if self.faults else As("CAST(NULL AS STRING)", "e")
            return Select([*items, "w", *self.time(), fault], self.query)
        weight = As(raised(self.node.text), "w") if self.faults else "w"
        return Select([*items, weight, *self.time()], self.query)


def _where(conditions: Sequence[str], value: str) -> str:
    return f"CASE WHEN {' AND '.join(f'({each})' for each in conditions)} THEN {value} END"


def _of_term(views: Sequence[View | None], term: int) -> View:
    view = views[term]
    assert view is not None
    return view
