"""The program that evaluates what its marked outputs ask for, and all of the rest.

A relation is there whole if it is wanted whole, if it has to be for its meaning, or if some term asks for all
of its rows. All others are asked. It has to be whole

- with everything that a relation reads which is whole,
- if one of its rules has an effect: effects happen as often as without demand,
- if it is read delayed, as then all its changes are inputs of later epochs,
- in a recursion with groups or negations inside, and in a loop, whose rounds decide what it is,
- if it is a window.

A demand may rest on the relation for whose sake it is asked, so the new program can have recursions that the
old one has not. If such a recursion negates or groups something in it, or has a multiset or a stream, the
relation concerned is made whole, and the rewriting begins anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ..core import CheckedProgram, Rule
from ..core.program import closed, reads
from ..lowering.stratify import Edge, dependencies, stratify
from .adornment import DEMAND, Rewriting
from .linear import Case, linear
from .total import Effects


def demanded(program: CheckedProgram, wanted: Collection[str]) -> CheckedProgram:
    """The program that computes the relations `wanted`: the marked outputs among them by demand, and the
    others as they are. The relations that are computed in part have new names, with a `$`."""
    goals = [name for name in wanted if program.relations[name].demand]
    if not goals:
        return program
    rules_of = _rules_of(program)
    read = reads(program)
    held = _held(program)
    every = closed(wanted, read)
    plain = {name for name in wanted if name not in goals}
    whole = closed({*plain, *(held & every), *_given(program)}, read)
    declared, linear_rules = linear(program.relations, rules_of)
    while True:
        made = Rewriting(program, declared, linear_rules, whole)
        for name in goals:
            if name not in whole:
                made.goal(name)
        rewritten = _program(program, made, whole, every)
        more = made.unbound or set(_offending(rewritten, made))
        if not more:
            return rewritten
        whole = closed({*whole, *(made.of.get(name, name) for name in more)}, read)


def on_demand(program: CheckedProgram) -> set[str]:
    """The relations that only marked outputs need, and that no other output does."""
    read = reads(program)
    outputs = {name for name, each in program.relations.items() if each.role == "output"}
    marked = {name for name in outputs if program.relations[name].demand}
    return closed(marked, read) - closed(outputs - marked, read) - marked - _given(program)


def there_anyway(program: CheckedProgram) -> set[str]:
    """The relations that a session has before anything is asked: inputs, what is read of the past, windows,
    and what rules with effects make."""
    return _given(program) | effectful(program) | windows(program)


def effectful(program: CheckedProgram) -> set[str]:
    """The relations of which a rule has an effect."""
    effects = Effects(program.functions)
    return {head.relation for rule in program.rules if effects.of_rule(rule) for head in rule.heads}


def windows(program: CheckedProgram) -> set[str]:
    """The relations that depend on what was there before."""
    return {name for name, each in program.relations.items() if each.window}


def _given(program: CheckedProgram) -> set[str]:
    """The relations that are there whoever asks: inputs, and what the past fills."""
    return {name for name, each in program.relations.items() if each.role in ("input", "delayed")}


def _rules_of(program: CheckedProgram) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for rule in program.rules:
        for head in rule.heads:
            found.setdefault(head.relation, []).append((rule, head))
    return found


def _held(program: CheckedProgram) -> set[str]:
    """The relations that have to be whole."""
    held = effectful(program) | windows(program)
    held |= {each.past[0] for each in program.relations.values() if each.past}
    for stratum in program.strata:
        inside = set(stratum.relations)
        if stratum.loop is not None:
            held |= inside
        edges = [edge for rule in stratum.rules for edge in dependencies(rule, program.relations)]
        if stratum.recursive and any(e.how != "positive" and {e.source, e.target} <= inside for e in edges):
            held |= inside
    return held


def _program(
    program: CheckedProgram, made: Rewriting, whole: set[str], every: Collection[str]
) -> CheckedProgram:
    """The program of the rules that were made, after the strata of the relations that are whole."""
    kept = [rule for rule in program.rules if any(head.relation in whole for head in rule.heads)]
    goals = {name for name, each in program.relations.items() if each.demand and name in every}
    relations = {name: each for name, each in program.relations.items() if name in whole or name in goals}
    relations |= made.relations
    strata, _ = stratify(relations, made.rules)
    before = [each for each in program.strata if not whole.isdisjoint(each.relations)]
    after = [each for each in strata if whole.isdisjoint(each.relations)]
    return replace(program, relations=relations, rules=(*kept, *made.rules), strata=(*before, *after))


def _offending(rewritten: CheckedProgram, made: Rewriting) -> Iterator[str]:
    """The relations that may not be asked, as their meaning would change in a recursion."""
    for stratum in rewritten.strata:
        inside = set(stratum.relations)
        if not stratum.recursive or not inside & made.relations.keys():
            continue
        yield from (name for name in inside if rewritten.relations[name].kind != "relation")
        for edge in _inner(rewritten, stratum.rules, inside):
            if edge.how != "positive":
                demand = edge.source.endswith(DEMAND) or edge.source not in made.of
                yield edge.target if demand else edge.source


def _inner(program: CheckedProgram, rules: Sequence[Rule], inside: Collection[str]) -> Iterator[Edge]:
    edges = (edge for rule in rules for edge in dependencies(rule, program.relations))
    return (edge for edge in edges if edge.source in inside and edge.target in inside)
