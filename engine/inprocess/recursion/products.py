"""Rules of a recursion that are products of relations of two columns.

    Sg(x, y) :- Arc(a, x), Sg(a, b), Arc(b, y).        x ──Arc turned── a ──Sg── b ──Arc── y

The terms of such a rule are a way from one column of its head to the other, each between two variables of its
own. So its rows are the product of its terms as relations, in which a variable that no later term needs is
gone: equal valuations are one. A condition on the two columns of the head may keep some of the rows.

The columns that variables go through have values in common: they are an *axis*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...circuit import DeltaJoin, Guard, Join
from ...rules import FixpointRule, Source
from ...schema import Schema
from ..joins.join import Joiner

End: TypeAlias = tuple[Source, int]
"""A column of a relation or an import."""


class Factor(NamedTuple):
    """A term of a product: its place in the rule, its source, and whether its columns are turned."""

    term: int
    source: Source
    turned: bool


class Products(NamedTuple):
    """The factors of each join that starts from a relation of the recursion; and the axis of each column of a
    relation or an import."""

    factors: Mapping[Join | DeltaJoin, tuple[Factor, ...]]
    axes: Mapping[End, int]


def products_of(rules: Sequence[FixpointRule[Joiner]], schemas: Mapping[str, Schema]) -> Products | None:
    """The rules of a recursion as products, if all that start from its relations are products."""
    if any(len(schema) != 2 for schema in schemas.values()):
        return None
    found: dict[Join | DeltaJoin, tuple[Factor, ...]] = {}
    axes: dict[End, End] = {(head, column): (head, column) for head in schemas for column in (0, 1)}
    for rule in rules:
        if not rule.starts:
            continue
        factors = _factors(rule)
        if factors is None or any(linear for _, linear in rule.heads):
            return None
        found[rule.node] = factors
        for head, _ in rule.heads:
            ends = [(head, 0), *(end for factor in factors for end in _ends(factor)), (head, 1)]
            for one, other in zip(ends[::2], ends[1::2], strict=True):
                _unite(axes, one, other)
    numbers: dict[End, int] = {}
    return Products(found, {end: numbers.setdefault(_root(axes, end), len(numbers)) for end in axes})


def _factors(rule: FixpointRule[Joiner]) -> tuple[Factor, ...] | None:
    """The terms of a rule as a way from the first column of its heads to the second, if they are one."""
    node = rule.node
    left, last = node.output if len(node.output) == 2 else ("", "")
    for step in node.steps:
        if (
            not isinstance(step, Guard)
            or not {*step.condition.inputs} <= {left, last}
            or step.condition.effect
        ):
            return None
    waiting, found, seen = dict(enumerate(node.terms)), [], {left}
    while waiting:
        nearest = [k for k, term in waiting.items() if left in term.columns]
        if len(nearest) != 1:
            return None
        term = waiting.pop(nearest[0])
        if term.negated or len(term.columns) != 2:
            return None
        turned = term.columns[0] != left
        to = term.columns[0 if turned else 1]
        if to is None or to in seen:
            return None
        found.append(Factor(nearest[0], rule.sources[nearest[0]], turned))
        seen.add(to)
        left = to
    return tuple(found) if left == last else None


def _ends(factor: Factor) -> list[End]:
    """The columns of a factor in the order of the way."""
    return (
        [(factor.source, 1), (factor.source, 0)]
        if factor.turned
        else [(factor.source, 0), (factor.source, 1)]
    )


def _root(axes: dict[End, End], end: End) -> End:
    while axes.setdefault(end, end) != end:
        end = axes[end]
    return end


def _unite(axes: dict[End, End], one: End, other: End) -> None:
    axes[_root(axes, one)] = _root(axes, other)
