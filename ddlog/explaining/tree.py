"""Proof trees, and how they are built from derivations of least height."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..core import Atom, Clause, GetField, GetItem, GroupBy, Guard, Let, Rule, Unnest
from ..core.matching import matched
from ..errors.source import Span
from ..types import Bool, Type
from ..values.rows import Row
from .derivations import Derivation, Member, Members, Valuation
from .heights import UNKNOWN, Heights
from .held import ANY, Fact, Held
from .words import is_passed

SHOWN_MEMBERS = 10
"""The members of a group that a tree has; more are counted."""

DEPTH = 10
"""The depth to which a tree goes if nobody says."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A row, and why it holds. `kind`: a row that is given is a "fact", as is one of a fact of the program;
    other rows are by a "rule", or by a rule with a "group"; a "cut" goes on where the tree does not. A
    `height` of None is not known. `rule` gave the row, with the values of `variables`, from `body`. `rounds`,
    where it took rounds: that since which the row is there, of each loop, the outermost first; `ended`: it is
    not there to the end; `looked`: the round in which the rule of the row above found it."""

    relation: str
    row: Row
    kind: str
    height: int | None
    rule: Rule | None = None
    place: Span | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    body: tuple[Item, ...] = ()
    rounds: tuple[int, ...] = ()
    ended: bool = False
    looked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Absent:
    """A negated term that found nothing: the values that a row would have, or ANY. `rounds`: the round in
    which it looked, if it is one."""

    relation: str
    pattern: tuple[Any, ...]
    text: str
    rounds: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, an assignment or a FlatMap, with its value."""

    text: str
    value: Any
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShownMember:
    """A member of a group: its value, the variables where it was taken in, and whether it decides the result
    as the least or greatest. Of a group of all rows, how many `times` it counts."""

    value: Any
    decides: bool
    variables: Mapping[str, Any]
    body: tuple[Item, ...]
    times: int = 1

    @property
    def note(self) -> str:
        """What is to be said beside the value."""
        often = f"{self.times} times" if self.times > 1 else ""
        return ", ".join(filter(None, ("decides" if self.decides else "", often)))


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group, with some of its `count` members, and how many `more` there are; `whole` has all. `noun` says
    what a member is. `rounds`: the round in which it was made, if it is one, of the loop with the relation
    `loop`."""

    text: str
    type: Type
    keys: Mapping[str, Any]
    count: int
    members: tuple[ShownMember, ...]
    whole: Members
    noun: str = "member"
    more: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)
    rounds: tuple[int, ...] = ()
    loop: str = ""


Item: TypeAlias = Tree | Absent | Condition | Group


class Trees:
    """Builds the trees of rows over the relations of a session."""

    def __init__(self, held: Held, heights: Heights) -> None:
        self._held, self._heights = held, heights
        self._made: dict[tuple[Fact, int], Tree] = {}

    def tree(self, fact: Fact, depth: int) -> Tree:
        """The tree of a row that holds, with so many levels below the row."""
        key = fact, depth
        if key not in self._made:
            self._made[key] = self._tree(fact, depth)
        return self._made[key]

    def by(self, fact: Fact, derivation: Derivation, depth: int) -> Tree:
        """The tree of a row that begins with a derivation."""
        case, valuation = derivation.case, derivation.valuation
        height, place = _whole(self._heights.of(derivation)), case.written.span
        if case.is_fact:
            return Tree(*fact, "fact", height, case.written, place)
        kind = "rule" if valuation.stage.last == 0 else "group"
        body = tuple(self._items(valuation, depth - 1))
        return Tree(*fact, kind, height, case.written, place, shown(valuation.variables), body)

    def _tree(self, fact: Fact, depth: int) -> Tree:
        heights = self._heights
        if heights.is_given(fact):
            return (
                Tree(*fact, "cut", None) if fact[0] in heights.derivations.looped else Tree(*fact, "fact", 0)
            )
        heights.search(fact)
        if (rounds := heights.rounds_of(fact)) is not None:
            return rounds.tree(fact, depth)
        if depth <= 0 or heights.height(fact) == UNKNOWN:
            return Tree(*fact, "cut", _whole(heights.height(fact)))
        return self.by(fact, heights.way(fact), depth)

    def _items(self, valuation: Valuation, depth: int) -> Iterator[Item]:
        stage, rows = valuation.stage, iter(valuation.rows)
        if valuation.group is not None:
            yield self._group(valuation, valuation.group, depth)
        spans = [each.span for each in stage.body if isinstance(each, Atom)]
        for clause in stage.body[stage.last :]:
            if isinstance(clause, Atom) and not clause.negated:
                fact = next(rows)
                yield self.tree(fact, depth + 1 if is_passed(self._held.program, fact[0]) else depth)
            else:
                yield from step(clause, valuation.variables, stage.types, spans)

    def _group(self, valuation: Valuation, group: Members, depth: int) -> Group:
        clause, deciding = group.clause, set(group.deciding or ())
        if clause.span.source.origins is not None:
            return self._rows(valuation, group, depth)
        rest = [at for at in range(len(group.members)) if at not in deciding]
        places = sorted([*deciding, *rest][:SHOWN_MEMBERS])
        members = []
        for at in places:
            member = group.members[at]
            members.append(self.member(member, at in deciding, depth))
        keys = {name: valuation.variables[name] for name in clause.keys}
        return Group(
            clause.span.text(),
            clause.value.type,
            keys,
            len(group.members),
            tuple(members),
            group,
            "different value" if clause.bag else "member",
            len(group.members) - len(members),
            clause.span,
        )

    def _rows(self, valuation: Valuation, group: Members, depth: int) -> Group:
        """A group of a query: its members are rows, of which several may give one value. First come those
        that a window or a LIMIT gives back as this row."""
        chosen = _given_back(valuation)
        rows = [(member, way) for member in group.members for way in member.ways]
        first = [each for each in rows if each[0].value[-1:] in chosen]
        shown_first = [*first, *(each for each in rows if each[0].value[-1:] not in chosen)][:SHOWN_MEMBERS]
        members = [
            ShownMember(member.value, False, shown(way.variables), tuple(self._items(way, depth)), way.times)
            for member, way in shown_first
        ]
        clause = group.clause
        keys = {name: valuation.variables[name] for name in clause.keys}
        text, of = clause.span.text(), clause.value.type
        count = sum(way.times for _, way in rows)
        more = len(rows) - len(members)
        return Group(text, of, keys, count, tuple(members), group, "row", more, clause.span)

    def member(self, member: Member, decides: bool, depth: int) -> ShownMember:
        """A member of a group, with the rows that put it there."""
        way = min(member.ways, key=self._heights.greatest)
        items = tuple(self._items(way, depth))
        return ShownMember(member.value, decides, shown(way.variables), items, way.times)


def step(
    clause: Clause, values: Mapping[str, Any], types: Mapping[str, Type], terms: Sequence[Span]
) -> Iterator[Absent | Condition]:
    """What a tree says of a clause that is not a positive term: nothing of those that are parts of terms, or
    that nobody wrote."""
    match clause:
        case Atom(relation, columns, True, span):
            pattern = tuple(ANY if name is None else values[name] for name in columns)
            yield Absent(relation, pattern, span.text(), (), span)
        case GroupBy():
            return
        case Let(name, _, span) | Unnest(name, _, span) if "$" in name or name not in values:
            return
        case Let(_, _, span) | Guard(_, span) | Unnest(_, _, span) if any(span.within(e) for e in terms):
            return
        case Let(name, GetField() | GetItem(), span):
            yield Condition(name, values[name], types[name], span)
        case Let(name, _, span):
            yield Condition(f"{name} = {span.text()}", values[name], types[name], span)
        case Unnest(name, value, span):
            yield Condition(f"{name} in {value.span.text()}", values[name], types[name], span)
        case Guard():
            yield Condition(guard_text(clause), True, Bool(), clause.span)


def guard_text(guard: Guard) -> str:
    """The text of a condition; of one that a value has a shape, with the value."""
    found = matched(guard.condition)
    if found is None or found[0].span == guard.span:
        return guard.span.text()
    return f"{guard.span.text()} = {found[0].span.text()}"


def _given_back(valuation: Valuation) -> list[Row]:
    """The rows that a FlatMap of a group gives back, alone or with a value: each as a tuple of one."""
    names = [each.name for each in valuation.stage.body[valuation.stage.last :] if isinstance(each, Unnest)]
    found = [valuation.variables[name] for name in names]
    return [each for value in found if isinstance(value, tuple) for each in ((value,), value[:1])]


def shown(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have names in the rule."""
    return {name: value for name, value in variables.items() if "$" not in name}


def _whole(height: float) -> int | None:
    return None if height == UNKNOWN else int(height)
