"""What a text of rules that was translated says in the terms of the text that a user wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .source import Source, Span


@dataclass(frozen=True, slots=True)
class Written:
    """What a variable or a column of the rules stands for: a column of a `table`, or another expression.
    `wrapper` is the struct that users know the value in; empty: none."""

    text: str
    table: str = ""
    is_column: bool = False
    wrapper: str = ""


@dataclass(frozen=True, slots=True)
class ClauseOrigin:
    """The columns of a line that a clause takes, from `start` up to `end`; what it says, and the variable
    that it defines. Of a clause without a text nothing is said. `members` are the variables by which the rows
    of a group are known."""

    start: int
    end: int
    text: str
    variable: str = ""
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleOrigin:
    """The statement that a rule comes from, the `place` in it, and the clauses of the rule."""

    statement: Span
    place: Span
    clauses: tuple[ClauseOrigin, ...] = ()

    def clause(self, span: Span) -> ClauseOrigin | None:
        """The clause in which a span begins."""
        return next((each for each in self.clauses if each.start <= span.column < each.end), None)


@dataclass(frozen=True, slots=True)
class MadeRelation:
    """A relation that the translation made, in words. `passed`: its rows say nothing that the rows do not say
    that they come from. `dropped`: they say nothing at all."""

    words: str
    columns: tuple[Written | None, ...]
    passed: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Origins:
    """What the rules of a text say that was translated from a `source`: by their lines, by the names of the
    relations that were made, and by the names of variables."""

    source: Source
    rules: Mapping[int, RuleOrigin]
    relations: Mapping[str, MadeRelation]
    variables: Mapping[str, Written]


def origin(span: Span) -> RuleOrigin | None:
    """What the rule at a place comes from, if it was translated."""
    origins = span.source.origins
    return None if origins is None else origins.rules.get(span.line)
