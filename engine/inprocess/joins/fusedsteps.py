"""Look-ups fused with what follows them, so that most matches are never stored.

    left rows ── expand ──> matches ── words ──> in a hash set?
                                        │
         the next look-up's keys:  the matches that it finds, with their places there
         the target's rows:        the words that it does not hold yet

A look-up often gives many times the rows that its successor leaves, or that are new to the relation that a
rule derives. Here a kernel packs the word that decides as it expands the matches. It goes by the layouts of
the tables, so it fits where rows are packed, and one table has all matches of the look-up.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ... import thresholds
from ...planner import LookUp
from ...schema import Array
from ..arrangements.views import Matches, TableView
from ..kernels import expansion, packing
from ..storage import threadpool
from ..storage.batch import Batch
from ..storage.layout import PackedColumns, PackedLayout
from ..storage.table import RowTable
from .sieves import Sieves
from .valuation import Valuation


@dataclass(slots=True)
class _Words:
    """How words of some table are made: of columns of the left rows, and of columns of the right table, which
    are given by position. A table's layout may change while a join stands still."""

    table: RowTable
    right: RowTable
    sources: Sequence[Array | int]
    length: int
    strict: bool  # a left row that does not fit is not left out
    _layouts: tuple[PackedLayout | None, PackedLayout | None] = (None, None)
    base: Array = field(default_factory=lambda: np.empty(0, np.int64))
    fields: Array = field(default_factory=lambda: np.empty((0, 5), np.int64))

    def ready(self) -> bool:
        """Whether words can be made now."""
        made, right = self.table.layout, self.right.layout
        if made is None or right is None:
            return False
        if (made, right) == self._layouts:
            return True
        self.base = np.zeros(self.length, np.int64)
        fields, misfits = [], 0
        for to, source in zip(made.fields, self.sources, strict=True):
            if isinstance(source, int):
                one = right.fields[source]
                if abs(one.offset - to.offset) >= 1 << 62:
                    return False
                fields.append((one.shift, one.mask, one.offset - to.offset, 1 << to.width, to.shift))
            else:
                misfits += packing.pack(self.base, source, to.offset, to.width, to.shift)
        if misfits and self.strict:
            return False
        self.fields = np.array(fields, np.int64).reshape(len(fields), 5)
        self._layouts = made, right
        return True


def _sources(step: LookUp, rows: Valuation, names: Sequence[str]) -> list[Array | int]:
    bound: Mapping[str, int] = {name: position for position, name in step.binds}
    return [bound[name] if name in bound else rows.variables[name][1] for name in names]


def fits(step: LookUp, view: TableView, total: int) -> bool:
    """Whether a look-up with so many matches can be fused with what follows."""
    return (
        total >= thresholds.FUSED_MATCHES
        and not step.equal
        and not view.filters
        and not view.whole(step.positions)
        and view.table.layout is not None
    )


def reading_order(step: LookUp, view: TableView, groups: Array, total: int) -> Array | None:
    """The order of left rows in which their matches lie about one behind the other: by the first 16 bits of
    their groups, so that a radix sort finds it. None: it does not pay."""
    if total < thresholds.ORDERED_MATCHES * len(groups) or view.table.size < thresholds.ORDERED_TABLE:
        return None
    bits = view.index(step.positions).keys.size.bit_length()
    return np.argsort((groups >> max(0, bits - 16)).astype(np.uint16), kind="stable")


def found(
    step: LookUp,
    view: TableView,
    groups: Array,
    total: int,
    rows: Valuation,
    keys: RowTable,
    names: Sequence[str],
    sieves: Sieves,
    to_come: float,
) -> Generator[tuple[Matches, Array], None, int]:
    """The matches of a look-up whose values of `names` are a row of `keys`, with the ids of those rows. So
    many matches are to come in the run.

    Returns the number of left rows that are done: it stops when rows are no longer packed. Then matches of
    the next left row may have been given, which does no harm: a table changes during a join only if the
    join's results go into it, as into a set.
    """
    words = _Words(keys, view.table, _sources(step, rows, names), rows.length, False)
    i = j = 0
    while i < rows.length and words.ready():
        threadpool.safe_point()
        room = min(total, thresholds.FUSED_ROOM) + expansion.BLOCK
        left, right, ids = (np.empty(room, np.int64) for _ in range(3))
        slots, places, bits = keys.numbered_slots()
        sieve = sieves.of(keys)
        i, j, count = expansion.expand_found(
            groups,
            *view.index(step.positions).stretches(),
            view.below(step.positions),
            view.table.words,
            words.base,
            words.fields,
            slots,
            places,
            bits,
            left,
            right,
            ids,
            i,
            j,
            thresholds.FUSED_WORK,
            *sieve,
        )
        del slots, places
        to_come -= min(total, thresholds.FUSED_WORK)
        if count + expansion.BLOCK <= room:
            sieves.consider(keys, min(total, thresholds.FUSED_WORK), count, to_come)
        if count:
            yield view.part(left[:count], right[:count]), ids[:count]
    return i


def new(
    step: LookUp,
    view: TableView,
    groups: Array,
    total: int,
    rows: Valuation,
    held: RowTable,
    names: Sequence[str],
) -> Generator[Batch, None, int]:
    """The rows over `names` that a look-up gives and `held` does not have, some perhaps several times.

    Returns the number of left rows that are done: it stops before one that gives a value out of range.
    """
    words = _Words(held, view.table, _sources(step, rows, names), rows.length, True)
    i = j = 0
    while i < rows.length and words.ready():
        threadpool.safe_point()
        out = np.empty(min(total, thresholds.FUSED_ROOM_NEW) + expansion.BLOCK, np.int64)
        slots, bits = held.slots()
        begun = i
        i, j, count = expansion.expand_new(
            groups,
            *view.index(step.positions).stretches(),
            view.below(step.positions),
            view.table.words,
            words.base,
            words.fields,
            slots,
            bits,
            out,
            i,
            j,
            thresholds.FUSED_WORK,
        )
        del slots
        if count < 0:
            return begun
        if count:
            layout = held.layout
            assert layout is not None
            yield Batch(PackedColumns(layout, out[:count]), count)
    return i
