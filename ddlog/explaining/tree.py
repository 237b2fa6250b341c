"""Proof trees, and how they are built from derivations of least height."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import Atom, Clause, GetField, GetItem, GroupBy, Guard, Let, Unnest
from ..core.expressions import matched
from ..errors.source import Span
from ..types import Bool, Type
from .derivations import Derivation, GroupMember, GroupMembers, RuleValuation
from .heights import UNKNOWN, Heights
from .node import Reason, more
from .snapshot import ANY, Fact, HeldRelations
from .words import is_passed

SHOWN_MEMBERS = 10
"""The members of a group that a tree has; more are counted."""

DEPTH = 10
"""The depth to which a tree goes if nobody says."""


class Trees:
    """Builds the trees of rows over the relations of a session."""

    def __init__(self, held: HeldRelations, heights: Heights) -> None:
        self._held, self._heights = held, heights
        self._made: dict[tuple[Fact, int], Reason] = {}

    def tree(self, fact: Fact, depth: int) -> Reason:
        """The tree of a row that holds, with so many levels below the row."""
        key = fact, depth
        if key not in self._made:
            self._made[key] = self._tree(fact, depth)
        return self._made[key]

    def by(self, fact: Fact, derivation: Derivation, depth: int) -> Reason:
        """The tree of a row that begins with a derivation."""
        case, valuation = derivation.case, derivation.valuation
        height, place = _whole(self._heights.of(derivation)), case.written.span
        if case.is_fact:
            return Reason("fact", *fact, height=height, rule=case.written, place=place)
        return Reason(
            "rule" if valuation.stage.last == 0 else "group",
            *fact,
            height=height,
            rule=case.written,
            place=place,
            variables=shown(valuation.variables),
            children=tuple(self._items(valuation, depth - 1)),
        )

    def _tree(self, fact: Fact, depth: int) -> Reason:
        heights = self._heights
        if heights.is_given(fact):
            looped = fact[0] in heights.derivations.looped
            return Reason("cut", *fact) if looped else Reason("fact", *fact, height=0)
        heights.search(fact)
        if (rounds := heights.rounds_of(fact)) is not None:
            return rounds.tree(fact, depth)
        if depth <= 0 or heights.height(fact) == UNKNOWN:
            return Reason("cut", *fact, height=_whole(heights.height(fact)))
        return self.by(fact, heights.way(fact), depth)

    def _items(self, valuation: RuleValuation, depth: int) -> Iterator[Reason]:
        stage, found = valuation.stage, iter(valuation.rows)
        if valuation.group is not None:
            yield self._group(valuation, valuation.group, depth)
        spans = [each.span for each in stage.body if isinstance(each, Atom)]
        for clause in stage.body[stage.last :]:
            if isinstance(clause, Atom) and not clause.negated:
                fact = next(found)
                yield self.tree(fact, depth + 1 if is_passed(self._held.program, fact[0]) else depth)
            else:
                yield from step(clause, valuation.variables, stage.types, spans)

    def _group(self, valuation: RuleValuation, group: GroupMembers, depth: int) -> Reason:
        clause = group.clause
        if clause.span.source.origins is None:
            noun = "different value" if clause.bag else "member"
            count, ways = len(group.members), self._values(group)
            left = count - len(ways)
        else:
            rows = [(member, way) for member in group.members for way in member.ways]
            noun, count = "row", sum(way.times for _, way in rows)
            ways = _given_back_first(valuation, rows)[:SHOWN_MEMBERS]
            left = len(rows) - len(ways)
        deciding = {group.members[at].value for at in group.deciding or ()} if noun != "row" else set()
        members = [
            replace(
                self._member(each.value, way, depth), decides=each.value in deciding, type=clause.value.type
            )
            for each, way in ways
        ]
        return Reason(
            "members",
            text=clause.span.text(),
            type=clause.value.type,
            variables={name: valuation.variables[name] for name in clause.keys},
            count=count,
            noun=noun,
            children=(*members, *more(left)),
            place=clause.span,
            group=group,
        )

    def _values(self, group: GroupMembers) -> list[tuple[GroupMember, RuleValuation]]:
        """The members of a group that are shown, those that decide among them, each with the lowest of the
        valuations that put it there."""
        deciding = group.deciding or ()
        rest = (at for at in range(len(group.members)) if at not in deciding)
        members = [group.members[at] for at in sorted([*deciding, *rest][:SHOWN_MEMBERS])]
        return [(each, min(each.ways, key=self._heights.greatest)) for each in members]

    def member(self, member: GroupMember, depth: int) -> Reason:
        """A member of a group, with the rows that put it there."""
        return self._member(member.value, min(member.ways, key=self._heights.greatest), depth)

    def _member(self, value: Any, way: RuleValuation, depth: int) -> Reason:
        body = tuple(self._items(way, depth))
        return Reason("member", value=value, variables=shown(way.variables), times=way.times, children=body)


def step(
    clause: Clause, values: Mapping[str, Any], types: Mapping[str, Type], terms: Sequence[Span]
) -> Iterator[Reason]:
    """The node of a clause that is not a positive term: none for a clause that is a part of a term, or that
    nobody wrote."""
    match clause:
        case Atom(relation, columns, True, span):
            pattern = tuple(ANY if name is None else values[name] for name in columns)
            yield Reason("absent", relation, pattern, span.text(), place=span)
        case GroupBy():
            return
        case Let(name, _, span) | Unnest(name, _, span) if "$" in name or name not in values:
            return
        case Let(_, _, span) | Guard(_, span) | Unnest(_, _, span) if any(span.within(e) for e in terms):
            return
        case Let(name, GetField() | GetItem(), span):
            yield condition(name, values[name], types[name], span)
        case Let(name, _, span):
            yield condition(f"{name} = {span.text()}", values[name], types[name], span)
        case Unnest(name, value, span):
            yield condition(f"{name} in {value.span.text()}", values[name], types[name], span)
        case Guard():
            yield condition(guard_text(clause), True, Bool(), clause.span)


def condition(text: str, value: Any, of: Type, place: Span | None = None) -> Reason:
    """A condition, an assignment or a FlatMap, with its value."""
    return Reason("condition", text=text, value=value, type=of, place=place)


def guard_text(guard: Guard) -> str:
    """The text of a condition; of one that a value has a shape, with the value."""
    found = matched(guard.condition)
    if found is None or found[0].span == guard.span:
        return guard.span.text()
    return f"{guard.span.text()} = {found[0].span.text()}"


def _given_back_first(
    valuation: RuleValuation, rows: Sequence[tuple[GroupMember, RuleValuation]]
) -> list[tuple[GroupMember, RuleValuation]]:
    """The rows of a group of a query. First come those that a window or a LIMIT gives back as the row that is
    explained: a FlatMap of the group gives them, alone or with a value."""
    names = [each.name for each in valuation.stage.body[valuation.stage.last :] if isinstance(each, Unnest)]
    found = [valuation.variables[name] for name in names]
    back = [each for value in found if isinstance(value, tuple) for each in ((value,), value[:1])]
    return sorted(rows, key=lambda each: each[0].value[-1:] not in back)


def shown(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have names in the rule."""
    return {name: value for name, value in variables.items() if "$" not in name}


def _whole(height: float) -> int | None:
    return None if height == UNKNOWN else int(height)
