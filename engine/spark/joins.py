"""Delta joins as SQL: valuations grown from the rows of one term.

A change is sent to every task when it is small; otherwise both sides are partitioned by the key, as
arrangements are already.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import DeltaJoin, Join
from ..derived import Derived, Position, derived_keys
from ..operators.steps import binds, inputs
from ..planner import Stages, guessed, plan
from ..schema import Schema
from .expressions import Expressions
from .faults import raised
from .rowsteps import compiled
from .sqltext import As, Query, Select, UnionAll, names
from .valuations import Valuations
from .views import JoinStart, SpineView, View

__all__ = ["JoinStart", "JoinText", "SpineView", "View"]


class JoinText:
    """Writes the SQL of one join."""

    def __init__(
        self, node: Join | DeltaJoin, schemas: Sequence[Schema], expressions: Expressions, sent: int
    ) -> None:
        """`sent`: up to so many rows one side of a join is sent to every task."""
        self.node, self.schemas, self.expressions, self.sent = node, schemas, expressions, sent
        keys = derived_keys(node.terms, node.steps)
        self._derived = [[key for key in each if self._is_plain(key.column)] for each in keys]
        self._late = self._steps_that_wait()
        self._stages = Stages(node.terms, node.steps, node.output, self._late, self._derived)

    @property
    def may_fault(self) -> bool:
        """Whether its queries keep faults, since a fault may cancel out."""
        return bool(self._late)

    @property
    def stages(self) -> Stages:
        """The stages of the join."""
        return self._stages

    def _steps_that_wait(self) -> frozenset[int]:
        """The steps that may fault and wait for the terms that may exclude their rows. A step does not wait
        if a term is looked up by the variable that it binds, nor a condition under which alone such a step
        has a value."""
        steps = self.node.steps
        looked_up = {name for term in self.node.terms for name in term.columns}
        early = set[int]()
        for number in reversed(range(len(steps))):
            if binds(steps[number]) in looked_up:
                read = inputs(steps[number])
                looked_up.update(read)
                early.add(number)
                early.update(k for k in range(number) if read and set(inputs(steps[k])) == set(read))
        return frozenset(
            number
            for number, step in enumerate(steps)
            if number not in early and compiled(step, [""] * len(inputs(step)), self.expressions).udf
        )

    def _is_plain(self, column: Derived) -> bool:
        """Whether SQL computes a derived column, so that no row faults: a join could not tell whether the
        rest of the body excludes the row."""
        given = [""] * max((len(inputs(step)) for step in column.steps), default=0)
        return not any(
            compiled(step, given[: len(inputs(step))], self.expressions).udf for step in column.steps
        )

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
            return guessed(size, len(positions), len(self.schemas[term])) if size else 0.0

        valuations = Valuations(self.node, self.expressions, self.sent, start, rows)
        for step in plan(self._stages, start, fanout):
            valuations.add(step, views, fanout)
        return valuations.end(self.node.output, raising or not self._late)
