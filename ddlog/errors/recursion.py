"""Errors about recursions that do not settle."""

from __future__ import annotations

from .diagnostics import Diagnostic


class IterationLimitReached(Diagnostic):
    """A recursion without a fixpoint within the limit."""

    title = "no fixpoint after {limit} iterations of {relations}"
    suggestion = "the session is at its last commit; if the recursion is finite, set a higher limit"
    limit: int
    relations: tuple[str, ...]


class RecursionRepeats(Diagnostic):
    """A recursion that comes back to a state that it had before."""

    title = "the recursion of {relations} never settles: it is in the same state again after every {rounds}"
    suggestion = (
        "the session is at its last commit; these rows must not depend on their own absence, "
        "by `group_by` or by negation"
    )
    period: int
    relations: tuple[str, ...]

    @property
    def rounds(self) -> str:
        """The rounds between equal states."""
        return "round" if self.period == 1 else f"{self.period} rounds"
