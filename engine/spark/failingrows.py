"""The rows on which a step faults though a term is looked up by its value, as bodies of their own.

    R(y) :- A(x), var z = f(x), B(z, y), C(x).        the rows on which f does not fault
    fault of f :- A(x), f(x) faults, B(z, y), C(x).   the others

A fault counts if the rest of the body holds without the value. Where a term binds the variable of the value,
any row of the term will do. What is computed of a value that no term binds, and negated terms that read it,
say nothing. If several such steps fault on a row, the row belongs to the first of them: in its body they come
last, as other steps do that may fault.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..circuit import DeltaJoin, Guard, Inspect, Join, Let, Step
from ..operators.steps import determined, inputs

FAULT = "$fault"  # stands for the value of the step that faults, which nothing reads


@dataclass(frozen=True, slots=True)
class Split:
    """The roles of the steps of a body, by number: rows on which one of `passing` faults are left out, and so
    are rows on which `failing` does not fault. `late` are the steps that run after all others."""

    passing: frozenset[int] = frozenset()
    failing: int | None = None
    late: frozenset[int] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class FailingBody:
    """The body of the rows on which a step faults. `terms` are the numbers of its terms in the whole body,
    and `unknown` the variables of the output that have no value."""

    node: Join | DeltaJoin
    terms: tuple[int, ...]
    split: Split
    unknown: frozenset[str]


def failing_bodies(
    node: Join | DeltaJoin, early: Sequence[int], late: Collection[int]
) -> Iterator[FailingBody]:
    """The bodies of the rows on which the steps `early` fault, one for each step. `late` are the other steps
    that may fault."""
    for place, failing in enumerate(early):
        step = node.steps[failing]
        assert not isinstance(step, Inspect)
        known = _known(node, failing)
        terms = tuple(k for k, term in enumerate(node.terms) if known >= term.named)
        kept = [k for k, each in enumerate(node.steps) if k == failing or known.issuperset(inputs(each))]
        number = {old: new for new, old in enumerate(kept)}
        steps = [node.steps[k] for k in kept]
        only = Let(FAULT, step.condition) if isinstance(step, Guard) else replace(step, name=FAULT)
        steps[number[failing]] = only
        last = {number[k] for k in (*late, *early[place + 1 :]) if k in number}
        split = Split(
            frozenset(number[k] for k in early[:place] if k in number), number[failing], frozenset(last)
        )
        unknown = frozenset(node.output) - known
        yield FailingBody(_part(node, terms, steps, unknown), terms, split, unknown)


def _known(node: Join | DeltaJoin, failing: int) -> frozenset[str]:
    """The variables that have a value where a step faults."""
    named = {name for term in node.terms if not term.negated for name in term.named}
    return determined(named, [step for k, step in enumerate(node.steps) if k != failing])


def _part(
    node: Join | DeltaJoin, terms: Sequence[int], steps: Sequence[Step], unknown: Collection[str]
) -> Join | DeltaJoin:
    """The body of some terms and steps. The output has the variables that have a value."""
    places = [k for k, name in enumerate(node.output) if name not in unknown]
    output, schema = tuple(node.output[k] for k in places), tuple(node.schema[k] for k in places)
    part = replace(
        node, terms=tuple(node.terms[k] for k in terms), steps=tuple(steps), output=output, schema=schema
    )
    if isinstance(part, DeltaJoin):
        return replace(part, traces=tuple(part.traces[k] for k in terms))
    return part
