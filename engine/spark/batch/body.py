"""The body of a rule as one SELECT: its terms as they are written, each condition as soon as it can hold.

Spark's optimizer moves conditions and columns to where they belong, and chooses how each join is done. The
order of the joins is the one that is written here: a term comes next if it shares a variable with those
before.

A value that may fault travels as in `valuations`: beside it is its fault, in the column `e`. No weights could
raise it, so the last filter does. It is not deterministic: Spark would move it below the joins that may
exclude the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...circuit import DeltaJoin, Guard, Inspect, Join, NodeId, Unnest
from ...derived import Derived, Position
from ...operators.steps import binds, inputs
from ...planner import Exclude, LookUp, PlanStep, RunStep, plan
from ...schema import Schema
from ..expressions import Expressions
from ..faults import raised_where
from ..joins import JoinText
from ..sqltext import As, Joined, Select, Source, agree, of_side
from ..valuations import compiled
from .needs import read_variables


def body(
    node: Join | DeltaJoin,
    columns: Sequence[int],
    exact: bool,
    schemas: Sequence[Schema],
    sources: Sequence[Source],
    expressions: Expressions,
) -> Select:
    """The query of some columns of a join, given the tables of its terms. Unless `exact`, a row may come more
    often than it is there."""
    kept = replace(
        node,
        output=tuple(node.output[k] for k in columns),
        schema=tuple(node.schema[k] for k in columns),
    )
    text = JoinText(kept, schemas, expressions, 0)
    positive = [k for k, term in enumerate(node.terms) if not term.negated]
    start = positive[0] if positive else None
    made = _Body(kept, exact, sources, expressions)
    made.begin(start)
    for step in plan(text.stages, start, _in_order):
        made.add(step)
    return made.end(columns)


def _in_order(term: int, positions: tuple[Position, ...]) -> float:
    """The cost of a look-up by which the terms are taken as they are written."""
    return term + (0.0 if positions else 1e6) + (0.5 if all(isinstance(k, int) for k in positions) else 0.0)


class _Body:
    """The valuations so far. The columns v0, v1, … are the bound variables, and `e` is the fault, where a
    step may have failed."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        exact: bool,
        sources: Sequence[Source],
        expressions: Expressions,
    ) -> None:
        self.node, self.exact, self.sources, self.expressions = node, exact, sources, expressions
        self.read = read_variables(node, node.output)
        self.variables: dict[str, str] = {}
        self.faults, self.made = False, 0
        self.query: Source = Select([As("1", "one")])

    def begin(self, start: NodeId | None) -> None:
        """Binds the variables of the first term to the columns of its rows."""
        if start is None:
            return
        first: dict[str, int] = {}
        items, equal = list[str | As](), []
        for k, name in enumerate(self.node.terms[start].columns):
            if name not in self.read or name is None:
                continue
            if name in first:
                equal.append((f"c{first[name]}", f"c{k}"))
            else:
                first[name] = k
                items.append(As(f"c{k}", self._bind(name)))
        self.query = Select(items or ["1 AS one"], self.sources[start], where=agree(equal) if equal else "")

    def _bind(self, name: str) -> str:
        column = f"v{self.made}"
        self.made += 1
        self.variables[name] = column
        return column

    def _kept(self, keep: frozenset[str]) -> list[str]:
        """The columns of the variables that are read later; the others are forgotten."""
        self.variables = {name: column for name, column in self.variables.items() if name in keep}
        return list(self.variables.values())

    def _select(
        self,
        items: Sequence[str | As],
        source: Source,
        where: str = "",
        fault: str | As = "e",
        alias: str = "",
        joins: Sequence[Joined] = (),
    ) -> None:
        faults = [fault] if self.faults else []
        self.query = Select([*items, *faults] or ["1 AS one"], source, alias, joins, where)

    # ------------------------------------------------------------- steps

    def add(self, step: PlanStep) -> None:
        """Takes one plan step."""
        match step:
            case RunStep():
                self._run(step)
            case LookUp():
                self._look_up(step)
            case Exclude():
                self._exclude(step)

    def _run(self, run: RunStep) -> None:
        step = run.step
        expr = step.condition if isinstance(step, Guard) else step.value
        written = compiled(step, [self.variables[name] for name in expr.inputs], self.expressions)
        name = binds(step)
        bound = self.variables[name] if name is not None and run.check else None
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
        return [*self.variables.values(), *(["e"] if self.faults else [])]

    def _filter(self, condition: str, run: RunStep) -> None:
        """Keeps the rows for which a condition holds, and those that have failed."""
        where = f"e IS NOT NULL OR {condition}" if self.faults else condition
        self._select(self._kept(run.keep), self.query, where)

    def _take(self, value: str, run: RunStep, bound: str | None) -> None:
        """Binds the step's variable to a value, or keeps the rows where it has it."""
        name = binds(run.step)
        assert name is not None
        if bound is not None:
            self._filter(f"{value} = {bound}", run)
            return
        kept = self._kept(run.keep - {name})
        self._select([*kept, As(value, self._bind(name))], self.query)

    def _run_udf(self, run: RunStep, call: str, bound: str | None) -> None:
        """A step that may fault: `f` holds its value `v` or its fault `e`."""
        step, name = run.step, binds(run.step)
        source = Select([*self._everything(), As(call, "f")], self.query)
        fault = "coalesce(e, f.e)" if self.faults else "f.e"
        self.faults = True
        if isinstance(step, Unnest):
            type = self.expressions.codec.sql_type(step.value.column)
            elements = f"CASE WHEN {fault} IS NULL THEN f.v ELSE CAST(array(NULL) AS ARRAY<{type}>) END"
            items: list[str | As] = [*self.variables.values(), As(fault, "e")]
            items.append(As(f"explode({elements})", "x"))
            self.query = Select(items, source)
            self._take("x", run, bound)
            return
        passes, new = "", list[As]()
        if isinstance(step, Inspect):
            passes = "true"
        elif name is None:
            passes = "f.v"
        elif bound is not None:
            passes = f"f.v = {bound}"
        if passes:
            kept = self._kept(run.keep)
        else:
            assert name is not None
            kept, new = self._kept(run.keep - {name}), [As("f.v", self._bind(name))]
        where = f"{fault} IS NOT NULL OR {passes}" if passes else ""
        self._select([*kept, *new], source, where, As(fault, "e"))

    # ------------------------------------------------------------- joins

    def _look_up(self, step: LookUp) -> None:
        """Joins a term by the columns already bound. Where it binds nothing that is read, and rows need not
        be counted, its rows only have to be there."""
        left = self._raised()
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}" if isinstance(k, int) else self._derived(k))
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        kept = of_side("l", self._kept(step.keep))
        new = [As(f"r.c{k}", self._bind(name)) for k, name in step.binds if name in step.keep]
        kind = "LEFT SEMI JOIN" if not new and not self.exact else "JOIN" if pairs else "CROSS JOIN"
        on = agree(pairs) if pairs or kind != "CROSS JOIN" else ""
        joined = Joined(kind, self.sources[step.term], "r", on)  # type: ignore[arg-type]
        self._select([*kept, *new], left, alias="l", joins=[joined])

    def _derived(self, column: Derived) -> str:
        """The SQL of a derived column of a term; null where its conditions do not hold."""
        known = {str(k): f"r.c{k}" for k in column.places}
        conditions = list[str]()
        for step in column.steps:
            text = compiled(step, [known[name] for name in inputs(step)], self.expressions).text
            name = binds(step)
            if name is None:
                conditions.append(f"({text})")
            else:
                known[name] = text if not conditions else _where(conditions, text)
        return known[column.value.name]

    def _exclude(self, step: Exclude) -> None:
        """Keeps the rows for which a negated term has none."""
        left = self._raised()
        on = agree((f"l.{self.variables[name]}", f"r.c{k}") for k, name in enumerate(step.keys))
        joined = Joined("LEFT ANTI JOIN", self.sources[step.term], "r", on)
        self._select(of_side("l", self._kept(step.keep)), left, alias="l", joins=[joined])

    def _raised(self) -> Source:
        """The query so far as the left side of a join, where faults are raised."""
        if not self.faults:
            return self.query
        self.faults = False
        items = list(self.variables.values())
        return Select(items or ["1 AS one"], self.query, where=raised_where(self.node.text))

    def end(self, columns: Sequence[int]) -> Select:
        """The whole query: some columns of the node."""
        items = [As(self.variables[name], f"c{k}") for k, name in zip(columns, self.node.output, strict=True)]
        where = raised_where(self.node.text) if self.faults else ""
        return Select(items or ["1 AS one"], self.query, where=where)


def _where(conditions: Sequence[str], value: str) -> str:
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END"
