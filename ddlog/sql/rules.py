"""Rules in the making: the clauses of a body, and the relations and rules of a module as text.

A body knows which of its variables are used only when its rule is written: terms then name the columns that
something reads, and definitions that nothing reads are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors.origins import ClauseOrigin, MadeRelation, Written
from ..errors.source import Span
from ..values import quote
from .types import SqlType, Value

_VARIABLES = re.compile(r"\bv\d+\b")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation. `name` is that of SQL, `field` that of the relation; `wrapped`: the relation
    has the type of a table, and not the plain one."""

    name: str
    field: str
    type: SqlType
    nullable: bool
    wrapped: bool = False
    machine: bool = False  # an integer of another type than bigint, of a module of this language

    @property
    def text(self) -> str:
        """The type of the relation's column."""
        of = self.type.outside if self.wrapped else self.type.plain
        return f"Option<{of}>" if self.nullable else of


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that rules can read. Without duplicates it is a set."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A term: the variables of a relation's columns, or `true` for the only column of one without. `said`:
    what this and other clauses say in SQL; empty, if nothing."""

    relation: Relation
    variables: tuple[str, ...]
    negated: bool = False
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Let:
    """A variable that a value defines."""

    variable: str
    text: str
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition."""

    text: str
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that always stays, such as a grouping. `members`: the variables by which rows of the group are
    known."""

    text: str
    said: str = field(default="", compare=False)
    members: tuple[str, ...] = ()


Item: TypeAlias = Term | Let | Guard | Clause


@dataclass
class Body:
    """The clauses of a rule. `domain` are the variables that every relation made of it keeps, first: the
    columns of outer queries on which a correlated subquery depends."""

    items: list[Item] = field(default_factory=list)
    domain: tuple[Value, ...] = ()

    def copy(self) -> Body:
        """Another body with the same clauses."""
        return Body(list(self.items), self.domain)

    def add(self, *items: Item) -> None:
        """Adds clauses; a term that is there already is not added again."""
        for each in items:
            if not (isinstance(each, Term) and each in self.items):
                self.items.append(each)

    @property
    def is_plain(self) -> bool:
        """Whether the body can be a part of another: nothing in it hides variables."""
        return not any(isinstance(each, Clause) for each in self.items)

    @property
    def bound(self) -> set[str]:
        """The variables that the clauses bind."""
        found: set[str] = set()
        for item in self.items:
            match item:
                case Term(_, variables, False):
                    found.update(variables)
                case Let(variable):
                    found.add(variable)
                case Clause(text):
                    found.update(variables_in(text))
        return found


def variables_in(text: str) -> list[str]:
    """The variables that a text mentions."""
    return _VARIABLES.findall(text)


class Output:
    """The declarations and rules of a module, what they say in SQL, and the names that are taken."""

    def __init__(self) -> None:
        self.declarations: list[str] = []
        self.rules: list[str] = []
        self.places: list[Span | None] = []  # of the rules
        self.clauses: list[tuple[ClauseOrigin, ...]] = []  # of the rules
        self.place: Span | None = None  # that of the query which is being translated
        self.relations: dict[str, MadeRelation] = {}
        self.written: dict[str, Written] = {}  # what variables stand for
        self.types: dict[str, Value] = {}  # of variables
        self._count = 0
        self.names: set[str] = set()

    def mark(self) -> tuple[int, int]:
        """The present state, for `back`."""
        return len(self.declarations), len(self.rules)

    def back(self, mark: tuple[int, int]) -> None:
        """Forgets what was written since."""
        del self.declarations[mark[0] :], self.rules[mark[1] :]
        del self.places[mark[1] :], self.clauses[mark[1] :]

    @contextmanager
    def at(self, place: Span | None) -> Iterator[None]:
        """Inside, a query is translated that stands there."""
        outer, self.place = self.place, place or self.place
        try:
            yield
        finally:
            self.place = outer

    def say(self, value: Value, text: str, table: str | None = None) -> Value:
        """Notes what a variable stands for, if that is not known: an expression, or a column of a table."""
        if value.text in self.types and value.text not in self.written:
            wrapper = self.types[value.text].type.wrapper
            self.written[value.text] = Written(text, table or "", table is not None, wrapper)
        return value

    def like(self, value: Value, other: Value) -> Value:
        """A variable that stands for what another one stands for."""
        if other.text in self.written:
            self.written.setdefault(value.text, self.written[other.text])
        return value

    def said(self, values: Iterable[Value]) -> str:
        """What variables stand for, one after another."""
        known = (self.written.get(v.text) for v in values)
        return ", ".join(dict.fromkeys(each.text for each in known if each is not None))

    def variable(self, type: SqlType, nullable: bool) -> Value:
        """A new variable."""
        self._count += 1
        value = Value(f"v{self._count}", type, nullable)
        self.types[value.text] = value
        return value

    def name(self, hint: str) -> str:
        """A new name for a relation that no table or view has."""
        self._count += 1
        return f"{hint}__{self._count}"

    def original(self, name: str) -> None:
        """Gives the relation that is declared next the name of its table or view."""
        self.declarations.append(f"#[original = {quote(name)}]")

    def declare(self, kind: str, relation: Relation, suffix: str = "") -> None:
        """Declares a relation; `kind` is what stands before its name."""
        columns = ", ".join(f"{c.field}: {c.text}" for c in relation.columns)
        self.declarations.append(f"{kind} {relation.name}({columns}){suffix}")

    def rule(self, relation: Relation, args: Sequence[str], body: Body, place: Span | None = None) -> None:
        """Writes a rule, which comes from a place."""
        head = f"{relation.name}({', '.join(args)})"
        clauses = _clauses(body.items, head)
        texts = [text for text, _ in clauses]
        self.rules.append(f"{head} :- {', '.join(texts)}." if clauses else f"{head}.")
        self.places.append(place or self.place)
        self.clauses.append(tuple(_origins(clauses, len(head) + len(" :- "))))

    def relation(
        self,
        hint: str,
        values: Sequence[Value],
        *,
        is_set: bool,
        words: str = "",
        names: Sequence[str] = (),
    ) -> Relation:
        """A new relation with columns for values. `words` say what its rows are, if users are to see them;
        the last columns have `names`."""
        columns = tuple(Column(f"c{i}", f"c{i}", v.type, v.nullable) for i, v in enumerate(values))
        made = Relation(self.name(hint), columns or (Column("one", "one", _BOOLEAN, False),))
        self.declare("relation" if is_set else "multiset", made)
        known = [self._column(v) for v in values] or [None]
        for at, name in enumerate(names, len(values) - len(names)):
            known[at] = Written(name, "", True, values[at].type.wrapper)
        self.relations[made.name] = MadeRelation(
            words or "rows in between", tuple(known), not words, hint == "Domain"
        )
        return made

    def _column(self, value: Value) -> Written | None:
        found = self.written.get(value.text)
        return found or (Written("", "", False, value.type.wrapper) if value.type.wrapper else None)

    def made(
        self, hint: str, values: Sequence[Value], body: Body, *, is_set: bool, words: str = ""
    ) -> Relation:
        """A new relation with the values of a body."""
        relation = self.relation(hint, values, is_set=is_set, words=words)
        self.rule(relation, [v.text for v in values] or ["true"], body)
        return relation

    def term(
        self, relation: Relation, values: Sequence[Value], negated: bool = False, said: str = ""
    ) -> Term:
        """A term whose columns are the variables of these values, which are variables."""
        return Term(relation, tuple(v.text for v in values) or ("true",), negated, said)


_BOOLEAN = SqlType("boolean")


def _origins(clauses: Iterable[tuple[str, Item]], start: int) -> Iterator[ClauseOrigin]:
    """What clauses say that follow one another in a rule."""
    for text, item in clauses:
        variable = item.variable if isinstance(item, Let) else ""
        members = item.members if isinstance(item, Clause) else ()
        yield ClauseOrigin(start, start + len(text), item.said, variable, members)
        start += len(text) + len(", ")


def _clauses(items: Iterable[Item], head: str) -> list[tuple[str, Item]]:
    """The clauses that a rule with this head needs, with their texts."""
    items = list(items)
    bound: dict[str, int] = {}  # in how many clauses
    for item in items:
        names = (
            set(item.variables)
            if isinstance(item, Term)
            else {item.variable}
            if isinstance(item, Let)
            else ()
        )
        for each in names:
            bound[each] = bound.get(each, 0) + 1
    used = {name for name, count in bound.items() if count > 1} | set(variables_in(head))
    live = list[Item]()
    for item in reversed(items):
        match item:
            case Let(variable, text):
                if variable not in used:
                    continue
                used.update(variables_in(text))
            case Guard(text) | Clause(text):
                used.update(variables_in(text))
        live.append(item)
    live.reverse()
    return [(_text(item, used), item) for item in live]


def _text(item: Item, used: set[str]) -> str:
    match item:
        case Term(relation, variables, negated):
            args = [
                f".{column.field} = {_pattern(column, variable)}"
                for column, variable in zip(relation.columns, variables, strict=True)
                if variable in used or variable == "true"
            ] or [f".{relation.columns[0].field} = _"]
            return f"{'not ' if negated else ''}{relation.name}({', '.join(args)})"
        case Let(variable, text):
            return f"var {variable} = {text}"
        case Guard(text) | Clause(text):
            return text


def _pattern(column: Column, variable: str) -> str:
    """The pattern that binds a column's plain value, or for an optional one the whole."""
    if column.wrapped and not column.nullable and column.type.wrapper:
        return f"{column.type.wrapper}{{{variable}}}"
    return variable
