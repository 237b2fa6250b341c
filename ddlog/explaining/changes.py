"""Why the last commit changed a row: a tree of changes, down to the facts that came or went.

A row that came has a proof now, and this proof was none before: one of its rows came, a row that a negated
term would have found went, or a group has other members. A row that went is explained by a proof that it had
before, in the same way. What did not change is not looked into.

    came: a proof now      rows of it that came,  rows that its negated terms found before:  went
    went: a proof before   rows of it that went,  rows that its negated terms find now:      came

The state before is that of the session with the commit undone, for as long as it is looked at. So all that is
asked of one state is asked together: proofs there, and what the proofs of the other state ask of it. The two
take turns until nothing new is asked, which happens as often as negations follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ..core import Atom, Rule
from ..errors.source import Span
from ..types import Type
from ..values.rows import Row
from .derivations import Derivations, Member, by_relation
from .heights import UNKNOWN, Heights
from .held import ANY, Fact, Held
from .stages import Stage
from .tree import Absent, Condition, Group, Item, ShownMember, Tree, Trees

SHOWN = 3
"""The proofs of a row that went, and the rows of a negated term, that are shown."""

SHOWN_MEMBERS = 10

Pattern: TypeAlias = tuple[str, tuple[Any, ...]]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changed:
    """A row that `came` or went. `kind`: a "fact" was inserted or deleted, or is one of the program; a row by
    a "rule" did with the changes in `body`; "above" stands for a row that the tree has already, and a "cut"
    where the tree does not go on."""

    relation: str
    row: Row
    came: bool
    kind: str
    rule: Rule | None = None
    place: Span | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    body: tuple[Part, ...] = ()


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


Part: TypeAlias = Changed | Same | Excluded | Regrouped


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


class _Side:
    """One of the two states: the proofs looked for in it, and what the other's proofs ask of it."""

    def __init__(self, held: Held, depth: int, empty: bool) -> None:
        self.derivations, self.depth, self.empty = Derivations(held), depth, empty
        self.heights = Heights(self.derivations)
        self.trees = Trees(held, self.heights)
        self.proofs: dict[Fact, Tree] = {}
        self.holds: dict[Fact, bool] = {}
        self.found: dict[Pattern, list[Row]] = {}
        self.groups: dict[int, _Members] = {}  # of the other side's proofs
        self.own: dict[int, Sequence[ShownMember]] = {}  # members of its groups that the other side lacks
        self.strange: list[tuple[Group, list[Member]]] = []  # the same, still to be looked at
        self.wanted: dict[Fact, None] = {}  # proofs that are still to be looked for
        self.asked: list[Item] = []  # items of the other side's proofs that are still to be looked at


class Changes:
    """Explains rows that the last commit changed."""

    def __init__(self, held: Held, depth: int) -> None:
        self._held = held
        self._now, self._before = _Side(held, depth, False), _Side(held, depth, held.first)
        self._written: set[tuple[Fact, bool]] = set()
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
        roots: list[Tree] = []

        def look() -> None:
            if came or side.derivations.given(relation):
                roots.append(side.trees.tree(fact, side.depth))
            else:
                side.heights.search_all(fact)
                ways = [each for each in side.heights.searched[fact] if side.heights.of(each) < UNKNOWN]
                ways.sort(key=side.heights.of)
                roots.extend(side.trees.by(fact, each, side.depth) for each in ways[:SHOWN])
                if not ways:
                    roots.append(side.trees.tree(fact, side.depth))
            side.proofs[fact] = roots[0]

        self._in(side, look, None)
        self._other(side).asked += [item for each in roots for item in each.body]
        self._exchange()
        self._written.add((fact, came))
        proofs = tuple(self._row(each, side) for each in roots)
        count = max(len(side.heights.searched.get(fact, ())), len(proofs))
        return Change(relation, row, came, proofs, count, tuple(self._facts))

    # ------------------------------------------------------------- the two states

    def _other(self, side: _Side) -> _Side:
        return self._before if side is self._now else self._now

    def _in(self, side: _Side, look: Callable[[], T], nothing: T) -> T:
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

    def _visit(self, side: _Side) -> None:
        """Answers what is asked of a state, and looks for the proofs wanted."""
        other, level = self._other(side), side.asked
        side.asked = []
        while level:
            self._hold(level, side)
            for item in level:
                match item:
                    case Absent(relation, pattern) if (relation, pattern) not in side.found:
                        found = _matching(side.derivations, relation, pattern)
                        side.found[relation, pattern] = found
                        side.wanted |= dict.fromkeys((relation, row) for row in found[:SHOWN])
                    case Group():
                        self._regroup(item, side)
            trees = [item for item in level if isinstance(item, Tree)]
            level = [part for each in trees if not side.holds[each.relation, each.row] for part in each.body]
        for fact in side.wanted:
            if fact not in side.proofs:
                side.proofs[fact] = side.trees.tree(fact, side.depth)
                other.asked += side.proofs[fact].body
        side.wanted = {}
        for group, strange in side.strange:
            shown = [side.trees.member(each, False, side.depth - 1) for each in strange[:SHOWN_MEMBERS]]
            side.own[id(group)] = shown
            other.asked += [item for each in shown for item in each.body]
        side.strange = []

    def _hold(self, level: list[Item], side: _Side) -> None:
        """Finds out which rows of some items a state has."""
        rows = dict.fromkeys((each.relation, each.row) for each in level if isinstance(each, Tree))
        for relation, of in by_relation(row for row in rows if row not in side.holds).items():
            for row, there in zip(of, self._held.holds(relation, of), strict=True):
                side.holds[relation, row] = there

    def _regroup(self, group: Group, side: _Side) -> None:
        """Looks for the members that a group has in one state and not in the other."""
        if id(group) in side.groups:
            return
        now, then = _apart(side.derivations.members(group.whole), group), _apart(group.whole.members, group)
        come = [each for key, each in now.items() if key not in then]
        gone = [each for key, each in then.items() if key not in now]
        shown = [side.trees.member(each, False, side.depth - 1) for each in come[:SHOWN_MEMBERS]]
        side.groups[id(group)] = _Members(group, shown, _count(now), len(come), len(gone))
        other = self._other(side)
        other.strange.append((group, gone))
        other.asked += [item for each in shown for item in each.body]

    # ------------------------------------------------------------- the tree

    def _row(self, tree: Tree, side: _Side) -> Changed:
        """A row that one state has and the other has not."""
        came = side is self._now
        if tree.kind == "fact":
            self._facts[(tree.relation, tree.row), came] = None
            return Changed(tree.relation, tree.row, came, "fact", tree.rule, tree.place)
        if tree.kind == "cut":
            return Changed(tree.relation, tree.row, came, "cut")
        body = tuple(self._part(item, side) for item in tree.body)
        return Changed(tree.relation, tree.row, came, "rule", tree.rule, tree.place, tree.variables, body)

    def _once(self, tree: Tree, side: _Side) -> Changed:
        """The same, unless the tree has the row already."""
        key = (tree.relation, tree.row), side is self._now
        if tree.kind in ("rule", "group"):
            if key in self._written:
                return Changed(tree.relation, tree.row, key[1], "above")
            self._written.add(key)
        return self._row(tree, side)

    def _part(self, item: Item, side: _Side) -> Part:
        other = self._other(side)
        match item:
            case Tree(relation, row):
                return Same(item) if other.holds.get((relation, row)) else self._once(item, side)
            case Absent(relation, pattern):
                rows = other.found.get((relation, pattern), [])
                trees = [other.proofs[relation, row] for row in rows[:SHOWN]]
                found = tuple(self._once(each, other) for each in trees)
                return Excluded(item, found, len(rows) > SHOWN) if rows else Same(item)
            case Condition():
                return Same(item)
        return self._group(item, side)

    def _group(self, group: Group, side: _Side) -> Regrouped:
        other, came = self._other(side), side is self._now
        count = _count(_apart(group.whole.members, group))
        of_other = other.groups.get(id(group), _Members(group, [], 0, 0, count))
        own = side.own.get(id(group), group.members)
        members = [self._member(each, came, side) for each in own]
        members += [self._member(each, not came, other) for each in of_other.shown]
        counts = (of_other.count, count) if came else (count, of_other.count)
        more = of_other.come + of_other.gone - len(members)
        return Regrouped(group.text, group.type, *counts, tuple(members), more, group.span)

    def _member(self, member: ShownMember, came: bool, side: _Side) -> OtherMember:
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


@dataclass(frozen=True, slots=True)
class _Members:
    """What a state has of a group of the other: its members that the other lacks, of which some are shown,
    and the numbers of all members, of those that come and of those that the other alone has."""

    group: Group
    shown: list[ShownMember]
    count: int
    come: int
    gone: int


def _matching(derivations: Derivations, relation: str, pattern: tuple[Any, ...]) -> list[Row]:
    """Some rows of a relation that match a pattern."""
    declared = derivations.held.program.relations[relation]
    names = tuple(f"c{at}" for at in range(len(pattern)))
    types = {name: column.type for name, column in zip(names, declared.columns, strict=True)}
    known = {name: value for name, value in zip(names, pattern, strict=True) if value is not ANY}
    term = Atom(relation, names, False, declared.span)
    stage = Stage(Rule((), (term,), types, "", declared.span), 1, tuple(known))
    found = stage.valuations(derivations.held, [tuple(known.values())], SHOWN + 1)
    return sorted(tuple(values[name] for name in names) for _, values in found)
