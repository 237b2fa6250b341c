"""The plans of joins as SQL: their stages, and the steps that may fault.

A term may be looked up by a value that faults on some rows. These rows have queries of their own, which tell
whether the rest of the body excludes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..circuit import DeltaJoin, Inspect, Join
from ..derivedcolumns import Derived, derived_keys
from ..operators.steps import binds, inputs
from ..planner import Stages
from ..schema import Schema
from .expressions import SparkExpressions
from .failingrows import FailingBody, Split, failing_bodies
from .rowsteps import compiled


class JoinText:
    """The plan of one join as SQL, without its Inspects."""

    def __init__(
        self,
        node: Join | DeltaJoin,
        schemas: Sequence[Schema],
        expressions: SparkExpressions,
        split: Split | None = None,
    ) -> None:
        """`split`: the roles of the steps, of a body of rows on which one faults."""
        steps = tuple(step for step in node.steps if not isinstance(step, Inspect))
        self.node, self.schemas, self.expressions = replace(node, steps=steps), schemas, expressions
        keys = derived_keys(self.node.terms, self.node.steps)
        derived = [[key for key in each if self._is_plain(key.column)] for each in keys]
        early, late = self._steps_that_may_fault() if split is None else ([], split.late)
        self.split = Split(frozenset(early)) if split is None else split
        """The roles of the steps."""
        self.failing: Sequence[FailingBody] = ()
        """The bodies of the rows on which a value faults that a term is looked up by."""
        if split is None:
            self.failing = list(failing_bodies(self.node, early, late))
        self.stages = Stages(self.node.terms, self.node.steps, self.node.output, late, derived)

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
