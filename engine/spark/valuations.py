"""The query of one delta join while it is written, a subquery for each plan step.

A step may fault (`rowsteps`). A fault is raised only by the weight of a row that reaches the end, or, as a
failed value cannot be looked up, before a join: unless the rows on which a value faults are told apart
(`failing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from .. import thresholds
from ..circuit import DeltaJoin, Join, Unnest
from ..derived import Position
from ..planner import Exclude, Fanout, LookUp, PlanStep, RunStep
from ..schema import Schema
from .expressions import SparkExpressions
from .failing import NOT_SPLIT, Split
from .faults import raised
from .rowsteps import RowSteps
from .sqltext import As, Joined, Select, Source, agree, broadcast, of_side, shuffle_hash
from .views import JoinStart, SpineView, View


class Valuations(RowSteps):
    """The valuations of a body so far, as a query.

    The columns v0, v1, … are the bound variables, `w` is the weight, `t` the latest iteration of the rows
    used, where something is timed, and `e` the fault, where a step may have failed. `expected` is a guess of
    the number of rows.
    """

    def __init__(
        self,
        node: Join | DeltaJoin,
        expressions: SparkExpressions,
        sent: int,
        start: int | None,
        rows: JoinStart | None,
        split: Split = NOT_SPLIT,
    ) -> None:
        """The rows of term `start`, or the empty valuation. `sent`, `split`: see JoinText."""
        super().__init__(node, expressions, split)
        self.sent = sent
        self.timed = rows is not None and rows.timed
        self.expected = 1.0 if rows is None else float(rows.rows)
        self.query = Select([As("1L", "w")])
        self._given: dict[str, pa.ChunkedArray] = {}  # the values of variables that the driver knows
        if start is not None and rows is not None:
            self._begin(node.terms[start].columns, node.terms[start].negated, rows)

    def _begin(self, columns: Sequence[str | None], negated: bool, rows: JoinStart) -> None:
        """Binds the variables of a term to the columns of its rows."""
        items, where = self.bind_term(columns)
        if rows.local is not None:
            local = rows.local
            self._given = {name: local.column(f"c{k}") for k, name in enumerate(columns) if name is not None}
        weight = As("-w", "w") if negated else "w"
        self.query = Select([*items, weight, *self.time()], rows.sql, where=where)

    # ------------------------------------------------------------- columns

    def carried(self) -> list[str]:
        return ["w", *self.time()]

    def time(self) -> list[str]:
        """The column of the iteration, if there is one."""
        return ["t"] if self.timed else []

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
                if isinstance(step.step, Unnest):
                    self.expected *= 4
                self.run(step)
                if step.number == self.split.failing:
                    self.expected = 1.0
            case LookUp():
                self._look_up(step, _of_term(views, step.term), fanout(step.term, step.positions))
            case Exclude():
                self._exclude(step, _of_term(views, step.term))

    # ------------------------------------------------------------- joins

    def _look_up(self, step: LookUp, view: View, fanout: float) -> None:
        """Joins a term by the columns already bound."""
        left = self._guarded()
        pairs = [
            (f"l.{self.variables[name]}", f"r.c{k}" if isinstance(k, int) else self.derived(k))
            for k, name in zip(step.positions, step.keys, strict=True)
        ]
        pairs += [(f"r.c{a}", f"r.c{b}") for a, b in step.equal]
        hint, right = self._sides(step, view)
        kept = of_side("l", self.kept(step.keep))
        new = [As(f"r.c{k}", self.bind(name)) for k, name in step.binds if name in step.keep]
        times = [f"{side}.t" for side, timed in (("l", self.timed), ("r", view.timed)) if timed]
        self.timed = bool(times)
        latest = f"greatest({', '.join(times)})" if len(times) > 1 else "".join(times)
        time = [As(latest, "t")] if times else []
        items: list[str | As] = [*kept, *new, As("l.w * r.w", "w"), *time, *of_side("l", self.fault())]
        joined = Joined("JOIN", right, "r", agree(pairs))
        self.query = Select(items, left, "l", [joined], hints=[hint])
        self.expected *= max(fanout, 0.1)

    def _narrowed(self, step: LookUp, view: View) -> str:
        """The contents of a view, of which the parts are left out in which no row agrees with values that the
        driver knows."""
        wanted = self._known(zip(step.positions, step.keys, strict=True))
        return (
            view.narrowed(wanted) if wanted is not None and isinstance(view, SpineView) else view.contents()
        )

    def _known(self, pairs: Iterable[tuple[Position, str]]) -> pa.Table | None:
        """The columns of a term that are to have values which the driver knows, with these."""
        given = self._given
        known = {f"c{k}": given[name] for k, name in pairs if isinstance(k, int) and name in given}
        return pa.table(known) if known else None

    def _sides(self, step: LookUp, view: View) -> tuple[str, str]:
        """The hint of a join and its right side: a small side is sent to every task, else the smaller
        side is put into hash tables, partition by partition."""
        positions: tuple[Position, ...] = step.positions
        if view.rows <= min(self.sent, max(self.expected, thresholds.SPARK_SENT)) or not positions:
            side = "l" if not positions and self.expected < view.rows else "r"
            return broadcast(side), view.contents()
        if self.expected <= self.sent:
            return broadcast("l"), self._narrowed(step, view)
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
        items = of_side("l", [*self.kept(step.keep), "w", *self.time(), *self.fault()])
        if view.rows <= self.sent:
            joined = Joined("LEFT ANTI JOIN", view.present(), "r", on)
            self.query = Select(items, left, "l", [joined], hints=[broadcast("r")])
            return
        # The large side is probed, not built: it lies partitioned by its row already.
        wanted = self._known(enumerate(step.keys))
        there = view.present(True)
        if wanted is not None and isinstance(view, SpineView):
            there = view.present(True, wanted)
        right = Select([*(column for _, column in keys), As("true", "there")], there)
        joined = Joined("LEFT JOIN", right, "r", on)
        self.query = Select(items, left, "l", [joined], "r.there IS NULL", hints=[shuffle_hash("l")])

    def _guarded(self) -> Source:
        """The query so far as the left side of a join, where faults are raised."""
        if not self.faults or self.expressions.splitting:
            return self.query
        self.faults = False
        weight = As(raised(self.node.text, early=True), "w")
        return Select([*self.variables.values(), weight, *self.time()], self.query)

    # ------------------------------------------------------------- the end

    def end(self, output: Sequence[str], schema: Schema, raising: bool, early: bool = False) -> Select:
        """The whole query; with its faults, in the column `e`, if it does not raise them. A variable that has
        no value on rows with a fault is null. `early`: a fault may be one that does not count."""
        items = self.final(output, schema)
        if not raising:
            fault = "e" if self.faults else As("CAST(NULL AS STRING)", "e")
            return Select([*items, "w", *self.time(), fault], self.query)
        weight = As(raised(self.node.text, early=early), "w") if self.faults else "w"
        return Select([*items, weight, *self.time()], self.query)


def _of_term(views: Sequence[View | None], term: int) -> View:
    view = views[term]
    assert view is not None
    return view
