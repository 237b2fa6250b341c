"""The body of a rule as one SELECT: its terms as they are written, each condition as soon as it can hold.

Spark's optimizer moves conditions and columns to where they belong, and chooses how each join is done. The
order of the joins is the one that is written here: a term comes next if it shares a variable with those
before.

A value that may fault travels as in `valuations`: beside it is its fault, in the column `e`. No weights could
raise it, so the last filter does. It is not deterministic: Spark would move it below the joins that may
exclude the row. The rows on which a value faults that a term is looked up by have queries of their own, since
there is no epoch to repeat.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...circuit import DeltaJoin, Join, NodeId
from ...derivedcolumns import Position
from ...operators.steps import binds
from ...planner import Exclude, LookUp, PlanStep, RunStep, plan
from ...schema import Schema
from ..expressions import SparkExpressions
from ..failingrows import Split
from ..faults import raised_where
from ..joins import JoinText
from ..rowsteps import RowSteps
from ..sqltext import As, Joined, Query, Select, Source, UnionAll, agree, of_side
from .needs import read_variables


def tested_terms(
    node: Join | DeltaJoin, schemas: Sequence[Schema], expressions: SparkExpressions
) -> frozenset[int]:
    """The positive terms of which all columns are bound when they are looked up: a set has such a row once or
    not at all."""
    if not any(_may_be_bound(node, number) for number in range(len(node.terms))):
        return frozenset()
    found = _steps(JoinText(node, schemas, expressions))
    return frozenset(
        step.term
        for step in found
        if isinstance(step, LookUp)
        and not (step.binds or step.equal or step.derived)
        and len(step.positions) == len(node.terms[step.term].columns)
    )


def _may_be_bound(node: Join | DeltaJoin, number: int) -> bool:
    """Whether other terms and the steps bind all columns of a positive term that is not the first."""
    term = node.terms[number]
    others = {name for k, each in enumerate(node.terms) if k != number for name in each.columns}
    others.update(map(binds, node.steps))
    return (
        not term.negated and number != _start(node) and None not in term.columns and others >= {*term.columns}
    )


def _steps(text: JoinText) -> Sequence[PlanStep]:
    return plan(text.stages, _start(text.node), _in_order)


def _start(node: Join | DeltaJoin) -> int | None:
    return next((k for k, term in enumerate(node.terms) if not term.negated), None)


def body(
    node: Join | DeltaJoin,
    columns: Sequence[int],
    exact: bool,
    tested: Collection[int],
    schemas: Sequence[Schema],
    sources: Sequence[Source],
    expressions: SparkExpressions,
) -> Query:
    """The query of some columns of a join, given the tables of its terms. Unless `exact`, a row may come more
    often than it is there. Of the terms that are `tested` rows only have to be there."""
    kept = replace(
        node,
        output=tuple(node.output[k] for k in columns),
        schema=tuple(node.schema[k] for k in columns),
    )
    text = JoinText(kept, schemas, expressions)
    parts = [_grown(text, exact, tested, sources).end(columns, kept)]
    for each in text.failing:
        of = [schemas[k] for k in each.terms]
        failing = JoinText(each.node, of, expressions, each.split)
        parts.append(_grown(failing, False, (), [sources[k] for k in each.terms]).end(columns, kept))
    return UnionAll(parts) if len(parts) > 1 else parts[0]


def _grown(text: JoinText, exact: bool, tested: Collection[int], sources: Sequence[Source]) -> _Body:
    """The valuations of a join, from its first positive term on."""
    made = _Body(text.node, exact, tested, sources, text.expressions, text.split)
    made.begin(_start(text.node))
    for step in _steps(text):
        made.add(step)
    return made


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
        tested: Collection[int],
        sources: Sequence[Source],
        expressions: SparkExpressions,
        split: Split,
    ) -> None:
        super().__init__(node, expressions, split)
        self.exact, self.tested, self.sources = exact, tested, sources
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
        """Joins a term by the columns already bound. Where it binds nothing that is read, and its rows need
        not be counted, they only have to be there."""
        left = self.query
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}" if isinstance(k, int) else self.derived(k))
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        kept = of_side("l", self.kept(step.keep))
        new = [As(f"r.c{k}", self.bind(name)) for k, name in step.binds if name in step.keep]
        there = not new and (not self.exact or step.term in self.tested)
        kind = "LEFT SEMI JOIN" if there else "JOIN" if pairs else "CROSS JOIN"
        on = agree(pairs) if pairs or kind != "CROSS JOIN" else ""
        joined = Joined(kind, self.sources[step.term], "r", on)  # type: ignore[arg-type]
        self.select([*kept, *new], left, fault="l.e", alias="l", joins=[joined])

    def _exclude(self, step: Exclude) -> None:
        """Keeps the rows for which a negated term has none."""
        on = agree((f"l.{self.variables[name]}", f"r.c{k}") for k, name in enumerate(step.keys))
        joined = Joined("LEFT ANTI JOIN", self.sources[step.term], "r", on)
        self.select(of_side("l", self.kept(step.keep)), self.query, fault="l.e", alias="l", joins=[joined])

    def end(self, columns: Sequence[int], whole: Join | DeltaJoin) -> Select:
        """The query of some columns of a node."""
        found = self.final(whole.output, whole.schema)
        items = [As(item.expression, f"c{k}") for k, item in zip(columns, found, strict=True)]
        where = raised_where(self.node.text) if self.faults else ""
        return Select(items or ["1 AS one"], self.query, where=where)
