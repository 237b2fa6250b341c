"""The rules of demanded relations: each rule once for each set of columns that its relation is asked by.

    R(x, z) :- E(x, y), S(y, z).        asked by x:

    R$bf(x, z) :- R$bf$demand(x), E(x, y), S$bf(y, z).
    S$bf$demand(y) :- R$bf$demand(x), E(x, y).

R$bf has no row that R has not, and all rows of R with values of x in the demand: whatever row a rule of R$bf
needs of a term has been asked for. So a rule may restrict itself by a part of the demand only, as it does
where a group_by comes before the values are known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from .. import core
from ..core import Atom, Clause, Expr, Guard, Head, Let, Relation, Rule, Var
from ..core.clauses import bound_by_terms
from ..core.expressions import matches
from ..errors.source import Span
from ..types import Bool, Type
from .linear import ONCE, Case, factored
from .sideways import Passing, TermQuestion, given_variables
from .total import Totality

DEMAND = "$demand"
"""The end of the name of a relation of demanded values."""

MOST_PARTS = 6
"""The most sets of columns by which a relation is asked: each part may have all of its rows."""

Names: TypeAlias = tuple[str | None, ...]


@dataclass
class Rewriting:
    """A program in the making. `whole` are the relations that are there anyway; rules for others are made as
    they are asked."""

    program: core.CheckedProgram
    declared: Mapping[str, Relation]
    rules_of: Mapping[str, Sequence[Case]]
    whole: Collection[str]
    relations: dict[str, Relation] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    of: dict[str, str] = field(default_factory=dict)  # the relation of the program that a made one is for
    unbound: set[str] = field(default_factory=set)  # relations that are asked without a bound column
    _parts: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    _pending: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    _demands: dict[str, list[Rule]] = field(default_factory=dict)
    _facts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.totality = Totality(self.program.functions)

    def goal(self, relation: str) -> None:
        """Makes the rules of a relation of which all rows are asked, from terms that are asked for less."""
        for rule, head in self.rules_of.get(relation, ()):
            made = self.adorned(rule, head, (), None) if rule.body else rule
            self.rules.append(replace(made, heads=(head,)))
        while self._pending:
            name, bound = self._pending.pop()
            cases = list(self._cases(name))
            tagged = factored(self, name, bound, cases)
            self.rules += self._plain(name, bound, cases) if tagged is None else tagged

    def demanded(self, relation: str) -> bool:
        """Whether a relation is asked for rows, rather than there anyway."""
        return relation not in self.whole and relation not in self.relations

    def asked(self, relation: str, bound: tuple[int, ...]) -> str:
        """The relation with the rows that a term asks for."""
        if not bound:
            self.unbound.add(relation)
            return relation
        declared = self.declared[relation]
        name = part_name(declared, bound)
        if name not in self.relations:
            self.declare(relation, name, declared.columns, declared.kind)
            self.declare(relation, f"{name}{DEMAND}", [declared.columns[i] for i in bound], "relation")
            self._pending.append((relation, bound))
        return name

    def _columns(self, relation: str, bound: tuple[int, ...]) -> tuple[int, ...]:
        """The columns by which a term asks a relation: those that are bound, or, if the relation has many
        parts, some of them by which it is asked anyway."""
        parts = self._parts.setdefault(relation, [])
        if bound not in parts and len(parts) >= MOST_PARTS:
            return max((each for each in parts if {*each} <= {*bound}), key=len, default=())
        if bound not in parts:
            parts.append(bound)
        return bound

    def declare(self, relation: str, name: str, columns: Sequence[core.Column], kind: str) -> None:
        """Adds a relation that is made for one of the program."""
        self.relations[name] = replace(
            self.declared[relation], name=name, role="internal", kind=kind, columns=tuple(columns), key=None,
            constructor=None, original="", demand=False,
        )  # fmt: skip
        self.of[name] = relation.removesuffix(ONCE)

    # ------------------------------------------------------------- rules

    def _cases(self, relation: str) -> Iterator[Case]:
        """The rules of a relation; its facts as one rule, which reads a relation of them."""
        every = self.rules_of.get(relation, ())
        yield from (each for each in every if each[0].body)
        facts = [each for each in every if not each[0].body]
        if not facts:
            return
        name, declared, span = f"{relation}$facts", self.declared[relation], facts[0][1].span
        if relation not in self._facts:
            self._facts.add(relation)
            self.declare(relation, name, declared.columns, declared.kind)
            self.rules += [replace(rule, heads=(replace(head, relation=name),)) for rule, head in facts]
        types = {f"c{i}": column.type for i, column in enumerate(declared.columns)}
        head = Head(relation, tuple(Var(each, of, span) for each, of in types.items()), span)
        term = Atom(name, tuple(types), False, span)
        yield Rule((head,), (term,), types, f"the facts of {relation}", span), head

    def _plain(self, relation: str, bound: tuple[int, ...], cases: Iterable[Case]) -> Iterator[Rule]:
        """The rules of a relation that is asked by some columns."""
        name = self.asked(relation, bound)
        for rule, head in cases:
            demand = partial(_term, f"{name}{DEMAND}", (), head.span)
            yield replace(self.adorned(rule, head, bound, demand), heads=(replace(head, relation=name),))

    def adorned(
        self, rule: Rule, head: Head, bound: Sequence[int], demand: Callable[[Names], Atom] | None
    ) -> Rule:
        """A rule whose terms are asked for rows; adds the rules of what they are asked. `demand` makes the
        term that binds the values of the columns `bound` of the head which are asked for; without it, all
        values are."""
        restricted = _restricted(rule, head, bound)
        body, types = restricted.body, restricted.types
        parts = given_variables(body, restricted.wanted)
        if len(parts[0]) < len(bound) and any(isinstance(each, core.GroupBy) and each.bag for each in body):
            parts = [{} for _ in parts]  # several demanded values would count a member several times
        passing = Passing(body, [set(each.values()) for each in parts], self.demanded, self.totality)
        demands: list[list[Clause]] = [  # for each part of the body
            [demand(tuple(each.get(i) for i in bound))] if demand is not None and each else []
            for each in parts
        ]
        given = demands[0]
        terms = [(i, each, body[i]) for i, each in passing.asked.items()]
        asks = {
            i: replace(each, bound=self._columns(term.relation, each.bound))
            for i, each, term in terms
            if isinstance(term, Atom)
        }
        now = [self._renamed(clause, asks.get(i)) for i, clause in enumerate(body)]
        places = {id(clause): i for i, clause in enumerate(body)}
        for i, asked in asks.items():
            prefix = [now[places[id(each)]] if id(each) in places else each for each in asked.prefix]
            own = demands[sum(isinstance(each, core.GroupBy) for each in body[:i])] if asked.given else []
            if asked.before:
                prefix = [*given, *now[: asked.before], *(own if own != given else ()), *prefix]
            else:
                prefix = [*own, *prefix]
            if asked.bound:
                self._demand(replace(rule, body=tuple(prefix), variables=types), body[i], asked.bound)
        return replace(rule, body=(*given, *now), variables=types)

    def _renamed(self, clause: Clause, asked: TermQuestion | None) -> Clause:
        if asked is None:
            return clause
        assert isinstance(clause, Atom)
        return replace(clause, relation=self.asked(clause.relation, asked.bound))

    def _demand(self, rule: Rule, term: Clause, bound: tuple[int, ...]) -> None:
        """Adds the rule of what a term is asked; `rule` has its body."""
        assert isinstance(term, Atom)
        names = [term.columns[i] or "" for i in bound]
        relation = f"{self.asked(term.relation, bound)}{DEMAND}"
        if [(each.relation, each.columns) for each in rule.body if isinstance(each, Atom)] == [
            (relation, tuple(names))
        ]:
            return  # asks for what is asked
        args = tuple(Var(name, rule.variables[name], term.span) for name in names)
        text = f"demand of {term.relation}: {rule.text}"
        made = replace(rule, heads=(Head(relation, args, term.span),), text=text)
        others = self._demands.setdefault(relation, [])
        if made not in others:
            others.append(made)
            self.rules.append(made)


def _term(relation: str, first: Names, span: Span, columns: Names) -> Atom:
    return Atom(relation, (*first, *columns), False, span)


@dataclass(frozen=True)
class _Restricted:
    """The body of a rule, in which the values that its head is asked for are the variables `wanted`."""

    body: tuple[Clause, ...]
    types: dict[str, Type]
    wanted: dict[int, str]


def _restricted(rule: Rule, head: Head, bound: Sequence[int]) -> _Restricted:
    """The body of a rule with a variable for each column of the head that is asked for: the variable of a
    term, or a new one that equals the argument."""
    grouped = any(isinstance(each, core.GroupBy) for each in rule.body)
    terms = bound_by_terms(rule.body)
    computed = {each.name for each in rule.body if isinstance(each, Let | core.Unnest | core.GroupBy)}
    types, wanted, tests = dict(rule.variables), dict[int, str](), list[Clause]()
    for i in bound:
        arg = head.args[i]
        if isinstance(arg, Var) and (arg.name in terms or arg.name not in computed):
            wanted[i] = arg.name
        elif not grouped:
            wanted[i] = f"$asked{i}"
            types[wanted[i]] = arg.type
            tests += _equal(Var(wanted[i], arg.type, head.span), arg)
    return _Restricted((*rule.body, *tests), types, wanted)


def _equal(value: Expr, arg: Expr) -> Iterator[Clause]:
    """The clauses that say that a value equals an argument of a head: of a constructor, part by part."""
    match arg:
        case core.MakeStruct(constructor, args) if len(args) == len(constructor.fields):
            shape = tuple(core.AnyPattern(each.type) for each in args)
            pattern = core.StructPattern(constructor, shape, arg.type)
            yield Guard(matches(value, pattern, arg.span), arg.span)
            for (name, _), each in zip(constructor.fields, args, strict=True):
                yield from _equal(core.GetField(value, name, each.type, arg.span), each)
        case core.MakeTuple(items):
            for i, each in enumerate(items):
                yield from _equal(core.GetItem(value, i, each.type, arg.span), each)
        case Var(name) if not isinstance(value, Var):
            yield Let(name, value, arg.span)
        case _:
            yield Guard(core.Op("==", (value, arg), Bool(), arg.span), arg.span)


def part_name(relation: Relation, bound: Sequence[int]) -> str:
    """The name of the part of a relation that is asked by some columns."""
    letters = "".join("b" if i in bound else "f" for i in range(len(relation.columns)))
    return f"{relation.name}${letters}"
