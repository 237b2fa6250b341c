"""Proof trees checked against the program and the contents of its relations, by the reference evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ddlog.core import Atom, CheckedQuery, GroupBy, Head, Let, Rule
from ddlog.engine.circuit import Circuit
from ddlog.engine.reference import evaluate
from ddlog.explaining.node import Reason, decisive
from ddlog.explaining.snapshot import ANY
from ddlog.explaining.stages import BodyStage, plain
from ddlog.lowering.lower import lower_query
from ddlog.sessions.program import Program

Row = tuple[Any, ...]
Fact = tuple[str, Row]
Contents = dict[str, dict[Row, int]]


class Checked:
    """A program with the contents of its relations."""

    def __init__(self, program: Program, contents: Contents) -> None:
        self.program, self.contents = program, contents
        self.given = {
            name
            for name, each in program.relations.items()
            if each.role in ("input", "delayed", "earlier") or each.window
        }
        self._instances: dict[tuple[int, str], set[Any]] = {}
        self._rounds: dict[tuple[str, ...], list[Contents]] = {}

    def tree(self, tree: Reason) -> None:
        """Each node is an instance of its rule, leaves are given, negated terms find nothing, and a height is
        1 more than the greatest below."""
        if tree.rounds:
            self._in_rounds(tree)
            return
        assert tree.row in self.contents[tree.relation]
        if tree.kind == "cut":
            return
        if tree.rule is None:
            assert tree.relation in self.given and tree.height == 0 and tree.kind == "fact"
            return
        assert (tuple(sorted(tree.variables.items())), tree.row) in self.instances(tree.rule, tree.relation)
        below = list(children(tree.children))
        heights = [each.height for each in below if each.is_row]
        if tree.kind == "fact":
            assert tree.height == 0 and not tree.rule.body
        elif tree.kind == "rule":
            assert tree.height == 1 + max(heights, default=0)
        for each in below:
            if each.is_row:
                self.tree(each)
            elif each.kind == "absent":
                assert not any(fits(each.row, row) for row in self.contents[each.relation])

    def instances(self, rule: Rule, relation: str) -> set[Any]:
        """The named variables and the rows of all instances of a rule."""
        key = id(rule), relation
        if key not in self._instances:
            self._instances[key] = set()
            made = plain(rule, self.program.checked)
            names = BodyStage(made, len(made.body), ()).variables
            named = [name for name in names if "$" not in name]
            for head in (each for each in rule.heads if each.relation == relation):
                for row in evaluate(
                    _query(self.program, made, head, tuple(named)), self._whole(self.contents)
                )["query"]:
                    values = tuple(sorted(zip(named, row, strict=False)))
                    self._instances[key].add((values, row[len(named) :]))
        return self._instances[key]

    def _in_rounds(self, tree: Reason) -> None:
        """A row that rounds explain is there since its round, by an instance of its rule in the round before,
        whose rows are there since earlier rounds."""
        (number,) = tree.rounds
        states = self.rounds(tree.relation)
        assert tree.row in states[number][tree.relation] and tree.row not in states[number - 1][tree.relation]
        assert tree.ended != all(tree.row in each[tree.relation] for each in states[number:])
        if tree.rule is None:
            assert tree.kind == "cut"
            return
        before = states[number - 1]
        now = {**self.contents, **before}
        assert (tuple(sorted(tree.variables.items())), tree.row) in self._instances_in(tree, now)
        for each in children(tree.children):
            if each.is_row:
                assert each.row in now[each.relation]
                assert each.relation not in before or (each.rounds and each.rounds[0] < number)
                self.tree(each)  # of another recursion it has rounds of its own
            elif each.kind == "absent":
                assert not any(fits(each.row, row) for row in now[each.relation])
                assert each.rounds == ((number - 1,) if each.relation in before else ())
        heights = [each.height for each in decisive(tree.children)]
        if tree.rule.body and None not in heights:
            assert tree.height == 1 + max((each for each in heights if each is not None), default=0)

    def rounds(self, relation: str) -> list[Contents]:
        """The relations of a recursion in each of its rounds: what the rules give of those of the round
        before."""
        stratum = next(each for each in self.program.checked.strata if relation in each.relations)
        if stratum.relations not in self._rounds:
            queries = [
                (head.relation, _query(self.program, plain(rule, self.program.checked), head))
                for rule in stratum.rules
                for head in rule.heads
            ]
            states: list[Contents] = [{name: {} for name in stratum.relations}]
            while len(states) < 2 or states[-1] != states[-2]:
                contents = self._whole({**self.contents, **states[-1]})
                states.append({name: {} for name in stratum.relations})
                for name, circuit in queries:
                    states[-1][name] |= dict.fromkeys(evaluate(circuit, contents)["query"], 1)
            self._rounds[stratum.relations] = states
        return self._rounds[stratum.relations]

    def _instances_in(self, tree: Reason, contents: Contents) -> set[Any]:
        assert tree.rule is not None
        return Checked(self.program, contents).instances(tree.rule, tree.relation)

    def least_heights(self, grouped: dict[Fact, int]) -> dict[Fact, int]:
        """The round in which each row first comes, where the rules are applied to the rows of the rounds
        before, negated terms look at all contents, and rows of rules with groups come in given rounds."""
        found = {(name, row): 0 for name in self.given for row in self.contents.get(name, ())}
        queries = [
            (rule, head, _query(self.program, plain(rule, self.program.checked), head))
            for rule in self.program.checked.rules
            if not any(isinstance(each, GroupBy) for each in rule.body)
            for head in rule.heads
            if head.relation not in self.given
        ]
        time = 0
        while True:
            now: Contents = {name: {} for name in self.program.relations}
            for name, row in found:
                now[name][row] = 1
            come: dict[Fact, int] = {fact: at for fact, at in grouped.items() if at == time}
            for rule, head, circuit in queries:
                if bool(rule.body) == bool(time):
                    rows = evaluate(circuit, {**self._whole(self.contents), **now})["query"]
                    come |= {(head.relation, row): time for row in rows}
            new = {fact: at for fact, at in come.items() if fact not in found}
            if not new and time and time >= max(grouped.values(), default=0):
                return found
            found |= new
            time += 1

    def _whole(self, contents: Contents) -> Contents:
        return {**contents, **{f"{name}$whole": rows for name, rows in contents.items()}}


def fits(pattern: Row, row: Row) -> bool:
    """Whether a row has the values of a pattern."""
    return all(a is ANY or a == b for a, b in zip(pattern, row, strict=True))


def children(items: tuple[Reason, ...]) -> Iterator[Reason]:
    """The items of a body, with those of the members of groups."""
    for item in items:
        if item.kind == "members":
            for member in item.children:
                yield from children(member.children)
        else:
            yield item


def _query(program: Program, rule: Rule, head: Head, names: tuple[str, ...] = ()) -> Circuit:
    """The circuit of some variables and the rows of a head; negated terms read the relations that end in
    `$whole`."""
    outs = tuple(f"$out{at}" for at in range(len(head.args)))
    lets = tuple(Let(name, arg, rule.span) for name, arg in zip(outs, head.args, strict=True))
    body = tuple(
        replace(each, relation=f"{each.relation}$whole") if isinstance(each, Atom) and each.negated else each
        for each in rule.body
    )
    types = {**rule.variables, **{name: arg.type for name, arg in zip(outs, head.args, strict=True)}}
    whole = {f"{name}$whole": replace(each, name=f"{name}$whole") for name, each in program.relations.items()}
    checked = replace(program.checked, relations={**program.relations, **whole})
    made = replace(rule, heads=(), body=(*body, *lets), variables=types, initial=False)
    return lower_query(checked, CheckedQuery(made, (*names, *outs), {}, {}))
