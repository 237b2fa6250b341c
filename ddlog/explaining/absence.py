"""Why a row does not hold: for each rule, how far its body can be satisfied, and what fails next.

The values that the head tells are known from the start. Clauses are taken in the order in which they are
written. A term fails for want of a row; the nearest rows agree with what is looked for in most columns, and
then have the nearest values. What is missing is looked into in turn, to a depth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, Protocol, TypeAlias

from ..core import Atom, Clause, Const, Expr, GroupBy, Guard, Head, Let, Op, Rule, Stratum, Unnest, Var
from ..core.matching import matched
from ..errors.source import Span
from ..types import Type
from ..values.rows import Row
from .derivations import Case, Derivations
from .heights import Heights
from .held import ANY
from .inverting import bindings, rest
from .stages import Stage
from .tree import Item, Tree, Trees, guard_text, shown, step
from .words import is_passed

DEPTH = 3
"""The levels of missing rows that are looked into, if nobody says."""

NEAREST = 3
"""The nearest rows that are shown."""

_LOOKED_AT = 1000  # valuations and rows among which the nearest is looked for

Pattern: TypeAlias = tuple[Any, ...]
"""The values of a row, ANY where it may have any."""


@dataclass(frozen=True, slots=True)
class NoRow:
    """A term for which there is no row: `nearest` are the rows most like it, and `below` says why there is
    none. `exact`: there is no row of the pattern; otherwise the term asks for equal values in columns that
    may have any. `rounds`: the round in which it looked, if it is one."""

    relation: str
    pattern: Pattern
    text: str
    exact: bool
    nearest: tuple[Row, ...]
    below: Missing | None
    rounds: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A negated term that found rows. `rounds`: as of `NoRow`."""

    relation: str
    pattern: Pattern
    text: str
    rows: tuple[Row, ...]
    rounds: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fails:
    """A condition that does not hold, or an expression with another value than is needed. `values` are those
    of its parts, each with its text and type, `wanted` the value that is needed: of a `variable`, or of a
    `column` of a relation if the expression is one of the head."""

    text: str
    values: tuple[tuple[str, Any, Type], ...]
    wanted: tuple[Any, Type] | None = None
    variable: str = ""
    column: tuple[str, int] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Failure: TypeAlias = NoRow | Found | Fails


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rule that could give the row: what holds of its body, with the values of variables, and what
    fails first."""

    rule: Rule
    place: Span
    variables: Mapping[str, Any]
    holds: tuple[Item, ...]
    fails: Failure


@dataclass(frozen=True, slots=True)
class Missing:
    """A row that does not hold. `given`: it would have to be given as a fact. `others` counts the rules whose
    head cannot be the row. `rounds`: the round of each loop in which it does not hold, outermost first."""

    relation: str
    pattern: Pattern
    given: bool
    attempts: tuple[Attempt, ...] = ()
    others: int = 0
    cut: bool = False
    rounds: tuple[int, ...] = ()


class InRounds(Protocol):
    """Absences in the rounds of a loop."""

    def missing(self, relation: str, pattern: Pattern, depth: int) -> Missing:
        """Why there is no row of a pattern in the last round."""


@dataclass
class Absences:
    """Looks into rows that do not hold, until a moment (of `time.monotonic`). `in_loop` begins to look into
    the rounds of a loop, for the absences around it."""

    derivations: Derivations
    until: float
    in_loop: Callable[[Absences, Stratum], InRounds | None] = lambda around, stratum: None
    rounds: tuple[int, ...] = ()
    _open: set[tuple[str, Pattern]] = field(default_factory=set)
    _loops: dict[tuple[str, ...], InRounds | None] = field(default_factory=dict)

    def missing(self, relation: str, pattern: Pattern, depth: int) -> Missing:
        """Why there is no row of a pattern."""
        key = relation, pattern
        if self._is_leaf(relation):
            given = relation not in self.derivations.looped
            return Missing(relation, pattern, given, cut=not given)
        if depth <= 0 or key in self._open or time.monotonic() > self.until:
            return Missing(relation, pattern, False, cut=True, rounds=self.rounds)
        if (loop := self._loop(relation)) is not None:
            return loop.missing(relation, pattern, depth)
        self._open.add(key)
        cases = self.derivations.cases(relation)
        found = [self._attempt(case, pattern, depth) for case in cases]
        self._open.discard(key)
        attempts = tuple(each for each in found if each is not None)
        return Missing(relation, pattern, False, attempts, len(cases) - len(attempts), rounds=self.rounds)

    def _loop(self, relation: str) -> InRounds | None:
        """The rounds of the loop that computes a relation."""
        stratum = self.derivations.loop(relation)
        if stratum is None:
            return None
        if stratum.relations not in self._loops:
            self._loops[stratum.relations] = self.in_loop(self, stratum)
        return self._loops[stratum.relations]

    def _is_leaf(self, relation: str) -> bool:
        """Whether missing rows of a relation are leaves of the answer."""
        return self.derivations.is_leaf(relation)

    def _attempt(self, case: Case, pattern: Pattern, depth: int) -> Attempt | None:
        typedefs = self.derivations.held.program.typedefs
        known = bindings(case.head, pattern, typedefs)
        if known is None:
            return None
        body = _Body(self.derivations, case.rule, case.head, known, pattern, self.until)
        reached, values = body.furthest()
        if reached == len(case.rule.body):
            fails: Failure = body.head_fails(values)
        else:
            fails, values = self._failure(body, reached, values, depth)
        holds = tuple(body.items(reached, values))
        named = shown({name: v for name, v in values.items() if v is not ANY})
        return Attempt(case.written, case.written.span, named, holds, fails)

    def _failure(
        self, body: _Body, at: int, values: dict[str, Any], depth: int
    ) -> tuple[Failure, dict[str, Any]]:
        """The failure of a clause, and the values for which it is told."""
        match body.rule.body[at]:
            case Atom(_, _, True) as term:
                return body.found(at, term, values), values
            case Atom(relation, columns, False, span) as term:
                nearest, values = body.nearest(at, term, values)
                pattern = tuple(values.get(name or "", ANY) for name in columns)
                open_ = [name for name in columns if values.get(name or "", ANY) is ANY]
                exact, below = len(set(open_)) == len(open_), None
                if exact and not self._is_leaf(relation):
                    passed = is_passed(self.derivations.held.program, relation)
                    below = self.missing(relation, pattern, depth if passed else depth - 1)
                return NoRow(relation, pattern, span.text(), exact, nearest, below, span=span), values
            case clause:
                return body.fails(at, clause, values), values


@dataclass(frozen=True)
class _Body:
    """The body of a rule, for a pattern of its head."""

    derivations: Derivations
    rule: Rule
    head: Head
    known: Mapping[str, Any]
    pattern: Pattern
    until: float

    def furthest(self) -> tuple[int, dict[str, Any]]:
        """The number of clauses that can be satisfied together, and the values of variables that do."""
        best: tuple[int, dict[str, Any]] = 0, dict(self.known)
        for end in range(1, len(self.rule.body) + 1):
            found = next(self.valuations(end, most=1), None)
            if found is None:
                break
            best = end, {**self._seeds(end), **found}
        return best

    def valuations(
        self,
        end: int,
        more: Sequence[Clause] = (),
        types: Mapping[str, Type] | None = None,
        most: int = _LOOKED_AT,
    ) -> Iterator[dict[str, Any]]:
        """At most so many valuations of the first clauses, and of `more`."""
        seeds = self._seeds(end)
        rule = self.rule
        body = (*rule.body[:end], *more)
        made = replace(rule, body=body, variables={**rule.variables, **(types or {})})
        stage = Stage(made, len(body), tuple(seeds))
        found = stage.valuations(self.derivations.held, [tuple(seeds.values())], most)
        return (each for _, each in found)

    def _seeds(self, end: int) -> dict[str, Any]:
        """The values known at the first clauses: those of variables that all later groups keep."""
        later = [each for each in self.rule.body[end:] if isinstance(each, GroupBy)]
        return {
            name: value
            for name, value in self.known.items()
            if value is not ANY and all(name in each.keys for each in later)
        }

    def items(self, reached: int, values: Mapping[str, Any]) -> Iterator[Item]:
        """What holds: the rows of the terms since the last group_by, and conditions."""
        start = max((at + 1 for at in range(reached) if isinstance(self.rule.body[at], GroupBy)), default=0)
        clauses = self.rule.body[start:reached]
        terms = [each.span for each in clauses if isinstance(each, Atom)]
        for clause in clauses:
            match clause:
                case Atom(relation, columns, False):
                    row = tuple(values[name] for name in columns if name is not None)
                    given = self.derivations.given(relation)
                    if is_passed(self.derivations.held.program, relation):
                        heights = Heights(self.derivations)
                        yield Trees(self.derivations.held, heights).tree((relation, row), 1)
                        continue
                    yield Tree(relation, row, "fact" if given else "cut", 0 if given else None)
                case _:
                    yield from step(clause, values, Stage(self.rule, reached, ()).types, terms)

    def found(self, at: int, term: Atom, values: Mapping[str, Any]) -> Found:
        """The rows that a negated term finds."""
        pattern = tuple(values.get(name or "", ANY) for name in term.columns)
        names = [name or f"$found{k}" for k, name in enumerate(term.columns)]
        types = self._types(term, names)
        positive = replace(term, columns=tuple(names), negated=False)
        rows = [
            tuple(each[name] for name in names)
            for each in self.valuations(at, [positive], types)
            if all(values.get(name, value) == value for name, value in each.items())
        ]
        return Found(term.relation, pattern, term.span.text(), tuple(rows[:NEAREST]), span=term.span)

    def nearest(self, at: int, term: Atom, values: dict[str, Any]) -> tuple[tuple[Row, ...], dict[str, Any]]:
        """The rows most like one that a term looks for, and the values for which they are."""
        names = [name or "" for name in term.columns]
        bound = [k for k, name in enumerate(names) if values.get(name, ANY) is not ANY]
        for count in range(1, len(bound) + 1):
            found: list[tuple[float, Row, dict[str, Any]]] = []
            for dropped in combinations(bound, count):
                columns = tuple(f"$near{k}" if k in dropped else name for k, name in enumerate(names))
                types = self._types(term, columns)
                for each in self.valuations(at, [replace(term, columns=columns)], types):
                    row = tuple(each[name] for name in columns)
                    given = {name: each.get(name, value) for name, value in values.items()}
                    far = sum(_distance(row[k], given[names[k]]) for k in dropped)
                    found.append((far, row, given))
            if found:
                found.sort(key=lambda each: each[0])
                best = found[0][2]
                near = (row for _, row, given in found if given == best)
                return tuple(dict.fromkeys(near))[:NEAREST], best
            if time.monotonic() > self.until:
                break
        return (), values

    def _types(self, term: Atom, names: Sequence[str]) -> dict[str, Type]:
        columns = self.derivations.held.program.relations[term.relation].columns
        return {name: column.type for name, column in zip(names, columns, strict=True) if name}

    def fails(self, at: int, clause: Clause, values: Mapping[str, Any]) -> Failure:
        """The values of the parts of a condition or a definition that fails."""
        match clause:
            case Guard(condition):
                shape = matched(condition)
                args = condition.args if isinstance(condition, Op) else () if shape is None else shape[:1]
                parts = [each for each in args if not isinstance(each, Const)]
                return Fails(guard_text(clause), self._evaluated(at, parts), span=clause.span)
            case Let(name, value, span) | Unnest(name, value, span):
                found = self._evaluated(at, (value,))
                wanted = values.get(name, ANY)
                needed = None if wanted is ANY else (wanted, self.rule.variables.get(name, value.type))
                text = f"{name.partition('$')[0]} = {span.text()}".removeprefix(" = ")
                return Fails(text, found, needed, name, span=span)
        return Fails(clause.span.text(), (), span=clause.span)

    def head_fails(self, values: Mapping[str, Any]) -> Failure:
        """The first expression of the head that has another value than the row."""
        for at in rest(self.head):
            arg, wanted = self.head.args[at], self.pattern[at]
            for text, value, of in self._evaluated(len(self.rule.body), (arg,)):
                if wanted is not ANY and value != wanted:
                    column = self.head.relation, at
                    return Fails(text, ((text, value, of),), (wanted, of), "", column, self.head.span)
        return Fails(self.head.span.text(), ())

    def _evaluated(self, at: int, parts: Sequence[Expr]) -> tuple[tuple[str, Any, Type], ...]:
        """The values of expressions after the first clauses."""
        lets = [Let(f"$part{k}", part, part.span) for k, part in enumerate(parts)]
        types = {f"$part{k}": part.type for k, part in enumerate(parts)}
        found = next(self.valuations(at, lets, types, 1), {}) if lets else {}
        return tuple(
            (_text(part), found[f"$part{k}"], part.type)
            for k, part in enumerate(parts)
            if f"$part{k}" in found
        )


def _text(part: Expr) -> str:
    """An expression as it is written; a variable by its name."""
    return part.name if isinstance(part, Var) and "$" not in part.name else part.span.text()


def _distance(value: Any, wanted: Any) -> float:
    """How far apart two values are: 0 for the same, 1 for values of which nothing can be said."""
    if value == wanted:
        return 0
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return 1 - 1 / (1 + abs(value - wanted))
    if isinstance(value, str) and isinstance(wanted, str):
        return 1 - SequenceMatcher(None, value, wanted).ratio() / 2
    return 1
