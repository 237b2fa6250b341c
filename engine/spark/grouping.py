"""Groups as SQL: for each touched key, minus the row of before, plus the row of now."""

from __future__ import annotations

from ..circuit import DeltaGroup
from ..schema import Schema
from .accumulating import Accumulators
from .aggregates import Aggregates
from .change import Change
from .expressions import SparkExpressions
from .faults import raised
from .lookups import agreeing
from .operators import difference, touched
from .spine import Spine
from .sqltext import As, Select, Source, consolidated, names, sourced
from .table import Table


class GroupText:
    """Writes the SQL of one grouping."""

    def __init__(self, node: DeltaGroup, source: Schema, expressions: SparkExpressions) -> None:
        self.node, self.source, self.aggregates = node, source, Aggregates(expressions)
        self.columns = names(node.schema)
        self.keys = self.columns[: node.keys]

    def first(self, change: Change) -> Select:
        """The groups of a change that is all there is."""
        return self._groups(consolidated(names(self.source), change.sql, "> 0"))

    def again(self, members: Spine, groups: Spine, change: Change, wanted: Table | None) -> Select:
        """The change of the groups that a change of their members touches. `members` is the integral with
        the change, `groups` that of the groups without, `wanted` has the touched keys, if they are few."""
        if wanted is not None and self.keys:
            now = agreeing(members, members.seen(), wanted, self.keys)
            before = agreeing(groups, groups.seen(False), wanted, self.keys)
        else:
            size = change.rows or 0
            keys = Select(self.keys or [As("1", "one")], change.sql, distinct=True)
            now = touched(members, keys, self.keys, size, now=True)
            before = touched(groups, keys, self.keys, size)
        new = self._groups(consolidated(names(self.source), now, "> 0"))
        return difference(consolidated(self.columns, before, "> 0"), new, self.columns)

    def accumulated(self, accumulators: Accumulators, groups: Spine, added: Table | None) -> Select:
        """The change of the groups whose accumulators changed by `added`, or all groups. `groups` is their
        integral without the change."""
        if added is None:
            return self._finished(accumulators.gathered(None, 0))
        keys = Select(self.keys or [As("1", "one")], added.view, distinct=True)
        new = self._finished(accumulators.gathered(keys, added.rows))
        old = consolidated(self.columns, touched(groups, keys, self.keys, added.rows), "> 0")
        return difference(old, new, self.columns)

    def _groups(self, members: Source) -> Select:
        """The rows of the groups that some members make; those of a bag come as often as their weight
        says."""
        node, aggregates = self.node, self.aggregates
        if node.bag:
            each = f"{sourced(members)} LATERAL VIEW explode(sequence(1L, w)) AS time"
            members = Select(names(self.source), each)
        gathered = [As(aggregates.gathered(a, self.source), f"a{k}") for k, a in enumerate(node.aggregates)]
        return self._finished(
            Select([*self.keys, *gathered, As("count(*)", "n")], members, grouped=self.keys)
        )

    def _finished(self, groups: Select) -> Select:
        """The rows of the groups of which the aggregates' columns a0, a1, … and the number `n` of members
        are gathered."""
        node, aggregates = self.node, self.aggregates
        outs = node.schema[node.keys :]
        done = [
            aggregates.finish(a, self.source, node.keys, out, f"a{k}")
            for k, (a, out) in enumerate(zip(node.aggregates, outs, strict=True))
        ]
        called = Select([*self.keys, *(As(d.text, f"f{k}") for k, d in enumerate(done))], groups)
        results = [As(f"f{k}{'.v' if d.udf else ''}", f"c{node.keys + k}") for k, d in enumerate(done)]
        faults = [f"f{k}.e" for k, d in enumerate(done) if d.udf]
        weight = "1L"
        if faults:
            first = f"coalesce({', '.join(faults)})" if len(faults) > 1 else faults[0]
            weight = raised(node.text, first, "1L")
        return Select([*self.keys, *results, As(weight, "w")], called)
