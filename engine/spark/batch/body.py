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

from ...circuit import DeltaJoin, Join, NodeId
from ...derived import Position
from ...planner import Exclude, LookUp, PlanStep, RunStep, plan
from ...schema import Schema
from ..expressions import Expressions
from ..faults import raised_where
from ..joins import JoinText
from ..rowsteps import RowSteps
from ..sqltext import As, Joined, Select, Source, agree, of_side
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


class _Body(RowSteps):
    """The valuations so far. The columns v0, v1, … are the bound variables, and `e` is the fault, where a
    step may have failed."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        exact: bool,
        sources: Sequence[Source],
        expressions: Expressions,
    ) -> None:
        super().__init__(node, expressions)
        self.exact, self.sources = exact, sources
        self.read = read_variables(node, node.output)

    def begin(self, start: NodeId | None) -> None:
        """Binds the variables of the first term to the columns of its rows."""
        if start is None:
            return
        items, where = self.bind_term(self.node.terms[start].columns, self.read)
        self.query = Select(items or ["1 AS one"], self.sources[start], where=where)

    # ------------------------------------------------------------- steps

    def add(self, step: PlanStep) -> None:
        """Takes one plan step."""
        match step:
            case RunStep():
                self.run(step)
            case LookUp():
                self._look_up(step)
            case Exclude():
                self._exclude(step)

    # ------------------------------------------------------------- joins

    def _look_up(self, step: LookUp) -> None:
        """Joins a term by the columns already bound. Where it binds nothing that is read, and rows need not
        be counted, its rows only have to be there."""
        left = self._raised()
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}" if isinstance(k, int) else self.derived(k))
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        kept = of_side("l", self.kept(step.keep))
        new = [As(f"r.c{k}", self.bind(name)) for k, name in step.binds if name in step.keep]
        kind = "LEFT SEMI JOIN" if not new and not self.exact else "JOIN" if pairs else "CROSS JOIN"
        on = agree(pairs) if pairs or kind != "CROSS JOIN" else ""
        joined = Joined(kind, self.sources[step.term], "r", on)  # type: ignore[arg-type]
        self.select([*kept, *new], left, alias="l", joins=[joined])

    def _exclude(self, step: Exclude) -> None:
        """Keeps the rows for which a negated term has none."""
        left = self._raised()
        on = agree((f"l.{self.variables[name]}", f"r.c{k}") for k, name in enumerate(step.keys))
        joined = Joined("LEFT ANTI JOIN", self.sources[step.term], "r", on)
        self.select(of_side("l", self.kept(step.keep)), left, alias="l", joins=[joined])

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
