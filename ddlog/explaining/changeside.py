"""One of the two states that a change is between: the proofs looked for in it, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..values.rows import Row
from .byrounds import with_loops
from .derivations import Derivations, GroupMember
from .node import Reason
from .snapshot import ANY, HeldRelations, Replay
from .stages import over
from .tree import Trees

SHOWN = 3
"""The proofs of a row that went, and the rows of a negated term, that are shown."""

Spot: TypeAlias = tuple[str, Row, tuple[int, ...]]
"""A row of a relation, or a pattern, as of a round of a loop; of no round around loops."""


class Side:
    """One of the two states, before or after a commit: the proofs that are looked for in it, and
    the questions whether it holds the facts that the proofs of the other state use."""

    def __init__(self, held: HeldRelations, depth: int, empty: bool) -> None:
        self.derivations, self.depth, self.empty = Derivations(held), depth, empty
        self.heights = with_loops(self.derivations)
        self.trees = Trees(held, self.heights)
        self.proofs: dict[Spot, Reason] = {}
        self.holds: dict[Spot, bool] = {}
        self.found: dict[Spot, list[Spot]] = {}  # rows that patterns match
        self.groups: dict[Reason, SideMembers] = {}  # of the other side's proofs
        self.own: dict[Reason, Sequence[Reason]] = {}  # members of its groups that the other side lacks
        self.strange: list[tuple[Reason, list[GroupMember]]] = []  # the same, still to be looked at
        self.wanted: dict[Spot, None] = {}  # proofs that are still to be looked for
        self.asked: list[Reason] = []  # items of the other side's proofs that are still to be looked at

    def proof(self, spot: Spot) -> Reason:
        """The tree of a row that is there, in a round if it is one."""
        relation, row, rounds = spot
        if not rounds:
            return self.trees.tree((relation, row), self.depth)
        of = self.heights.rounds_in(relation) if len(rounds) == 1 else None
        if of is None:
            return Reason("cut", relation, row, rounds=rounds)
        return of.tree_of_round((relation, row), rounds[0], self.depth)

    def members(self, group: Reason) -> tuple[Sequence[GroupMember], Callable[[GroupMember], Reason]]:
        """The members of a group of the other side, and how to show one of this side."""
        of = self.heights.rounds_in(group.loop) if len(group.rounds) == 1 else None
        if of is not None:
            return of.members(group, self.depth - 1)
        assert group.group is not None
        found = group.group.members if group.rounds else self.derivations.members(group.group)
        return found, self.show

    def show(self, member: GroupMember) -> Reason:
        """A member of a group around loops."""
        return self.trees.member(member, self.depth - 1)

    # ------------------------------------------------------------- rounds

    def begin(self, loops: Iterable[str]) -> None:
        """Runs loops again, each given by a relation."""
        for name in loops:
            self.heights.rounds_in(name)

    def last(self, relation: str) -> int | None:
        """The last round of the loop of a relation; None if it is not run again."""
        of = self.heights.rounds_in(relation)
        return None if of is None else of.replay.last

    def since(self, spot: Spot) -> int | None:
        """The round since which a row is there in a round, or in the last one if there are no more."""
        relation, row, rounds = spot
        replay = None if self.empty else self._replay(relation, rounds)
        return None if replay is None else replay.since(relation, row, min(rounds[-1], replay.last))

    def _replay(self, relation: str, rounds: tuple[int, ...]) -> Replay | None:
        """The rounds of the innermost loop."""
        of = self.heights.rounds_in(relation)
        replay = None if of is None else of.replay
        for number in rounds[:-1]:
            if replay is not None:
                held = replay.at(min(number, replay.last))
                replay = held.replay(Derivations(held).rounds[relation])
        return replay

    def matching(self, spot: Spot) -> list[Spot]:
        """Some rows that match a pattern, in a round if it is one."""
        relation, pattern, rounds = spot
        derivations = self.derivations
        if rounds:
            replay = self._replay(relation, rounds)
            if replay is None or rounds[-1] < replay.of.first:
                return []
            derivations = Derivations(replay.at(min(rounds[-1], replay.last)))
        return [(relation, row, rounds) for row in _matching(derivations, relation, pattern)]


@dataclass(frozen=True, slots=True)
class SideMembers:
    """A group in the state before or after, beside the other one. `shown`: some of the members that the other
    state lacks. `count`: all members; `come`: members that the other state lacks; `gone`: members that it
    alone has."""

    group: Reason
    shown: list[Reason]
    count: int
    come: int
    gone: int


def _matching(derivations: Derivations, relation: str, pattern: tuple[Any, ...]) -> list[Row]:
    """Some rows of a relation that match a pattern."""
    names = tuple(f"c{at}" for at in range(len(pattern)))
    known = {name: value for name, value in zip(names, pattern, strict=True) if value is not ANY}
    stage = over(derivations.held.program, relation, names, tuple(known))
    found = stage.valuations(derivations.held, [tuple(known.values())], SHOWN + 1)
    return sorted(tuple(values[name] for name in names) for _, values in found)
