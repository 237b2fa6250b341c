"""Pauses of a session, in which nobody waits: memory that no row uses is given back in them."""

from __future__ import annotations

import time

from ..sessions.session import Session

_SHARE = 20  # times as long as a tidying took, until the next one


class Pauses:
    """Tidies a session in its pauses, in a small part of the time: a session that is changed again and again
    is not tidied in each of them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._next = 0.0

    def pause(self) -> None:
        """Nobody waits now."""
        began = time.monotonic()
        if began >= self._next:
            self._session.tidy()
            ended = time.monotonic()
            self._next = ended + _SHARE * (ended - began)
