"""Choices in a recursion: the relations that depend on each other become a loop.

    .decl next(a: number, b: number) choice-domain a, b     loop NextRounds {
    next(0, x) :- elem(x).                                      NextAll(0, x) :- Elem(x).
    next(x, y) :- next(_, x), elem(y).                          NextAll(x, y) :- Next-1(_, x), Elem(y).
                                                                Next(a, b) :- Next-1(a, b).
                                                                Next(..) :- NextAll(a, b), not Next-1(a, _).
                                                            }

Each round has all that follows from the choices of the round before, and chooses further rows. So only a
relation with a choice is read as it was, and other recursions of the loop run to their end in each round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from .. import syntax
from ..errors.source import Span
from ..lowering.stratify import strongly_connected
from ..syntax.walk import rebuilt
from .names import FreeNames

T = TypeVar("T")


def in_rounds(
    chosen: Sequence[str],
    relations: Sequence[syntax.RelationDecl],
    rules: Sequence[syntax.RuleDecl],
    space: FreeNames,
) -> list[syntax.Declaration]:
    """The relations and rules, with those around the chosen relations in loops."""
    if not chosen:
        return [*relations, *rules]
    cycles = [cycle for cycle in strongly_connected(_successors(relations, rules)) if cycle & {*chosen}]
    looped = {name for cycle in cycles for name in cycle}
    plain = [rule for each in rules for rule in _by_heads(each, looped)]
    loops = []
    for cycle in cycles:
        name = next(each for each in chosen if each in cycle)
        inside: list[syntax.Declaration] = [each for each in relations if each.name in cycle]
        inside += [_delayed(rule, cycle & {*chosen}) for rule in plain if rule.heads[0].relation in cycle]
        loop = space.fresh(f"{name}Rounds")
        at = inside[0].span
        declared = syntax.LoopDecl(loop, None, None, None, tuple(inside), (), at, at)
        loops.append(_together(declared, loop))
    return [
        *(each for each in relations if each.name not in looped),
        *loops,
        *(rule for rule in plain if rule.heads[0].relation not in looped),
    ]


def _successors(
    relations: Sequence[syntax.RelationDecl], rules: Sequence[syntax.RuleDecl]
) -> dict[str, dict[str, None]]:
    successors: dict[str, dict[str, None]] = {each.name: {} for each in relations}
    for rule in rules:
        for read in rule.body:
            if isinstance(read, syntax.Atom):
                successors[read.relation] |= dict.fromkeys(head.relation for head in rule.heads)
    return successors


def _by_heads(rule: syntax.RuleDecl, looped: set[str]) -> Iterator[syntax.RuleDecl]:
    """The rule, or a rule for each of its heads if one is in a loop: rules stand where heads are declared."""
    if looped.isdisjoint(head.relation for head in rule.heads):
        yield rule
    else:
        yield from (replace(rule, heads=(head,)) for head in rule.heads)


def _delayed(rule: syntax.RuleDecl, chosen: Collection[str]) -> syntax.RuleDecl:
    body = (
        replace(each, delay=1) if isinstance(each, syntax.Atom) and each.relation in chosen else each
        for each in rule.body
    )
    return replace(rule, body=tuple(body))


def _together(tree: T, name: str) -> T:
    """The tree, all of which stands in the loop of this name wherever it is written."""

    def moved(part: Any) -> Any:
        return replace(part, source=replace(part.source, part=name)) if isinstance(part, Span) else part

    made: T = rebuilt(tree, moved)
    return made
