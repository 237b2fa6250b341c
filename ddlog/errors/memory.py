"""Errors about memory."""

from __future__ import annotations

from .diagnostics import Diagnostic


def _in_phase(phase: str) -> str:
    return f", in `{phase}`" if phase else ""


class MemoryLimitReached(Diagnostic):
    """An epoch that would go over the memory limit."""

    title = "the memory limit of {limit} is reached{place}"
    suggestion = "the session is at its last commit; set a higher memory limit, or let less follow"
    limit: str
    phase: str

    @property
    def place(self) -> str:
        """The phase of the epoch, as the title ends with it."""
        return _in_phase(self.phase)


class NoMemoryLeft(Diagnostic):
    """An epoch for which the machine has no memory."""

    title = "there is no more memory{place}"
    suggestion = (
        "the session is at its last commit; a memory limit ends such a commit before the machine does"
    )
    phase: str

    @property
    def place(self) -> str:
        """The phase of the epoch, as the title ends with it."""
        return _in_phase(self.phase)


class NoMemoryMeasure(Diagnostic):
    """A memory limit where the size of the process is unknown."""

    title = "a memory limit needs a system that tells the memory of a process, such as Linux"
