"""Errors about memory."""

from __future__ import annotations

from .diagnostics import Diagnostic


class MemoryLimitReached(Diagnostic):
    """An epoch that would go over the memory limit."""

    title = "the memory limit of {limit} is reached{phase:, in `%`}"
    suggestion = "the session is at its last commit; set a higher memory limit, or let less follow"
    limit: str
    phase: str


class NoMemoryLeft(Diagnostic):
    """An epoch for which the machine has no memory."""

    title = "there is no more memory{phase:, in `%`}"
    suggestion = (
        "the session is at its last commit; a memory limit ends such a commit before the machine does"
    )
    phase: str


class NoMemoryMeasure(Diagnostic):
    """A memory limit where the size of the process is unknown."""

    title = "a memory limit needs a system that tells the memory of a process, such as Linux"
