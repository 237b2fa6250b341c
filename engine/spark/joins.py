"""Delta joins as SQL: valuations grown from the rows of one term.

A change is sent to every task when it is small; otherwise both sides are partitioned by the key, as
arrangements are already.

A term may be looked up by a value that faults on some rows. An epoch takes such a fault for one that counts,
which costs nothing, and is repeated if it comes to one: then, with `SparkExpressions.splitting`, the rows on
which the value faults have queries of their own, which tell whether the rest of the body excludes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import DeltaJoin, Join
from ..derived import Derived, Position, derived_keys
from ..operators.steps import binds, inputs
from ..planner import Stages, guessed, plan
from ..schema import Schema
from .expressions import SparkExpressions
from .failing import NOT_SPLIT, FailingBody, Split, failing_bodies
from .faults import raised
from .inspecting import without_inspects
from .rowsteps import compiled
from .sqltext import As, Query, Select, UnionAll, names
from .valuations import Valuations
from .views import JoinStart, SpineView, View

__all__ = ["JoinStart", "JoinText", "SpineView", "View"]


class JoinText:
    """Writes the SQL of one join. What its Inspects read is among the columns of its queries, after the
    others; see `inspecting`."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        schemas: Sequence[Schema],
        expressions: SparkExpressions,
        sent: int,
        split: Split | None = None,
    ) -> None:
        """`sent`: up to so many rows one side of a join is sent to every task. `split`: the roles of the
        steps, of a body of rows on which one faults."""
        self.node, self.inspected = without_inspects(node, schemas)
        self.schemas, self.expressions, self.sent = schemas, expressions, sent
        keys = derived_keys(self.node.terms, self.node.steps)
        self._derived = [[key for key in each if self._is_plain(key.column)] for each in keys]
        early, self._late = self._steps_that_may_fault() if split is None else ([], split.late)
        self._split = Split(frozenset(early)) if split is None else split
        self._failing: list[FailingBody] = []
        if split is None:
            self._failing += failing_bodies(self.node, early, self._late)
        self._stages = Stages(self.node.terms, self.node.steps, self.node.output, self._late, self._derived)

    @property
    def may_fault(self) -> bool:
        """Whether its queries keep faults, since a fault may cancel out."""
        return bool(self._late or self.failing)

    @property
    def failing(self) -> Sequence[FailingBody]:
        """The bodies of the rows on which a value faults that a term is looked up by, if they are told
        apart."""
        return self._failing if self.expressions.splitting else ()

    @property
    def split(self) -> Split:
        """The roles of the steps."""
        return self._split if self.failing or self._split.failing is not None else NOT_SPLIT

    @property
    def stages(self) -> Stages:
        """The stages of the join."""
        return self._stages

    def _steps_that_may_fault(self) -> tuple[list[int], frozenset[int]]:
        """The steps that may fault: those by whose values terms are looked up; and the others, which wait for
        the terms that may exclude their rows. A step does not wait if a term is looked up by the variable
        that it binds, nor a condition under which alone such a step has a value."""
        steps = self.node.steps
        looked_up = {name for term in self.node.terms for name in term.columns}
        early = set[int]()
        for number in reversed(range(len(steps))):
            if binds(steps[number]) in looked_up:
                read = inputs(steps[number])
                looked_up.update(read)
                early.add(number)
                early.update(k for k in range(number) if read and set(inputs(steps[k])) == set(read))
        faulty = [
            number
            for number, step in enumerate(steps)
            if compiled(step, [""] * len(inputs(step)), self.expressions).udf
        ]
        return [k for k in faulty if k in early], frozenset(k for k in faulty if k not in early)

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
        if not self.may_fault:
            return every
        columns, time = names(self.node.schema), ["t"] if timed else []
        by = [*columns, *time, "e"]
        sums = Select([*by, As("sum(w)", "w")], every, grouped=by)
        return Select([*columns, As(raised(self.node.text), "w"), *time], sums, where="w <> 0")

    def query(
        self, start: int | None, rows: JoinStart | None, views: Sequence[View | None], raising: bool = True
    ) -> Query:
        """The query of the join of `rows` in place of term `start` with the views of the other terms.

        Columns c0, c1, …, the weight `w`, and `t` where something is timed: the latest iteration of the
        rows used. Not consolidated. Without `raising`, a query that may fault has the column `e` at the end,
        for `summed`.
        """
        raising = raising or not self.may_fault
        early = bool(self._failing) and not self.expressions.splitting
        whole = self._grown(start, rows, views).end(self.node.output, self.node.schema, raising, early)
        parts = [self._failing_rows(body, start, rows, views, raising) for body in self.failing]
        some = [part for part in parts if part is not None]
        return UnionAll([whole, *some]) if some else whole

    def _grown(self, start: int | None, rows: JoinStart | None, views: Sequence[View | None]) -> Valuations:
        def fanout(term: int, positions: tuple[Position, ...]) -> float:
            view = views[term]
            size = 0 if view is None else view.rows
            return guessed(size, len(positions), len(self.schemas[term])) if size else 0.0

        valuations = Valuations(self.node, self.expressions, self.sent, start, rows, self.split)
        for step in plan(self._stages, start, fanout):
            valuations.add(step, views, fanout)
        return valuations

    def _failing_rows(
        self,
        body: FailingBody,
        start: int | None,
        rows: JoinStart | None,
        views: Sequence[View | None],
        raising: bool,
    ) -> Select | None:
        """The query of the rows on which a step faults; None if they do not depend on the term `start`."""
        if start is not None and start not in body.terms:
            return None
        schemas = [self.schemas[k] for k in body.terms]
        text = JoinText(body.node, schemas, self.expressions, self.sent, body.split)
        begin = None if start is None else body.terms.index(start)
        found = text._grown(begin, rows, [views[k] for k in body.terms])
        return found.end(self.node.output, self.node.schema, raising)
