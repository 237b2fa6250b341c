"""Rules of one look-up, followed by packed rows: from the rows of a relation to those that they derive, and
from rows back to those that derive them.

    R(x, z) :- R(x, y), E(y, z).        forward:  R(x, y), look up E by y  ->  R(x, z)
                                        back:     R(x, z), look up E by z  ->  R(x, y)

An iteration after a deletion often has some tens of rows, and a join of them costs little but the calls for
it. Where the import has the arrangement and rows are packed, kernels do the look-ups of many iterations
(`linear`, `followedrounds`). Anything else is left to the general way, which makes arrangements as it needs
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import thresholds
from ...circuit import DeltaJoin, Join
from ...rules import FixpointRule, Source
from ...schema import Array
from ..arrangements.views import Readable, whole_row
from ..joins.join import Joiner
from ..storage.layout import PackedField, PackedLayout
from ..storage.table import RowTable

NOTHING: Array = np.empty(0, np.int64)
_NOWHERE: Any = NOTHING, np.empty(0, np.int32), np.empty(0, np.int32)  # the stretches of no index

_Fields: TypeAlias = Array
"""See `kernels.following`."""

LookedUp: TypeAlias = tuple[Any, ...]
"""The arguments of `kernels.follow` after the rows and the number of matches: the fields of keys; the hash
set of keys, the ids at its slots, and the bits of a place; whether keys are whole rows, or the stretches of
their rows; weights of the rows, whether they count, and their words; and the fields of derived rows, of the
row and of its match."""


class _Layouts(NamedTuple):
    """The layouts of the rows to start from, of the import, of the import's keys, and of the derived rows."""

    start: PackedLayout
    rows: PackedLayout
    keys: PackedLayout
    made: PackedLayout


@dataclass(slots=True)
class Following:
    """One look-up of an import, from rows of a relation. `keys` are the columns of these rows that the
    columns at `positions` of the import are equal to. `made` are the columns of the rows that it leads to:
    whether each is of the match, and its position."""

    source: int
    positions: tuple[int, ...]
    keys: tuple[int, ...]
    made: tuple[tuple[bool, int], ...]
    _layouts: _Layouts | None = None
    _fields: Sequence[_Fields] | None = None

    def look_up(
        self, start: PackedLayout, store: Readable, made: PackedLayout, weighted: bool
    ) -> LookedUp | None:
        """The look-up as `kernels.follow` takes it, from packed rows to packed rows. `weighted`: the weights
        of the import count. None: it is to be done in the general way."""
        keys = self._keys(store)
        if keys is None or keys.layout is None or store.table.layout is None:
            return None
        fields = self._fields_of(_Layouts(start, store.table.layout, keys.layout, made))
        if fields is None:
            return None
        keyed, of_left, of_right = fields
        whole = keys is store.table
        stretches = _NOWHERE if whole else store.indexes[self.positions].stretches()
        weights = NOTHING if store.weights is None else store.weights
        counted = weighted and store.weights is not None
        words = store.table.words
        return keyed, *keys.numbered_words(), whole, *stretches, weights, counted, words, of_left, of_right

    def _keys(self, store: Readable) -> RowTable | None:
        """The table in which keys are looked up, if it is ready."""
        if whole_row(self.positions, store.schema):
            table = store.table
            return table if table.is_numbered or table.size < thresholds.LARGE_TABLE else None
        index = store.indexes.get(self.positions)
        return None if index is None else index.searched()

    def _fields_of(self, layouts: _Layouts) -> Sequence[_Fields] | None:
        """The fields for `kernels.follow`: those of keys, and of derived rows those that are taken from the
        row and from its match. None: the ranges of values lie too far apart."""
        known = self._layouts
        if known is None or any(a is not b for a, b in zip(known, layouts, strict=True)):
            start, rows, keys, made = layouts
            keyed = [(start.fields[k], to) for k, to in zip(self.keys, keys.fields, strict=True)]
            ways = [*zip(self.made, made.fields, strict=True)] if self.made else []
            of_left = [(start.fields[k], to) for (is_match, k), to in ways if not is_match]
            of_right = [(rows.fields[k], to) for (is_match, k), to in ways if is_match]
            moves = [*map(moved, (keyed, of_left, of_right))]
            self._fields = [each for each in moves if each is not None]
            if len(self._fields) < len(moves):
                self._fields = None
            self._layouts = layouts  # last, since making the fields may run out of memory
        return self._fields


def moved(fields: Sequence[tuple[PackedField, PackedField]]) -> _Fields | None:
    """For the kernels, how fields of words are made of fields of others; None: the ranges of values lie too
    far apart."""
    if any(abs(a.offset - b.offset) >= 1 << 62 for a, b in fields):
        return None
    rows = [(a.shift, a.mask, a.offset - b.offset, 1 << b.width, b.shift) for a, b in fields]
    return np.array(rows, np.int64).reshape(len(rows), 5)


def following(
    node: Join | DeltaJoin,
    sources: Sequence[Source],
    bound: Sequence[str | None],
    wanted: Sequence[str | None],
) -> Following | None:
    """The look-up of the one import that a rule reads in a positive term, from rows that have these variables
    to rows that have those `wanted`; None where the rule has another form."""
    imports = [
        (k, source)
        for k, source in enumerate(sources)
        if isinstance(source, int) and not node.terms[k].negated
    ]
    if len(imports) != 1 or node.steps:
        return None
    ((at, source),) = imports
    columns = node.terms[at].columns
    of_left, of_match = places(bound), places(columns)
    if of_left is None or of_match is None:
        return None
    positions = tuple(sorted(of_match[name] for name in of_match.keys() & of_left.keys()))
    if not positions or not all(name in of_left or name in of_match for name in wanted):
        return None
    keys = tuple(of_left[str(columns[k])] for k in positions)
    made = [(False, of_left[n]) if n in of_left else (True, of_match[n]) for n in wanted if n is not None]
    return Following(source, positions, keys, tuple(made)) if len(made) == len(wanted) else None


def forward(rule: FixpointRule[Joiner]) -> Following | None:
    """The one look-up that leads from rows of the recursion to those that a rule derives from them."""
    recursive = [k for k, source in enumerate(rule.sources) if isinstance(source, str)]
    if len(recursive) != 1 or len(rule.heads) > 1 or rule.heads[0][1] or _excludes(rule):
        return None
    return following(rule.node, rule.sources, rule.node.terms[recursive[0]].columns, rule.node.output)


def back(rule: FixpointRule[Joiner], linear: Sequence[Joiner]) -> Following | None:
    """The one look-up that leads from rows of a head to the row of the recursion that derives each. `linear`
    are the joins on the way to the head."""
    recursive = [k for k, source in enumerate(rule.sources) if isinstance(source, str)]
    if linear or len(recursive) > 1 or _excludes(rule):
        return None
    wanted = rule.node.terms[recursive[0]].columns if recursive else ()
    return following(rule.node, rule.sources, rule.node.output, wanted)


def _excludes(rule: FixpointRule[Joiner]) -> bool:
    return any(term.negated for term in rule.node.terms)


def places(names: Sequence[str | None]) -> dict[str, int] | None:
    """The places of variables; None if one is there twice."""
    found = {name: k for k, name in enumerate(names) if name is not None}
    return found if len(found) == sum(name is not None for name in names) else None
