"""The places in a module of SQL of the rules that the module becomes, and their words there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .source import Span


@dataclass(frozen=True, slots=True)
class SqlMeaning:
    """The meaning of a variable or a column of the rules: a column of a `table`, or another expression.
    `wrapper` is the struct that users know the value in; empty: none."""

    text: str
    table: str = ""
    is_column: bool = False
    wrapper: str = ""


@dataclass(frozen=True, slots=True)
class SqlPlace(Span):
    """The place of a rule, or of a clause of one, that was made of a stretch of SQL. `number` tells those of
    one stretch apart.

    A clause has what it `said` in SQL, which is empty where nothing is said of it, the variable that it
    defines, and `members`, the variables by which the rows of a group are known.
    """

    number: int
    said: str = ""
    variable: str = ""
    members: tuple[str, ...] = ()

    def within(self, other: Span) -> bool:
        """Whether the other place is of the same clause."""
        return self == other


@dataclass(frozen=True, slots=True)
class MadeRelation:
    """A relation that the translation made, in words. `passed`: its rows say nothing that the rows do not say
    that they come from. `dropped`: they say nothing at all."""

    words: str
    columns: tuple[SqlMeaning | None, ...]
    passed: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Origins:
    """The relations that a translation made, by name, and the meaning of variables by name. `tables` are the
    tables and views as the translation knows them, by their relations: more than these tell of SQL's names
    and types."""

    relations: Mapping[str, MadeRelation]
    variables: Mapping[str, SqlMeaning]
    tables: Mapping[str, Any] = field(default_factory=dict)
