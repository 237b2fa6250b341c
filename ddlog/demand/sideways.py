"""Sideways information passing: what the terms of a rule body are asked for.

The clauses of a body are taken in an order of their own: whatever can be computed first, then the relations
that are there anyway and have a bound column, then terms of demanded relations with a bound column, and last
the terms without one. The columns of a term that are bound when it is taken are asked; the clauses that bound
them are the *prefix* from which its demand is computed. A larger demand than needed is right, too, so a
prefix has no more clauses than bind the columns, and those that only test what these bind.

    R(x, z) asked by x:    R$bf$demand(x), E(x, y), R(y, z)    asks R for y, with the prefix E(x, y)

No demand computes values from demanded values alone. `R(x + 1)` in a rule for `R(x)` would ask for more and
more. Values are computed from variables that terms bind, which have finitely many values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import core
from ..codegen.analysis import free_variables, is_path
from ..core import Atom, Clause, Expr, Guard, Let, Unnest, Var
from ..core.clauses import expressions, named
from ..lowering.rulebody import conjuncts
from .total import Totality


@dataclass(frozen=True, slots=True)
class TermQuestion:
    """The question that a body asks of one of its terms: the term's bound columns, and the clauses that bind
    them, in an order in which they can be evaluated. `given` says whether these need values that the head is
    asked for, and `before` how many clauses of the body, up to a group_by, they rest on."""

    bound: tuple[int, ...]
    prefix: tuple[Clause, ...]
    given: bool
    before: int


@dataclass
class Passing:
    """The order of one body. `given` are the variables that the demand of the head binds, in each part of the
    body between its group_bys; `demanded` says whether a relation is asked rather than there anyway."""

    body: Sequence[Clause]
    given: Sequence[Collection[str]]
    demanded: Callable[[str], bool]
    totality: Totality
    asked: dict[int, TermQuestion] = field(default_factory=dict)
    """By the number of the clause in the body. A term without an entry is of a relation that is there."""

    def __post_init__(self) -> None:
        start, part = 0, 0
        keys: Collection[str] = ()
        for end, clause in enumerate([*self.body, None]):
            if clause is None or isinstance(clause, core.GroupBy):
                walk = _Part(self, start, end, self.given[part], keys)
                walk.run()
                if isinstance(clause, core.GroupBy):
                    start, part, keys = end + 1, part + 1, (*clause.keys, clause.name)


@dataclass
class _Part:
    """The clauses of a body from one group_by to the next. `keys` are the variables that the group_by before
    them binds."""

    whole: Passing
    start: int
    end: int
    given: Collection[str]
    keys: Collection[str]
    known: set[str] = field(init=False)
    grounded: set[str] = field(init=False)  # known from terms, or constants
    first: dict[str, int] = field(default_factory=dict)  # the clause taken that made a variable known
    ground: dict[str, int] = field(default_factory=dict)  # the clause taken that grounded it
    taken: list[Clause] = field(default_factory=list)
    reads: list[frozenset[str]] = field(default_factory=list)  # what each taken clause needs to be known

    def run(self) -> None:
        self.known = {*self.given, *self.keys}
        self.grounded = set(self.keys)
        numbers = range(self.start, self.end)
        terms = [i for i in numbers if isinstance(self.whole.body[i], Atom)]
        steps = [each for i in numbers for each in _single(self.whole.body[i])]
        positive = [i for i in terms if not self._term(i).negated]
        while True:
            steps = self._take_steps(steps)
            if not positive:
                break
            chosen = min(positive, key=lambda i: (self._rank(self._term(i)), i))
            positive.remove(chosen)
            self._take_term(chosen)
        for i in terms:
            if self._term(i).negated:
                self._ask(i)

    def _term(self, number: int) -> Atom:
        term = self.whole.body[number]
        assert isinstance(term, Atom)
        return term

    def _rank(self, term: Atom) -> int:
        asked, bound = self.whole.demanded(term.relation), bool(self._bound(term))
        return (0 if bound or not term.columns else 2) + asked

    def _bound(self, term: Atom) -> tuple[int, ...]:
        return tuple(i for i, name in enumerate(term.columns) if name in self.known)

    def _take_term(self, number: int) -> None:
        """Takes a positive term: it is asked, and binds its columns."""
        term = self._term(number)
        self._ask(number)
        names = {name for name in term.columns if name is not None}
        self._take(term, names & self.known, names)
        for name in names:
            if name not in self.grounded:
                self.ground[name] = len(self.taken) - 1
        self.grounded |= names

    def _ask(self, number: int) -> None:
        term = self._term(number)
        if self.whole.demanded(term.relation):
            bound = self._bound(term)
            names = {name for i in bound if (name := term.columns[i]) is not None}
            self.whole.asked[number] = self._prefix(bound, names)

    def _take_steps(self, steps: list[Clause]) -> list[Clause]:
        """Takes the steps that can be computed now, again and again; returns the others."""
        progress = True
        while progress:
            progress, rest = False, list[Clause]()
            for step in steps:
                if self._take_step(step):
                    progress = True
                else:
                    rest.append(step)
            steps = rest
        return steps

    def _take_step(self, step: Clause) -> bool:
        if not all(map(self.whole.totality.total, expressions(step))):
            return False
        match step:
            case Unnest(name, value) if name not in self.known and self._computable(value):
                self._take_binding(step, name, value)
                return True
            case Let(name, value) | Guard(core.Op("==", (Var(name), value))) if self._defines(name, value):
                self._take_binding(Let(name, value, step.span), name, value)
                return True
            case Let(name, Var(other) as value) if self._defines(other, Var(name, value.type, value.span)):
                alias = Var(name, value.type, value.span)
                self._take_binding(Let(other, alias, step.span), other, alias)
                return True
            case Guard(core.Op("==", (value, Var(name)))) if self._defines(name, value):
                self._take_binding(Let(name, value, step.span), name, value)
                return True
        names = {name for each in expressions(step) for name in free_variables(each)}
        names |= {step.name} if isinstance(step, Let) else set()
        if isinstance(step, Unnest) or not names <= self.known:
            return False
        self._take(step, names, ())
        return True

    def _defines(self, name: str, value: Expr) -> bool:
        return name not in self.known and self._computable(value)

    def _computable(self, value: Expr) -> bool:
        """Whether the values of an expression can be asked for: variables and parts of them as they are, and
        what is computed from variables of terms."""
        read = free_variables(value).keys()
        return read <= (self.known if is_path(value) else self.grounded)

    def _take_binding(self, step: Clause, name: str, value: Expr) -> None:
        read = free_variables(value).keys()
        self._take(step, read, (name,))
        if read <= self.grounded:
            self.ground[name] = len(self.taken) - 1
            self.grounded.add(name)

    def _take(self, clause: Clause, read: Iterable[str], bound: Iterable[str]) -> None:
        self.taken.append(clause)
        self.reads.append(frozenset(read))
        for name in bound:
            if name not in self.known:
                self.first[name] = len(self.taken) - 1
                self.known.add(name)

    # ------------------------------------------------------------- prefixes

    def _prefix(self, bound: tuple[int, ...], names: Collection[str]) -> TermQuestion:
        """The question to a term with these bound columns, whose variables they are."""
        needed, variables = set[int](), set[str]()
        pending = [(name, self.first.get(name)) for name in names]
        while pending:
            name, clause = pending.pop()
            variables.add(name)
            if clause is not None and clause not in needed:
                needed.add(clause)
                taken = self.taken[clause]
                computed = not isinstance(taken, Atom) and not all(map(is_path, expressions(taken)))
                places = self.ground if computed else self.first
                pending += [(each, places.get(each, self.first.get(each))) for each in self.reads[clause]]
                variables |= _variables(taken)
        needed |= {i for i, each in enumerate(self.taken) if self._tests(each, variables)}
        prefix = tuple(self.taken[i] for i in sorted(needed))
        used = {name for i in needed for name in _variables(self.taken[i])} | set(names)
        rests = bool(used & set(self.keys))
        given = bool(used & set(self.given)) or not (prefix or rests)
        return TermQuestion(bound, prefix, given, self.start if rests else 0)

    def _tests(self, clause: Clause, variables: Collection[str]) -> bool:
        """Whether a clause only tests variables, by what is there anyway."""
        if not _variables(clause) <= set(variables) or isinstance(clause, Unnest):
            return False
        return not isinstance(clause, Atom) or not self.whole.demanded(clause.relation)


def _single(clause: Clause) -> Iterator[Clause]:
    """The steps that a clause is, of conditions each by itself; nothing for a term or an effect."""
    match clause:
        case Guard(condition):
            yield from (replace(clause, condition=each) for each in conjuncts(condition))
        case Let() | Unnest():
            yield clause


def _variables(clause: Clause) -> set[str]:
    """The variables of a clause."""
    return {name for each in expressions(clause) for name in free_variables(each)} | set(named(clause))


def given_variables(body: Sequence[Clause], wanted: Mapping[int, str]) -> list[dict[int, str]]:
    """The variables of the head's columns `wanted` that each part of a body between group_bys has as they
    are: all of them in the last, in the others those that all later group_bys have as keys."""
    parts = [dict(wanted)]
    for clause in reversed(body):
        if isinstance(clause, core.GroupBy):
            parts.append({i: name for i, name in parts[-1].items() if name in clause.keys})
    return parts[::-1]
