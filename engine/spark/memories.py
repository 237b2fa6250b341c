"""The memories of a recursion on the cluster: growing sets, histories, and histories in the making.

See `engine.fixpoint` for the algorithms that use them. Rules are gathered as SQL, and a merge is one job a
relation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..circuit import Constant
from ..rules import FixpointRule, Source
from ..versions import Seen
from .growingset import GrowingSet
from .history import DerivationHistory
from .inspecting import Inspecting, own_columns
from .joins import JoinStart, JoinText, SpineView, View
from .spine import Spine
from .sqltext import As, Query, Select, UnionAll, consolidated, everything, sourced
from .tables import Table, Tables
from .tablesview import TablesView


@dataclass(frozen=True, slots=True)
class Imported:
    """A relation from outside: its integral with this epoch's change, and the change."""

    spine: Spine
    change: Table | None


class GrowingSets:
    """Growing sets in the epoch that fills them: semi-naive evaluation, from all that the imports hold."""

    def __init__(
        self, relations: Mapping[str, GrowingSet], imports: Mapping[int, Imported], inspecting: Inspecting
    ) -> None:
        self._relations, self._tables, self._inspecting = relations, inspecting.tables, inspecting
        self.imports = {at: _once(each.spine, inspecting.tables) for at, each in imports.items()}
        self._derived: dict[str, list[Query]] = {head: [] for head in relations}
        self._seeded, self._small, self._time = True, False, 0

    def changed(self, source: Source) -> int:
        return self.imports[source].rows() if isinstance(source, int) else 0

    def assert_facts(self, head: str, facts: Constant) -> None:
        if facts.rows:
            table = self._tables.of_rows(facts.schema, facts.rows)
            self._derived[head].append(everything(table.view))

    def derive(self, rule: FixpointRule[JoinText], start: int | None, seen: Seen) -> None:
        views = [self._view(source, seen[k]) for k, source in enumerate(rule.sources)]
        if _meets_nothing(rule, start, views):
            return
        found = _found(rule, start, self._start(rule, start, views), views)
        for head, query in found.heads(self._inspecting, self._small):
            self._derived[head].append(query)

    def _view(self, source: Source, now: bool) -> View:
        if isinstance(source, int):
            return SpineView(self.imports[source], True)
        return self._relations[source].view(now)

    def _start(
        self, rule: FixpointRule[JoinText], start: int | None, views: Sequence[View]
    ) -> JoinStart | None:
        if start is None:
            return None
        source = rule.sources[start]
        if isinstance(source, int):
            return JoinStart(views[start].contents(), views[start].rows, views[start].timed)
        delta = self._relations[source].delta
        return JoinStart(delta.view, delta.rows, True)

    def merge(self) -> None:
        new = {
            head: relation.grown(self._derived[head], self._seeded, self._small)
            for head, relation in self._relations.items()
        }
        for head, table in new.items():
            self._relations[head].grow(table)
            self._derived[head].clear()

    def next_iteration(self) -> int | None:
        return self._time if any(relation.delta.rows for relation in self._relations.values()) else None

    def advance(self, time: int) -> Collection[str]:
        self._time, self._seeded = time + 1, False
        self._small = all(relation.delta.small for relation in self._relations.values())
        return [head for head, relation in self._relations.items() if relation.delta.rows]


def _once(spine: Spine, tables: Tables) -> Spine:
    """An import with each row once, as sets are grown from the rows that are there: a row that was inserted
    and deleted is not."""
    if spine.once():
        return spine
    net = Spine(tables, spine.schema)
    query = everything(spine.net())
    net.replace([tables.settled(query, net.schema, small=False, lies=net.columns)])
    return net


class Histories:
    """Histories during one epoch, in nested time."""

    def __init__(
        self,
        relations: Mapping[str, DerivationHistory],
        imports: Mapping[int, Imported],
        inspecting: Inspecting,
    ) -> None:
        self._relations, self._imports, self._inspecting = relations, imports, inspecting
        self._derived: dict[str, list[Query]] = {head: [] for head in relations}
        self._small = all(i.change is None or i.change.small for i in imports.values())

    def changed(self, source: Source) -> int:
        change = self._imports[source].change if isinstance(source, int) else None
        return 0 if change is None else change.rows

    def assert_facts(self, head: str, facts: Constant) -> None:
        raise ValueError("facts belong to the first epoch")

    def derive(self, rule: FixpointRule[JoinText], start: int | None, seen: Seen) -> None:
        views = [self._view(source, seen[k]) for k, source in enumerate(rule.sources)]
        if start is None or _meets_nothing(rule, start, views):
            return
        source = rule.sources[start]
        delta = self._imports[source].change if isinstance(source, int) else self._relations[source].delta
        assert delta is not None
        rows = JoinStart(delta.view, delta.rows, isinstance(source, str))
        timed = any(isinstance(s, str) for s in rule.sources)
        found = _found(rule, start, rows, views, raising=not timed)
        for head, query in found.heads(self._inspecting, self._small):
            self._derived[head].append(_dated(query, timed))

    def _view(self, source: Source, now: bool) -> View:
        if isinstance(source, int):
            return SpineView(self._imports[source].spine, now)
        return self._relations[source].view(now)

    def merge(self) -> None:
        for head, queries in self._derived.items():
            self._relations[head].derive(queries, self._small)
            queries.clear()

    def next_iteration(self) -> int | None:
        return min((t for relation in self._relations.values() for t in relation.pending), default=None)

    def advance(self, time: int) -> Collection[str]:
        deltas = {head: relation.step(time) for head, relation in self._relations.items()}
        for head, delta in deltas.items():
            self._relations[head].take(delta)
        self._small = all(delta.small for delta in deltas.values())
        return [head for head, delta in deltas.items() if delta.rows]


class Counting:
    """Histories in the making: every row is a change at its birth, with the outside as it was before the
    epoch. See `fixpoint.Deriving`."""

    def __init__(
        self,
        events: Mapping[str, Spine],
        histories: Mapping[str, Spine],
        imports: Mapping[int, Imported],
        tables: Tables,
    ) -> None:
        self._events, self._histories, self._imports, self._tables = events, histories, imports, tables
        self._derived: dict[str, list[Query]] = {head: [] for head in events}

    def changed(self, source: Source) -> int:
        return self._view(source).rows

    def assert_facts(self, head: str, facts: Constant) -> None:
        if facts.rows:
            table = self._tables.of_rows(facts.schema, facts.rows)
            self._derived[head].append(_dated(everything(table.view), False))

    def derive(self, rule: FixpointRule[JoinText], start: int | None, seen: Seen) -> None:
        views = [self._view(source) for source in rule.sources]
        if _meets_nothing(rule, start, views):
            return
        timed = any(isinstance(source, str) for source in rule.sources)
        rows = None
        if start is not None:
            rows = JoinStart(views[start].contents(), views[start].rows, views[start].timed)
        for head, query in _found(rule, start, rows, views).heads(None, False):
            self._derived[head].append(_dated(query, timed))

    def _view(self, source: Source) -> View:
        if isinstance(source, int):
            return SpineView(self._imports[source].spine, False)
        return TablesView(self._events[source], tuple(self._events[source].parts))

    def merge(self) -> None:
        made = {head: self._merged(head, queries) for head, queries in self._derived.items() if queries}
        for head, table in made.items():
            self._histories[head].replace([table] if table.rows else [])

    def _merged(self, head: str, queries: Sequence[Query]) -> Table:
        columns = self._events[head].columns
        return self._tables.stored(consolidated(columns, UnionAll(queries), times=("t",)), columns)


def _meets_nothing(rule: FixpointRule[JoinText], start: int | None, views: Sequence[View]) -> bool:
    """Whether a positive term beside the start shows no row."""
    return any(
        k != start and not term.negated and not view.rows
        for k, (view, term) in enumerate(zip(views, rule.node.terms, strict=True))
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that a rule derives: the query of its join, and whether its rows are timed."""

    rule: FixpointRule[JoinText]
    query: Query
    timed: bool

    def heads(self, inspecting: Inspecting | None, small: bool) -> Iterator[tuple[str, Query]]:
        """The query of each head's rows, through the linear joins. Without `inspecting`, for rows that were
        derived before, Inspects see nothing."""

        def own(join: JoinText, query: Query) -> Query:
            if inspecting is not None:
                return inspecting.of(join.inspected, query, self.timed, small)
            return query if join.inspected is None else own_columns(join.inspected, query, self.timed)

        whole = own(self.rule.join, self.query)
        for head, linear in self.rule.heads:
            query = whole
            for each in linear:
                query = own(each, each.query(0, JoinStart(sourced(query), 0, self.timed), (None,)))
            yield head, query


def _found(
    rule: FixpointRule[JoinText],
    start: int | None,
    rows: JoinStart | None,
    views: Sequence[View],
    raising: bool = True,
) -> _Found:
    """The query of a rule; see `JoinText.query`."""
    others = [None if k == start else view for k, view in enumerate(views)]
    query: Query = rule.join.query(start, rows, others, raising)
    if not raising:
        query = rule.join.summed([query], True)
    timed = (rows is not None and rows.timed) or any(v is not None and v.timed for v in others)
    return _Found(rule, query, timed)


def _dated(query: Query, timed: bool) -> Select:
    """The rows that a rule derives, at the iterations at which they reach the head."""
    if not timed:
        return Select(["*", As("CAST(0 AS INT)", "t")], query)
    return Select(["q.* EXCEPT (t)", As("CAST(t + 1 AS INT)", "t")], query, "q")
