"""The work of a cluster, as a host tells it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Work(NamedTuple):
    """The jobs of a cluster, and the bytes that they read from shuffles."""

    jobs: int
    shuffled: int


class Cluster(Protocol):
    """Knows the jobs of a cluster."""

    def begun(self) -> int:
        """The number of jobs so far."""

    def work(self, marks: Iterable[int]) -> list[Work]:
        """The work between each two such numbers that follow each other."""
