"""Commands that explain rows: `why Path("a", "d");`."""

from __future__ import annotations

from dataclasses import dataclass

from .interpreter import Interpreter
from .scanner import Scanner


@dataclass(frozen=True, slots=True)
class Why:
    """Prints why a row holds."""

    question: str

    def perform(self, on: Interpreter) -> None:
        on.show_all(on.session.why(self.question).lines(color=on.color))


@dataclass(frozen=True, slots=True)
class WhyAll:
    """Prints a proof of a row for each of its derivations, and how many there are."""

    question: str

    def perform(self, on: Interpreter) -> None:
        found = on.session.why_all(self.question)
        for number, each in enumerate(found, 1):
            on.show(f"derivation {number} of {len(found)}")
            on.show_all(each.lines(color=on.color))


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Prints why a row does not hold."""

    question: str

    def perform(self, on: Interpreter) -> None:
        on.show_all(on.session.why_not(self.question).lines(color=on.color))


@dataclass(frozen=True, slots=True)
class WhyEnds:
    """Prints the smallest sets of changes of facts that end a row."""

    question: str

    def perform(self, on: Interpreter) -> None:
        on.show_all(on.session.why_ends(self.question).lines(color=on.color))


@dataclass(frozen=True, slots=True)
class WhyChange:
    """Prints why the last commit made a row come or go."""

    question: str

    def perform(self, on: Interpreter) -> None:
        on.show_all(on.session.why_change(self.question).lines(color=on.color))


def read_why(scanner: Scanner, word: str) -> Why | WhyAll | WhyNot | WhyEnds | WhyChange:
    """The rest of a command that begins with `why`."""
    if scanner.accept_word("change"):
        return WhyChange(scanner.query_text())
    if scanner.accept_word("ends"):
        return WhyEnds(scanner.query_text())
    if scanner.accept_word("not"):
        return WhyNot(scanner.query_text())
    if scanner.accept_word("all"):
        return WhyAll(scanner.query_text())
    return Why(scanner.query_text())
