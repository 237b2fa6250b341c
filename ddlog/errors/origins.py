"""Where the rules of a translated text come from in the text that a user wrote, such as a view in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .source import Source, Span


@dataclass(frozen=True, slots=True)
class Written:
    """The meaning of a variable or a column of the rules: a column of a `table`, or another expression.
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
    """The origins of a text that was translated from a `source`: of its rules by line, of the relations that
    the translation made by name, and of variables by name."""

    source: Source
    rules: Mapping[int, RuleOrigin]
    relations: Mapping[str, MadeRelation]
    variables: Mapping[str, Written]


def origin(span: Span) -> RuleOrigin | None:
    """The origin of the rule at a place; None if nobody translated it."""
    origins = span.source.origins
    return None if origins is None else origins.rules.get(span.line)
