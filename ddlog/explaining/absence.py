"""Why a row does not hold: for each rule, how far its body can be satisfied, and what fails next.

The values that the head tells are known from the start. Clauses are taken in the order in which they are
written. A term fails for want of a row; the nearest rows agree with what is looked for in most columns, and
then have the nearest values. What is missing is looked into in turn, to a depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, TypeAlias

from ..core import Atom, CheckedProgram, Clause, Const, Expr, GroupBy, Guard, Head, Let, Op, Rule, Unnest, Var
from ..core.expressions import matched
from ..errors.source import Span
from ..types import BigInt, Type
from ..values.rows import Row
from .derivations import HeadCase
from .heights import Heights
from .inversion import bindings, rest
from .node import Reason, remark
from .oneround import AT, FIRST, LATER
from .patience import QUERY, Patience
from .places import ProofPlace
from .snapshot import ANY
from .stages import BodyStage
from .tree import Trees, guard_text, shown, step
from .words import is_passed

NEAREST = 3
"""The nearest rows that are shown."""

_LOOKED_AT = 1000  # valuations and rows among which the nearest is looked for

Pattern: TypeAlias = tuple[Any, ...]
"""The values of a row, ANY where it may have any."""


@dataclass
class Absences:
    """Looks into rows that do not hold in a place, as far as some patience goes."""

    place: ProofPlace
    patience: Patience
    _open: set[tuple[str, Pattern]] = field(default_factory=set)
    _places: dict[ProofPlace, Absences] = field(default_factory=dict)  # the same elsewhere

    def missing(self, relation: str, pattern: Pattern, depth: int) -> Reason:
        """Why there is no row of a pattern."""
        relation, rounds, place = self.place.seen(relation)
        if place is None:
            return Reason("no fact", relation, pattern, rounds=rounds)
        return self._at(place)._missing(relation, pattern, depth)

    def _missing(self, relation: str, pattern: Pattern, depth: int) -> Reason:
        key, derivations, rounds = (relation, pattern), self.place.derivations, self.place.rounds
        if self.place.is_leaf(relation):
            return Reason("unknown" if relation in derivations.looped else "no fact", relation, pattern)
        if depth <= 0 or key in self._open or self.patience.is_over(QUERY):
            return Reason("unknown", relation, pattern, rounds=rounds)
        if (last := self.place.within(relation)) is not None:
            return self._at(last).missing(relation, pattern, depth)
        self._open.add(key)
        cases = derivations.cases(relation)
        found = [self._attempt(case, pattern, depth) for case in cases]
        self._open.discard(key)
        attempts = [each for each in found if each is not None]
        others = _others(len(cases) - len(attempts), len(attempts))
        return Reason("missing", relation, pattern, children=(*attempts, *others), rounds=rounds)

    def _at(self, place: ProofPlace) -> Absences:
        if place is self.place:
            return self
        if place not in self._places:
            self._places[place] = Absences(place, self.patience, _places=self._places)
        return self._places[place]

    def _attempt(self, case: HeadCase, pattern: Pattern, depth: int) -> Reason | None:
        known = bindings(case.head, pattern, self.place.derivations.held.program.typedefs)
        if known is None:
            return None
        body = _PatternBody(self.place, case.rule, case.head, known, pattern, self.patience)
        reached, values = body.furthest()
        if reached == len(case.rule.body):
            fails = body.head_fails()
        else:
            fails, values = self._failure(body, reached, values, depth)
        named = shown({name: v for name, v in values.items() if v is not ANY})
        children = (*body.items(reached, values), fails)
        written = self.place.written(case.written)
        return Reason("attempt", rule=written, place=written.span, variables=named, children=children)

    def _failure(
        self, body: _PatternBody, at: int, values: dict[str, Any], depth: int
    ) -> tuple[Reason, dict[str, Any]]:
        """The failure of a clause, and the values for which it is told."""
        match body.rule.body[at]:
            case Atom(relation) if relation in (FIRST, LATER):
                number = Reason("value", text="round", value=self.place.rounds[-1], type=BigInt())
                return failure("round == 0" if relation == FIRST else "round > 0", [number]), values
            case Atom(_, _, True) as term:
                return body.found(at, term, values), values
            case Atom(relation, columns, False, span) as term:
                nearest, values = body.nearest(at, term, values)
                pattern = tuple(values.get(name or "", ANY) for name in columns)
                open_ = [name for name in columns if values.get(name or "", ANY) is ANY]
                exact = len(set(open_)) == len(open_)
                name, rounds, _ = self.place.seen(relation)
                below = [Reason("near", name, row) for row in nearest]
                if exact and not self.place.is_leaf(relation):
                    passed = is_passed(self.place.derivations.held.program, relation)
                    below.append(self.missing(relation, pattern, depth if passed else depth - 1))
                made = Reason("no row", name, pattern, span.text(), place=span, rounds=rounds)
                return replace(made, exact=exact, children=tuple(below)), values
            case clause:
                return body.fails(at, clause, values), values


@dataclass(frozen=True)
class _PatternBody:
    """The body of a rule, for a pattern of its head."""

    place: ProofPlace
    rule: Rule
    head: Head
    known: Mapping[str, Any]
    pattern: Pattern
    patience: Patience

    @property
    def _program(self) -> CheckedProgram:
        return self.place.derivations.held.program

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
        stage = BodyStage(made, len(body), tuple(seeds))
        found = stage.valuations(self.place.derivations.held, [tuple(seeds.values())], most)
        return (each for _, each in found)

    def _seeds(self, end: int) -> dict[str, Any]:
        """The values known at the first clauses: those of variables that all later groups keep."""
        later = [each for each in self.rule.body[end:] if isinstance(each, GroupBy)]
        return {
            name: value
            for name, value in self.known.items()
            if value is not ANY and all(name in each.keys for each in later)
        }

    def items(self, reached: int, values: Mapping[str, Any]) -> Iterator[Reason]:
        """The nodes of the clauses that hold: rows of terms since the last group_by, and conditions."""
        start = max((at + 1 for at in range(reached) if isinstance(self.rule.body[at], GroupBy)), default=0)
        clauses = self.rule.body[start:reached]
        terms = [each.span for each in clauses if isinstance(each, Atom)]
        for clause in clauses:
            if isinstance(clause, Atom) and clause.relation in (AT, FIRST, LATER):
                continue
            if isinstance(clause, Atom) and not clause.negated:
                row = tuple(values[name] for name in clause.columns if name is not None)
                yield self._holding(clause.relation, row)
                continue
            for item in step(clause, values, BodyStage(self.rule, reached, ()).types, terms):
                name, rounds, _ = self.place.seen(item.relation)
                yield replace(item, relation=name, rounds=rounds) if item.relation else item

    def _holding(self, relation: str, row: Row) -> Reason:
        """A row of a term that holds, with what is below it if it only stands for that."""
        name, rounds, _ = self.place.seen(relation)
        if not is_passed(self._program, relation):
            return Reason("holds", name, row, rounds=rounds)
        derivations = self.place.derivations
        tree = Trees(derivations.held, Heights(derivations)).tree((relation, row), 1)
        return replace(tree, relation=name, rounds=rounds)

    def found(self, at: int, term: Atom, values: Mapping[str, Any]) -> Reason:
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
        name, rounds, _ = self.place.seen(term.relation)
        there = tuple(Reason("present", name, row) for row in rows[:NEAREST])
        return Reason(
            "found", name, pattern, term.span.text(), place=term.span, rounds=rounds, children=there
        )

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
            if self.patience.is_over(QUERY):
                break
        return (), values

    def _types(self, term: Atom, names: Sequence[str]) -> dict[str, Type]:
        columns = self._program.relations[term.relation].columns
        return {name: column.type for name, column in zip(names, columns, strict=True) if name}

    def fails(self, at: int, clause: Clause, values: Mapping[str, Any]) -> Reason:
        """The values of the parts of a condition or a definition that fails."""
        match clause:
            case Guard(condition):
                shape = matched(condition)
                args = condition.args if isinstance(condition, Op) else () if shape is None else shape[:1]
                parts = [each for each in args if not isinstance(each, Const)]
                return failure(guard_text(clause), self._evaluated(at, parts), clause.span)
            case Let(name, value, span) | Unnest(name, value, span):
                found = self._evaluated(at, (value,))
                wanted = values.get(name, ANY)
                needed = [] if wanted is ANY else [_wanted(wanted, self.rule.variables.get(name, value.type))]
                text = f"{name.partition('$')[0]} = {span.text()}".removeprefix(" = ")
                return failure(text, [*found, *needed], span, variable=name)
        return failure(clause.span.text(), (), clause.span)

    def head_fails(self) -> Reason:
        """The first expression of the head that has another value than the row."""
        for at in rest(self.head):
            arg, wanted = self.head.args[at], self.pattern[at]
            for each in self._evaluated(len(self.rule.body), (arg,)):
                if wanted is not ANY and each.value != wanted:
                    parts = each, _wanted(wanted, arg.type)
                    return failure(each.text, parts, self.head.span, column=(self.head.relation, at))
        return failure(self.head.span.text(), ())

    def _evaluated(self, at: int, parts: Sequence[Expr]) -> list[Reason]:
        """The values of expressions after the first clauses."""
        lets = [Let(f"$part{k}", part, part.span) for k, part in enumerate(parts)]
        types = {f"$part{k}": part.type for k, part in enumerate(parts)}
        found = next(self.valuations(at, lets, types, 1), {}) if lets else {}
        return [
            Reason("value", text=_text(part), value=found[f"$part{k}"], type=part.type)
            for k, part in enumerate(parts)
            if f"$part{k}" in found
        ]


def _text(part: Expr) -> str:
    """An expression as it is written; a variable by its name."""
    return part.name if isinstance(part, Var) and "$" not in part.name else part.span.text()


def failure(text: str, parts: Sequence[Reason], place: Span | None = None, **of: Any) -> Reason:
    """A condition that does not hold, or an expression with another value than is needed."""
    return Reason("false", text=text, children=tuple(parts), place=place, **of)


def _wanted(value: Any, of: Type) -> Reason:
    return Reason("wanted", value=value, type=of)


def _others(count: int, attempts: int) -> Iterator[Reason]:
    """A remark on rules whose head cannot be the row, or that there are none."""
    if not attempts:
        yield remark("no rule has it as its head" if count else "no rule gives rows of this relation")
    elif count:
        heads = "another rule" if count == 1 else f"{count} other rules"
        yield remark(f"the head of {heads} cannot be it", "others", count=count)


def _distance(value: Any, wanted: Any) -> float:
    """The distance of two values: 0 for the same, 1 for values of which nothing can be said."""
    if value == wanted:
        return 0
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return 1 - 1 / (1 + abs(value - wanted))
    if isinstance(value, str) and isinstance(wanted, str):
        return 1 - SequenceMatcher(None, value, wanted).ratio() / 2
    return 1
