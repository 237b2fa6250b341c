"""Commands that explain rows: `why Path("a", "d");`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .interpreter import Interpreter
from .passages import Passage
from .scanner import Scanner

if TYPE_CHECKING:
    from ..explaining.explanation import Explanation
    from ..sessions.session import Session

T = TypeVar("T")
_ASKING: dict[str, Callable[[Session], Callable[[str], Explanation]]] = {
    "": lambda session: session.why,
    "not": lambda session: session.why_not,
    "ends": lambda session: session.why_ends,
    "change": lambda session: session.why_change,
}
"""The question of a session for each word after `why`."""


@dataclass(frozen=True, slots=True)
class Why:
    """Prints why a row holds, does not hold, or came or went with the last commit, or what ends it."""

    word: str
    question: Passage

    def perform(self, on: Interpreter) -> None:
        with self.question.placing():
            found = _asked(on, _ASKING[self.word](on.session), self.question.text)
        on.explain(found)


@dataclass(frozen=True, slots=True)
class WhyAll:
    """Prints a proof of a row for each of its derivations, and how many there are."""

    question: Passage

    def perform(self, on: Interpreter) -> None:
        with self.question.placing():
            found = _asked(on, on.session.why_all, self.question.text)
        for number, each in enumerate(found, 1):
            on.show(f"derivation {number} of {len(found)}")
            on.explain(each)


def _asked(on: Interpreter, ask: Callable[..., T], question: str) -> T:
    values = on.values_in(question)
    return ask(question, values=values) if values else ask(question)


def read_why(scanner: Scanner, word: str) -> Why | WhyAll:
    """The rest of a command that begins with `why`."""
    if scanner.accept_word("all"):
        return WhyAll(scanner.query())
    asked = next((each for each in ("change", "ends", "not") if scanner.accept_word(each)), "")
    return Why(asked, scanner.query())
