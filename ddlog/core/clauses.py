"""One walk over clauses: their expressions, the variables that they name, a clause with other expressions.

A pass that a clause means nothing special to needs no case for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from operator import is_

from .expressions import Expr
from .rules import Atom, Clause, GroupBy, Guard, Inspect, Let, Unnest


def expressions(clause: Clause) -> tuple[Expr, ...]:
    """The expressions of a clause."""
    match clause:
        case Let(_, value) | Unnest(_, value) | Inspect(value):
            return (value,)
        case GroupBy(_, value, key=key):
            return (value,) if key is None else (value, key)
        case Guard(condition):
            return (condition,)
    return ()


def mapped(clause: Clause, change: Callable[[Expr], Expr]) -> Clause:
    """The clause with each of its expressions changed; the same object if none is."""
    before = expressions(clause)
    after = tuple(map(change, before))
    if all(map(is_, before, after)):
        return clause
    match clause:
        case Guard():
            return replace(clause, condition=after[0])
        case GroupBy():
            return replace(clause, value=after[0], key=after[1] if after[1:] else None)
        case Let() | Unnest() | Inspect():
            return replace(clause, value=after[0])
    return clause


def named(clause: Clause) -> tuple[str, ...]:
    """The variables that a clause names outside of its expressions."""
    match clause:
        case Atom(_, columns):
            return tuple([name for name in columns if name is not None])
        case Let(name) | Unnest(name):
            return (name,)
        case GroupBy(name, _, keys):
            return *keys, name
    return ()


def binds(clause: Clause) -> tuple[str, ...]:
    """The variables that have values after a clause: those that it names, unless it is negated."""
    return () if isinstance(clause, Atom) and clause.negated else named(clause)


def positive(body: Iterable[Clause]) -> Iterator[Atom]:
    """The terms of a body that are not negated."""
    return (each for each in body if isinstance(each, Atom) and not each.negated)


def bound_by_terms(body: Iterable[Clause]) -> set[str]:
    """The variables that the positive terms of a body bind."""
    return {name for term in positive(body) for name in named(term)}
