"""Proofs by rounds: of rows of loops, and of recursions with groups or negations.

A row is explained as of the round since which it has been there. Its rule looked at the round before, where
other rows were there, and what it negates was not. So a proof goes back from round to round, and no row
explains itself, whatever went away in between:

    R in round 5  ◄──  its rule  ◄──  S in round 4, there since round 2  ◄──  its rule  ◄──  rows in round 1

Of the derivations of a row in its round, one is taken that rests on rows of the earliest rounds. The proof of
a round is found by the program of one round, whose inputs are the relations of the rounds before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from ..core import Stratum
from ..values.rows import Row
from .derivations import Derivations, GroupMember
from .heights import UNKNOWN, Heights
from .node import Reason, absences, decisive, rows
from .oneround import AT, FIRST, LATER, OneRound
from .snapshot import Fact, Replay
from .tree import Trees

_ROUND = 1 << 32
"""A round, as a height: more than the levels of rules in a round."""

_LEVELS = 100
"""The levels of rules in one round that are looked into."""


@dataclass
class ByRounds:
    """The proofs of rows of one stratum, in a state whose other rows have `heights`."""

    heights: Heights
    of: OneRound
    replay: Replay
    _trees: dict[tuple[Fact, int], Reason] = field(default_factory=dict)  # each of one round
    _heights: dict[tuple[Fact, int], float] = field(default_factory=dict)
    _within: dict[tuple[Reason, int], float] = field(default_factory=dict)  # of the trees of one round
    _made: dict[tuple[Reason, int, int], Reason] = field(default_factory=dict)

    def prove(self, facts: Iterable[Fact]) -> dict[Fact, float]:
        """The heights of the proofs of rows of the last round."""
        rounds = {fact: self.replay.since(*fact, self.replay.last) for fact in facts}
        there = {fact: since for fact, since in rounds.items() if since is not None}
        self._explain(there.items())
        return {fact: self._heights[fact, since] for fact, since in there.items()}

    def tree(self, fact: Fact, depth: int) -> Reason:
        """The tree of a row that was proved, with so many levels."""
        since = self.replay.since(*fact, self.replay.last)
        assert since is not None
        return self._finished(self._trees[fact, since], since, depth)

    def around(self, fact: Fact) -> Iterator[Reason]:
        """The rows from outside the loop that the proof of a row uses, and those that it finds absent."""
        since = self.replay.since(*fact, self.replay.last)
        assert since is not None
        seen, pending = set[tuple[Fact, int]](), [(fact, since)]
        while pending:
            key = pending.pop()
            if key in seen:
                continue
            seen.add(key)
            for tree in _rows_below(self._trees[key]):
                if (before := self._before(tree.relation, tree.row, key[1])) is not None:
                    pending.append(before)
                elif tree.relation in self.of.outside:
                    yield tree
                yield from (each for each in absences(tree.children) if each.relation in self.of.outside)

    def tree_of_round(self, fact: Fact, number: int, depth: int) -> Reason:
        """The tree of a row that is there in a round, by a rule of this round, though the row may have been
        there before."""
        if self.replay.since(*fact, number) == number:
            self._explain([(fact, number)])
            return self._finished(self._trees[fact, number], number, depth)
        tree = self._of_round(number, but=fact).tree(fact, _LEVELS)
        self._explain(self._below(tree, number))
        return self._shown(tree, number, depth, UNKNOWN)

    def members(self, group: Reason, depth: int) -> tuple[list[GroupMember], Callable[[GroupMember], Reason]]:
        """The members of a group of a round as they are here, and how to show one."""
        number = min(group.rounds[0], self.replay.last)
        trees = self._of_round(number)

        def show(member: GroupMember) -> Reason:
            made = trees.member(member, _LEVELS)
            below = [each for row in rows(made.children) for each in self._below(row, number)]
            self._explain(below)
            return self._member(made, number, depth)

        assert group.group is not None
        return Derivations(self.replay.at(number)).members(group.group), show

    # ------------------------------------------------------------- the rounds

    def _explain(self, facts: Iterable[tuple[Fact, int]]) -> None:
        """Finds the trees of rows as of the rounds since which they are there, from the last round to the
        first, and then their heights from the first to the last."""
        wanted: dict[int, dict[Fact, None]] = {}
        pending: list[int] = []
        new: list[tuple[Fact, int]] = []

        def want(fact: Fact, since: int) -> None:
            if (fact, since) in self._trees or fact in wanted.get(since, ()):
                return
            if since not in wanted:
                wanted[since] = {}
                heappush(pending, -since)
            wanted[since][fact] = None

        for fact, since in facts:
            want(fact, since)
        while pending:
            number = -heappop(pending)
            trees = self._of_round(number)
            for fact in wanted.pop(number):
                tree = trees.tree(fact, _LEVELS)
                self._trees[fact, number] = tree
                new.append((fact, number))
                for before in self._below(tree, number):
                    want(*before)
        for fact, number in reversed(new):
            self._heights[fact, number] = self._height(self._trees[fact, number], number)

    def _of_round(self, number: int, but: Fact | None = None) -> Trees:
        """The trees of one round: rows of earlier rounds, but for one, are leaves, as high as these are
        late."""
        held = self.replay.at(number)

        def height(fact: Fact) -> float | None:
            before = None if fact == but else self._before(*fact, number)
            return None if before is None else (before[1] + 1) * _ROUND

        return Trees(held, with_rounds(Derivations(held), height))

    def _below(self, tree: Reason, number: int) -> Iterator[tuple[Fact, int]]:
        """The rows of earlier rounds in the tree of a round, and since when they are there."""
        for each in _rows_below(tree):
            if (before := self._before(each.relation, each.row, number)) is not None:
                yield before

    def _before(self, relation: str, row: Row, number: int) -> tuple[Fact, int] | None:
        """The row of an earlier round that a row of a round is, and since when it is there. None if it came
        in the round, or is of another relation."""
        name, rounds = self.of.earlier.get(relation, (relation, 0))
        if name not in self.of.relations:
            return None
        since = self.replay.since(name, row, number - rounds)
        return None if since is None or since == number else ((name, row), since)

    def _height(self, tree: Reason, number: int) -> float:
        key = tree, number
        if key not in self._within:
            self._within[key] = self._measured(tree, number)
        return self._within[key]

    def _measured(self, tree: Reason, number: int) -> float:
        if (before := self._before(tree.relation, tree.row, number)) is not None:
            return self._heights[before]
        if tree.kind == "fact" and (tree.rule is not None or tree.relation in (AT, FIRST, LATER)):
            return 0
        if tree.kind == "fact":
            return self.heights.search((tree.relation, tree.row))
        if tree.rule is None:
            return UNKNOWN
        return 1 + max((self._height(each, number) for each in decisive(tree.children)), default=0)

    # ------------------------------------------------------------- the trees as they are shown

    def _finished(self, tree: Reason, number: int, depth: int) -> Reason:
        """A tree of one round, with what is below its leaves."""
        if (before := self._before(tree.relation, tree.row, number)) is not None:
            fact, since = before
            return self._finished(self._trees[fact, since], since, depth)
        if tree.kind == "fact" and tree.rule is None:
            return self._around(tree, depth)
        key = tree, number, depth
        if key not in self._made:
            self._made[key] = self._shown(tree, number, depth, self._height(tree, number))
        return self._made[key]

    def _around(self, tree: Reason, depth: int) -> Reason:
        return Trees(self.heights.derivations.held, self.heights).tree((tree.relation, tree.row), depth)

    def _shown(self, tree: Reason, number: int, depth: int, height: float) -> Reason:
        made = replace(
            tree,
            height=None if height == UNKNOWN else int(height),
            rounds=(number, *tree.rounds),
            ended=self.replay.since(tree.relation, tree.row, self.replay.last) != number,
        )
        if tree.rule is None or (depth <= 0 and tree.kind != "fact"):
            return replace(made, kind="cut", rule=None, place=None, variables={}, children=())
        written = self.of.written.get(id(tree.rule), tree.rule)
        children = tuple(self._items(tree.children, number, depth - 1))
        return replace(made, rule=written, kind=tree.kind if written.body else "fact", children=children)

    def _items(self, items: Iterable[Reason], number: int, depth: int) -> Iterator[Reason]:
        for item in items:
            if item.is_row and item.relation not in (AT, FIRST, LATER):
                done = self._finished(item, number, depth)
                yield replace(done, looked=self._looked(item.relation, number, item.looked))
            elif item.kind == "absent":
                name, _ = self.of.earlier.get(item.relation, (item.relation, 0))
                rounds = self._looked(item.relation, number, item.rounds)
                yield replace(item, relation=name, rounds=rounds)
            elif item.kind == "members":
                shown = tuple(self._member(each, number, depth) for each in item.children)
                loop = item.loop or self.of.relations[0]
                yield replace(item, children=shown, loop=loop, rounds=(number, *item.rounds))
            elif not item.is_row:
                yield item

    def _looked(self, relation: str, number: int, inner: tuple[int, ...]) -> tuple[int, ...]:
        """The round in which a rule of a round looks at a relation; `inner`: of the loops in that round."""
        name, rounds = self.of.earlier.get(relation, (relation, 0))
        return (number - rounds, *inner) if name in self.of.relations else ()

    def _member(self, member: Reason, number: int, depth: int) -> Reason:
        return replace(member, children=tuple(self._items(member.children, number, depth)))


def with_rounds(derivations: Derivations, leaf: Callable[[Fact], float | None] = lambda _: None) -> Heights:
    """The heights of rows, those that only rounds explain included. `leaf` gives those of leaves
    that are no rows of inputs."""
    return Heights(derivations, leaf, _begun)


def with_loops(derivations: Derivations) -> Heights:
    """The heights of rows, where rounds explain those of loops only, not those of recursions."""
    return Heights(derivations, rounds=lambda heights, of: None if of.loop is None else _begun(heights, of))


def _begun(heights: Heights, stratum: Stratum) -> ByRounds | None:
    replay = heights.derivations.held.replay(stratum)
    return None if replay is None else ByRounds(heights, replay.of, replay)


def _rows_below(tree: Reason) -> Iterator[Reason]:
    """The rows in a tree, each once."""
    seen, pending = set[Reason](), [tree]
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            yield each
            pending += rows(each.children)
