"""The steps of a body that look at one row, as SQL: conditions, values, elements of collections.

A step that runs as a UDF gives its value and, in place of an exception, its fault. Faults travel in the
column `e` beside the row. A fault of a row that the rest of the body excludes is none: what can be known of
the row without the value may still exclude it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..circuit import DeltaJoin, Join, Step, Unnest
from ..derivedcolumns import Derived
from ..operators.steps import binds, expression, inputs
from ..planner import RunStep
from ..schema import Schema
from .expressions import Compiled, SparkExpressions
from .failingrows import Split
from .sqltext import As, Joined, Select, Source, agree

_ONE = "1 AS one"  # a row without columns


def compiled(step: Step, given: Sequence[str], expressions: SparkExpressions) -> Compiled:
    """The SQL of what a step computes from the SQL texts of its inputs."""
    if isinstance(step, Unnest):
        return expressions.elements(step.value, given)
    return expressions.value(expression(step), given)


class RowSteps:
    """The valuations of a body so far, as a query. The columns v0, v1, … are the bound variables, and `e` is
    the fault, where a step may have failed.

    A variable among `doubtful` is null where a step has failed on which it depends.
    """

    def __init__(self, node: Join | DeltaJoin, expressions: SparkExpressions, split: Split) -> None:
        """`split`: what happens to the rows on which steps fault."""
        self.node, self.expressions, self.split = node, expressions, split
        self.variables: dict[str, str] = {}
        self.doubtful: set[str] = set()
        self.faults, self.made = False, 0
        self.query: Source = Select([_ONE])

    # ------------------------------------------------------------- columns

    def bind(self, name: str) -> str:
        """A column for a variable."""
        column = f"v{self.made}"
        self.made += 1
        self.variables[name] = column
        return column

    def unknown(self, names: Sequence[str]) -> str:
        """The condition that some of these variables has no value; empty if each has one on every row."""
        columns = (self.variables[name] for name in names if name in self.doubtful)
        return " OR ".join(f"{column} IS NULL" for column in columns) if self.faults else ""

    def fault(self) -> list[str]:
        """The column of the fault, if there is one."""
        return ["e"] if self.faults else []

    def final(self, output: Sequence[str], schema: Schema) -> list[As]:
        """The columns of the output, those without a value null."""
        known, type_of = self.variables, self.expressions.codec.sql_type
        texts = (
            known.get(name) or f"CAST(NULL AS {type_of(column)})"
            for name, column in zip(output, schema, strict=True)
        )
        return [As(text, f"c{k}") for k, text in enumerate(texts)]

    def kept(self, keep: frozenset[str]) -> list[str]:
        """The columns of the variables that are read later; the others are forgotten."""
        self.variables = {name: column for name, column in self.variables.items() if name in keep}
        return list(self.variables.values())

    def bind_term(self, columns: Sequence[str | None], read: Collection[str]) -> tuple[list[str | As], str]:
        """Binds the variables of the first term, of which others than those `read` are left out. Returns the
        columns of its rows for them, and the condition that equal variables have equal values."""
        first: dict[str, int] = {}
        items, equal = list[str | As](), []
        for k, name in enumerate(columns):
            if name is None or name not in read:
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
        """Goes on with some columns, and the fault."""
        faults = [fault] if self.faults else []
        self.query = Select([*items, *faults] or [_ONE], source, alias, joins, where)

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
        read = expression(step).inputs
        written = compiled(step, [self.variables[name] for name in read], self.expressions)
        name, unknown = binds(step), self.unknown(read)
        bound = name if run.check else None
        if written.udf:
            self._run_udf(run, written.text, bound)
        elif isinstance(step, Unnest):
            elements = written.text
            if unknown:
                elements = f"CASE WHEN {unknown} THEN {self._no_element(step)} ELSE {elements} END"
            self.query = Select([*self._everything(), As(f"explode({elements})", "x")], self.query)
            self._take("x", run, bound, unknown)
        elif name is None:
            self._filter(written.text, run, unknown)
        else:
            self._take(written.text, run, bound, unknown)

    def _everything(self) -> list[str]:
        return [*self.variables.values(), *self.fault()]

    def _filter(self, condition: str, run: RunStep, unknown: str) -> None:
        """Keeps the rows for which a condition holds, and those that have failed for which it is unknown."""
        where = f"CASE WHEN {unknown} THEN e IS NOT NULL ELSE {condition} END" if unknown else condition
        self.select(self.kept(run.keep), self.query, where)

    def _take(self, value: str, run: RunStep, bound: str | None, unknown: str) -> None:
        """Binds the step's variable to a value, or keeps the rows where it has it."""
        name = binds(run.step)
        assert name is not None
        if bound is not None:
            either = " OR ".join(filter(None, (unknown, self.unknown([name]))))
            self._filter(f"{value} = {self.variables[name]}", run, either)
            return
        kept = self.kept(run.keep - {name})
        if unknown:
            value = f"CASE WHEN {unknown} THEN NULL ELSE {value} END"
            self.doubtful.add(name)
        self.select([*kept, As(value, self.bind(name))], self.query)

    def _run_udf(self, run: RunStep, call: str, bound: str | None) -> None:
        """A step that may fault: `f` holds its value `v` or its fault `e`."""
        step, name = run.step, binds(run.step)
        source = Select([*self._everything(), As(call, "f")], self.query)
        if run.number == self.split.failing:
            self.faults = True
            self.select(self.kept(run.keep), source, "f.e IS NOT NULL", As("f.e", "e"))
            return
        if run.number in self.split.passing:
            source = Select(("*",), source, where="f.e IS NULL")
            fault = "e"
        else:
            fault = "coalesce(e, f.e)" if self.faults else "f.e"
            self.faults = True
            if name is not None and bound is None:
                self.doubtful.add(name)
        if isinstance(step, Unnest):
            self._explode(step, fault, source)
            self._take("x", run, bound, "x IS NULL" if self.faults else "")
            return
        test = "" if name is not None and bound is None else "f.v"
        if bound is not None:
            test = f"f.v = {self.variables[bound]}"
        if test:
            kept, new = self.kept(run.keep), list[As]()
        else:
            assert name is not None
            kept, new = self.kept(run.keep - {name}), [As("f.v", self.bind(name))]
        # It is null where the value is unknown, and there only.
        where = f"coalesce({test}, {fault} IS NOT NULL)" if test and self.faults else test
        self.select([*kept, *new], source, where, As(fault, "e"))

    def _explode(self, step: Unnest, fault: str, source: Source) -> None:
        """A row for each element of `f`; a row with a fault goes on, with one element that nobody reads."""
        elements, inner = "f.v", self.variables.values()
        faults = list[As]()
        if self.faults:
            elements = (
                f"CASE WHEN f.v IS NULL AND {fault} IS NOT NULL THEN {self._no_element(step)} ELSE f.v END"
            )
            faults = [As(fault, "e")]
        self.query = Select([*inner, *faults, As(f"explode({elements})", "x")], source)

    def _no_element(self, step: Unnest) -> str:
        """The SQL of an array with one element that is null."""
        type = self.expressions.codec.sql_type(step.value.column)
        return f"CAST(array(NULL) AS ARRAY<{type}>)"
