"""The ids of updates that were applied, so that an update that comes again is skipped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable


class UpdateIds:
    """The ids of the updates of committed transactions, and of the open one. `known` gives those of before
    the session, when the first id is asked for."""

    def __init__(self, known: Callable[[], Collection[str]]) -> None:
        self._known, self._ids = known, set[str]()
        self._asked = False
        self.pending: list[str] = []

    def has(self, id: str) -> bool:
        """Whether an update with this id was applied."""
        if not self._asked:
            self._ids, self._asked = set(self._known()), True
        return id in self._ids or id in self.pending

    def note(self, ids: Iterable[str]) -> None:
        """Takes ids of updates that the open transaction has now."""
        self.pending.extend(dict.fromkeys(ids))

    def settle(self, committed: bool) -> None:
        """Ends the transaction."""
        if committed:
            self._ids.update(self.pending)
        self.pending = []
