"""A monotone recursion in shards: what an iteration derives goes to its owners, with a vote for the next one.

In an epoch in which relations only grow, they are growing sets, and afterwards they have ranks, on all
workers at the same time (`engine/inprocess/recursion/`). Whether to maintain a recursion or to evaluate it
anew is a vote, in an epoch that changes many rows of what it imports. Then that is what is done: no worker
knows on the way what the others still have to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias, TypeVar

import numpy as np

from .. import thresholds
from ..circuit import Constant
from ..epoch import Epoch
from ..inprocess.arrangements.views import StoreView, View
from ..inprocess.joins.join import Joiner
from ..inprocess.recursion.account import situation
from ..inprocess.recursion.growingset import GrowingSet
from ..inprocess.recursion.linear import Linear
from ..inprocess.recursion.memories import GrowingSets, Imported, changed_rows, encoded, run_rule
from ..inprocess.recursion.monotoneepoch import MaintainedRecursion
from ..inprocess.recursion.rankedmemory import RankedSets
from ..inprocess.recursion.rankedrelation import Ranked, are_large, iterations_of, ranked, ranks_of, renumber
from ..inprocess.recursion.recursion import Recursion, RunningRecursion, whole
from ..inprocess.recursion.search import Contents, Searches
from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.steps import Evaluator
from ..maintenance import Choice, ImportSize, Situation, Watch
from ..rules import FixpointRule, Source
from ..schema import Array, Schema
from ..versions import Seen
from .carried import Keys, iterations_stay
from .team import Team
from .wire import Parcel, divided, packed, unpacked

V = TypeVar("V")

_Due: TypeAlias = tuple[int, set[str]]
"""An iteration, and the relations that may have searches in it."""

ViewOf: TypeAlias = Callable[[Source, object, View], View]
"""A view in shards of a source's version, of which this worker has the last."""


class ShardsRecursion(Recursion):
    """The part of one worker of the state of a Fixpoint node. In an epoch it has the sizes on all workers in
    `whole`, and sees them by `view_of`."""

    team: Team
    keys: Keys
    view_of: ViewOf
    whole: Situation
    has_large_ranks = False
    """Whether the ranks of some worker are large in this epoch."""
    exact = False
    """See `Sending`."""
    numbering = 0
    """How often the workers have numbered ranks together; 0: the relations are growing sets."""

    def begin(self, imports: Mapping[int, Imported]) -> RunningRecursion:
        sending = self._sending([each.come + each.gone for each in self.whole.imports], imports)
        view_of = self.view_of
        if self.ranked is not None:
            relations = self.ranked.values()
            if self.has_large_ranks:
                renumber(relations, np.unique(np.concatenate(self.team.agree(ranks_of(relations)))))
                self.numbering += 1
            assert self.searches is not None
            self.knows_births = False
            ranks = RankedShards(
                sending,
                view_of,
                self.ranked,
                imports,
                self.searches,
                self.evaluator,
                self._linear,
            )
            ranks.separates = self._stays and not self.exact
            return RunningRecursion(self, self.ranked, ranks)
        if self.whole.rows:
            self.knows_births = False
        else:
            self.in_order()
        return RunningRecursion(
            self, self.sets, GrowingShards(sending, view_of, self.sets, imports, self.evaluator)
        )

    def begin_anew(self, sets: Mapping[str, GrowingSet], imports: Mapping[int, Imported]) -> RunningRecursion:
        sending = self._sending([each.rows for each in self.whole.imports], imports)
        memory = GrowingShards(sending, self.view_of, sets, whole(imports), self.evaluator)
        return RunningRecursion(self, sets, memory, True)

    @cached_property
    def _stays(self) -> bool:
        """Whether the iterations send no rows from worker to worker."""
        return iterations_stay(self.rules, self.keys)

    def _sending(self, changed: Sequence[int], imports: Collection[int]) -> Sending:
        by_import = dict(zip(imports, changed, strict=True))
        return Sending(self.team, self.schemas, self.keys, by_import, self.evaluator, self.exact)

    def prepare_in_shards(self) -> None:
        """Makes ranked relations of the growing sets, before an epoch in which something may shrink."""
        if self.ranked is None:
            iterations = np.unique(np.concatenate(self.team.agree(iterations_of(self.sets))))
            self.ranked, self.sets = ranked(self.sets, iterations), {}
            self.numbering += 1


class MaintainedShards(MaintainedRecursion):
    """One epoch of a recursion on one worker."""

    _recursion: ShardsRecursion

    def __init__(
        self, recursion: ShardsRecursion, imports: Mapping[int, Imported], epoch: Epoch[Batch]
    ) -> None:
        own = situation(recursion.relations.values(), imports)
        large = are_large((recursion.ranked or {}).values())
        parts, are_so = zip(*recursion.team.agree((own, large)), strict=True)
        recursion.whole, recursion.has_large_ranks = _summed(parts), any(are_so)
        recursion.exact = epoch.limit is not None
        super().__init__(recursion, imports, epoch)

    def _chosen(self) -> Choice:
        recursion, account = self._recursion, self._account
        maintaining, whole = recursion.maintaining, recursion.whole
        if self._epoch.first or not whole.changed:
            return account.settle("")
        if self._epoch.limit is not None and not recursion.team.looks_into:
            return account.settle("its iterations are limited")
        if recursion.ranked is None and maintaining.mode != "never":
            return account.settle("it only grows")
        if recursion.team.looks_into:
            return account.refuse(recursion.team.looks_into)
        if maintaining.mode == "auto" and whole.changed <= thresholds.UNVOTED * whole.before:
            return account.settle("few rows change")
        own = maintaining.choose(recursion.costs, whole, lambda: True)
        votes = recursion.team.agree((own.maintain, account.situation.rows, account.fits()))
        anew = sum(rows for maintain, rows, _ in votes if not maintain)
        maintain = 2 * anew <= sum(rows for _, rows, _ in votes) or not all(fits for *_, fits in votes)
        account.choice = Choice(maintain, "most of the work is expected to be less", Watch(), own.estimate)
        return account.choice

    def iterate(self, time: int) -> None:
        self._running.iterate(time, thresholds.ROUNDS_AT_ONCE)

    def _go_on(self, act: Callable[[], None]) -> None:
        act()

    def _iterations_before(self) -> int:
        every: list[int] = self._recursion.team.agree(super()._iterations_before())
        return max(every)

    def finish(self) -> dict[str, Batch]:
        del self._recursion.view_of  # which holds all changes of the epoch
        return super().finish()

    def _begun_anew(self) -> None:
        self._recursion.team.ready()  # all that look up see the new relations

    @property
    def relations(self) -> Mapping[str, GrowingSet | Ranked]:
        """The relations as this epoch makes them."""
        return self._running.relations


def _summed(parts: Sequence[Situation]) -> Situation:
    """The sizes on all workers."""
    imports = [
        ImportSize(*(sum(getattr(each, name) for each in some) for name in ("rows", "come", "gone")))
        for some in zip(*(part.imports for part in parts), strict=True)
    ]
    return Situation(sum(part.rows for part in parts), imports)


class Sending:
    """The rows that an iteration derives, on their way to their owners."""

    def __init__(
        self,
        team: Team,
        schemas: Mapping[str, Schema],
        keys: Keys,
        changed: Mapping[int, int],
        evaluator: Evaluator,
        exact: bool,
    ) -> None:
        """`changed` are the rows in the change of each import, on all workers. `exact`: no iteration may run
        in which nothing changes."""
        self.team, self._schemas, self._keys, self.values = team, schemas, keys, evaluator.values
        self.parts: dict[str, list[Batch]] = {head: [] for head in schemas}
        self.changed, self.exact = changed, exact
        self.speaking: Collection[int] = range(team.size)
        """The workers that may derive rows in the next iteration: after the first one those that own rows,
        one of which tells the others how they vote."""

    def add(self, head: str, batch: Batch) -> None:
        """Takes rows of a relation."""
        if batch.length:
            self.parts[head].append(batch)

    def swap(self, vote: V) -> tuple[dict[str, list[Batch]], list[V]]:
        """Sends all rows, and gives those that this worker owns, with the votes of all workers."""
        own: dict[str, list[Batch]] = {}
        speaking = self.speaking
        assert self.team.rank in speaking or not any(self.parts.values()), "all rows have owners"
        if all(self._keys.values()):
            self.speaking = self.team.owning
        said = self.team.swap(self._divided(vote, own), speaking)
        votes = self.team.relay([each for each, _ in said], speaking)
        for peer, (_, came) in zip(speaking, said, strict=False):  # the others hear of no rows
            if peer != self.team.rank:
                for head in [*came]:  # no rows are there twice for longer than it takes
                    own.setdefault(head, []).append(
                        unpacked(self.values, self._schemas[head], came.pop(head))
                    )
        return own, votes

    def _divided(self, vote: V, own: dict[str, list[Batch]]) -> list[tuple[V, dict[str, Parcel]]]:
        """A vote with the rows for each worker, by rank. Those of this one go to `own`."""
        sent: list[dict[str, Parcel]] = [{} for _ in range(self.team.size)]
        for head, parts in self.parts.items():
            schema, shares = self._schemas[head], [list[Batch]() for _ in sent]
            while parts:
                some = divided(self.values, schema, self._keys[head], parts.pop(), self.team.owning)
                for share, part in zip(shares, some, strict=True):
                    if part is not None:
                        share.append(part)
            for owner, share in enumerate(shares):
                if share and owner == self.team.rank:
                    own[head] = share
                elif share:
                    sent[owner][head] = packed(self.values, schema, concat(share, len(schema)))
        only = vote, dict[str, Parcel]()
        return [(vote, each) if each else only for each in sent]


class WorkerMemory:
    """The memory of a recursion on one worker, of either kind: changes are counted on all, and the first
    worker alone asserts the facts."""

    _sending: Sending
    _evaluator: Evaluator

    def changed(self, source: Source) -> int:
        """The rows in the change of a source before the first iteration, on all workers."""
        return self._sending.changed[source] if isinstance(source, int) else 0

    def assert_facts(self, head: str, facts: Constant) -> None:
        """Sends facts to their owners, from the first worker alone."""
        if self._sending.team.rank == 0:
            self._sending.add(head, encoded(facts, self._evaluator))

    def walk(self, rules: Sequence[FixpointRule[Joiner]], most: int) -> bool:
        """Iterations are run one by one, as all workers meet in each."""
        return False


class GrowingShards(WorkerMemory, GrowingSets):
    """Growing sets of one worker during one epoch."""

    def __init__(
        self,
        sending: Sending,
        view_of: ViewOf,
        relations: Mapping[str, GrowingSet],
        imports: Mapping[int, Imported],
        evaluator: Evaluator,
    ) -> None:
        super().__init__(relations, imports, evaluator)
        self._sending, self._view_of, self._pending = sending, view_of, False

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        if start is None and self._sending.team.rank:
            return  # nothing begins from no rows once
        views: list[View | None] = [
            None
            if k == start
            else self._view_of(source, seen[k], super(GrowingShards, self)._view(source, seen[k]))
            for k, source in enumerate(rule.sources)
        ]
        for batch in self._delta(None if start is None else rule.sources[start]):
            if start is None or (batch is not None and batch.length):
                for head, derived in run_rule(rule, start, batch, views, None, self._measured):
                    self._sending.add(head, derived)

    def merge(self) -> None:
        """The next iteration is void if all that was derived is there already."""
        sending = self._sending
        came, votes = sending.swap(any(sending.parts.values()))
        for head, parts in came.items():
            while parts:
                self._relations[head].grow(parts.pop(0))
        if sending.exact:
            votes = sending.team.agree(any(relation.pending for relation in self._relations.values()))
        self._pending = any(votes)

    def next_iteration(self) -> int | None:
        return self._rounds if self._pending else None

    def advance(self, time: int) -> Collection[str]:
        changed = super().advance(time)
        self._sending.team.ready()
        return changed


class RankedShards(WorkerMemory, RankedSets):
    """Ranked relations of one worker during one epoch."""

    separates = False
    """Whether each worker iterates by itself once the rows that follow from facts and imports are with their
    owners, since it owns all rows that follow from those. No other worker looks the relations up before this
    one is done, and the imports stay as they are."""

    def __init__(
        self,
        sending: Sending,
        view_of: ViewOf,
        relations: Mapping[str, Ranked],
        imports: Mapping[int, Imported],
        searches: Mapping[str, Searches],
        evaluator: Evaluator,
        linear: Linear | None,
    ) -> None:
        super().__init__(relations, imports, searches, evaluator, linear)
        self._sending, self._view_of, self._alone = sending, view_of, False
        self._next: int | None = None
        self._searching = set[str]()

    def derive(self, rule: FixpointRule[Joiner], start: int | None, seen: Seen) -> None:
        source = None if start is None else rule.sources[start]
        if source is None:
            begins = not self._sending.team.rank  # nothing begins from no rows once
        else:
            begins = isinstance(source, str) or changed_rows(self._imports, source) > 0
        if begins:
            super().derive(rule, start, seen)

    def _take(self, head: str, derived: Batch) -> None:
        if self._alone:
            super()._take(head, derived)
        else:
            self._sending.add(head, derived)

    def _view(self, source: Source, now: bool) -> View:
        own = super()._view(source, now)
        if isinstance(source, str):
            return own if self._alone else self._view_of(source, now or self._gone, own)
        return self._view_of(source, now, own)

    def walk(self, rules: Sequence[FixpointRule[Joiner]], most: int) -> bool:
        if not self._alone:
            return False
        self._sending.team.check()
        return super(WorkerMemory, self).walk(rules, most)

    def _stores(self) -> Mapping[int, Imported]:
        views = {source: self._view(source, True) for source in self._imports}
        return {
            source: Imported(view.relation, view.weighted, None)
            for source, view in views.items()
            if isinstance(view, StoreView)
        }

    def merge(self) -> None:
        """The next iteration is void if owners know all that would be pending at it."""
        sending = self._sending
        if self._alone:
            return
        came, votes = sending.swap([*self._waiting(), *self._sent()])
        for head, parts in came.items():
            for part in parts:
                self._relations[head].derive(part)
        if sending.exact:
            votes = sending.team.agree([*self._waiting()])
        self._next = min((time for vote in votes for time, _ in vote), default=None)
        self._searching = set().union(
            *(names for vote in votes for time, names in vote if time == self._next)
        )
        self._alone = self.separates

    def _waiting(self) -> Iterator[_Due]:
        """The least iteration with something pending here."""
        own = super().next_iteration()
        if own is not None:
            yield own, {name for name, each in self._relations.items() if each.may_ask(own)}

    def _sent(self) -> Iterator[_Due]:
        """The least iterations to which rows belong that are on their way."""
        for head, parts in self._sending.parts.items():
            for part in parts:
                goes = part.weights is not None and int(part.weights.min()) < 0
                yield 0 if part.times is None else int(part.times.min()) + 1, {head} if goes else set()

    def next_iteration(self) -> int | None:
        return super().next_iteration() if self._alone else self._next

    def advance(self, time: int) -> Collection[str]:
        if self._alone:
            self._sending.team.check()
            return super().advance(time)
        self._time, self._gone = time, -(time + 1)
        changed, team = [], self._sending.team
        for name, relation in self._relations.items():
            decided = relation.decide(time)
            best = np.empty(0, np.int64)
            if name in self._searching:
                team.ready()  # a search waits until the worker that it asks has decided, too
                best = (
                    best
                    if decided is None
                    else relation.search(decided.asked, time, partial(self._ask, name))
                )
                team.agree(None, self._sending.speaking)  # what searches see stays until all have searched
            if decided is not None and relation.settle(time, decided, best):
                changed.append(name)
        team.ready()
        return changed

    def _ask(self, name: str, columns: Sequence[Array], length: int, enough: int) -> Array:
        if not self._contents.keys() >= self._imports.keys():
            contents: dict[Source, Contents] = {}
            every: list[Source] = [*self._relations, *self._imports]
            for source in every:
                contents[source] = self._view(source, True)  # type: ignore[assignment]
            self._contents = contents
        return super()._ask(name, columns, length, enough)
