"""Recursions that do not settle: how many rounds one may take, and how a repetition is found.

A recursion that is not monotone may come back to a state that it had before, and then repeats itself for
ever. Brent's algorithm ("An improved Monte Carlo factorization algorithm", BIT 20, 1980) finds that with one
state at hand: the one at the last checkpoint, at twice the round of the checkpoint before.

    round    64                 128                                    256
    state    x ─────────────────► x' ────────── … ─── x' again: repeats every (now - 128) rounds
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .schema import Origin
from .zset import Row

MOST_ROUNDS = 1 << 16
"""The rounds that a recursion which is not monotone may take, if no limit is given."""

SHOWN = 3
"""The rows of each relation that an error names."""

FIRST = 64
"""Rounds that most recursions never reach."""

Changing: TypeAlias = Sequence[tuple[str, Row, int]]
"""Rows that still change: the relation, the row, and +1 if it comes, -1 if it goes, 0 if it does both."""


def is_checkpoint(number: int) -> bool:
    """Whether the state after this many rounds is one to compare later states with."""
    return number >= FIRST and number.bit_count() == 1


class Unsettled(Exception):
    """A recursion that does not settle; the epoch was rolled back."""

    def __init__(self, message: str, relations: Sequence[str], changing: Changing) -> None:
        super().__init__(message)
        self.relations, self.changing = tuple(relations), tuple(changing)


class IterationLimit(Unsettled):
    """A recursion needed more iterations than allowed."""

    def __init__(self, limit: int, relations: Sequence[str], changing: Changing = ()) -> None:
        super().__init__(
            f"no fixpoint after {limit} iterations of {', '.join(relations)}", relations, changing
        )
        self.limit = limit


class LoopLimit(Unsettled):
    """A loop, or a recursion in one, still changed something after as many rounds as allowed; `origin` says
    where the loop stands. A recursion has no name."""

    def __init__(
        self, limit: int, name: str, relations: Sequence[str], changing: Changing = (), origin: Origin = None
    ) -> None:
        super().__init__(f"loop {name} still changes after {limit} rounds", relations, changing)
        self.limit, self.name, self.origin = limit, name, origin


class Repetition(Unsettled):
    """A recursion that comes back to the same state again and again, every `period` rounds."""

    def __init__(self, period: int, relations: Sequence[str], changing: Changing) -> None:
        super().__init__(f"{', '.join(relations)} repeat every {period} rounds", relations, changing)
        self.period = period


class LoopRepetition(Unsettled):
    """A loop, or a recursion in one, that comes back to the same state every `period` rounds; `origin` says
    where the loop stands. A recursion has no name."""

    def __init__(
        self, period: int, name: str, relations: Sequence[str], changing: Changing, origin: Origin = None
    ) -> None:
        super().__init__(f"loop {name} repeats itself every {period} rounds", relations, changing)
        self.period, self.name, self.origin = period, name, origin


class Endless(Unsettled):
    """A stream in nested time that never becomes zero, so that its integral has no value."""

    def __init__(self, relations: Sequence[str], changing: Changing) -> None:
        super().__init__(f"{', '.join(relations)} never become zero", relations, changing)
