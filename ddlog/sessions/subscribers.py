"""Functions that are called with the changes of an output relation after each commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors.diagnostics import DDlogError
from ..errors.lookups import NotAnOutput
from .results.views import Changes
from .transactions.state import SessionState

Receive = Callable[[list[tuple[Any, int]]], None]
"""Takes the changed rows of a relation with the change of their weights."""


class Subscribers:
    """The subscriptions of a session, in the order of their beginning."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._entries: list[tuple[str, Receive]] = []

    def add(self, relation: str, receive: Receive) -> Callable[[], None]:
        """Begins a subscription, and returns a function that ends it. Raises DDlogError for a relation that
        is not an output, TypeError for a receiver that cannot be called."""
        self._state.check_open()
        if not callable(receive):
            raise TypeError(f"{receive!r} cannot be called with changes")
        declared = self._state.declared(relation)
        if declared.role != "output":
            outputs = tuple(self._state.program.names("output"))
            raise DDlogError([NotAnOutput(relation, outputs)])
        entry = (declared.name, receive)
        self._entries.append(entry)
        return lambda: self._entries.remove(entry) if entry in self._entries else None

    def tell(self, changes: Changes) -> None:
        """Calls every subscriber of a relation that changed; then raises the first exception of one."""
        if not self._entries:
            return
        raised: list[BaseException] = []
        for relation, receive in list(self._entries):
            if relation in changes:
                try:
                    receive(changes[relation])
                except Exception as error:
                    raised.append(error)
        if raised:
            raise raised[0]
