"""Rounds run again: a loop, or a recursion with groups or negations, one epoch a round, beside a session.

What changed in each round is kept, so that any round can be gone back to, for a question about it. Another
recursion is evaluated again where its iterations are not those of its rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...core import CheckedProgram, CheckedQuery, Stratum
from ...engine.runtime import Batch, Delta
from ...explaining.oneround import AT, FIRST, LATER, OneRound, alone, one_round
from ...explaining.snapshot import Fact, Replay
from ...values.rows import Row
from ..hosts.host import Host
from ..hosts.inprocess import open_host

if TYPE_CHECKING:
    from ..program import Program

T = TypeVar("T")

Parts = list[tuple[Batch, int]]
Contents = Callable[[str, Host], Batch]
"""The rows of a relation around the rounds, as a batch of a host."""


def as_written(around: Program, stratum: Stratum, contents: Contents, near: Host | None) -> Host | None:
    """A host that has evaluated a recursion by its rules as they are written, without passes; None if one has
    an effect. `near` shares its values, if it is one of this process. Raises what a runtime raises."""
    from ...engine.incremental import incrementalize
    from ...lowering.lower import lower_in_columns
    from ..program import Program

    of = alone(around.checked, stratum)
    if of is None:
        return None
    checked, outside = of
    program = Program(around.source, checked)
    lowered, program.lowered = lower_in_columns(checked, stratum.relations, None)
    circuit = incrementalize(lowered)
    host = open_host(program, circuit, None) if near is None else near.beside(program, circuit)
    host.runtime.commit({name: [(contents(name, host), 1)] for name in outside})
    return host


class Replayed:
    """The rounds of a stratum as an evaluation runs them. See `Replay`."""

    def __init__(self, around: Program, of: OneRound, contents: Contents, host: Host | None) -> None:
        """`host` shares its values, if it is one of this process. Raises what a runtime raises."""
        from ..program import Program

        self.of, self.program = of, Program(around.source, of.program)
        wanted = [*of.relations, *of.named]
        circuit = self.program.circuit("incremental", wanted)
        self.host = (
            open_host(self.program, circuit, None) if host is None else host.beside(self.program, circuit)
        )
        self._deltas: list[Mapping[str, Delta]] = []
        self._came: dict[str, dict[Row, list[int]]] = {}
        self._run(contents)
        self._now = len(self._deltas) - 1  # the round, counted from 0, that the host is at
        self._held = RoundHeld(self, self.last)

    @property
    def last(self) -> int:
        return self.of.first + len(self._deltas) - 1

    def at(self, round: int) -> RoundHeld:
        if self._held.round != round:
            self._held = RoundHeld(self, round)
        return self._held

    def move(self, round: int) -> Host:
        """The host, at a round."""
        wanted = round - self.of.first
        while self._now < wanted:
            self._now += 1
            self.host.runtime.commit(self._inputs(self._now))
        while self._now > wanted:
            back = {name: [(b, -s) for b, s in parts] for name, parts in self._inputs(self._now).items()}
            self.host.runtime.commit(back)
            self._now -= 1
        return self.host

    def since(self, relation: str, row: Row, round: int) -> int | None:
        if relation not in self._came:
            self._came[relation] = self._changes(relation)
        times = self._came[relation].get(row, ())
        before = bisect_right(times, round - self.of.first)
        return times[before - 1] + self.of.first if before % 2 else None

    def _changes(self, relation: str) -> dict[Row, list[int]]:
        """For each row, the rounds in which it came and went, in turn."""
        found: dict[Row, list[int]] = {}
        for number, deltas in enumerate(self._deltas):
            if relation in deltas:
                for row in deltas[relation].rows:
                    found.setdefault(row, []).append(number)
        return found

    # ------------------------------------------------------------- the rounds

    def _run(self, contents: Contents) -> None:
        runtime, named = self.host.runtime, 0
        for number in range(1 << 62):
            parts = self._inputs(number)
            if number == 0:
                parts |= {name: [(contents(name, self.host), 1)] for name in self.of.outside}
            deltas = runtime.commit(parts)
            self._deltas.append({name: d for name, d in deltas.items() if len(d)})
            for name, plus in self.of.named.items():
                for (each,) in deltas[name].rows if name in deltas else ():
                    named = max(named, each + plus)
            if self._is_over(number, named):
                return

    def _is_over(self, number: int, named: int) -> bool:
        loop, memory = self.of.loop, self.of.memory
        if loop is not None and loop.rounds is not None:
            return number == loop.rounds
        if loop is not None and loop.empty is not None and not self.host.runtime.size(loop.empty):
            return True
        if number < max(named, memory):
            return False
        return not any(
            name in deltas for deltas in self._deltas[number - memory + 1 :] for name in self.of.relations
        )

    def _inputs(self, number: int) -> dict[str, Parts]:
        """The changes by a round of the inputs that rounds change."""
        runtime, parts = self.host.runtime, dict[str, Parts]()
        if self.of.loop is not None:
            for name, old, new in ((AT, number - 1, number), (FIRST, None, 0), (LATER, None, 1)):
                gone = [(runtime.batch(name, [(old,)]), -1)] if old is not None and old >= 0 else []
                if name == AT or number == new:
                    parts[name] = [*gone, (runtime.batch(name, [(new,)]), 1)]
            if number == 1:
                parts[FIRST] = [(runtime.batch(FIRST, [(0,)]), -1)]
        for name, (relation, rounds) in self.of.earlier.items():
            if number >= rounds and (delta := self._deltas[number - rounds].get(relation)) is not None:
                parts[name] = list(runtime.batches(name, delta))
        return parts


class RoundHeld:
    """The relations of a round. See `HeldRelations`."""

    first = can_attempt = False

    def __init__(self, of: Replayed, round: int) -> None:
        self._of, self.round, self.program = of, round, of.of.program
        self._inner: dict[tuple[str, ...], Replayed | None] = {}

    def valuations(
        self,
        program: CheckedProgram,
        query: CheckedQuery,
        given: Mapping[str, Sequence[Row]],
        most: int | None = None,
    ) -> Iterable[Row]:
        return self._of.move(self.round).query(program, query, given, most)

    def holds(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        return self._of.move(self.round).runtime.contains(relation, rows)

    def weights(self, relation: str, rows: Sequence[Row]) -> list[int]:
        return self._of.host.runtime.lookup(relation, rows)

    def births(self, relation: str, rows: Sequence[Row]) -> None:
        return None

    def replay(self, stratum: Stratum) -> Replay | None:
        if stratum.relations not in self._inner:
            host, of = self._of.move(self.round), one_round(self.program, stratum)
            made = None if of is None else Replayed(self._of.program, of, host.handed, host)
            self._inner[stratum.relations] = made
        return self._inner[stratum.relations]

    def attempt(
        self, insert: Sequence[Fact], delete: Sequence[Fact], look: Callable[[], T], otherwise: T
    ) -> T:
        return otherwise

    def before(self, look: Callable[[], T]) -> T:
        raise NotImplementedError("a round has no commits")
