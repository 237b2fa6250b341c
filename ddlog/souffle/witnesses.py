"""Witnesses: variables of a `min` or `max` that nothing but its body binds, and that its rule uses.

W(x, m) :- m = max y : { A(x, y) }.    means    W(x, m) :- m = max y : { A(_, y) }, A(x, m).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from . import syntax as ast
from .clauses import HornClause, Literal, Summary, names_of, renamed
from .inline import bound_in


def with_witnesses(clause: HornClause) -> Iterator[HornClause]:
    """The clauses that a clause becomes when its witnesses are bound beside its aggregates."""
    if not any(isinstance(literal, Summary) for literal in clause.body):
        yield clause
        return
    for body in _bodies(clause.body, frozenset(), names_of(clause.heads), itertools.count(1)):
        yield replace(clause, body=body)


def _bodies(
    body: Sequence[Literal], given: frozenset[str], used: set[str], number: itertools.count[int]
) -> Iterator[tuple[Literal, ...]]:
    """The bodies that a body becomes; `given` are the variables that what is around it binds, `used` those
    that this uses."""
    body = tuple(_inside(literal, number) for literal in body)
    lacking = (used | names_of(body)) - bound_in(body, given)
    parts = [list(_with_beside(literal, lacking, number)) for literal in body]
    if all(part == [(each,)] for part, each in zip(parts, body, strict=True)):
        yield body
        return
    for choice in itertools.product(*parts):
        yield from _bodies(tuple(itertools.chain(*choice)), given, used, number)


def _with_beside(
    literal: Literal, lacking: set[str], number: itertools.count[int]
) -> Iterator[tuple[Literal, ...]]:
    """The alternatives of the literal with what binds its witnesses, some of the `lacking` variables. Two
    aggregates can have one witness, which is then the same in both. A body without alternatives, as that of
    `min x : {A(x), false}`, gives no value."""
    if isinstance(literal, Summary) and literal.function in ("min", "max"):
        witnesses = [name for name in literal.outer if name in lacking]
        targets = _of_target(literal, lacking)
        if witnesses or targets or not literal.bodies:
            plain = _without(literal, witnesses, number)
            yield from ((plain, *beside) for beside in _beside(literal, targets, number))
            return
    yield (literal,)


def _of_target(summary: Summary, lacking: set[str]) -> dict[str, str]:
    """The variables of the target that are witnesses, with their names outside: nothing else binds these."""
    bound = (bound_in(body, summary.outer) for body in summary.bodies)
    local = names_of(summary.target).intersection(*bound).difference(summary.outer)
    outside = {name: name.partition("#")[0] for name in sorted(local)}
    return {name: short for name, short in outside.items() if short in lacking}


def _inside(literal: Literal, number: itertools.count[int]) -> Literal:
    """The literal; an aggregate has its own witnesses bound beside the aggregates in its bodies."""
    if not isinstance(literal, Summary):
        return literal
    given = frozenset(literal.outer)
    inner = tuple(each for body in literal.bodies for each in _bodies(body, given, set(), number))
    return literal if inner == literal.bodies else replace(literal, bodies=inner)


def _beside(
    summary: Summary, targets: Mapping[str, str], number: itertools.count[int]
) -> Iterator[tuple[Literal, ...]]:
    """The alternatives of the body, for the value that the aggregate has."""
    assert summary.target is not None
    for body in summary.bodies:
        own = (names_of(body) | names_of(summary.target)) - set(summary.outer)
        names = {name: targets.get(name) or _fresh(name, number) for name in sorted(own)}
        value = renamed(summary.target, names)
        result = ast.Named(summary.span, summary.var)
        if isinstance(value, ast.Named) and not targets:
            names[summary.target.name] = summary.var  # type: ignore[union-attr]
            yield renamed(body, names)
        else:
            yield (*renamed(body, names), ast.Compare(summary.span, "=", result, value))


def _without(summary: Summary, witnesses: Sequence[str], number: itertools.count[int]) -> Summary:
    """The aggregate with other names for its witnesses, which are then its own."""
    names = {name: _fresh(name, number) for name in witnesses}
    return replace(
        summary,
        target=renamed(summary.target, names),
        bodies=renamed(summary.bodies, names),
        outer=tuple(name for name in summary.outer if name not in names),
    )


def _fresh(name: str, number: itertools.count[int]) -> str:
    return f"{name.partition('#')[0]}#w{next(number)}"
