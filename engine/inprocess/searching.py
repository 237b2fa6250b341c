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

from ..circuit import Constant, DeltaJoin, Join, Step, Term
from ..derived import Position, derived_keys
from ..operators.steps import has_effect, rename_step
from ..planner import LookUp, plan
from ..rules import FixpointRule, Source
from ..schema import Array, Column, Kind, Schema
from .batch import Batch
from .interner import encode_rows
from .join import Joiner
from .ranked import NEVER, RankedView
from .steps import Evaluator
from .table import RowTable
from .views import StoreView

Contents: TypeAlias = RankedView | StoreView

_ASKED = "$asked"
_ASKED_COLUMN = Column(_ASKED, Kind.INT, "$asked")


@dataclass(frozen=True, slots=True)
class Begin:
    """A term by which a search may begin: its columns that the head binds, and the columns of the head that
    bind them."""

    term: int
    positions: tuple[int, ...]
    columns: tuple[int, ...]
    join: Joiner


@dataclass(frozen=True, slots=True)
class Search:
    """The search for the derivations that one rule gives a relation. The join's first term is that of the
    rows asked for; `sources` are those of the other terms."""

    sources: tuple[Source, ...]
    join: Joiner
    begins: tuple[Begin, ...]

    @property
    def recursive(self) -> bool:
        """Whether the rule reads a relation of the recursion."""
        return any(isinstance(source, str) for source in self.sources)

    def ranks(self, columns: Sequence[Array], length: int, views: Sequence[Contents]) -> Iterator[Batch]:
        """The derivations of rows: their positions, with the greatest rank of the rows read. Each row is
        searched for from the term that has the fewest rows for it, of those that are arranged."""
        asked = Batch((*columns, np.arange(length)), length)
        counted = [
            (begin, counts)
            for begin in self.begins
            if (counts := _matches(views[begin.term - 1], begin, columns, length)) is not None
        ]
        if not counted or len(self.begins) < 2:
            yield from self.join.run(0, asked, [None, *views])
            return
        least = np.argmin([counts for _, counts in counted], axis=0)
        for number, (begin, counts) in enumerate(counted):
            rows = np.flatnonzero((least == number) & (counts > 0))
            if len(rows):
                seen = [First(v) if k == begin.term - 1 else v for k, v in enumerate(views)]
                yield from begin.join.run(0, asked.take(rows), [None, *seen])


def _matches(view: Contents, begin: Begin, columns: Sequence[Array], length: int) -> Array | None:
    """The number of rows that a look-up by some columns of the rows asked for gives each of them."""
    return view.counts(begin.positions, [columns[k] for k in begin.columns], length)


class First:
    """A view of the term that is to be looked up first."""

    def __init__(self, view: Contents) -> None:
        self.size, self.groups, self.expand = view.size, view.groups, view.expand
        self.presence = view.presence

    def fanout(self, positions: tuple[Position, ...]) -> float:
        """Less than that of any other."""
        return -1.0


class Searches:
    """The searches for the derivations of one relation, those that read only imports first."""

    def __init__(self, searches: Sequence[Search], facts: Sequence[Constant], evaluator: Evaluator) -> None:
        self._searches = sorted(searches, key=lambda each: each.recursive)
        self._evaluator = evaluator
        self._facts: RowTable | None = None
        for constant in facts:
            columns = encode_rows(evaluator.values, constant.schema, constant.rows)
            self._facts = self._facts or RowTable(len(constant.schema))
            self._facts.insert(columns, len(constant.rows))

    def least_ranks(
        self, columns: Sequence[Array], length: int, enough: int, view_of: Mapping[Source, Contents]
    ) -> Array:
        """The least rank that a derivation gives each row, NEVER if it has none. Where it is at most
        `enough`, it may not be the least."""
        best: Array = np.full(length, NEVER)
        if self._facts is not None:
            best[self._facts.find(columns, length) >= 0] = 0
        for search in self._searches:
            open_ = np.flatnonzero(best > enough)
            if not len(open_):
                break
            views = [view_of[source] for source in search.sources]
            for found in search.ranks([c[open_] for c in columns], len(open_), views):
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
    if any(
        isinstance(step, LookUp) and not step.positions and terms[step.term].columns
        for step in plan(terms, join.steps, join.output, 0, _even, (), derived_keys(terms, join.steps))
    ):
        return None
    begins = [
        Begin(
            number,
            positions,
            tuple(output.index(term.columns[p]) for p in positions),
            Joiner(join, schemas, evaluator),
        )
        for number, term in enumerate(terms)
        if number and not term.negated and (positions := _bound(term, output))
    ]
    return Search(rule.sources, Joiner(join, schemas, evaluator), tuple(begins))


def _bound(term: Term, output: Sequence[str]) -> tuple[int, ...]:
    """The columns of a term that are variables of a head."""
    return tuple(k for k, variable in enumerate(term.columns) if variable in output)


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
