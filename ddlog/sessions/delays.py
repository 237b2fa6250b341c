"""Delayed relations: the changes of an epoch are changes of inputs in later epochs.

`R-n` is an input of the circuit. A delay commutes with differentiation: the change of `R-n` in an epoch is
the change of R n commits earlier. If R is a stream, `R-n` gets the elements of R in that commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ..core import Relation
from ..engine.runtime import Batch, Delta, Runtime


class Delays:
    """The changes of each relation that is read with a delay, in as many of the last commits as the delay."""

    def __init__(self, relations: Iterable[Relation], runtime: Runtime) -> None:
        self._runtime = runtime
        self._delayed = {each.name: each.past for each in relations if each.past is not None}
        longest: dict[str, int] = {}
        for source, delay in self._delayed.values():
            longest[source] = max(delay, longest.get(source, 0))
        self._past: dict[str, deque[Delta]] = {
            source: deque(maxlen=delay) for source, delay in longest.items()
        }

    def changes(self) -> dict[str, Sequence[tuple[Batch, int]]]:
        """The changes of the delayed relations in the next epoch."""
        return {
            name: self._runtime.batches(name, self._past[source][-delay])
            for name, (source, delay) in self._delayed.items()
            if len(self._past[source]) >= delay
        }

    def remember(self, deltas: Mapping[str, Delta]) -> None:
        """Takes in the changes of the outputs in an epoch that is over."""
        for source, past in self._past.items():
            past.append(deltas[source])
