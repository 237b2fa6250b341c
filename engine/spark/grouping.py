"""Groups as SQL: for each touched key, minus the row of before, plus the row of now."""

from __future__ import annotations

from ..circuit import DeltaGroup
from ..schema import Schema
from .change import Change
from .expressions import Expressions
from .faults import raised
from .operators import difference, touched
from .spine import Spine
from .sqltext import consolidated, grouping, listed, names


class GroupText:
    """Writes the SQL of one grouping."""

    def __init__(self, node: DeltaGroup, source: Schema, expressions: Expressions) -> None:
        self.node, self.source, self.expressions = node, source, expressions
        self.columns = names(node.schema)
        self.keys = self.columns[: node.keys]

    def first(self, change: Change) -> str:
        """The groups of a change that is all there is."""
        return self._groups(f"({consolidated(names(self.source), change.sql, '> 0')})")

    def again(self, members: Spine, groups: Spine, change: Change) -> str:
        """The change of the groups that a change of their members touches. `members` is the integral with
        the change, `groups` that of the groups without."""
        size = change.rows or 0
        keys = f"(SELECT DISTINCT {listed(self.keys) or '1 AS one'} FROM {change.sql})"
        now = touched(members, keys, self.keys, size, now=True)
        new = self._groups(f"({consolidated(names(self.source), f'({now})', '> 0')})")
        old = consolidated(self.columns, f"({touched(groups, keys, self.keys, size)})", "> 0")
        return difference(old, new, self.columns)

    def _groups(self, members: str) -> str:
        """A SELECT of the rows of the groups of a table expression."""
        node, expressions = self.node, self.expressions
        gathered = [f"{expressions.gathered(a, self.source)} AS a{k}" for k, a in enumerate(node.aggregates)]
        groups = f"SELECT {listed(self.keys, gathered, 'count(*) AS n')} FROM {members} {grouping(self.keys)}"
        outs = node.schema[node.keys :]
        done = [
            expressions.finish(a, self.source, node.keys, out, f"a{k}")
            for k, (a, out) in enumerate(zip(node.aggregates, outs, strict=True))
        ]
        called = (
            f"SELECT {listed(self.keys, (f'{d.text} AS f{k}' for k, d in enumerate(done)))} FROM ({groups})"
        )
        results = [f"f{k}{'.v' if d.udf else ''} AS c{node.keys + k}" for k, d in enumerate(done)]
        faults = [f"f{k}.e" for k, d in enumerate(done) if d.udf]
        weight = "1L"
        if faults:
            first = f"coalesce({listed(faults)})" if len(faults) > 1 else faults[0]
            weight = raised(node.text, first, "1L")
        return f"SELECT {listed(self.keys, results, f'{weight} AS w')} FROM ({called})"
