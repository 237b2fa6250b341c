"""The steps of a body that look at one row, as SQL: conditions, values, elements of collections.

A step that runs as a UDF gives its value and, in place of an exception, its fault. Faults travel in the
column `e` beside the row. A fault of a row that the rest of the body excludes is none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..circuit import DeltaJoin, Guard, Inspect, Join, Step, Unnest
from ..derived import Derived
from ..operators.steps import binds, inputs
from ..planner import RunStep
from .expressions import Compiled, Expressions
from .sqltext import As, Joined, Select, Source, agree

_ONE = "1 AS one"  # a row without columns


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


class RowSteps:
    """The valuations of a body so far, as a query. The columns v0, v1, … are the bound variables, and `e` is
    the fault, where a step may have failed; `carried` names what else goes along."""

    def __init__(self, node: Join | DeltaJoin, expressions: Expressions) -> None:
        self.node, self.expressions = node, expressions
        self.variables: dict[str, str] = {}
        self.faults, self.made = False, 0
        self.query: Source = Select([_ONE])

    # ------------------------------------------------------------- columns

    def carried(self) -> list[str]:
        """The columns beside the variables and the fault."""
        return []

    def bind(self, name: str) -> str:
        """A column for a variable."""
        column = f"v{self.made}"
        self.made += 1
        self.variables[name] = column
        return column

    def kept(self, keep: frozenset[str]) -> list[str]:
        """The columns of the variables that are read later; the others are forgotten."""
        self.variables = {name: column for name, column in self.variables.items() if name in keep}
        return list(self.variables.values())

    def bind_term(
        self, columns: Sequence[str | None], read: Collection[str] | None = None
    ) -> tuple[list[str | As], str]:
        """Binds the variables of the first term, of which others than those `read` are left out. Returns the
        columns of its rows for them, and the condition that equal variables have equal values."""
        first: dict[str, int] = {}
        items, equal = list[str | As](), []
        for k, name in enumerate(columns):
            if name is None or (read is not None and name not in read):
                continue
            if name in first:
                equal.append((f"c{first[name]}", f"c{k}"))
            else:
                first[name] = k
                items.append(As(f"c{k}", self.bind(name)))
        return items, agree(equal) if equal else ""

    def select(
        self,
        items: Sequence[str | As],
        source: Source,
        where: str = "",
        fault: str | As = "e",
        alias: str = "",
        joins: Sequence[Joined] = (),
    ) -> None:
        """Goes on with some columns and those that are carried."""
        faults = [fault] if self.faults else []
        self.query = Select([*items, *self.carried(), *faults] or [_ONE], source, alias, joins, where)

    def derived(self, column: Derived) -> str:
        """The SQL of a derived column of the right side `r` of a join; null where its conditions do not
        hold."""
        known = {str(k): f"r.c{k}" for k in column.places}
        conditions = list[str]()
        for step in column.steps:
            text = compiled(step, [known[name] for name in inputs(step)], self.expressions).text
            name = binds(step)
            if name is None:
                conditions.append(f"({text})")
            else:
                known[name] = f"CASE WHEN {' AND '.join(conditions)} THEN {text} END" if conditions else text
        return known[column.value.name]

    # ------------------------------------------------------------- steps

    def run(self, run: RunStep) -> None:
        """Takes a step."""
        step = run.step
        expr = step.condition if isinstance(step, Guard) else step.value
        written = compiled(step, [self.variables[name] for name in expr.inputs], self.expressions)
        name = binds(step)
        bound = self.variables[name] if name is not None and run.check else None
        if written.udf:
            self._run_udf(run, written.text, bound)
        elif isinstance(step, Unnest):
            self.query = Select([*self._everything(), As(f"explode({written.text})", "x")], self.query)
            self._take("x", run, bound)
        elif name is None:
            self._filter(written.text, run)
        else:
            self._take(written.text, run, bound)

    def _everything(self) -> list[str]:
        return [*self.variables.values(), *self.carried(), *(["e"] if self.faults else [])]

    def _filter(self, condition: str, run: RunStep) -> None:
        """Keeps the rows for which a condition holds, and those that have failed."""
        where = f"e IS NOT NULL OR {condition}" if self.faults else condition
        self.select(self.kept(run.keep), self.query, where)

    def _take(self, value: str, run: RunStep, bound: str | None) -> None:
        """Binds the step's variable to a value, or keeps the rows where it has it."""
        name = binds(run.step)
        assert name is not None
        if bound is not None:
            self._filter(f"{value} = {bound}", run)
            return
        kept = self.kept(run.keep - {name})
        self.select([*kept, As(value, self.bind(name))], self.query)

    def _run_udf(self, run: RunStep, call: str, bound: str | None) -> None:
        """A step that may fault: `f` holds its value `v` or its fault `e`."""
        step, name = run.step, binds(run.step)
        source = Select([*self._everything(), As(call, "f")], self.query)
        fault = "coalesce(e, f.e)" if self.faults else "f.e"
        self.faults = True
        if isinstance(step, Unnest):
            self._explode(step, fault, source)
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
            kept = self.kept(run.keep)
        else:
            assert name is not None
            kept, new = self.kept(run.keep - {name}), [As("f.v", self.bind(name))]
        where = f"{fault} IS NOT NULL OR {passes}" if passes else ""
        self.select([*kept, *new], source, where, As(fault, "e"))

    def _explode(self, step: Unnest, fault: str, source: Source) -> None:
        """A row for each element of `f`; a row with a fault goes on, with one element that nobody reads."""
        type = self.expressions.codec.sql_type(step.value.column)
        elements = f"CASE WHEN {fault} IS NULL THEN f.v ELSE CAST(array(NULL) AS ARRAY<{type}>) END"
        inner = [*self.variables.values(), *self.carried()]
        self.query = Select([*inner, As(fault, "e"), As(f"explode({elements})", "x")], source)
