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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ..core import Rule
from ..demand.demanded import needed
from ..errors.source import Span
from ..types import Type
from ..values.rows import Row
from .changeside import SHOWN, GroupMembers, Side, Spot
from .derivations import Member, by_relation
from .heights import UNKNOWN
from .held import Fact, Held
from .tree import Absent, Condition, Group, Item, ShownMember, Tree

SHOWN_MEMBERS = 10

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changed:
    """A row that `came` or went. `kind`: a "fact" was inserted or deleted, or is one of the program; a row by
    a "rule" did with the changes in `body`; "above" stands for a row that the tree has already, and a "cut"
    where the tree does not go on. `rounds`: the round of a loop in which one of the states has the row."""

    relation: str
    row: Row
    came: bool
    kind: str
    rule: Rule | None = None
    place: Span | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    body: tuple[Part, ...] = ()
    rounds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Same:
    """A row, a negated term or a condition that did not change."""

    item: Tree | Absent | Condition


@dataclass(frozen=True, slots=True)
class Excluded:
    """A negated term over rows that came or went, of which some are shown."""

    term: Absent
    rows: tuple[Changed, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class OtherMember:
    """A member that came to a group or left it."""

    value: Any
    came: bool
    body: tuple[Part, ...]
    variables: Mapping[str, Any] = field(default_factory=dict)
    times: int = 1


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A group, with the number of its members before and now, and some of those that are others."""

    text: str
    type: Type
    before: int
    now: int
    members: tuple[OtherMember, ...]
    more: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The last round of a loop in the other state, which is before the round of a row."""

    last: int
    before: bool


Part: TypeAlias = Changed | Same | Excluded | Regrouped | Ended


@dataclass(frozen=True, slots=True)
class Change:
    """Why a row came or went: by one proof that it has now, or by each proof that it had. `count` says how
    many it had, of which some are shown. `facts` are those that the tree comes to, with True for those that
    came."""

    relation: str
    row: Row
    came: bool
    proofs: tuple[Changed, ...]
    count: int
    facts: tuple[tuple[Fact, bool], ...]


class Changes:
    """Explains rows that the last commit changed."""

    def __init__(self, held: Held, depth: int) -> None:
        self._held = held
        self._now, self._before = Side(held, depth, False), Side(held, depth, held.first)
        self._written: set[tuple[str, Row, bool, tuple[int, ...]]] = set()
        self._instead: dict[Spot, Spot] = {}  # rows of proofs, and those rounds of them that are explained
        self._facts: dict[tuple[Fact, bool], None] = {}

    def changed(self, relation: str, rows: Iterable[Row]) -> dict[Row, bool]:
        """Those rows that came (True) or went."""
        rows = list(rows)
        now = self._held.holds(relation, rows)
        before = self._in(self._before, lambda: self._held.holds(relation, rows), [False] * len(rows))
        return {row: a for row, a, b in zip(rows, now, before, strict=True) if a != b}

    def matching(self, find: Callable[[], Iterable[Row]]) -> dict[Row, bool]:
        """The rows that are found in one of the states only; True for those that came."""
        nothing: Iterable[Row] = ()
        now, before = set(find()), set(self._in(self._before, find, nothing))
        return {row: row in now for row in sorted(now ^ before)}

    def explained(self, relation: str, row: Row, came: bool) -> Change:
        """Why a row came or went."""
        fact = relation, row
        side = self._now if came else self._before
        self._begin(relation)
        spot = self._root(relation, row, side)
        roots: list[Tree] = []

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
        self._other(side).asked += [item for each in roots for item in each.body]
        self._exchange()
        self._written.add((*fact, came, roots[0].rounds))
        proofs = tuple(self._row(each, side) for each in roots)
        count = max(len(side.heights.searched.get(fact, ())), len(proofs))
        return Change(relation, row, came, proofs, 1 if spot[2] else count, tuple(self._facts))

    # ------------------------------------------------------------- rounds of loops

    def _begin(self, relation: str) -> None:
        """Runs the loops again on which a relation rests, in both states."""
        read = needed(self._held.program, [relation], ())
        strata = [each for each in self._held.program.strata if each.loop is not None]
        loops = [each.relations[0] for each in strata if not read.isdisjoint(each.relations)]
        for side in (self._now, self._before) if loops else ():
            self._in(side, partial(side.begin, loops), None)

    def _root(self, relation: str, row: Row, side: Side) -> Spot:
        """A row that changed, in the round of its loop in which it did; around loops, of no round."""
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
        """What `look` gives in a state; `nothing` where the state is empty."""
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
                match item:
                    case Absent(relation, pattern, _, rounds) if (
                        relation,
                        pattern,
                        rounds,
                    ) not in side.found:
                        spot = relation, pattern, rounds
                        side.found[spot] = [self._first(each, side) for each in side.matching(spot)]
                        side.wanted |= dict.fromkeys(side.found[spot][:SHOWN])
                    case Group():
                        self._regroup(item, side)
            trees = [item for item in level if isinstance(item, Tree)]
            level = [part for each in trees if not side.holds[_spot(each)] for part in self._into(each, side)]
        for spot in side.wanted:
            if spot not in side.proofs:
                side.proofs[spot] = side.proof(spot)
                other.asked += side.proofs[spot].body
        side.wanted = {}
        for group, strange in side.strange:
            _, show = side.members(group)
            shown = [show(each) for each in strange[:SHOWN_MEMBERS]]
            side.own[group] = shown
            other.asked += [item for each in shown for item in each.body]
        side.strange = []

    def _into(self, tree: Tree, side: Side) -> tuple[Item, ...]:
        """The body of a proof of the other state's of a row that this state lacks. If the row has been there
        for longer than this state lacks it, another proof is wanted."""
        other = self._other(side)
        spot = self._first(_spot(tree), other)
        if len(spot[2]) != 1 or spot[2] == tree.rounds:
            return tree.body
        self._instead[_spot(tree)] = spot
        other.wanted[spot] = None
        return ()

    def _hold(self, level: list[Item], side: Side) -> None:
        """Finds out which rows of some items a state has."""
        spots = dict.fromkeys(_spot(each) for each in level if isinstance(each, Tree))
        new = [each for each in spots if each not in side.holds]
        for relation, of in by_relation((name, row) for name, row, rounds in new if not rounds).items():
            for row, there in zip(of, self._held.holds(relation, of), strict=True):
                side.holds[relation, row, ()] = there
        side.holds |= {each: side.since(each) is not None for each in new if each[2]}

    def _regroup(self, group: Group, side: Side) -> None:
        """Looks for the members that a group has in one state and not in the other."""
        if group in side.groups:
            return
        members, show = side.members(group)
        now, then = _apart(members, group), _apart(group.whole.members, group)
        come = [each for key, each in now.items() if key not in then]
        gone = [each for key, each in then.items() if key not in now]
        shown = [show(each) for each in come[:SHOWN_MEMBERS]]
        side.groups[group] = GroupMembers(group, shown, _count(now), len(come), len(gone))
        other = self._other(side)
        other.strange.append((group, gone))
        other.asked += [item for each in shown for item in each.body]

    # ------------------------------------------------------------- the tree

    def _row(self, tree: Tree, side: Side) -> Changed:
        """A row that one state has and the other has not."""
        came, rounds = side is self._now, tree.rounds
        if tree.kind == "fact":
            if not rounds:
                self._facts[(tree.relation, tree.row), came] = None
            return Changed(tree.relation, tree.row, came, "fact", tree.rule, tree.place, rounds=rounds)
        if tree.kind == "cut":
            return Changed(tree.relation, tree.row, came, "cut", rounds=rounds)
        body = (*self._ended(tree, side), *(self._part(item, side) for item in tree.body))
        return Changed(
            tree.relation, tree.row, came, "rule", tree.rule, tree.place, tree.variables, body, rounds
        )

    def _ended(self, tree: Tree, side: Side) -> Iterator[Ended]:
        """Says so if the loop of a row has not come to its round in the other state."""
        other = self._other(side)
        last = other.last(tree.relation) if len(tree.rounds) == 1 and not other.empty else None
        if last is not None and last < tree.rounds[0]:
            yield Ended(last, other is self._before)

    def _once(self, tree: Tree, side: Side) -> Changed:
        """The same, unless the tree has the row already."""
        key = tree.relation, tree.row, side is self._now, tree.rounds
        if tree.kind in ("rule", "group"):
            if key in self._written:
                return Changed(tree.relation, tree.row, side is self._now, "above", rounds=tree.rounds)
            self._written.add(key)
        return self._row(tree, side)

    def _part(self, item: Item, side: Side) -> Part:
        other = self._other(side)
        match item:
            case Tree():
                instead = self._instead.get(_spot(item))
                tree = item if instead is None else side.proofs[instead]
                return Same(item) if other.holds.get(_spot(item)) else self._once(tree, side)
            case Absent(relation, pattern, _, rounds):
                rows = other.found.get((relation, pattern, rounds), [])
                trees = [other.proofs[each] for each in rows[:SHOWN]]
                found = tuple(self._once(each, other) for each in trees)
                return Excluded(item, found, len(rows) > SHOWN) if rows else Same(item)
            case Condition():
                return Same(item)
        return self._group(item, side)

    def _group(self, group: Group, side: Side) -> Regrouped:
        other, came = self._other(side), side is self._now
        count = _count(_apart(group.whole.members, group))
        of_other = other.groups.get(group, GroupMembers(group, [], 0, 0, count))
        own = side.own.get(group, group.members)
        members = [self._member(each, came, side) for each in own]
        members += [self._member(each, not came, other) for each in of_other.shown]
        counts = (of_other.count, count) if came else (count, of_other.count)
        more = of_other.come + of_other.gone - len(members)
        return Regrouped(group.text, group.type, *counts, tuple(members), more, group.span)

    def _member(self, member: ShownMember, came: bool, side: Side) -> OtherMember:
        parts = tuple(self._part(each, side) for each in member.body)
        return OtherMember(member.value, came, parts, member.variables, member.times)


def _apart(members: Iterable[Member], group: Group) -> dict[object, Member]:
    """The members of a group; where equal values count, one for each valuation."""
    if not group.whole.clause.bag:
        return {each.value: each for each in members}
    return {
        (each.value, way.rows, way.times): Member(each.value, (way,)) for each in members for way in each.ways
    }


def _count(members: Mapping[object, Member]) -> int:
    return sum(each.ways[0].times for each in members.values())


def _spot(tree: Tree) -> Spot:
    """The row of an item of a body, as of the round in which the rule looked."""
    return tree.relation, tree.row, tree.looked
