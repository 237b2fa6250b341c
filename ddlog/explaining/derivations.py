"""Derivations: the valuations of rule bodies that give a row, with the rows that they rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from ..core import Call, CheckedProgram, Expr, GroupBy, Head, Rule, Stratum, Var
from ..core.clauses import expressions
from ..core.walk import descendants
from ..errors.diagnostics import DDlogError
from ..errors.why import LoopWithEffects
from ..values import local_name
from ..values.rows import Row
from .inversion import bindings, invertible, resolved, rest
from .oneround import by_rounds
from .snapshot import Fact, HeldRelations, is_given
from .stages import MEMBER, BodyStage, ValueTest, over, picked, plain

_DECIDERS = frozenset({"min", "max", "first"})


@dataclass(frozen=True, slots=True, eq=False)
class RuleValuation:
    """The values of the variables of a stage, the rows of its terms, and its group. `times`: how often it
    counts in a group of all rows."""

    stage: BodyStage
    variables: Mapping[str, Any]
    rows: tuple[Fact, ...]
    group: GroupMembers | None
    times: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class GroupMember:
    """A value in a group, and the valuations that put it there."""

    value: Any
    ways: tuple[RuleValuation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GroupMembers:
    """The members of a group, in order. `deciding`, where the group is used only by its least and greatest
    members: the places of these. `inner`: the clauses before the group, which give its
    members for a `key`."""

    clause: GroupBy
    members: tuple[GroupMember, ...]
    deciding: tuple[int, ...] | None
    inner: BodyStage
    key: Row

    @property
    def needed(self) -> Iterator[GroupMember]:
        """The members on which the result rests."""
        places: Iterable[int] = range(len(self.members)) if self.deciding is None else self.deciding
        return (self.members[at] for at in places)


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """A valuation of a rule's body that gives a row as one of the heads."""

    case: HeadCase
    valuation: RuleValuation


@dataclass(frozen=True)
class HeadCase:
    """A rule, and a head of it that can be the row asked for. `written` is the rule in the program."""

    written: Rule
    rule: Rule
    head: Head

    @cached_property
    def stage(self) -> BodyStage:
        """The whole body, given a row of the head."""
        tests = tuple(ValueTest(f"$head{at}", self.head.args[at]) for at in rest(self.head))
        return BodyStage(self.rule, len(self.rule.body), tuple(invertible(self.head)), tests)

    @cached_property
    def _plain(self) -> bool:
        """Whether the arguments of the head are different variables."""
        names = [each.name for each in self.head.args if isinstance(each, Var)]
        return len(set(names)) == len(self.head.args)

    def seed(self, row: Row, program: CheckedProgram) -> Row | None:
        """The values that a row gives the variables of the head; None if the head cannot make the row."""
        if self._plain:
            return row
        found = bindings(self.head, row, program.typedefs)
        if found is None:
            return None
        known = tuple(found[name] for name in self.stage.known)
        return (*known, *(row[at] for at in rest(self.head)))

    @property
    def is_fact(self) -> bool:
        """Whether the rule has no body."""
        return not self.written.body


class Derivations:
    """The derivations of rows, over the relations of a session."""

    def __init__(self, held: HeldRelations) -> None:
        self.held, self._program = held, held.program
        self._cases: dict[str, list[HeadCase]] = {}
        self._inner: dict[tuple[int, int], BodyStage] = {}

    def cases(self, relation: str) -> list[HeadCase]:
        """The rules that can give rows of a relation."""
        if not self._cases:
            for rule in self._program.rules:
                made = plain(rule, self._program)
                for head in rule.heads:
                    case = HeadCase(rule, made, resolved(head, made.body))
                    self._cases.setdefault(head.relation, []).append(case)
        return self._cases.get(relation, [])

    def given(self, relation: str) -> bool:
        """Whether the rows of a relation are leaves: given, and not derived, or computed by a loop."""
        return is_given(self._program.relations[relation]) or relation in self.looped

    @cached_property
    def looped(self) -> set[str]:
        """The relations of loops."""
        loops = [each for each in self._program.strata if each.loop is not None]
        return {name for each in loops for name in each.relations}

    @cached_property
    def rounds(self) -> dict[str, Stratum]:
        """The relations whose rows may have no proof but by rounds, each with its stratum."""
        return {name: each for each in self._program.strata if by_rounds(each) for name in each.relations}

    def loop(self, relation: str) -> Stratum | None:
        """The loop that computes a relation."""
        return self.rounds[relation] if relation in self.looped else None

    def is_leaf(self, relation: str) -> bool:
        """Whether the rows of a relation come from facts alone: no rule and no loop computes them."""
        return self.given(relation) and relation not in self.looped

    def check(self, relation: str) -> None:
        """Raises DDlogError if rows of a relation are not explained."""
        if relation in self.looped and self.held.replay(self.rounds[relation]) is None:
            declared = self._program.relations[relation]
            raise DDlogError([LoopWithEffects(declared.original or relation.partition("$")[0])])

    def some(self, relation: str, names: tuple[str, ...], most: int | None) -> list[Row]:
        """Some rows of a relation, or all."""
        found = over(self._program, relation, names).valuations(self.held, [()], most)
        return [tuple(values[name] for name in names) for _, values in found]

    def births(self, facts: Iterable[Fact]) -> tuple[dict[Fact, int], set[Fact]]:
        """The heights of proofs of some rows, where they are at hand, and the rows for which they are the
        least."""
        found, least = dict[Fact, int](), set[Fact]()
        for relation, rows in by_relation(facts).items():
            births = self.held.births(relation, rows)
            if births is not None:
                heights, exact = births
                found |= {(relation, row): height for row, height in zip(rows, heights, strict=True)}
                least.update((relation, row) for row in (rows if exact else ()))
        return found, least

    def of(self, facts: Collection[Fact]) -> dict[Fact, list[Derivation]]:
        """All derivations of each of some rows."""
        found: dict[Fact, list[Derivation]] = {fact: [] for fact in facts}
        for relation, rows in by_relation(found).items():
            for case in () if self.given(relation) else self.cases(relation):
                for fact, ways in self.by(case, [(relation, row) for row in rows]).items():
                    found[fact] += ways
        return found

    def by(self, case: HeadCase, facts: Iterable[Fact]) -> dict[Fact, list[Derivation]]:
        """The derivations by one rule, of those rows of its head that it gives."""
        seeds = {seed: fact for fact in facts if (seed := case.seed(fact[1], self._program)) is not None}
        found: dict[Fact, list[Derivation]] = {}
        for seed, valuation in self._valuations(case.stage, list(seeds), case.head) if seeds else ():
            found.setdefault(seeds[seed], []).append(Derivation(case, valuation))
        return found

    def _valuations(
        self, stage: BodyStage, seeds: Sequence[Row], head: Head | None
    ) -> Iterator[tuple[Row, RuleValuation]]:
        found = stage.valuations(self.held, seeds)
        groups: dict[Row, GroupMembers] = {}
        if stage.group is not None:
            groups = self._groups(stage, stage.group, [values for _, values in found], head)
        terms = [(term.relation, picked([name or "" for name in term.columns])) for term in stage.terms]
        for seed, values in found:
            rows = tuple([(relation, pick(values)) for relation, pick in terms])
            group = None
            if stage.group is not None:
                group = groups[tuple(values[name] for name in stage.group.keys)]
            yield seed, RuleValuation(stage, values, rows, group)

    def _groups(
        self, stage: BodyStage, clause: GroupBy, found: Sequence[Mapping[str, Any]], head: Head | None
    ) -> dict[Row, GroupMembers]:
        """The members of the groups that valuations of a stage rest on, by their keys."""
        inner = self._inner.setdefault(
            (id(stage.rule), stage.last), BodyStage(stage.rule, stage.last - 1, clause.keys, (), clause.value)
        )
        keys = list(dict.fromkeys(tuple(values[name] for name in clause.keys) for values in found))
        by_key: dict[Row, dict[Any, list[RuleValuation]]] = {key: {} for key in keys}
        for key, valuation in self._counted(inner, keys, clause) if keys else ():
            by_key[key].setdefault(valuation.variables[MEMBER], []).append(valuation)
        uses = self._uses(stage, clause.name, head)
        return {key: _members(clause, values, uses, inner, key) for key, values in by_key.items()}

    def _counted(
        self, inner: BodyStage, keys: Sequence[Row], clause: GroupBy
    ) -> Iterator[tuple[Row, RuleValuation]]:
        """The valuations of the clauses before a group; of one of all rows, with how often each counts."""
        found = self._valuations(inner, keys, None)
        relations = self._program.relations
        if not clause.bag or all(relations[each.relation].kind != "multiset" for each in inner.terms):
            yield from found
            return
        pairs = list(found)
        rows = dict.fromkeys(fact for _, each in pairs for fact in each.rows)
        times = dict[Fact, int]()
        for relation, of in by_relation(rows).items():
            if relations[relation].kind == "multiset":
                weights = self.held.weights(relation, of)
                times |= {(relation, row): weight for row, weight in zip(of, weights, strict=True)}
        for key, each in pairs:
            yield key, replace(each, times=prod(times.get(fact, 1) for fact in each.rows))

    def members(self, group: GroupMembers) -> list[GroupMember]:
        """The members that a group has in the state as it is now."""
        ways: dict[Any, list[RuleValuation]] = {}
        for _, valuation in self._counted(group.inner, [group.key], group.clause):
            ways.setdefault(valuation.variables[MEMBER], []).append(valuation)
        return [GroupMember(value, tuple(ways[value])) for value in sorted(ways)]

    def _uses(self, stage: BodyStage, name: str, head: Head | None) -> set[str] | None:
        """The names of the functions whose only argument is the group; None if it is used otherwise."""
        exprs = [expr for each in stage.body[stage.last :] for expr in expressions(each)]
        exprs += [] if head is None else head.args
        parts = [part for expr in exprs for part in descendants(expr)]
        calls = [part for part in parts if isinstance(part, Call) and part.args == (_named(part, name),)]
        mentions = sum(isinstance(part, Var) and part.name == name for part in parts)
        if len(calls) != mentions:
            return None
        functions = self._program.functions
        return {local_name(functions[each.function].name).removeprefix("group_") for each in calls}


def _named(call: Call, name: str) -> Expr | None:
    """The only argument of a call, if it is the variable."""
    first = call.args[0] if len(call.args) == 1 else None
    return first if isinstance(first, Var) and first.name == name else None


def _members(
    clause: GroupBy,
    values: Mapping[Any, Sequence[RuleValuation]],
    uses: set[str] | None,
    inner: BodyStage,
    key: Row,
) -> GroupMembers:
    ordered = sorted(values)
    deciding: tuple[int, ...] | None = None
    if uses and uses <= _DECIDERS:
        least = {0} if uses & {"min", "first"} else set()
        deciding = tuple(sorted(least | ({len(ordered) - 1} if "max" in uses else set())))
    members = tuple(GroupMember(each, tuple(values[each])) for each in ordered)
    return GroupMembers(clause, members, deciding, inner, key)


def by_relation(facts: Iterable[Fact]) -> dict[str, list[Row]]:
    """The rows of each relation."""
    rows: dict[str, list[Row]] = {}
    for relation, row in facts:
        rows.setdefault(relation, []).append(row)
    return rows
