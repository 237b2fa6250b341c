"""The search for derivations: the rules of a recursion, joined from rows of their heads.

The rows that are asked for take the place of one more term, whose columns are those of the head and a number:

    R(x, z) :- R(x, y), E(y, z).        asked(x, z, n), R(x, y), E(y, z)  ->  n, by rank

So the planner orders the look-ups, with the variables of the head bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...circuit import Constant, DeltaJoin, Join, Step, Term
from ...derivedcolumns import Position, derived_keys
from ...operators.steps import has_effect, rename_step
from ...planner import LookUp, Stages, plan
from ...rules import FixpointRule, Source
from ...schema import Array, Column, Kind, Schema
from ..arrangements.store import Store
from ..arrangements.views import StoreView
from ..joins.join import Joiner
from ..kernels.ranks import NEVER
from ..storage.batch import Batch
from ..storage.interner import encode_rows
from ..storage.steps import Evaluator
from .following import Following, back
from .rankedrelation import RankedView

Contents: TypeAlias = RankedView | StoreView

_ASKED = "$asked"
_ASKED_COLUMN = Column(_ASKED, Kind.INT, "$asked")


@dataclass(frozen=True, slots=True)
class Search:
    """The search for the derivations that one rule gives a relation. The join's first term is that of the
    rows asked for; `sources` are those of the other terms. `back`: the same, if it is one look-up."""

    sources: tuple[Source, ...]
    join: Joiner
    back: Following | None = None

    @property
    def recursive(self) -> bool:
        """Whether the rule reads a relation of the recursion."""
        return any(isinstance(source, str) for source in self.sources)

    def ranks(self, columns: Sequence[Array], length: int, views: Sequence[Contents]) -> Iterator[Batch]:
        """The derivations of rows: their positions, with the greatest rank of the rows read."""
        asked = Batch((*columns, np.arange(length)), length)
        yield from self.join.run(0, asked, [None, *views])


class Searches:
    """The searches for the derivations of one relation, those that read only imports first."""

    def __init__(self, searches: Sequence[Search], facts: Sequence[Constant], evaluator: Evaluator) -> None:
        self._searches = sorted(searches, key=lambda each: each.recursive)
        self._evaluator = evaluator
        self.facts: Store | None = None
        for constant in facts:
            columns = encode_rows(evaluator.values, constant.schema, constant.rows)
            self.facts = self.facts or Store(constant.schema)
            self.facts.table.insert(columns, len(constant.rows))

    @property
    def each(self) -> Sequence[Search]:
        """The searches, one a rule."""
        return self._searches

    def least_ranks(
        self, columns: Sequence[Array], length: int, enough: int, view_of: Mapping[Source, Contents]
    ) -> Array:
        """The least rank that a derivation gives each row, NEVER if it has none. Where it is at most
        `enough`, it may not be the least."""
        best: Array = np.full(length, NEVER)
        if self.facts is not None:
            best[self.facts.table.find(columns, length) >= 0] = 0
        for search in self._searches:
            open_ = np.flatnonzero(best > enough)
            if not len(open_):
                break
            some = [column[open_] for column in columns]
            views = [view_of[source] for source in search.sources]
            for found in search.ranks(some, len(open_), views):
                ranks = 0 if found.times is None else found.times + 1
                np.minimum.at(best, open_[found.columns[0]], ranks)
        return best


def searches_of(
    rules: Sequence[FixpointRule[Joiner]],
    facts: Sequence[tuple[str, Constant]],
    schemas: Mapping[str, Schema],
    evaluator: Evaluator,
) -> dict[str, Searches] | None:
    """The searches for each relation of a recursion. None if some rule has an effect, or can be searched only
    by reading all of a relation, for want of a column that its head binds."""
    found: dict[str, list[Search]] = {head: [] for head in schemas}
    for rule in rules:
        for head, linear in rule.heads:
            search = _search(rule, schemas[head], linear, evaluator)
            if search is None:
                return None
            found[head].append(search)
    return {
        head: Searches(each, [constant for name, constant in facts if name == head], evaluator)
        for head, each in found.items()
    }


def _search(
    rule: FixpointRule[Joiner], head: Schema, linear: tuple[Joiner, ...], evaluator: Evaluator
) -> Search | None:
    node = rule.node
    steps, output = list(node.steps), node.output
    for number, joiner in enumerate(linear):
        if _repeats(joiner.node.terms[0]):
            return None
        output = _through(joiner.node, number, steps, output)
    if any(has_effect(step) for step in steps):
        return None
    asked = Term(-1, (*output, _ASKED))
    terms = (asked, *node.terms)
    join = Join(terms, tuple(steps), (_ASKED,), (_ASKED_COLUMN,), node.text)
    schemas = [(*head, _ASKED_COLUMN), *rule.join.schemas]
    stages = Stages(terms, join.steps, join.output, (), derived_keys(terms, join.steps))
    if any(
        isinstance(step, LookUp) and not step.positions and terms[step.term].columns
        for step in plan(stages, 0, _even)
    ):
        return None
    return Search(rule.sources, Joiner(join, schemas, evaluator), back(rule, linear))


def _repeats(term: Term) -> bool:
    named = [variable for variable in term.columns if variable is not None]
    return len(set(named)) < len(named)


def _even(term: int, positions: tuple[Position, ...]) -> float:
    """A fan-out that knows only the number of columns bound."""
    return float(10 ** -len(positions))


def _through(
    node: Join | DeltaJoin, number: int, steps: list[Step], output: tuple[str, ...]
) -> tuple[str, ...]:
    """Appends the steps of a linear join that reads these outputs. Returns its own outputs."""
    names: dict[str, str] = {}
    for place, variable in zip(output, node.terms[0].columns, strict=True):
        if variable is not None:
            names.setdefault(variable, place)

    def new(name: str) -> str:
        return names.setdefault(name, f"{name}${number}")

    steps += [rename_step(step, new) for step in node.steps]
    return tuple(map(new, node.output))
