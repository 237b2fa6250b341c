"""Rounds of a loop evaluated as wholes, in an evaluation from empty relations.

Where nearly all rows of a round are others than those of the round before, as where numbers approach a limit,
a round by its changes takes away all that the last one brought, and brings as much:

    by changes    -R(1) +R(2)  ──► joins, counts ──►  -P(1) +P(2)  ──► groups ──►  -R(2) +R(3)
    as a whole          R(2)   ──► joins, sets   ──►        P(2)   ──► groups ──►        R(3)

So from the round on in which most rows go, each is evaluated from the whole relations of the last one, until
most rows stay. What each part tells is noted as its new rows and its old ones, which is the same change.

That is for loops that have only their own rounds, which are counted, with joins that read one part that moves
beside others that do not, and groups that need no members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ... import interrupt, thresholds
from ...circuit import Admit, Distinct, Earlier, Group, Import, Join, Sum
from ...loopparts import LoopParts, is_set, unsteady
from ..arrangements.views import StoreView, View, meets_nothing
from ..storage.batch import Batch, TableColumns, concat, consolidate
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from .loopcontents import LoopContents
from .memories import Imported


class WholeRounds:
    """The rounds of one loop as wholes. `delays` are the parts that give the relations of the last round."""

    def __init__(
        self,
        parts: LoopParts,
        contents: LoopContents,
        imports: Mapping[int, Imported],
        evaluator: Evaluator,
    ) -> None:
        self._parts, self._contents, self._imports, self._evaluator = parts, contents, imports, evaluator
        self._moving = sorted(unsteady(parts))
        self._steady: dict[int, list[Batch]] = {  # what parts that do not move told in round 0
            source: []
            for at in self._moving
            for source in parts.parts[at].sources
            if source not in self._moving
        }
        self.delays = [at for at in self._moving if isinstance(parts.parts[at].node, Earlier)]
        self._tables: dict[int, RowTable] = {}  # of distincts, in the last round
        self._gone = 0  # the rows that all parts took away in the round
        self._staying: int | None = None  # the rows of parts that do not move
        self._found: dict[int, Batch] = {}  # the contents of the parts that move, in the last round

    @property
    def sources(self) -> Sequence[int]:
        """The relations that are read in the next round."""
        return [self._parts.parts[at].sources[0] for at in self.delays]

    def note(self, at: int, change: Batch) -> None:
        """Notes what a part tells in a round by its changes."""
        self._gone += change.length - _coming(change)
        if at in self._steady:
            self._steady[at].append(change)

    def pays(self, changes: Sequence[Sequence[Batch]], number: int) -> bool:
        """Whether most rows of the last round went in it, by what the delays are given in this one, and no
        more rows stay beside them than went in all parts. No row waits for a later round."""
        gone = sum(batch.length - _coming(batch) for each in changes for batch in each)
        come = sum(_coming(batch) for each in changes for batch in each)
        held = sum(self.of_last(source).length for source in self.sources)
        if not gone or gone < thresholds.LOOP_WHOLE * (held - come + gone):
            return False
        if self._staying is None:
            self._staying = sum(self._stay(at, number) for at in self._moving)
        return self._staying <= self._gone

    def begin(self) -> None:
        """Begins a round by its changes."""
        self._gone = 0

    def _stay(self, at: int, number: int) -> int:
        """The rows that a part has in every round from one on, of parts that do not move."""
        part = self._parts.parts[at]
        still = [self.of_last(source) for source in part.sources if source in self._steady]
        match part.node:
            case Admit() as node:
                return sum(_admitted(node, batch, number).length for batch in still)
            case Sum():
                return sum(batch.length for batch in still)
            case _:
                return 0

    def of_last(self, at: int) -> Batch:
        """The contents of a relation in the last round."""
        if at in self._found:
            return self._found[at]
        if at in self._steady:
            return concat(self._steady[at], len(self._parts.parts[at].node.schema))
        held = self._contents.held(at)
        assert held is not None
        return held

    def difference(self, at: int, before: Batch) -> Batch:
        """The change of a relation since it had some contents."""
        arity = len(self._parts.parts[at].node.schema)
        return consolidate(concat([self.of_last(at), before.negated()], arity))

    def given(self, at: int) -> Batch:
        """The contents of the one source of a part in the last round."""
        (source,) = self._parts.parts[at].sources
        return self.of_last(source)

    def round(self) -> tuple[dict[int, Batch], bool, bool]:
        """The contents of the parts that move in the next round; and whether a relation differs from that of
        the last one, and whether most rows do."""
        interrupt.check()
        last = {at: self.of_last(at) for at in self.sources}
        found = dict[int, Batch]()
        for at in self._moving:
            found[at] = self._value(at, last, found)
        kept = sum(self._kept(at, last[at], found[at]) for at in last if at in found)
        rows = sum(max(last[at].length, found[at].length) for at in last if at in found)
        self._tables = {at: _table(found[at]) for at in last if at in found and not self._is_group(at)}
        self._found = found
        return found, kept < rows, kept <= (1 - thresholds.LOOP_WHOLE) * rows

    def _is_group(self, at: int) -> bool:
        return isinstance(self._parts.parts[at].node, Group)

    def _kept(self, at: int, old: Batch, new: Batch) -> int:
        """The rows of a relation that were there in the last round. Groups have theirs in one order."""
        if not self._is_group(at):
            table = self._tables.get(at) or _table(old)
            return int(np.count_nonzero(table.holds(new.columns, new.length)))
        if old.length != new.length:
            return 0
        pairs = zip(old.columns, new.columns, strict=True)
        return int(np.count_nonzero(np.logical_and.reduce([a == b for a, b in pairs])))

    def _value(self, at: int, last: Mapping[int, Batch], found: Mapping[int, Batch]) -> Batch:
        part = self._parts.parts[at]
        arity = len(part.node.schema)
        match part.node:
            case Earlier():
                return last[part.sources[0]]
            case Join() as node:
                return concat(self._joined(at, node, found), arity)
            case Admit() as node:
                (source,) = part.sources
                given = found[source] if source in found else self.of_last(source)
                return _admitted(node, given, self._evaluator.iteration)
            case Sum():
                return concat([found[s] if s in found else self.of_last(s) for s in part.sources], arity)
            case Distinct():
                (source,) = part.sources
                return found[source] if is_set(self._parts, source) else _distinct(found[source], arity)
            case Group():
                (source,) = part.sources
                return self._contents.grouped(at, found[source])
            case _:
                raise TypeError(f"{type(part.node).__name__} has no place in a round as a whole")

    def _joined(self, at: int, node: Join, found: Mapping[int, Batch]) -> list[Batch]:
        sources = self._parts.parts[at].sources
        (start,) = [k for k, source in enumerate(sources) if source in found]
        views = [None if k == start else self._view(source) for k, source in enumerate(sources)]
        if meets_nothing(node.terms, views):
            return []
        return [*self._contents.joiners[at].run(start, found[sources[start]], views)]

    def _view(self, source: int) -> View:
        node = self._parts.parts[source].node
        if isinstance(node, Import):
            store, weighted, _ = self._imports[node.node]
            return StoreView(store, weighted)
        return self._contents.view(source, 0, None)


def as_wholes(
    parts: LoopParts,
    contents: LoopContents,
    imports: Mapping[int, Imported],
    evaluator: Evaluator,
) -> WholeRounds | None:
    """The rounds of a loop that are counted as wholes, if they can be."""
    moving = unsteady(parts)
    plain = all(_may_move(parts, at, moving, contents) for at in moving)
    signed = any(getattr(each.store, "signed", False) for each in imports.values())
    if len(parts.scopes) > 1 or not plain or not moving or signed:
        return None
    return WholeRounds(parts, contents, imports, evaluator)


def _may_move(parts: LoopParts, at: int, moving: set[int], contents: LoopContents) -> bool:
    """Whether a part that moves can be evaluated as a whole."""
    part = parts.parts[at]
    match part.node:
        case Earlier():
            (source,) = part.sources
            return part.node.rounds == 1 and (source not in moving or contents.holds(source))
        case Join():
            starts = [k for k, source in enumerate(part.sources) if source in moving]
            return len(starts) == 1 and not part.node.terms[starts[0]].negated
        case Group():
            return contents.holds(at) and not contents.reads_members(at)
        case Sum() | Distinct() | Admit():
            return True
        case _:
            return False


def _admitted(node: Admit, given: Batch, number: int) -> Batch:
    """The rows that are there in a round."""
    arity = len(node.schema)
    ends = arity + node.since
    there = np.ones(given.length, np.bool_)
    for column in given.columns[arity:ends]:
        there &= column <= number
    for column in given.columns[ends : ends + node.until]:
        there &= column > number
    plain = Batch(tuple(given.columns[:arity]), given.length, given.weights)
    return plain if there.all() else plain.take(np.flatnonzero(there))


def _coming(batch: Batch) -> int:
    return batch.length if batch.weights is None else int(np.count_nonzero(batch.weights > 0))


def _table(batch: Batch) -> RowTable:
    """The rows of a set."""
    table = RowTable(len(batch.columns))
    table.insert_new(batch.columns, batch.length)
    return table


def _distinct(batch: Batch, arity: int) -> Batch:
    """The rows of a bag, once each."""
    if not batch.length:
        return Batch(tuple(np.empty(0, np.int64) for _ in range(arity)), 0)
    table = _table(batch)
    return Batch(TableColumns(table, 0, table.size), table.size)
