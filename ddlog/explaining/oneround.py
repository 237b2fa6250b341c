"""One round of a loop, or of a recursion with groups or negations, as a program of its own.

The relations as they were rounds before are inputs of it, and so is all that the rules read from outside:

    R(0, x) :- N(x, 1).        R(0, x) :- N$before(x, 1).        a round of a recursion
    Seen(v) :- Seen-1(v).      Seen(v) :- Seen-1(v).             a round of a loop: Seen-1 is an input

A recursion begins with round 1, before which all its relations are empty, and a loop with round 0. An input
has the number of the round, for conditions on it. So the rounds are the epochs of this program. `alone` makes
a whole recursion a program of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core import (
    ROUND,
    Atom,
    Cast,
    CheckedProgram,
    Clause,
    Column,
    Expr,
    GroupBy,
    Guard,
    Head,
    Inspect,
    Let,
    LoopBlock,
    Op,
    Relation,
    Rule,
    Stratum,
    Var,
)
from ..demand.program import effectful
from ..types import BigInt, User

AT, FIRST, LATER = "$at", "$first", "$later"
"""Inputs: the number of the round; the same in the first round only; in all others."""

NAMED = "$named"

_PLUS = {">=": 0, "<": 0, "==": 1, ">": 1, "<=": 1}  # after which round a condition may change its value


@dataclass(frozen=True)
class OneRound:
    """The `program` of a round of a stratum, with its `relations` as outputs. `earlier`: for each input that
    is a relation some rounds before, the relation and how many rounds; `outside` are the other inputs that it
    reads. `named`: outputs with the rounds that rows name, each with a number to add. `written` are the rules
    in the program around, by the identity of those of the round."""

    program: CheckedProgram
    relations: tuple[str, ...]
    earlier: Mapping[str, tuple[str, int]]
    outside: tuple[str, ...]
    loop: LoopBlock | None
    named: Mapping[str, int]
    written: Mapping[int, Rule]

    @property
    def first(self) -> int:
        """The number of the first round."""
        return 1 if self.loop is None else 0

    @property
    def memory(self) -> int:
        """The most rounds that a relation is read back."""
        return max((rounds for _, rounds in self.earlier.values()), default=1)

    def before(self, relation: str, number: int) -> tuple[str, int] | None:
        """The relation that an input of a round is, and the number of its round, which is less than `first`
        where there was none. None if the input is no relation of an earlier round."""
        found = self.earlier.get(relation)
        return None if found is None else (found[0], number - found[1])


def by_rounds(stratum: Stratum) -> bool:
    """Whether the rows of a stratum may have no proof but by its rounds: a loop, or a recursion in which more
    rows may mean fewer."""
    if stratum.loop is not None:
        return True
    own = set(stratum.relations)
    return stratum.recursive and any(_takes_back(rule, own) for rule in stratum.rules)


def _takes_back(rule: Rule, own: set[str]) -> bool:
    last = max((at for at, each in enumerate(rule.body) if isinstance(each, GroupBy)), default=-1)
    terms = [(at, each) for at, each in enumerate(rule.body) if isinstance(each, Atom)]
    return any((each.negated or at < last) and each.relation in own for at, each in terms)


def one_round(program: CheckedProgram, stratum: Stratum) -> OneRound | None:
    """A round of a stratum; None if a rule of it has an effect, which would come again."""
    if not effectful(program).isdisjoint(stratum.relations):
        return None
    return _of_loop(program, stratum) if stratum.loop is not None else _of_recursion(program, stratum)


def alone(program: CheckedProgram, stratum: Stratum) -> tuple[CheckedProgram, tuple[str, ...]] | None:
    """The program of a recursion, of which all that its rules read from outside is an input, and these
    inputs; None if a rule of it has an effect, which would come again."""
    if not effectful(program).isdisjoint(stratum.relations):
        return None
    made = _assembled(program, dict(program.relations), stratum.rules, (stratum,), ())
    return made, _outside(made, ())


def _of_recursion(program: CheckedProgram, stratum: Stratum) -> OneRound:
    before = {name: f"{name}$before" for name in stratum.relations}
    relations = dict(program.relations)
    for name, past in before.items():
        relations[name] = replace(relations[name], kind="relation", key=None)
        relations[past] = _as_input(replace(relations[name], name=past))
    written, rules = dict[int, Rule](), list[Rule]()
    for rule in stratum.rules:
        body = tuple(
            replace(each, relation=before.get(each.relation, each.relation))
            if isinstance(each, Atom)
            else each
            for each in _without_effects(rule)
        )
        rules.append(replace(rule, body=body))
        written[id(rules[-1])] = rule
    strata = tuple(Stratum((name,), False, tuple(rules)) for name in stratum.relations)
    made = _assembled(program, relations, rules, strata, before.values())
    earlier = {past: (name, 1) for name, past in before.items()}
    return OneRound(made, stratum.relations, earlier, _outside(made, before.values()), None, {}, written)


def _of_loop(program: CheckedProgram, stratum: Stratum) -> OneRound:
    assert stratum.loop is not None
    relations, written, named = dict(program.relations), dict[int, Rule](), dict[str, int]()
    plain = [each for each in stratum.strata if each.loop is None]
    earlier = {
        name: past
        for each in plain
        for name in each.relations
        if (past := relations[name].earlier) is not None
    }
    for name in earlier:
        relations[name] = _as_input(relations[name])
    for name in (AT, FIRST, LATER):
        column = (Column("n", BigInt()),)
        relations[name] = Relation(
            name, "input", "relation", User(name), None, column, None, stratum.loop.span
        )
    begun = {head.relation for each in plain for rule in each.rules if rule.initial for head in rule.heads}
    strata, rules = list[Stratum](), list[Rule]()
    for each in stratum.strata:
        made = list(each.rules)
        if each.loop is None:
            made = [one for rule in each.rules for one in _in_rounds(rule, begun, written)]
            for rule in each.rules:
                for number, relation in enumerate(_named(rule), len(named)):
                    name = f"{NAMED}{number}"
                    named[name], filling = relation
                    relations[name] = Relation(
                        name,
                        "output",
                        "relation",
                        User(name),
                        None,
                        (Column("n", BigInt()),),
                        None,
                        rule.span,
                    )
                    strata.append(Stratum((name,), False, (replace(filling, heads=(_head(name, filling),)),)))
        if not any(name in earlier for name in each.relations):
            strata.append(replace(each, rules=tuple(made)))
            rules += made
    strata.sort(key=lambda each: each.relations[0] in named)  # those last, as they read all others
    fillings = [rule for each in strata if each.relations[0] in named for rule in each.rules]
    assembled = _assembled(program, relations, [*rules, *fillings], strata, (*earlier, AT, FIRST, LATER))
    own = tuple(name for name in stratum.relations if program.relations[name].earlier is None)
    return OneRound(
        assembled,
        own,
        earlier,
        _outside(assembled, (*earlier, AT, FIRST, LATER)),
        stratum.loop,
        named,
        written,
    )


def _in_rounds(rule: Rule, begun: set[str], written: dict[int, Rule]) -> Iterator[Rule]:
    """The rule, for each of its heads, with terms for what it asks of the round."""
    body, types = list[Clause](), dict(rule.variables)
    for number, clause in enumerate(_without_effects(rule)):
        if _asks_round(clause):
            assert isinstance(clause, Guard) and isinstance(clause.condition, Op)
            name, (asked, bound) = f"{AT}{number}", clause.condition.args
            types[name] = BigInt()
            body.append(Atom(AT, (name,), False, clause.span))
            args = Var(name, BigInt(), asked.span), _number(bound)
            clause = replace(clause, condition=replace(clause.condition, args=args))
        body.append(clause)
    for head in rule.heads:
        when = [Atom(FIRST if rule.initial else LATER, (None,), False, rule.span)]
        whole = (*body, *(when if head.relation in begun else ()))
        made = replace(rule, heads=(head,), body=whole, variables=types, initial=False)
        written[id(made)] = rule
        yield made


def _named(rule: Rule) -> Iterator[tuple[int, Rule]]:
    """For each condition on the round, a number to add to the rounds that rows name, and a rule without a
    head whose variable NAMED is such a round."""
    body = _without_effects(rule)
    for at, clause in enumerate(body):
        if _asks_round(clause):
            assert isinstance(clause, Guard) and isinstance(clause.condition, Op)
            end = next((k for k in range(at, len(body)) if isinstance(body[k], GroupBy)), len(body))
            kept = tuple(each for each in body[:end] if not _asks_round(each))
            bound = Let(NAMED, _number(clause.condition.args[1]), clause.span)
            types = {**rule.variables, NAMED: BigInt()}
            yield (
                _PLUS[clause.condition.op],
                replace(rule, heads=(), body=(*kept, bound), variables=types, initial=False),
            )


def _head(name: str, rule: Rule) -> Head:
    return Head(name, (Var(NAMED, BigInt(), rule.span),), rule.span)


def _asks_round(clause: Clause) -> bool:
    return (
        isinstance(clause, Guard)
        and isinstance(clause.condition, Op)
        and bool(
            clause.condition.args
            and isinstance(clause.condition.args[0], Var)
            and clause.condition.args[0].name == ROUND
        )
    )


def _number(value: Expr) -> Expr:
    return value if isinstance(value.type, BigInt) else Cast(value, BigInt(), value.span)


def _without_effects(rule: Rule) -> list[Clause]:
    return [each for each in rule.body if not isinstance(each, Inspect)]


def _assembled(
    program: CheckedProgram,
    relations: dict[str, Relation],
    rules: Sequence[Rule],
    strata: Iterable[Stratum],
    inputs: Iterable[str],
) -> CheckedProgram:
    """The program of some strata, whose other relations are inputs."""
    strata, own = list(strata), set[str]()
    for each in strata:
        own.update(each.relations)
    read = [each.relation for rule in rules for each in rule.body if isinstance(each, Atom)]
    given = list(dict.fromkeys([*inputs, *(name for name in read if name not in own)]))
    for name in given:
        relations[name] = _as_input(relations[name])
    for name in own:
        role = "earlier" if relations[name].earlier is not None else "output"
        relations[name] = replace(relations[name], role=role, demand=False, key=None)
    leaves = [Stratum((name,), False, ()) for name in given]
    return replace(program, relations=relations, rules=tuple(rules), strata=(*leaves, *strata), indexes={})


def _as_input(relation: Relation) -> Relation:
    kind = "multiset" if relation.kind == "stream" else relation.kind
    return replace(relation, role="input", kind=kind, key=None, past=None, window=None, earlier=None)


def _outside(program: CheckedProgram, own: Iterable[str]) -> tuple[str, ...]:
    """The inputs of a round that are relations around it."""
    leaves = [each.relations[0] for each in program.strata if each.loop is None and not each.rules]
    inputs = [name for name in leaves if program.relations[name].role == "input"]
    return tuple(name for name in inputs if name not in set(own))
