"""Delayed relations: the changes of an epoch that come back as changes of inputs, epochs later.

`R-n` is an input of the circuit. As a delay commutes with differentiation, what R changed by n commits
ago is the change of `R-n` now; a stream has no changes, and `R-n` gets its elements of then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from ..core import Relation
from ..engine.runtime import Batch, Delta, Runtime


class Delays:
    """What each relation that is read delayed gave in the last commits, as far back as it is read."""

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
        """The changes of the delayed relations in the epoch to come."""
        return {
            name: self._runtime.batches(name, self._past[source][-delay])
            for name, (source, delay) in self._delayed.items()
            if len(self._past[source]) >= delay
        }

    def remember(self, deltas: Mapping[str, Delta]) -> None:
        """An epoch is over, and its outputs changed so."""
        for source, past in self._past.items():
            past.append(deltas[source])
