"""Delta joins as SQL: valuations grown from the rows of one term.

A change is sent to every task when it is small; otherwise both sides are partitioned by the key, as
arrangements are already.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import DeltaJoin, Join
from ..derived import Position
from ..operators.steps import binds, inputs
from ..planner import plan
from ..schema import Schema
from .expressions import Expressions
from .faults import raised
from .sqltext import As, Query, Select, UnionAll, names
from .valuations import Valuations, compiled
from .views import JoinStart, SpineView, View

__all__ = ["JoinStart", "JoinText", "SpineView", "View"]


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
        # the variable that it binds.
        self._late = {
            number
            for number, step in enumerate(node.steps)
            if binds(step) not in looked_up and compiled(step, [""] * len(inputs(step)), expressions).udf
        }

    def summed(self, queries: Sequence[Query], timed: bool) -> Query:
        """One query of queries that keep their faults: a fault that cancels out is not raised."""
        every = UnionAll(queries)
        if not self._late:
            return every
        columns, time = names(self.node.schema), ["t"] if timed else []
        by = [*columns, *time, "e"]
        sums = Select([*by, As("sum(w)", "w")], every, grouped=by)
        return Select([*columns, As(raised(self.node.text), "w"), *time], sums, where="w <> 0")

    def query(
        self, start: int | None, rows: JoinStart | None, views: Sequence[View | None], raising: bool = True
    ) -> Select:
        """The SELECT of the join of `rows` in place of term `start` with the views of the other terms.

        Columns c0, c1, …, the weight `w`, and `t` where something is timed: the latest iteration of the
        rows used. Not consolidated. Without `raising`, a query that may fault has the column `e` at the end,
        for `summed`.
        """

        def fanout(term: int, positions: tuple[Position, ...]) -> float:
            view = views[term]
            size = 0 if view is None else view.rows
            expected: float = float(size) ** (1 - len(positions) / (len(self.schemas[term]) + 0.5))
            return expected

        steps = plan(self.node.terms, self.node.steps, self.node.output, start, fanout, self._late)
        valuations = Valuations(self.node, self.expressions, self.sent, start, rows)
        for step in steps:
            valuations.add(step, views, fanout)
        return valuations.end(self.node.output, raising or not self._late)
