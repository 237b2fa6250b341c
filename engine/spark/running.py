"""The incremental operators on Spark, during one epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..circuit import (
    Clocked,
    Constant,
    DeltaClock,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    DeltaLate,
    DeltaWindow,
    Differentiate,
    Exchange,
    Feed,
    Fixpoint,
    Input,
    Integrate,
    Join,
    Negate,
    NodeId,
    Output,
    Sum,
)
from ..epoch import Epoch
from ..integrals import shown, weighted
from ..metering import UNKNOWN
from ..runtime import Delta
from ..schema import Schema
from ..versions import versions
from .accumulating import Accumulators
from .change import Change, Fetch, Held, of_table
from .exchange import all_differ, distinct_rows
from .forgetting import forget
from .inspecting import Inspecting
from .joins import JoinStart, JoinText, SpineView, View
from .lookups import as_given, legal, signs
from .memories import Imported
from .operators import distinct, multiset_input, set_input
from .reading import shown_delta
from .recursion import RunningRecursion
from .remembered import once
from .sqltext import As, Query, Select, UnionAll, consolidated, everything, names
from .state import State
from .tables import Table
from .windows import late


class RunningEpoch:
    """One epoch over a state. See `engine.epoch.Running`."""

    def __init__(self, state: State, epoch: Epoch[Table]) -> None:
        self.state, self.epoch = state, epoch
        self.circuit, self.tables = state.circuit, state.tables
        self._begun: list[RunningRecursion] = []
        self.taken: dict[NodeId, Change] = {}  # the changes of inputs
        self.forgotten: dict[NodeId, Table] = {}  # of inputs: rows that were dropped, with negative weights
        self.told: dict[str, Table] = {}  # the changes of outputs

    @property
    def _number(self) -> int:
        """The number of the epoch, as rows are told it."""
        return self.state.earlier + self.epoch.number

    def _change(
        self, at: NodeId, query: Held, small: bool, by_row: bool = False, fetch: Fetch | None = None
    ) -> Change:
        """A change by a query; `by_row`: it ends in a grouping by the whole row."""
        schema = self.circuit.nodes[at].schema
        return Change(self.tables, schema, query, small, names(schema) if by_row else (), fetch)

    # ------------------------------------------------------------- operators

    def nothing(self) -> None:
        """No change."""

    def input(self, at: NodeId, node: Input) -> Change | None:
        change = self._input(at, node)
        if change is not None:
            self.taken[at] = change
        return change

    def _input(self, at: NodeId, node: Input) -> Change | None:
        spine = self.state.spines[at]
        given = [(table, sign) for table, sign in self.epoch.changes.get(node.relation, ()) if table.rows]
        if not given:
            return None
        first = not spine.rows() and not node.multiset and len(given) == 1 and given[0][1] > 0
        if first and given[0][0].once:
            return of_table(self.tables, node.schema, given[0][0])
        if first and given[0][0].local is not None:
            once = distinct_rows(given[0][0].local)
            if once is not None:
                return of_table(self.tables, node.schema, self.tables.local(once))
        small = all(table.small for table, _ in given)
        if small and not node.multiset and all(table.checked for table, _ in given):
            return of_table(self.tables, node.schema, as_given(self.tables, given))
        fetch = legal(self.tables, spine, given) if small and not node.multiset and spine.columns else None

        def query() -> Query:
            parts = [(table.view, sign, table.rows) for table, sign in given]
            return multiset_input(spine.columns, parts) if node.multiset else set_input(spine, parts)

        return self._change(at, query, small, by_row=True, fetch=fetch)

    def constant(self, at: NodeId, node: Constant) -> Change | None:
        if not self.epoch.first or not node.rows:
            return None
        return of_table(self.tables, node.schema, self.tables.of_rows(node.schema, node.rows))

    def sum(self, at: NodeId, node: Sum, changes: Sequence[Change | None]) -> Change | None:
        some = [change for change in changes if change is not None]
        if not some:
            return None
        every = UnionAll([change.query for change in some])
        return self._change(at, every, all(change.small for change in some))

    def negate(self, at: NodeId, node: Negate, change: Change | None) -> Change | None:
        if change is None:
            return None
        query = Select([*names(node.schema), As("-w", "w")], change.sql)
        return self._change(at, query, change.small)

    def exchange(self, at: NodeId, node: Exchange, change: Change | None) -> Change | None:
        return change

    def clocked(self, at: NodeId, node: Clocked, change: Change | None) -> Change | None:
        state, come = self.state.memories, None if change is None else self._net(at, node.schema, change)
        if isinstance(node, Integrate):
            spine = state.sums[at]
            if come is not None:
                spine.add(come)
            small = all(table.small for table in spine.seen())
            return self._change(at, everything(spine.contents()), small) if spine.rows() else None
        memory = state.of(at, node)
        before, memory.next = memory.now, come
        if isinstance(node, Feed):
            return None
        if not isinstance(node, Differentiate):
            return None if before is None else of_table(self.tables, node.schema, before)
        parts = [(table, sign) for table, sign in ((come, 1), (before, -1)) if table is not None]
        query = multiset_input(names(node.schema), [(table.view, sign, table.rows) for table, sign in parts])
        return self._change(at, query, all(table.small for table, _ in parts), True) if parts else None

    def _net(self, at: NodeId, schema: Schema, change: Change) -> Table | None:
        """The rows of a change, each once; None if there are none."""
        if change.rows is None or not all_differ(change.table.local):
            change = self._change(at, consolidated(names(schema), change.sql), change.small, by_row=True)
        return change.table if change.table.rows else None

    def join(self, at: NodeId, node: Join | DeltaJoin, changes: Sequence[Change | None]) -> Change | None:
        return self.join_from(at, node, changes)

    def join_from(
        self,
        at: NodeId,
        node: Join | DeltaJoin,
        changes: Sequence[Change | None],
        but: Collection[int | None] = (),
    ) -> Change | None:
        """The change of a join, without the delta joins that begin at the terms `but`."""
        text, spines = self.state.joins[at], self.state.spines
        if isinstance(node, Join) and len(node.terms) == 1:
            (change,) = changes
            if change is None:
                return None
            size = change.rows or (1000 if change.small else 1_000_000)
            found = text.query(0, JoinStart(change.sql, size), (None,))
            return self._change(at, self._seen(text, found, change.small), change.small)
        sizes = [0 if change is None else change.table.rows for change in changes]
        positive = all(change is None or change.table.least >= 0 for change in changes) and all(
            spines[term.source].once() for term in node.terms
        )
        queries = []
        for start, seen in versions(node.terms, sizes, self.epoch.first):
            if start in but:
                continue
            views: list[View | None] = [
                None if k == start else SpineView(spines[term.source], seen[k])
                for k, term in enumerate(node.terms)
            ]
            if any(
                v is not None and not t.negated and not v.rows for v, t in zip(views, node.terms, strict=True)
            ):
                continue
            rows = None
            if start is not None:
                change = changes[start]
                assert change is not None
                local = change.table.local if change.table.small else None
                rows = JoinStart(change.sql, change.table.rows, local=local)
            queries.append(text.query(start, rows, views, raising=positive))
        if not queries:
            return None
        query: Query = UnionAll(queries) if positive else text.summed(queries, False)
        small = all(c is None or c.small for c in changes)
        return self._change(at, self._seen(text, query, small), small)

    def _seen(self, text: JoinText, query: Query, small: bool) -> Query:
        """The query of a join, after the Inspects in it have seen its rows."""
        return Inspecting(self.tables, self._number).of(text.inspected, query, False, small)

    def distinct(self, at: NodeId, node: DeltaDistinct, change: Change | None) -> Change | None:
        """The change of presence; for groups, of the counts."""
        kept = not self.epoch.static
        if change is None or (kept and not change.table.rows):
            return None
        counts, found = self.state.counts[at], change
        if at not in self.state.ungrouped:
            given = kept and change.table.small and bool(counts.columns)
            fetch = signs(self.tables, counts, change.table) if given else None
            found = self._change(at, lambda: distinct(counts, change), change.small, by_row=True, fetch=fetch)
        if kept:
            counts.add(change.table)
        return found

    def group(self, at: NodeId, node: DeltaGroup, change: Change | None) -> Change | None:
        if change is None:
            return None
        state = self.state
        accumulators = state.accumulators.get(at)
        if accumulators is not None:
            return self._accumulated(at, accumulators, change)
        members = state.counts[node.source] if node.source in state.ungrouped else state.spines[node.source]
        text, groups = state.groups[at], state.spines[at]
        if not (groups.rows(False) or members.rows(False)):
            return self._change(at, text.first(change), change.small)
        if not change.table.rows:
            return None
        fetch, wanted = None, None
        if change.table.small:
            made = state.member_groups[at]
            wanted = made.wanted(change.table)
            fetch = made.changed(members, change.table, wanted)

        def query() -> Query:
            return text.again(members, groups, change, wanted)

        return self._change(at, query, change.small, by_row=True, fetch=fetch)

    def _accumulated(self, at: NodeId, accumulators: Accumulators, change: Change) -> Change | None:
        text, groups, spine = self.state.groups[at], self.state.spines[at], accumulators.spine
        begins = not (groups.rows(False) or spine.rows(False))
        if begins and self.epoch.static:
            return self._change(at, text.first(change), change.small)
        fetch, wanted = None, None
        if change.small and change.table.small:
            assert change.table.local is not None
            driver = self.state.driver_groups[at]
            wanted = driver.wanted(change.table.local)
            fetch, added = driver.changed(change.table.local, wanted), driver.added(change.table.local)
        else:
            added = accumulators.added(change)
        spine.add(added)
        if not accumulators.extremes and not added.rows:
            return None

        def query() -> Query:
            if not accumulators.extremes:
                return text.accumulated(accumulators, groups, None if begins else added)
            node = self.circuit.nodes[at]
            assert isinstance(node, DeltaGroup)
            members = self.state.spines[node.source]
            return text.first(change) if begins else text.again(members, groups, change, wanted)

        return self._change(at, query, change.small, by_row=not begins, fetch=fetch)

    def timed(
        self, at: NodeId, node: DeltaClock | DeltaWindow | DeltaLate, change: Change | None
    ) -> Change | None:
        state = self.state
        if at in state.given:
            return self._first_timed(at, node, state.given[at], change)
        match node:
            case DeltaClock():
                return state.clocks[at].change(node, change)
            case DeltaWindow():
                return state.windows[at].change(node, change, state.clocks[node.clock])
            case DeltaLate():
                last, come = state.spines[at], late(self.tables, node, change, state.clocks[node.clock])
                ended = Select([*last.columns, As("-w", "w")], last.contents())
                parts: list[Query] = [ended] if last.rows() else []
                parts += [everything(come.view)] if come is not None and come.rows else []
                small = last.rows() + (0 if come is None else come.rows) <= self.tables.most_small
                return self._change(at, UnionAll(parts), small) if parts else None

    def _first_timed(
        self, at: NodeId, node: DeltaClock | DeltaWindow | DeltaLate, given: Table, change: Change | None
    ) -> Change | None:
        """The first change of a node that began with contents. It has taken in what its source gives."""
        state, tables = self.state, self.tables
        match node:
            case DeltaClock():
                later = state.clocks[at].change(node, change)
                parts = [given] if later is None else [given, later.table]
                return of_table(tables, node.schema, once(tables, node.schema, parts))
            case DeltaWindow():
                return state.windows[at].first_change(node, state.clocks[node.clock])
            case DeltaLate():
                return of_table(tables, node.schema, given) if given.rows else None

    def recursion(self, at: NodeId, node: Fixpoint, changes: Mapping[int, Change | None]) -> RunningRecursion:
        imports = {
            source: Imported(self.state.spines[source], None if change is None else change.table)
            for source, change in changes.items()
        }
        running = self.state.recursions[at].begin(imports, self.epoch, self._number)
        self._begun.append(running)
        running.seed()
        return running

    def lengths(self, changes: Iterable[Change | None]) -> list[float]:
        return [0 if each is None else UNKNOWN if each.rows is None else each.rows for each in changes]

    def keep(self, at: NodeId, change: Change | None) -> None:
        """Takes a change into the node's integral. A change that several nodes read is computed once."""
        if change is None:
            return
        kept = self.state.kept_static if self.epoch.static else self.state.spines
        if at in kept:
            self.state.spines[at].add(change.table)
        elif len(self.state.read_by[at]) > 1:
            change.settle()

    # ------------------------------------------------------------- the end

    def finish(self, outputs: Mapping[str, Change | None]) -> dict[str, Delta]:
        deltas = dict[str, Delta]()
        for name, at in self.state.outputs.items():
            told = self.told[name] = self.delta(at, outputs.get(name))
            deltas[name] = shown_delta(self.tables, self.circuit.nodes[at].schema, told)
        self.prepare()
        return deltas

    def prepare(self) -> None:
        """Computes the state that `commit` will adopt: after it, nothing can fail."""
        self.tables.merging.begin()
        self.forgotten = forget(self.state)
        for spine in self.state.integrals():
            spine.prepare()
        for recursion in self._begun:
            recursion.prepare()

    def delta(self, at: NodeId, change: Change | None) -> Table:
        """The change of an output."""
        node, tables = self.circuit.nodes[at], self.tables
        schema, source = node.schema, shown(self.circuit, at)
        if isinstance(node, Output) and node.stream:
            spine = self.state.spines[source]
            small = all(table.small for table in spine.seen())
            net = consolidated(spine.columns, spine.contents())
            return tables.settled(net, schema, small=small)
        if change is None or not change.table.rows:
            return tables.nothing(schema)
        table = change.table
        if weighted(self.circuit, source):
            table = tables.settled(consolidated(names(schema), table.view), schema, small=table.small)
        return table

    def commit(self) -> None:
        for spine in self.state.integrals():
            spine.commit()
        self.state.memories.commit()
        for clock in self.state.clocks.values():
            clock.commit()
        for recursion in self._begun:
            recursion.commit()
        self.state.given.clear()
        self.state.sweep()

    def rollback(self) -> None:
        for spine in self.state.integrals():
            spine.rollback()
        self.state.memories.rollback()
        for clock in self.state.clocks.values():
            clock.rollback()
        for recursion in self._begun:
            recursion.rollback()
        self.state.sweep()
