"""The open questions of a body: each is asked again when what it saw of unknown types has changed.

A question that is not decided has looked at unknowns. Until one of them is bound, or restricted, it would say
the same. So each waits for them: n questions that n literals decide are asked 2n times, not n² times.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias

from ..types.unify import Substitution

# A decision to make: called with False it returns whether it is made; with True it must make it, or report
# why it cannot.
Question: TypeAlias = Callable[[bool], bool]


class OpenQuestions:
    """Questions that are not decided yet, in the order in which they came."""

    def __init__(self, substitution: Substitution) -> None:
        self._substitution = substitution
        self._open: dict[int, Question] = {}
        self._waiting: dict[str, set[int]] = {}  # by the unknown that they saw
        self._woken: list[int] = []
        self._count = self._learnt = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def ask(self, question: Question) -> None:
        """Decides a question now, or as soon as it can be."""
        seen = self._seen_by(question)
        if seen is not None:
            self._count += 1
            self._open[self._count] = question
            self._wait(self._count, seen)

    def progress(self) -> None:
        """Decides whatever can be decided by now, by what was learnt since."""
        self._wake()
        while self._woken:
            self._try(heappop(self._woken))
            self._wake()

    def progress_of_all(self) -> None:
        """Decides whatever can be decided by now, and asks each question."""
        self._woken = list(self._open)
        self.progress()

    def force_first(self) -> None:
        """Demands a decision of the question that came first."""
        self._open.pop(next(iter(self._open)))(True)

    def _try(self, number: int) -> None:
        if number in self._open:
            seen = self._seen_by(self._open[number])
            if seen is None:
                self._open.pop(number, None)
            else:
                self._wait(number, seen)

    def _seen_by(self, question: Question) -> set[str] | None:
        """The unknowns that a question looks at; None: it is decided."""
        with self._substitution.watched() as seen:
            return None if question(False) else seen

    def _wait(self, number: int, seen: set[str]) -> None:
        for name in seen:
            self._waiting.setdefault(name, set()).add(number)

    def _wake(self) -> None:
        """Notes the questions that saw what was learnt since."""
        if not self._open:
            return
        learnt, self._learnt = self._substitution.learnt(self._learnt), self._substitution.mark()
        for name in learnt:
            for number in self._waiting.pop(name, ()):
                heappush(self._woken, number)
