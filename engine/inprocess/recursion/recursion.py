"""A monotone recursion in process: one Fixpoint node's relations, and its epochs.

As long as nothing can shrink, the relations are growing sets. Before the first epoch in which something may
shrink, the rows get ranks, by which derivations are searched (`engine.ranks`). A recursion with a rule that
cannot be searched is a loop (`loops`).

`maintained` has the epochs of a session, which may also be evaluated from empty relations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...circuit import DeltaJoin, Fixpoint, Join
from ...divergence import Changing
from ...fixpoint import Memory, derive_from, iterate, seed
from ...maintenance import Costs, Maintaining
from ...rules import Source, rules_of, schemas_of
from ...schema import Array, Schema
from ..joins.join import Joiner
from ..storage.batch import Batch
from ..storage.rows import some_changes
from ..storage.steps import Evaluator
from .followedrounds import followed_rule
from .growingset import GrowingSet
from .linear import linear_of
from .memories import GrowingSets, Imported
from .products import products_of
from .rankedmemory import RankedSets
from .rankedrelation import Ranked, are_large, iterations_of, ranked, ranks_of, renumber
from .search import searches_of


class Recursion:
    """The state of one Fixpoint node."""

    def __init__(self, fixpoint: Fixpoint, evaluator: Evaluator, maintaining: Maintaining) -> None:
        def compiled(node: Join | DeltaJoin, schemas: Sequence[Schema]) -> Joiner:
            return Joiner(node, schemas, evaluator)

        self.fixpoint = fixpoint
        self.rules, self.facts = rules_of(fixpoint, compiled)
        self.evaluator, self.maintaining, self.costs = evaluator, maintaining, Costs()
        self.schemas = schemas_of(fixpoint)
        terms = (each for rule in self.rules for each in zip(rule.node.terms, rule.sources, strict=True))
        self._negated = {source for term, source in terms if term.negated}
        self._products = products_of(self.rules, self.schemas)
        self._followed = followed_rule(self.rules) if len(self.schemas) == 1 else None
        self.sets = self.no_rows()
        self.ranked: dict[str, Ranked] | None = None
        self.searches = searches_of(self.rules, self.facts, self.schemas, evaluator)
        self._linear = linear_of(self.rules, self.searches)
        self.knows_births = True
        """Whether `births` tells the least: no row has a derivation of an iteration before its own."""
        self._afresh = False  # whether the next epoch evaluates from the whole imports

    def no_rows(self) -> dict[str, GrowingSet]:
        """The relations, empty."""
        return {head: GrowingSet(schema) for head, schema in self.schemas.items()}

    @property
    def relations(self) -> Mapping[str, GrowingSet | Ranked]:
        """The relations, as stores for readers outside."""
        return self.ranked or self.sets

    def in_order(self) -> None:
        """Notes that all rows came as in one run from empty relations."""
        self.knows_births = True

    @property
    def first(self) -> int:
        """The iteration from which births are counted; 0 without rows."""
        came = [int(each.iterations[0]) for each in self.sets.values() if len(each.iterations)]
        return min(came, default=0)

    def births(self, relation: str, columns: Sequence[Array], length: int) -> Array:
        """The iteration at which evaluation from empty relations first derives each of some rows that are
        present, or a later one at which each has a derivation from rows of earlier ones."""
        if self.ranked is not None:
            table = self.ranked[relation].table
            return self.ranked[relation].weights[table.find(columns, length)].astype(np.int64) - 1
        rows = self.sets[relation].table.find(columns, length)
        return self.sets[relation].came_at(rows) - self.first

    def only_grows(self, sources: Collection[Source]) -> bool:
        """Whether rows that come to these imports let it grow, from rows that are there."""
        return (
            self.ranked is None
            and not self._afresh
            and self._negated.isdisjoint(sources)
            and any(relation.table.size for relation in self.sets.values())
        )

    def begin(self, imports: Mapping[int, Imported]) -> RunningRecursion:
        """An epoch, given the imports with their changes. The caller seeds it."""
        if self._afresh:
            self._afresh = False
            self.in_order()
            sets = GrowingSets(self.sets, whole(imports), self.evaluator, self._products, self._followed)
            return RunningRecursion(self, self.sets, sets, True)
        if self.ranked is None:
            return self.grow(imports)
        assert self.searches is not None
        if are_large(self.ranked.values()):
            renumber(self.ranked.values(), ranks_of(self.ranked.values()))
        if any(self._may_lower(node, each.change) for node, each in imports.items()):
            self.knows_births = False
        memory = RankedSets(self.ranked, imports, self.searches, self.evaluator, self._linear)
        return RunningRecursion(self, self.ranked, memory)

    def grow(self, imports: Mapping[int, Imported], rounds: int = 0) -> RunningRecursion:
        """An epoch of growing sets, of which some rounds are done."""
        has_rows = any(relation.table.size for relation in self.sets.values())
        if not has_rows or any(each.change is not None for each in imports.values()):
            self.knows_births = not has_rows
        grown = GrowingSets(self.sets, imports, self.evaluator, self._products, self._followed, rounds)
        return RunningRecursion(self, self.sets, grown, rounds=rounds)

    def _may_lower(self, node: int, change: Batch | None) -> bool:
        """Whether the change of an import can give a row an earlier derivation. A ranked row that a deletion
        moves gets the rank of its first derivation."""
        if change is None or not change.length:
            return False
        return node in self._negated or bool((change.weight_array() > 0).any())

    def begin_anew(self, sets: Mapping[str, GrowingSet], imports: Mapping[int, Imported]) -> RunningRecursion:
        """An evaluation from empty relations, which fills these sets."""
        memory = GrowingSets(sets, whole(imports), self.evaluator, self._products, self._followed)
        return RunningRecursion(self, sets, memory, True)

    def prepare_to_shrink(self, held: int, changed: int) -> None:
        """Makes ranked relations of the growing sets, before an epoch. The imports have `held` rows.

        Empty sets stay as they are if the epoch, with so many `changed` rows of inputs, brings most of what
        the imports will hold: then it evaluates them as the first epoch does, and they only grow."""
        self._afresh = False  # of an epoch that was taken back before it came to the recursion
        if held <= changed and not any(relation.present for relation in self.sets.values()):
            self._afresh = True
        else:
            self.ranked, self.sets = ranked(self.sets, iterations_of(self.sets)), {}


def whole(imports: Mapping[int, Imported]) -> dict[int, Imported]:
    """The imports, with all that they hold as their change."""
    return {node: Imported(i.store, i.weighted, i.store.batch()) for node, i in imports.items()}


class RunningRecursion:
    """One epoch of a recursion. See `schedule.NestedEpoch`."""

    def __init__(
        self,
        recursion: Recursion,
        relations: Mapping[str, GrowingSet | Ranked],
        memory: Memory[Joiner],
        afresh: bool = False,
        rounds: int = 0,
    ) -> None:
        """`afresh`: the changes of the imports are all that they hold. `rounds` are done, and
        the deltas are those of the last one."""
        self._recursion, self.relations, self.memory = recursion, relations, memory
        self.afresh, self._rounds = afresh, rounds
        self._rules, self._evaluator = recursion.rules, recursion.evaluator

    def seed(self, first: bool) -> None:
        """Derives the rows that follow from the changes outside, or from those of the last round."""
        self._evaluator.iteration = self._rounds
        if self._rounds:
            derive_from(self.relations, self._rules, self.memory)
            return
        seed(self._rules, self._recursion.facts, self.memory, first or self.afresh)

    def next_iteration(self) -> int | None:
        return self.memory.next_iteration()

    def iterate(self, time: int, most: int = 1) -> None:
        """Runs an iteration, or several from few rows, at most so many."""
        self._evaluator.iteration = time + 1
        memory = self.memory
        walks = most > 1 and isinstance(memory, GrowingSets | RankedSets) and memory.walk(self._rules, most)
        if not walks:
            iterate(self._rules, self.memory, time)

    def rows(self) -> int:
        return sum([relation.size for relation in self.relations.values()])

    def changing(self) -> Changing:
        time = self.memory.next_iteration()
        names = () if time is None else self.memory.advance(time)
        changes = {name: relation.fresh() for name, relation in self.relations.items() if name in names}
        return some_changes(self._evaluator.values, self._recursion.schemas, changes)

    def finish(self) -> dict[str, Batch]:
        self._evaluator.iteration = 0
        return {head: relation.finish() for head, relation in self.relations.items()}

    def commit(self) -> None:
        """The epoch's changes stay."""
        for relation in self.relations.values():
            relation.commit()

    def rollback(self) -> None:
        """Takes the epoch back, finished or not."""
        for relation in self.relations.values():
            relation.rollback()
        for rule in self._rules:
            rule.join.forget_faults()
