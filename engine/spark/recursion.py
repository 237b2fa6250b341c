"""Fixpoints on the cluster: nested time over rules, each iteration a few jobs.

The first epoch with anything in it is semi-naive evaluation on sets; each row is kept with the
iteration of its birth. The first change after it counts the derivations of every row from the births,
and from then on epochs run the algorithm of (epoch, iteration) times (DESIGN, section 6). As the rules
inside a recursion are monotone, the weights of a row sum to no negative number at any iteration: it is
born at the first iteration with a weight, and an epoch changes it where its birth was, and where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ..circuit import Fixpoint
from ..schema import Schema
from .births import BEFORE, MOST_ROWS, Births
from .expressions import Expressions
from .joins import SpineView, Start, View, versions
from .rules import Rule, rules_of, schemas_of
from .spine import Spine
from .sqltext import consolidated, equal, grouping, listed, union
from .tables import TIME, Table, Tables


@dataclass(frozen=True, slots=True)
class Imported:
    """A relation from outside: its integral with this epoch's change, and the change."""

    spine: Spine
    change: Table | None


@dataclass(frozen=True, slots=True)
class TablesView:
    """Tables of one shape as a version of a relation."""

    spine: Spine
    tables: tuple[Table, ...]
    timed: bool = True

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def contents(self) -> str:
        return self.spine.of(self.tables)

    def arranged(self, positions: tuple[int, ...]) -> str:
        return self.spine.arranged_of(self.tables, positions)

    def present(self, aligned: bool = False) -> str:
        raise ValueError("a relation of the recursion is not negated inside it")


@dataclass(slots=True)
class Relation:
    """A relation of the recursion. `events`: its rows by birth, with the changes of births. `history`:
    the weights of its derivations by iteration. `derived`, `due`: what this epoch derived, and the rows
    to look at again, by iteration; `births` knows of those while the epoch is small."""

    schema: Schema
    events: Spine
    history: Spine
    derived: list[Table] = field(default_factory=list)
    due: dict[int, list[Table]] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)
    births: Births | None = None

    @property
    def columns(self) -> list[str]:
        return self.events.columns


class ClusterRecursion:
    """The state of one Fixpoint node, and one epoch of it at a time."""

    def __init__(self, fixpoint: Fixpoint, tables: Tables, expressions: Expressions) -> None:
        self.fixpoint, self.tables = fixpoint, tables
        self.rules, self.facts = rules_of(fixpoint, expressions, tables.most_sent)
        self.relations = {
            head: Relation(schema, Spine(tables, schema, True), Spine(tables, schema, True))
            for head, schema in schemas_of(fixpoint).items()
        }
        self.history = False
        self._begun = False  # whether an epoch with anything in it was committed
        self._first = True
        self._time = 0
        self._imports: Mapping[int, Imported] = {}
        self._delta: dict[str, Table] = {}

    # ------------------------------------------------------------- one epoch

    def begin(self, imports: Mapping[int, Imported]) -> None:
        """Takes the epoch's changes from outside, all of them at the first iteration."""
        self._imports, self._time = imports, 0
        self._first = not self._begun
        if self._first:
            self._imports = {at: self._settled(each) for at, each in imports.items()}
            self._seed_sets()
            return
        if not self.history:
            self._build_history()
        for relation in self.relations.values():
            few = (table.local for table in relation.history.parts if table.small)
            relation.births = Births(relation.schema, self.tables.codec, few)
        self._seed_history()

    def _settled(self, imported: Imported) -> Imported:
        """An import whose rows are there as often as they say: sets are grown from what is there, and what
        was inserted and deleted is not."""
        if imported.spine.once():
            return imported
        net = Spine(self.tables, imported.spine.schema)
        net.replace(
            [
                self.tables.settled(
                    f"SELECT * FROM {imported.spine.net()}", net.schema, small=False, lies=net.columns
                )
            ]
        )
        return Imported(net, imported.change)

    def next_iteration(self) -> int | None:
        """The least iteration with pending work, None at the fixpoint."""
        if self._first:
            return self._time if any(table.rows for table in self._delta.values()) else None
        return min((t for r in self.relations.values() for t in r.pending), default=None)

    def iterate(self, time: int) -> None:
        """The changes of the relations at an iteration, and what follows from them."""
        if self._first:
            self._iterate_sets()
        else:
            self._iterate_history(time)

    def rows(self) -> int:
        """Rows so far, for progress."""
        return sum(r.events.total() for r in self.relations.values())

    def finish(self) -> dict[str, Table]:
        """The net changes of the relations in this epoch."""
        return {head: self._net(relation) for head, relation in self.relations.items()}

    def _net(self, relation: Relation) -> Table:
        events = relation.events.fresh
        if not events:
            return self.tables.nothing(relation.schema)
        if relation.births is not None:
            return self.tables.local(relation.births.net())
        source = relation.events.of(events)
        if not self._first:
            query = f"{consolidated(relation.columns, source)}"
            return self.tables.settled(query, relation.schema, small=all(t.small for t in events))
        if all(table.local is not None for table in events):
            return self.tables.concatenated(events, without=("t",))
        return self.tables.lazy(events, relation.columns)

    def prepare(self) -> None:
        """Computes the state that `commit` will make the recursion's: after it, nothing can fail."""
        for relation in self.relations.values():
            for table in relation.derived:
                relation.history.add(table)
            relation.events.prepare()
            relation.history.prepare()

    def commit(self) -> None:
        """Ends the epoch: its changes stay."""
        for relation in self.relations.values():
            relation.events.commit()
            relation.history.commit()
            self._forget(relation)
        if self._first and (self._anything() or self.facts):
            self._begun = True

    def _anything(self) -> bool:
        return any(r.events.parts for r in self.relations.values()) or any(
            i.spine.rows() for i in self._imports.values()
        )

    def rollback(self) -> None:
        """Takes back the running epoch, finished or not."""
        for relation in self.relations.values():
            relation.events.rollback()
            relation.history.rollback()
            self._forget(relation)

    def _forget(self, relation: Relation) -> None:
        relation.derived, relation.due, relation.pending, relation.births = [], {}, set(), None

    def held(self) -> list[Table]:
        """The tables that the state needs."""
        return [
            t
            for r in self.relations.values()
            for t in (
                *r.events.held(),
                *r.history.held(),
                *r.derived,
                *(d for due in r.due.values() for d in due),
            )
        ]

    # ------------------------------------------------------------- sets

    def _seed_sets(self) -> None:
        """What the outside alone gives: the rows born at iteration 0."""
        found: dict[str, list[str]] = {head: [] for head in self.relations}
        for head, node in self.facts:
            if node.rows:
                found[head].append(f"SELECT * FROM {self.tables.of_rows(node.schema, node.rows).view}")
        for rule in self.rules:
            if all(isinstance(source, int) for source in rule.sources):
                found[rule.head].append(self._whole(rule, [self._outside(s) for s in rule.sources]))
        self._add_new(found, small=False)

    def _whole(self, rule: Rule, views: Sequence[View]) -> str:
        """A SELECT of all that a rule derives from what the views show."""
        positive = [k for k, term in enumerate(rule.node.terms) if not term.negated]
        if not positive:
            return rule.query(None, None, views)
        start = max(positive, key=lambda k: views[k].rows)
        view = views[start]
        rows = Start(view.contents(), view.rows, view.timed)
        return rule.query(start, rows, [None if k == start else v for k, v in enumerate(views)])

    def _iterate_sets(self) -> None:
        """One round of semi-naive evaluation: from the rows of the last one to those born next."""
        found: dict[str, list[str]] = {head: [] for head in self.relations}
        for rule in self.rules:
            for start, source in enumerate(rule.sources):
                if not isinstance(source, str) or not self._delta[source].rows:
                    continue
                views = self._around(rule, start, lambda name, now: self._set(name, now))
                if any(
                    view is not None and not view.rows and not rule.node.terms[k].negated
                    for k, view in enumerate(views)
                ):
                    continue
                delta = self._delta[source]
                found[rule.head].append(rule.query(start, Start(delta.view, delta.rows, True), views))
        self._time += 1
        self._add_new(found, small=all(delta.small for delta in self._delta.values()))

    def _set(self, name: str, now: bool) -> View:
        """A relation so far, with the rows of the last round or without."""
        relation = self.relations[name]
        tables = tuple(relation.events.fresh)
        if not now and self._delta[name].rows:
            tables = tables[:-1]
        return TablesView(relation.events, tables)

    def _add_new(self, found: Mapping[str, Sequence[str]], small: bool) -> None:
        """Of what was found, adds the rows that are new, all born at this iteration."""
        delta = {}
        for head, queries in found.items():
            relation = self.relations[head]
            if not queries:
                delta[head] = self.tables.nothing(relation.schema, (TIME,))
                continue
            columns = relation.columns
            # The weight is read, so that a fault that it carries is raised.
            time = "t" if self._time else "-1 AS t"
            every = union([f"SELECT {listed(columns, 'w', time)} FROM ({query})" for query in queries])
            born = "max(w) AS w, CAST(max(t) + 1 AS INT) AS t"
            distinct = f"SELECT {listed(columns, born)} FROM ({every}) {grouping(columns)}"
            known = relation.events.fresh
            size = sum(table.rows for table in known)
            new = listed((f"c.{c}" for c in columns), "1L AS w", "c.t")
            if not known:
                query = f"SELECT {new} FROM ({distinct}) c WHERE c.w > 0"
            elif size <= self.tables.most_sent:
                query = (
                    f"SELECT /*+ BROADCAST(s) */ {new} FROM ({distinct}) c LEFT ANTI JOIN "
                    f"{relation.events.of(known)} s ON {equal('c', 's', columns)} WHERE c.w > 0"
                )
            else:
                # The large side is probed, not built: it lies partitioned by its row already.
                there = f"(SELECT {listed(columns, 'true AS there')} FROM {relation.events.aligned(known)})"
                query = (
                    f"SELECT /*+ SHUFFLE_HASH(c) */ {new} FROM ({distinct}) c "
                    f"LEFT JOIN {there} s ON {equal('c', 's', columns)} WHERE c.w > 0 AND s.there IS NULL"
                )
            delta[head] = self.tables.settled(
                query,
                relation.schema,
                small=small,
                extra=(TIME,),
                lies=relation.columns,
            )
        for head, table in delta.items():
            self.relations[head].events.grow(table)
        self._delta = delta

    # ------------------------------------------------------------- history

    def _build_history(self) -> None:
        """Counts all derivations of every row at their iterations, from the births of the rows, with the
        outside as it was before this epoch."""
        for relation in self.relations.values():
            relation.history.rollback()
        counted: dict[str, list[str]] = {head: [] for head in self.relations}
        for head, node in self.facts:
            if node.rows:
                counted[head].append(
                    self._dated(f"SELECT * FROM {self.tables.of_rows(node.schema, node.rows).view}", False)
                )
        for rule in self.rules:
            views: list[View] = []
            for source in rule.sources:
                if isinstance(source, str):
                    events = self.relations[source].events
                    views.append(TablesView(events, tuple(events.parts)))
                else:
                    views.append(SpineView(self._imports[source].spine, False))
            empty = any(not v.rows and not t.negated for v, t in zip(views, rule.node.terms, strict=True))
            if not empty:
                timed = any(isinstance(s, str) for s in rule.sources)
                counted[rule.head].append(self._dated(self._whole(rule, views), timed))
        made = {}
        for head, queries in counted.items():
            relation = self.relations[head]
            if queries:
                made[head] = self.tables.stored(
                    self._summed(relation, f"({union(queries)})"), relation.columns
                )
        for head, table in made.items():
            self.relations[head].history.replace([table] if table.rows else [])
        self.history = True

    def _dated(self, query: str, timed: bool) -> str:
        """What a rule derives, at the iterations at which it reaches the head."""
        time = "CAST(t + 1 AS INT) AS t" if timed else "CAST(0 AS INT) AS t"
        return (
            f"SELECT q.* EXCEPT (t), {time} FROM ({query}) q" if timed else f"SELECT *, {time} FROM ({query})"
        )

    def _seed_history(self) -> None:
        """What follows from the changes outside, with the recursion's relations as they were."""
        found: dict[str, list[str]] = {head: [] for head in self.relations}
        for rule in self.rules:
            changes = [self._change(s) if isinstance(s, int) else None for s in rule.sources]
            sizes = [None if change is None else change.rows for change in changes]
            for start, now in versions(rule.node.terms, sizes, False):
                assert start is not None
                change = changes[start]
                assert change is not None
                views: list[View | None] = []
                for k, source in enumerate(rule.sources):
                    if k == start:
                        views.append(None)
                    elif isinstance(source, int):
                        views.append(SpineView(self._imports[source].spine, now[k]))
                    else:
                        views.append(self._seen(source, True))
                self._follow(found, rule, start, Start(change.view, change.rows), views)
        self._derive(found, small=all(c.change is None or c.change.small for c in self._imports.values()))

    def _follow(
        self,
        found: Mapping[str, list[str]],
        rule: Rule,
        start: int,
        rows: Start,
        views: Sequence[View | None],
    ) -> None:
        """Notes what a rule derives from a change."""
        if any(v is not None and not v.rows and not rule.node.terms[k].negated for k, v in enumerate(views)):
            return
        timed = rows.timed or any(isinstance(s, str) for s in rule.sources)
        found[rule.head].append(self._dated(rule.query(start, rows, views, raising=not timed), timed))

    def _derive(self, found: Mapping[str, Sequence[str]], small: bool) -> None:
        """Adds derivations to what is pending."""
        for head, queries in found.items():
            if not queries:
                continue
            relation = self.relations[head]
            table = self._learnt(relation, queries) if small else None
            if table is None:
                self._leave_births(relation)
                derived = self._summed(relation, f"({union(queries)})")
                table = self.tables.settled(derived, relation.schema, small=small, extra=(TIME,))
            if table.rows:
                relation.derived = relation.history.compacted([*relation.derived, table])
                relation.pending |= self._times(table)

    def _summed(self, relation: Relation, source: str) -> str:
        """Derivations with their weights, each row at each iteration once."""
        items = listed(relation.columns, "sum(w) AS w", "t")
        return f"SELECT {items} FROM {source} {grouping(relation.columns, 't')} HAVING sum(w) <> 0"

    def _learnt(self, relation: Relation, queries: Sequence[str]) -> Table | None:
        """The derivations of some queries, if they are few, with the births of their rows on the driver;
        None: not so."""
        births, columns, history = relation.births, relation.columns, relation.history
        if births is None:
            return None
        large = [table for table in history.parts if not table.small]
        if large:
            # The derivations go to where the history of their rows lies.
            moved = f"SELECT {self.tables.moving(columns)}* FROM ({union(queries)})"
            derived = self._summed(relation, f"({moved})")
            items = listed((f"d.{c}" for c in columns), "d.w", "d.t", "s.w AS hw", "s.t AS ht")
            query = (
                f"SELECT /*+ SHUFFLE_HASH(d) */ {items} FROM ({derived}) d "
                f"LEFT JOIN {history.aligned(large)} s ON {equal('d', 's', columns)}"
            )
        else:
            derived = self._summed(relation, f"({union(queries)})")
            query = f"SELECT *, CAST(NULL AS BIGINT) AS hw, CAST(NULL AS INT) AS ht FROM ({derived})"
        found = self.tables.at_most(query, relation.schema, self.tables.most_small, (TIME, *BEFORE))
        if found is None or len(births) + found.num_rows > MOST_ROWS:
            return None
        return self.tables.local(births.learn(found))

    def _leave_births(self, relation: Relation) -> None:
        """From now on the cluster finds the births, in this epoch."""
        if relation.births is not None:
            for time, rows in relation.births.appointments().items():
                relation.due.setdefault(time, []).append(self.tables.local(rows))
                relation.pending.add(time)
            relation.births = None

    def _times(self, table: Table) -> set[int]:
        if table.local is not None:
            return set(pc.unique(table.local.column("t")).to_pylist())
        return {int(row[0]) for row in table.frame.select("t").distinct().collect()}

    def _iterate_history(self, time: int) -> None:
        events = {head: self._step(r, time) for head, r in self.relations.items()}
        for head, table in events.items():
            self.relations[head].events.grow(table)
        self._delta = events
        found: dict[str, list[str]] = {head: [] for head in self.relations}
        for rule in self.rules:
            for start, source in enumerate(rule.sources):
                if not isinstance(source, str) or not events[source].rows:
                    continue
                views = self._around(rule, start, self._seen)
                change = events[source]
                self._follow(found, rule, start, Start(change.view, change.rows, True), views)
        self._derive(found, small=all(table.small for table in events.values()))

    def _step(self, relation: Relation, time: int) -> Table:
        """The changes of a relation at an iteration: -1 for rows born there before, +1 for rows born
        there now. Notes when rows must be looked at again."""
        columns = relation.columns
        if time not in relation.pending:
            return self.tables.nothing(relation.schema, (TIME,))
        relation.pending.discard(time)
        if relation.births is not None:
            changes = self.tables.local(relation.births.step(time))
            relation.pending |= set(relation.births.times)
            return changes
        rows, size = self._touched(relation, time)
        hint = "BROADCAST" if size <= self.tables.most_sent else "SHUFFLE_HASH"
        on = equal("s", "d", columns)
        parts = []
        # What was derived for later iterations counts for nothing yet.
        for tables, h, a in (
            (relation.history.parts, "s.w", "s.w"),
            (relation.derived, "0L", "IF(s.t <= n.t, s.w, 0L)"),
        ):
            sql = relation.history.of(tables, () if hint == "BROADCAST" else columns)
            items = listed((f"s.{c}" for c in columns), "s.t", f"{h} AS h", f"{a} AS a", "n.t AS n")
            parts.append(
                f"SELECT /*+ {hint}(d), BROADCAST(n) */ {items} FROM {sql} s LEFT SEMI JOIN {rows} d ON {on} "
                f"CROSS JOIN {self._now(time).view} n"
            )
        sums = "sum(h) AS h, sum(a) AS a, max(n) AS n"
        each = f"SELECT {listed(columns, 't', sums)} FROM ({union(parts)}) {grouping(columns, 't')}"
        births = listed(
            columns,
            "min(IF(h > 0, t, NULL)) AS old",
            "min(IF(t <= n AND a > 0, t, NULL)) AS new",
            "min(IF(t > n AND h > 0, t, NULL)) AS later",
            "max(n) AS n",
        )
        weight = "CAST(IF(new <=> n, 1, 0) - IF(old <=> n, 1, 0) AS BIGINT) AS w"
        again = "CASE WHEN new IS NOT NULL AND old > n THEN old WHEN new IS NULL AND old <= n THEN later END"
        query = (
            f"SELECT {listed(columns, weight, 'n AS t', f'coalesce({again}, -1) AS again')} "
            f"FROM (SELECT {births} FROM ({each}) {grouping(columns)})"
        )
        query = f"SELECT * FROM ({query}) WHERE w <> 0 OR again >= 0"
        extra = (TIME, pa.field("again", pa.int32(), nullable=False))
        few = size <= self.tables.most_small
        found = self.tables.settled(query, relation.schema, small=few, at_most=size, extra=extra)
        return self._scheduled(relation, found)

    def _now(self, time: int) -> Table:
        """An iteration as a row: as a literal it would make every query a new one, to be compiled anew."""
        row = pa.table({"w": pa.array([1], pa.int64()), "t": pa.array([time], pa.int32())})
        return self.tables.local(row)

    def _touched(self, relation: Relation, time: int) -> tuple[str, int]:
        """A table expression for the rows with a change or an appointment at an iteration, some perhaps
        twice, and at most how many they are."""
        columns = listed(relation.columns) or "1 AS one"
        locals_, queries, size = [], [], 0
        for table in (*relation.derived, *relation.due.pop(time, ())):
            if table.local is not None:
                at = table.local.column("again" if "again" in table.local.column_names else "t")
                chosen = table.local.filter(pc.equal(at, time)).select([*relation.columns, "w"])
                if chosen.num_rows:
                    locals_.append(chosen)
                    size += chosen.num_rows
            else:
                at_column = "again" if "again" in table.frame.columns else "t"
                queries.append(f"SELECT {columns} FROM {table.view} WHERE {at_column} = {time}")
                size += table.rows
        if locals_:
            chosen = self.tables.local(pa.concat_tables(locals_).combine_chunks())
            queries.append(f"SELECT {columns} FROM {chosen.view}")
        return f"({union(queries)})", size

    def _scheduled(self, relation: Relation, found: Table) -> Table:
        """Notes the appointments, gives the changes."""
        columns = [*relation.columns, "w", "t"]
        if found.local is not None:
            rows = found.local
            for time in set(pc.unique(rows.column("again")).to_pylist()) - {-1}:
                relation.due.setdefault(time, []).append(found)
                relation.pending.add(time)
            return self.tables.local(rows.filter(pc.not_equal(rows.column("w"), 0)).select(columns))
        for (time,) in found.frame.select("again").where("again >= 0").distinct().collect():
            relation.due.setdefault(int(time), []).append(found)
            relation.pending.add(int(time))
        return self.tables.settled(
            f"SELECT {listed(columns)} FROM {found.view} WHERE w <> 0",
            relation.schema,
            small=False,
            extra=(TIME,),
        )

    def _seen(self, name: str, now: bool) -> View:
        """A relation by birth, with the changes of this iteration or without."""
        events = self.relations[name].events
        fresh = events.fresh if now or not self._delta[name].rows else events.fresh[:-1]
        return TablesView(events, (*events.parts, *fresh))

    # ------------------------------------------------------------- shared

    def _outside(self, source: int | str) -> View:
        assert isinstance(source, int)
        return SpineView(self._imports[source].spine, True)

    def _change(self, source: int) -> Table | None:
        change = self._imports[source].change
        return change if change is not None and change.rows else None

    def _around(self, rule: Rule, start: int, variable: Callable[[str, bool], View]) -> list[View | None]:
        """What a change of the variable at `start` sees: variables before it with this iteration's
        change, those after it without; all of the outside as it is now."""
        return [
            None
            if k == start
            else variable(source, k < start)
            if isinstance(source, str)
            else self._outside(source)
            for k, source in enumerate(rule.sources)
        ]
