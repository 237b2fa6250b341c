"""Loops that do not settle: their limits, and states that come again. See `engine.divergence`.

The state of a loop in a round is that of its relations in this round and in those before that the body
reads. It is compared with the state at a checkpoint, by the changes since. These are the changes of this
epoch alone where the loop never went so far before: neither in an earlier epoch, nor in another round of the
loops around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...circuit import Earlier, Fixpoint, Loop
from ...divergence import (
    FIRST,
    MOST_ROUNDS,
    Changing,
    IterationLimit,
    LoopLimit,
    LoopRepetition,
    Repetition,
    Unsettled,
)
from ...loopparts import LoopParts, LoopScope
from ...schema import Origin
from ..storage.batch import Batch, concat, consolidate
from .checkpoint import RoundCheckpoint

Shown = Callable[[Mapping[str, Batch]], Changing]


@dataclass(slots=True)
class Reach:
    """How far the scopes went: the last round with a change, and the last round that a row has named, of
    each."""

    rounds: list[int]
    named: list[int]

    def copy(self) -> Reach:
        """The same, apart."""
        return Reach(self.rounds.copy(), self.named.copy())


def no_reach(parts: LoopParts) -> Reach:
    """Before anything was evaluated."""
    return Reach([0] * len(parts.scopes), [0] * len(parts.scopes))


@dataclass(slots=True)
class _LoopState:
    """The state of a loop in the rounds of those around it."""

    limit: int
    memory: int  # rounds that the body looks back
    endless: bool  # whether no round is said to be the last
    is_whole: bool  # whether an error tells all that a round beyond the limit changes
    outer: int = -1  # the rounds of the loops around
    number: int = -1
    furthest: int = 0  # the last round with a change, in other rounds of the loops around
    here: int = 0  # and in these
    pending: dict[str, list[Batch]] = field(default_factory=dict)
    since: int = 0
    checkpoints: list[RoundCheckpoint] = field(default_factory=list)  # of the rounds from `since` on
    same: int = 0  # rounds whose states are those of the first checkpoints
    beyond: dict[str, Batch] = field(default_factory=dict)  # changes of a round beyond the limit


class Settling:
    """Looks at the changes of the relations of all scopes of a loop, in the order of their times."""

    def __init__(self, parts: LoopParts, limit: int | None, before: Reach, shown: Shown) -> None:
        """`before` says how far earlier epochs went, `shown` gives rows for an error."""
        self._parts, self._shown = parts, shown
        self.named = before.named.copy()
        self._scopes = [
            _LoopState(
                _limit(scope, limit),
                _memory(scope.node),
                scope.last is None,
                _is_recursion(scope),
                furthest=reached,
            )
            for scope, reached in zip(parts.scopes, before.rounds, strict=True)
        ]

    @property
    def reach(self) -> Reach:
        """How far the scopes went, with this epoch."""
        return Reach([max(scope.furthest, scope.here) for scope in self._scopes], self.named)

    def is_unseen(self, time: int) -> bool:
        """Whether nobody looks at the changes of a round of a loop without inner ones."""
        (scope,) = self._scopes
        return time <= scope.limit + self.named[0] and not (scope.endless and time >= FIRST)

    def told(self, number: int, relation: str, time: int, change: Batch) -> None:
        """Notes the change of a relation of a scope. Raises LoopLimit, LoopRepetition."""
        scope, lattice = self._scopes[number], self._parts.lattice
        component = self._parts.scopes[number].component
        now, outer = (
            int(lattice.round(time, component)),
            int(lattice.within(time, component)) if component else 0,
        )
        if outer != scope.outer:
            scope.furthest = max(scope.furthest, scope.here)
            scope.outer, scope.number, scope.here = outer, now, 0
            scope.pending.clear()
            scope.checkpoints.clear()
            scope.same = 0
        if scope.endless and now != scope.number:
            self._close(number, scope, now)
        scope.number = scope.here = now
        if scope.beyond and now > scope.limit + 1:
            self.end()
        if now > scope.limit + self.named[number]:
            if not scope.is_whole:
                raise self.beyond(number, scope.limit, {relation: change})
            scope.beyond[relation] = change
        if scope.endless and (scope.checkpoints or now >= FIRST):
            scope.pending.setdefault(relation, []).append(change)

    def end(self) -> None:
        """No round is to come. Raises IterationLimit if a recursion went beyond its limit."""
        for number, scope in enumerate(self._scopes):
            if scope.beyond:
                raise self.beyond(number, scope.limit, scope.beyond)

    def _close(self, number: int, scope: _LoopState, now: int) -> None:
        """The rounds before `now` are over: the last of them with changes, and those without."""
        pending = {
            name: consolidate(concat(each, len(each[0].columns))) for name, each in scope.pending.items()
        }
        scope.pending.clear()
        for each in range(scope.number, min(now, scope.number + 2 * scope.memory)):
            self._over(number, scope, each, pending if each == scope.number else {})

    def _over(self, number: int, scope: _LoopState, at: int, changes: Mapping[str, Batch]) -> None:
        for checkpoint in scope.checkpoints:
            checkpoint.add(changes)
        if len(scope.checkpoints) == scope.memory:
            if self._differs(scope.checkpoints[scope.same]):
                scope.same = 0
            if not self._differs(scope.checkpoints[scope.same]):
                scope.same += 1
            if scope.same == scope.memory:
                self._repeats(number, scope, at - scope.memory + 1)
        elif scope.checkpoints:
            scope.checkpoints.append(RoundCheckpoint(at))
        if at >= FIRST and at > max(self.named[number], scope.furthest) and self._is_due(scope, at):
            scope.since, scope.same = at, 0
            scope.checkpoints = [RoundCheckpoint(at)]

    def _differs(self, checkpoint: RoundCheckpoint) -> bool:
        """Whether the state is another one than at a checkpoint."""
        return checkpoint.differs()

    def _is_due(self, scope: _LoopState, at: int) -> bool:
        """Whether it is time for another checkpoint."""
        return not scope.checkpoints or at >= 2 * scope.since

    def _repeats(self, number: int, scope: _LoopState, at: int) -> None:
        moved = [(name, row, 0) for name, row, _ in self._shown(scope.checkpoints[0].moved())]
        if moved:
            scope_of = self._parts.scopes[number]
            node = scope_of.node
            relations = [name for name, _ in node.results]
            if _is_recursion(scope_of):
                raise Repetition(at - scope.since, relations, moved)
            raise LoopRepetition(at - scope.since, _name(node), relations, moved, self._place(number))

    def beyond(self, number: int, limit: int, changes: Mapping[str, Batch]) -> Unsettled:
        """The error of a scope that goes on beyond its limit."""
        node = self._parts.scopes[number].node
        relations = [name for name, _ in node.results]
        if _is_recursion(self._parts.scopes[number]):
            return IterationLimit(limit + 1, relations, self._shown(changes))
        return LoopLimit(limit, _name(node), relations, self._shown(changes), self._place(number))

    def _place(self, number: int) -> Origin:
        """Where the innermost loop stands that a scope is, or is in; the outermost scope is a loop."""
        scope = self._parts.scopes[number]
        while not isinstance(scope.node, Loop):
            scope = self._parts.scopes[scope.parent]
        return scope.node.origin


def _name(node: Fixpoint) -> str:
    return node.name if isinstance(node, Loop) else ""


def _is_recursion(scope: LoopScope) -> bool:
    """Whether the scope is a recursion that stands in no loop."""
    return scope.parent < 0 and not isinstance(scope.node, Loop)


def _limit(scope: LoopScope, limit: int | None) -> int:
    """The last round that may change something. A recursion is settled by that of its limit."""
    own = scope.node.most if isinstance(scope.node, Loop) else None
    most = next(each for each in (own, limit, MOST_ROUNDS) if each is not None)
    return most - _is_recursion(scope)


def _memory(node: Fixpoint) -> int:
    return max((each.rounds for each in node.body.nodes if isinstance(each, Earlier)), default=1)
