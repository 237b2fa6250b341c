"""Delayed relations: the changes of an epoch are changes of inputs in later epochs.

`R-n` is an input of the circuit. A delay commutes with differentiation: the change of `R-n` in an epoch is
the change of R n commits earlier. If R is a stream, `R-n` gets the elements of R in that commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...core import Relation
from ...engine.runtime import Batch, Delta, Runtime

Kept = dict[str, Sequence[tuple[Batch, int]]]
"""The changes of an epoch before this session, by the delayed relation that gets them."""


class Delays:
    """The changes of each relation that is read with a delay, in as many of the last commits as the delay."""

    def __init__(self, relations: Iterable[Relation], runtime: Runtime) -> None:
        self._runtime = runtime
        self.delayed: Mapping[str, tuple[str, int]] = {
            each.name: each.past for each in relations if each.past is not None
        }
        """The delayed relations, each with the relation that it is the past of, and the delay."""
        longest: dict[str, int] = {}
        for source, delay in self.delayed.values():
            longest[source] = max(delay, longest.get(source, 0))
        self._past: dict[str, deque[Delta | Kept]] = {
            source: deque(maxlen=delay) for source, delay in longest.items()
        }

    @property
    def past(self) -> Mapping[str, Sequence[Delta | Kept]]:
        """The changes in the last commits of each relation that is read with a delay, the latest last."""
        return {source: tuple(changes) for source, changes in self._past.items()}

    def changes(self) -> Kept:
        """The changes of the delayed relations in the next epoch."""
        if not self.delayed:
            return {}
        return {
            name: self._batches(name, self._past[source][-delay])
            for name, (source, delay) in self.delayed.items()
            if len(self._past[source]) >= delay
        }

    def _batches(self, name: str, change: Delta | Kept) -> Sequence[tuple[Batch, int]]:
        return change.get(name, ()) if isinstance(change, dict) else self._runtime.batches(name, change)

    def resume(self, past: Mapping[str, Sequence[Kept]]) -> None:
        """Takes in the changes of the last epochs before this session, the latest last."""
        for source, changes in past.items():
            self._past[source].extend(changes)

    def take_over(self, before: Delays, changed: Mapping[str, Delta], held: Mapping[str, Delta]) -> None:
        """Goes on with the past of another program, whose last epoch made these further changes. For a
        delayed relation that was not there, all that its relation holds came in that epoch."""
        for name, (source, _) in self.delayed.items():
            past = self._past[source]
            known = before._past.get(source, ()) if name in before.delayed else ()
            while len(past) < max(1, len(known)):
                past.appendleft({})
            for entry, change in zip(reversed(past), reversed(known), strict=False):
                assert isinstance(entry, dict)
                entry[name] = before._batches(name, change)
            last = past[-1]
            assert isinstance(last, dict)
            more = changed.get(source) if known else held[source]
            if more is not None:
                last[name] = [*last.get(name, ()), *self._runtime.batches(name, more)]

    def correct(self, source: str, change: Callable[[str], Sequence[tuple[Batch, int]]]) -> None:
        """Adds to the changes of the last epoch before this session. `change` gives it for each delayed
        relation."""
        past = self._past[source]
        last = past.pop() if past else {}
        assert isinstance(last, dict)
        readers = [name for name, (of, _) in self.delayed.items() if of == source]
        past.append({name: [*last.get(name, ()), *change(name)] for name in readers})

    def remember(self, deltas: Mapping[str, Delta]) -> None:
        """Takes in the changes of the outputs in an epoch that is over."""
        for source, past in self._past.items():
            past.append(deltas[source])
