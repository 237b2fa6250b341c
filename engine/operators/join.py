"""Joins: the valuations of a rule body. Multilinear in the positive terms, so the change of a join is a sum
over the terms of one join each (Theorem 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

from .. import zset
from ..node import Moment, Name, Node, NodeId, Signs, Surroundings, flipped
from ..schema import Kind, Schema
from ..zset import Row, Zset
from .group import Group
from .linear import traced
from .steps import Inspect, Let, Step, Unnest, Valuation, apply, expression, inputs, step_text


@dataclass(frozen=True, slots=True)
class Term:
    """One factor of a join: a source and the variable that each of its columns is.

    None is a column that nothing reads; a variable that occurs twice demands equality. A negated
    term keeps the rows for which the source has no row that agrees; it has no None and its
    variables are bound by positive terms and steps.
    """

    source: NodeId
    columns: tuple[str | None, ...]
    negated: bool = False

    @property
    def named(self) -> set[str]:
        """The variables that columns are."""
        return {name for name in self.columns if name is not None}


class _RuleBody(Node):
    """A join, or its incremental version."""

    __slots__ = ()
    terms: tuple[Term, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]

    def details(self, name: Name) -> str:
        factors = [*(_term_text(term, name) for term in self.terms), *map(step_text, self.steps)]
        return f"{', '.join(factors)} -> ({', '.join(self.output)})"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        bound: dict[str, tuple[Kind, str]] = {}
        for term in self.terms:
            schema = scope.nodes[term.source].schema
            if len(schema) != len(term.columns):
                yield f"a term has {len(term.columns)} columns, its source {len(schema)}"
                return
            for name, column in zip(term.columns, schema, strict=True):
                if name is None:
                    if term.negated:
                        yield "a negated term ignores a column"
                elif bound.setdefault(name, (column.kind, column.domain)) != (column.kind, column.domain):
                    yield f"the variable {name} is of {bound[name][1]} and of {column.domain}"
        positive = {name for term in self.terms if not term.negated for name in term.columns}
        steps = [step for step in self.steps if isinstance(step, Let | Unnest)]
        known = positive | {step.name for step in steps}
        negative = {name for term in self.terms if term.negated for name in term.columns}
        for step in self.steps:
            for name in inputs(step):
                if name not in known:
                    yield f"the step {expression(step).text or step} reads {name}, which nothing binds"
        for name in sorted(n for n in negative - known if n is not None):
            yield f"the variable {name} of a negated term is bound by nothing"
        for name in self.output:
            if name not in known:
                yield f"the output {name} is bound by nothing"
        if len(self.output) != len(self.schema):
            yield f"{len(self.output)} outputs do not make {len(self.schema)} columns"
        for name, column in zip(self.output, self.schema, strict=False):
            if name in bound and bound[name] != (column.kind, column.domain):
                yield f"the output {name} is of {bound[name][1]}, its column of {column.domain}"

    def shrinking(self, of: Callable[[NodeId], Signs]) -> Signs:
        # a deletion turns round in negated terms
        signs = (flipped(of(term.source)) if term.negated else of(term.source) for term in self.terms)
        return frozenset[tuple[str, int]]().union(*signs)


@dataclass(frozen=True, slots=True)
class Join(_RuleBody):
    """Valuations that satisfy all terms and steps, projected on `output`; weights multiply.

        (a ⋈ b)^Δ = Δa ⋈ z⁻¹ I(Δb)  +  I(Δa) ⋈ Δb      (Theorem 4.5)

    Multilinear in its positive terms. With a single term this is Apply: filter, map, flatmap,
    project, fused. Steps are in source order; a step may run as soon as its inputs are bound.
    """

    terms: tuple[Term, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]
    schema: Schema
    text: str = field(default="", compare=False)

    def reads(self) -> tuple[NodeId, ...]:
        return tuple(term.source for term in self.terms)

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        terms = _reading(self.terms, new)
        return self if terms is self.terms else replace(self, terms=terms)

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        return join(self.terms, sources, self.steps, self.output, moment)

    def incremental(self, trace: Callable[[NodeId], NodeId]) -> Node:
        if len(self.terms) == 1 and not self.terms[0].negated:
            return self
        traces = tuple(trace(term.source) for term in self.terms)
        return DeltaJoin(self.terms, traces, self.steps, self.output, self.schema, self.text)

    def title(self) -> str:
        return "apply" if len(self.terms) == 1 and not self.terms[0].negated else "join"

    def is_set(self, sets: Sequence[bool], nodes: Sequence[Node], outside: Sequence[bool]) -> bool:
        return all(sets[t.source] for t in self.terms if not t.negated) and keeps_valuations(self, nodes)


@dataclass(frozen=True, slots=True)
class DeltaJoin(_RuleBody):
    """Join^Δ: the sum over the terms j of Δ_j joined with the others, terms before j with this step's change
    and terms after j without it. `traces[k]` is z⁻¹ I of the source of term k, which look-ups in the term
    see."""

    terms: tuple[Term, ...]
    traces: tuple[NodeId, ...]
    steps: tuple[Step, ...]
    output: tuple[str, ...]
    schema: Schema
    text: str = field(default="", compare=False)

    def reads(self) -> tuple[NodeId, ...]:
        return (*self.looked_up(), *self.traces)

    def looked_up(self) -> tuple[NodeId, ...]:
        return tuple(term.source for term in self.terms)

    def reading(self, new: Callable[[NodeId], NodeId]) -> Node:
        return replace(self, terms=_reading(self.terms, new), traces=tuple(map(new, self.traces)))

    def value(self, sources: list[Zset], moment: Moment) -> Zset:
        changes, before = sources[: len(self.terms)], sources[len(self.terms) :]
        return delta_join(self.terms, before, changes, self.steps, self.output, moment)

    def title(self) -> str:
        return "joinΔ"

    def problems(self, scope: Surroundings) -> Iterator[str]:
        yield from _RuleBody.problems(self, scope)
        if len(self.traces) != len(self.terms):
            yield f"{len(self.terms)} terms have {len(self.traces)} traces"
            return
        for term, trace in zip(self.terms, self.traces, strict=True):
            yield from traced(scope.nodes, term.source, trace)


# ------------------------------------------------------------------- meaning


def join(
    terms: Sequence[Term],
    values: Sequence[Zset],
    steps: Sequence[Step],
    output: Sequence[str],
    moment: Moment = (0, 0),
) -> Zset:
    """The valuations of a rule body, projected; weights multiply. Raises the fault of a step on a valuation
    that the rest of the body does not exclude."""
    return _projected(_valuations(terms, values, steps, -1, moment), output)


def delta_join(
    terms: Sequence[Term],
    before: Sequence[Zset],
    changes: Sequence[Zset],
    steps: Sequence[Step],
    output: Sequence[str],
    moment: Moment = (0, 0),
) -> Zset:
    """The change of a join: by the multilinear rule, a sum of joins with one term's change each. Raises the
    fault of a step on a valuation that is left in the sum."""
    signs = [
        zset.sign_change(b, c) if t.negated else c for t, b, c in zip(terms, before, changes, strict=True)
    ]
    now = [zset.add(b, c) for b, c in zip(before, changes, strict=True)]
    summands = (
        _valuations(terms, [*now[:j], signs[j], *before[j + 1 :]], steps, j, moment)
        for j in range(len(terms))
    )
    return _projected(chain.from_iterable(summands), output)


@dataclass(frozen=True, slots=True)
class _Fault:
    """The fault of a step on a valuation, of which these variables have values."""

    known: frozenset[tuple[str, Any]]
    error: Exception = field(compare=False)


_Weighed: TypeAlias = tuple[Valuation, int, Exception | None]
"""A valuation with its weight, and the first fault of a step."""


def _valuations(
    terms: Sequence[Term], values: Sequence[Zset], steps: Sequence[Step], change: int, moment: Moment
) -> list[_Weighed]:
    """The valuations of a rule body. A step that faults binds nothing, and what reads its variable says
    nothing. A negated term's factor is 1 - presence of its row; that of term `change`, whose value is a
    change of presence, is the change of the factor."""
    found: list[tuple[Valuation, int]] = [({}, 1)]
    for term, value in zip(terms, values, strict=True):
        if not term.negated:
            found = _extend(found, term.columns, value)
    named = {name for term in terms if not term.negated for name in term.columns}
    negated = [(t, v, j == change) for j, (t, v) in enumerate(zip(terms, values, strict=True)) if t.negated]
    results: list[_Weighed] = [(valuation, weight, None) for valuation, weight in found]
    results = _without(results, [each for each in negated if named.issuperset(each[0].columns)])
    for step in (each for each in steps if not isinstance(each, Inspect)):
        read = inputs(step)
        results = [r for each in results for r in _applied(step, read, *each, moment)]
    results = _without(results, [each for each in negated if not named.issuperset(each[0].columns)])
    for effect in (each for each in steps if isinstance(each, Inspect)):
        for valuation, weight, error in results:
            if error is None:
                apply(effect, valuation, weight, moment)
    return results


def _applied(
    step: Step,
    read: Sequence[str],
    valuation: Valuation,
    weight: int,
    error: Exception | None,
    moment: Moment,
) -> list[_Weighed]:
    """The valuations that a step makes of one."""
    if error is not None and any(name not in valuation for name in read):
        return [(valuation, weight, error)]
    try:
        return [(each, weight, error) for each in apply(step, valuation, weight, moment)]
    except MemoryError:
        raise
    except Exception as fault:
        return [(valuation, weight, error or fault)]


def _without(results: list[_Weighed], negated: Sequence[tuple[Term, Zset, bool]]) -> list[_Weighed]:
    """The valuations that negated terms leave, with their factors."""
    for term, value, changed in negated:
        weighed = ((v, w * _factor(term, v, value, changed), e) for v, w, e in results)
        results = [each for each in weighed if each[1]]
    return results


def _factor(term: Term, valuation: Valuation, value: Zset, changed: bool) -> int:
    if any(name not in valuation for name in term.columns):
        return 1
    weight = value.get(tuple(valuation[name] for name in term.columns if name), 0)
    return -weight if changed else weight <= 0


def _projected(valuations: Iterable[_Weighed], output: Sequence[str]) -> Zset:
    """The output of valuations, summed up. Raises a fault that is left."""
    parts: list[tuple[Any, int]] = []
    for valuation, weight, error in valuations:
        if error is None:
            parts.append((tuple(valuation[name] for name in output), weight))
        else:
            parts.append((_Fault(frozenset(valuation.items()), error), weight))
    total = zset.zset(parts)
    for row in total:
        if isinstance(row, _Fault):
            raise row.error
    return total


def _extend(
    valuations: list[tuple[Valuation, int]], columns: Sequence[str | None], value: Zset
) -> list[tuple[Valuation, int]]:
    bound = [name for name in dict.fromkeys(columns) if valuations and name in valuations[0][0]]
    index: dict[Row, list[tuple[Valuation, int]]] = {}
    for row, weight in value.items():
        fresh = {name: item for name, item in zip(columns, row, strict=True) if name is not None}
        if all(name is None or fresh[name] == item for name, item in zip(columns, row, strict=True)):
            index.setdefault(tuple(fresh[name] for name in bound if name), []).append((fresh, weight))
    return [
        (valuation | fresh, weight * factor)
        for valuation, weight in valuations
        for fresh, factor in index.get(tuple(valuation[name] for name in bound if name), ())
    ]


# -------------------------------------------------------- text, construction


def _reading(terms: tuple[Term, ...], new: Callable[[NodeId], NodeId]) -> tuple[Term, ...]:
    found = tuple(Term(new(term.source), term.columns, term.negated) for term in terms)
    return terms if found == terms else found


def _term_text(term: Term, name: Name) -> str:
    """A term as it would stand in a rule."""
    columns = ", ".join(column or "_" for column in term.columns)
    return f"{'not ' if term.negated else ''}{name(term.source)}({columns})"


def keeps_valuations(join: Join | DeltaJoin, nodes: Sequence[Node] | Mapping[NodeId, Node]) -> bool:
    """Whether different valuations of the positive terms give different rows: every column of these terms (of
    a Group, every key) has a variable, and every such variable is in the output or is a function of the
    output."""
    if any(isinstance(step, Unnest) for step in join.steps):
        return False
    needed: set[str | None] = set()
    for term in join.terms:
        if not term.negated:
            source = nodes[term.source]
            needed.update(term.columns[: source.keys] if isinstance(source, Group) else term.columns)
    return needed <= functions_of(join, join.output)


def functions_of(join: Join | DeltaJoin, names: Iterable[str]) -> set[str | None]:
    """The variables that are functions of some."""
    known: set[str | None] = set(names)
    lets = [step for step in join.steps if isinstance(step, Let)]
    for _ in lets:
        known.update(step.name for step in lets if known.issuperset(step.value.inputs))
    return known
