"""Why the last commit changed a row: a tree of changes, down to the facts that came or went.

A row that came has a proof now which was no proof before: one of its rows came, a row that a negated term
would have found went, or a group has other members. A row that went is explained in the same way, by a proof
that it had before. What did not change is not looked into.

    came: a proof now      rows of it that came,  rows that its negated terms found before:  went
    went: a proof before   rows of it that went,  rows that its negated terms find now:      came

The state before is that of the session with the commit undone, for as long as it is looked at. So all that is
asked of one state is asked together: proofs there, and what the proofs of the other state ask of it. The two
take turns until nothing new is asked, which happens as often as negations follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ..core.program import needed
from ..values.rows import Row
from .changeside import SHOWN, Side, SideMembers, Spot
from .derivations import GroupMember, by_relation
from .heights import UNKNOWN
from .node import Reason, more, remark
from .snapshot import Fact, HeldRelations
from .tree import SHOWN_MEMBERS
from .words import is_passed

T = TypeVar("T")


class ChangeProofs:
    """Explains rows that the last commit changed."""

    def __init__(self, held: HeldRelations, depth: int) -> None:
        self._held = held
        self._now, self._before = Side(held, depth, False), Side(held, depth, held.first)
        self._written: set[tuple[str, Row, bool, tuple[int, ...]]] = set()
        self._instead: dict[Spot, Spot] = {}  # rows of proofs, and those rounds of them that are explained
        self._facts: dict[tuple[Fact, bool], None] = {}

    def changed(self, relation: str, rows: Iterable[Row]) -> dict[Row, bool]:
        """The rows that came (True) or went (False), of those given."""
        rows = list(rows)
        now = self._held.holds(relation, rows)
        before = self._in(self._before, lambda: self._held.holds(relation, rows), [False] * len(rows))
        return {row: a for row, a, b in zip(rows, now, before, strict=True) if a != b}

    def matching(self, find: Callable[[], Iterable[Row]]) -> dict[Row, bool]:
        """The rows that are found in one of the states only; True for those that came."""
        nothing: Iterable[Row] = ()
        now, before = set(find()), set(self._in(self._before, find, nothing))
        return {row: row in now for row in sorted(now ^ before)}

    def explained(self, relation: str, row: Row, came: bool) -> Reason:
        """Why a row came or went: by a proof that it has now, or by each proof that it had."""
        fact = relation, row
        side = self._now if came else self._before
        self._begin(relation)
        spot = self._root(relation, row, side)
        roots: list[Reason] = []

        def look() -> None:
            if spot[2] or came or side.derivations.given(relation):
                roots.append(side.proof(spot))
            else:
                side.heights.search_all(fact)
                ways = [each for each in side.heights.searched[fact] if side.heights.of(each) < UNKNOWN]
                ways.sort(key=side.heights.of)
                roots.extend(side.trees.by(fact, each, side.depth) for each in ways[:SHOWN])
                if not ways:
                    roots.append(side.trees.tree(fact, side.depth))
            side.proofs[spot] = roots[0]

        self._in(side, look, None)
        self._other(side).asked += [item for each in roots for item in each.children]
        self._exchange()
        self._written.add((*fact, came, roots[0].rounds))
        proofs = [self._row(each, side) for each in roots]
        count = max(len(side.heights.searched.get(fact, ())), len(proofs))
        count = 1 if came or spot[2] else count
        parts = list[Reason]()
        for number, proof in enumerate(proofs, 1):
            parts += [remark(f"derivation {number} of {count} that it had")] if count > 1 else []
            parts.append(proof)
        facts = tuple(self._facts)
        return Reason(
            "change", relation, row, came=came, count=count,
            children=(*parts, *more(count - len(proofs)), *([Reason("by", facts=facts)] if facts else [])),
        )  # fmt: skip

    # ------------------------------------------------------------- rounds of loops

    def _begin(self, relation: str) -> None:
        """Runs the loops again on which a relation rests, in both states."""
        read = needed(self._held.program, [relation], ())
        strata = [each for each in self._held.program.strata if each.loop is not None]
        loops = [each.relations[0] for each in strata if not read.isdisjoint(each.relations)]
        for side in (self._now, self._before) if loops else ():
            self._in(side, partial(side.begin, loops), None)

    def _root(self, relation: str, row: Row, side: Side) -> Spot:
        """A row that changed, as it is seen outside its loop: in the round in which it did; around loops, of
        no round."""
        if relation not in side.derivations.looped:
            return relation, row, ()
        sides = (each for each in (self._now, self._before) if not each.empty)
        last = max((each.last(relation) or 0 for each in sides), default=0)
        return self._first((relation, row, (last,)), side)

    def _first(self, spot: Spot, side: Side) -> Spot:
        """A row that a state has in a round and the other has not: the first such round, of those since when
        the row is there."""
        relation, row, rounds = spot
        since = side.since(spot) if len(rounds) == 1 else None
        if since is None:
            return spot
        other, last = self._other(side), min(rounds[0], side.last(relation) or 0)
        spots = ((relation, row, (number,)) for number in range(since, last))
        return next((each for each in spots if other.since(each) is None), (relation, row, (last,)))

    # ------------------------------------------------------------- the two states

    def _other(self, side: Side) -> Side:
        return self._before if side is self._now else self._now

    def _in(self, side: Side, look: Callable[[], T], nothing: T) -> T:
        """The result of `look` in the state of a side; `nothing` where the state is empty."""
        if side is self._now:
            return look()
        return nothing if side.empty else self._held.before(look)

    def _exchange(self) -> None:
        """Asks each state until nothing new is asked."""
        side = self._before
        while any(each.asked or each.wanted or each.strange for each in (self._now, self._before)):
            if side.empty:
                side.asked = []
            else:
                self._in(side, partial(self._visit, side), None)
            side = self._other(side)

    def _visit(self, side: Side) -> None:
        """Answers what is asked of a state, and looks for the proofs wanted."""
        other, level = self._other(side), side.asked
        side.asked = []
        while level:
            self._hold(level, side)
            for item in level:
                spot = item.relation, item.row, item.rounds
                if item.kind == "absent" and spot not in side.found:
                    side.found[spot] = [self._first(each, side) for each in side.matching(spot)]
                    side.wanted |= dict.fromkeys(side.found[spot][:SHOWN])
                elif item.kind == "members":
                    self._regroup(item, side)
            trees = [item for item in level if item.is_row]
            level = [part for each in trees if not side.holds[_spot(each)] for part in self._into(each, side)]
        for spot in side.wanted:
            if spot not in side.proofs:
                side.proofs[spot] = side.proof(spot)
                other.asked += side.proofs[spot].children
        side.wanted = {}
        for group, strange in side.strange:
            _, show = side.members(group)
            shown = [show(each) for each in strange[:SHOWN_MEMBERS]]
            side.own[group] = shown
            other.asked += [item for each in shown for item in each.children]
        side.strange = []

    def _into(self, tree: Reason, side: Side) -> tuple[Reason, ...]:
        """The body of a proof of the other state's of a row that this state lacks. If the row has been there
        for longer than this state lacks it, another proof is wanted."""
        other = self._other(side)
        relation, row, rounds = asked = _spot(tree)
        spot = self._first(asked, other) if rounds else self._root(relation, row, other)
        if len(spot[2]) != 1 or spot[2] == tree.rounds:
            return tree.children
        self._instead[asked] = spot
        other.wanted[spot] = None
        return ()

    def _hold(self, level: list[Reason], side: Side) -> None:
        """Finds out which rows of some items a state has."""
        spots = dict.fromkeys(_spot(each) for each in level if each.is_row)
        new = [each for each in spots if each not in side.holds]
        for relation, of in by_relation((name, row) for name, row, rounds in new if not rounds).items():
            for row, there in zip(of, self._held.holds(relation, of), strict=True):
                side.holds[relation, row, ()] = there
        side.holds |= {each: side.since(each) is not None for each in new if each[2]}

    def _regroup(self, group: Reason, side: Side) -> None:
        """Looks for the members that a group has in one state and not in the other."""
        if group in side.groups:
            return
        members, show = side.members(group)
        now, then = _apart(members, group), _apart(_members(group), group)
        come = [each for key, each in now.items() if key not in then]
        gone = [each for key, each in then.items() if key not in now]
        shown = [show(each) for each in come[:SHOWN_MEMBERS]]
        side.groups[group] = SideMembers(group, shown, _count(now), len(come), len(gone))
        other = self._other(side)
        other.strange.append((group, gone))
        other.asked += [item for each in shown for item in each.children]

    # ------------------------------------------------------------- the tree

    def _row(self, tree: Reason, side: Side) -> Reason:
        """A row that one state has and the other has not."""
        came, kind = side is self._now, "rule" if tree.kind == "group" else tree.kind
        if kind == "fact" and not tree.rounds:
            self._facts[(tree.relation, tree.row), came] = None
        parts = (self._part(item, side) for item in tree.children)
        body = (*self._ended(tree, side), *parts) if kind == "rule" else ()
        return replace(tree, kind=kind, came=came, height=None, ended=False, looked=(), children=body)

    def _ended(self, tree: Reason, side: Side) -> Iterator[Reason]:
        """Says so if the loop of a row has not come to its round in the other state."""
        other = self._other(side)
        last = other.last(tree.relation) if len(tree.rounds) == 1 and not other.empty else None
        if last is not None and last < tree.rounds[0]:
            when = f"ended in round {last} before" if other is self._before else f"ends in round {last} now"
            yield remark(f"the loop {when}", "ended", rounds=(last,))

    def _once(self, tree: Reason, side: Side) -> Reason:
        """The tree; a leaf for a row whose proof the explanation has already."""
        came = side is self._now
        key = tree.relation, tree.row, came, tree.rounds
        if tree.kind in ("rule", "group"):
            if key in self._written:
                return Reason("above", tree.relation, tree.row, came=came, rounds=tree.rounds)
            self._written.add(key)
        return self._row(tree, side)

    def _part(self, item: Reason, side: Side) -> Reason:
        other = self._other(side)
        if item.is_row:
            instead = self._instead.get(_spot(item))
            tree = item if instead is None else side.proofs[instead]
            return self._same(item) if other.holds.get(_spot(item)) else self._once(tree, side)
        if item.kind == "absent":
            rows = other.found.get((item.relation, item.row, item.rounds), [])
            found = [self._once(other.proofs[each], other) for each in rows[:SHOWN]]
            left = [remark("… and more", "more")] if len(rows) > SHOWN else []
            return replace(item, kind="excluded", children=(*found, *left)) if rows else item
        return self._group(item, side) if item.kind == "members" else item

    def _same(self, tree: Reason) -> Reason:
        """A row that did not change. What is below it stays where it stands for the row."""
        if not is_passed(self._held.program, tree.relation):
            return tree.marked("same")
        return replace(tree, kind="same")

    def _group(self, group: Reason, side: Side) -> Reason:
        other, came = self._other(side), side is self._now
        count = _count(_apart(_members(group), group))
        of_other = other.groups.get(group, SideMembers(group, [], 0, 0, count))
        own = side.own.get(group, [each for each in group.children if each.kind == "member"])
        members = [self._member(each, group, came, side) for each in own]
        members += [self._member(each, group, not came, other) for each in of_other.shown]
        now, before = (count, of_other.count) if came else (of_other.count, count)
        left = more(of_other.come + of_other.gone - len(members), " that came or went")
        return replace(
            group, kind="regrouped", noun="member", count=now, before=before, children=(*members, *left)
        )

    def _member(self, member: Reason, group: Reason, came: bool, side: Side) -> Reason:
        parts = tuple(self._part(each, side) for each in member.children)
        return replace(member, type=group.type, came=came, decides=False, children=parts)


def _members(group: Reason) -> Sequence[GroupMember]:
    """The members of a group in the state of its proof."""
    return () if group.group is None else group.group.members


def _apart(members: Iterable[GroupMember], group: Reason) -> dict[object, GroupMember]:
    """The members of a group; where equal values count, one for each valuation."""
    if group.group is None or not group.group.clause.bag:
        return {each.value: each for each in members}
    return {
        (each.value, way.rows, way.times): GroupMember(each.value, (way,))
        for each in members
        for way in each.ways
    }


def _count(members: Mapping[object, GroupMember]) -> int:
    return sum(each.ways[0].times for each in members.values())


def _spot(tree: Reason) -> Spot:
    """The row of an item of a body, as of the round in which the rule looked."""
    return tree.relation, tree.row, tree.looked
