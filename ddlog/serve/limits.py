"""The limits of a server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request, an answer and a subscriber."""

    body: int = 64 << 20
    """The most bytes of the body of a request."""
    rows: int = 10_000
    """The most rows of an answer in JSON; NDJSON and Arrow have all of them."""
    seconds: float = 30.0
    """The most time of a question."""
    waiting: int = 10_000
    """The most transactions and questions that wait."""
    subscribers: int = 5_000
    """The most subscribers at a time."""
    buffered: int = 1_000
    """The most epochs that wait for a subscriber before they are added up."""
    kept: int = 100_000
    """The most changed rows of past epochs that are kept for subscribers who come back."""
