"""Linear recursions: of one relation, each rule of which is one look-up. Their iterations run in one kernel.

    R(x, y) :- E(x, y).                 searched by E(x, y)
    R(x, z) :- R(x, y), E(y, z).        searched and followed by E(y, z)

An epoch after a deletion has tens of iterations of some tens of rows each, and what an iteration does costs
little but the calls for it. The kernel does the same with the same kernels, and notes what changes as it
goes, so that the epoch can be taken back wherever it ends. What it cannot do it leaves to the general way:
a row that does not fit its word, a table without room, a look-up with many matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ... import thresholds
from ...rules import FixpointRule
from ..arrangements.store import Store
from ..joins.join import Joiner
from ..kernels import iterations as kernels
from ..storage.layout import PackedLayout
from .following import Following, LookedUp, forward
from .memories import Imported
from .rankedrelation import Ranked
from .search import Searches

NO_COLUMNS = PackedLayout(())
_WEIGHTS = 8  # the place of the weights in a look-up
_FACTS = -1  # stands for the facts where others have an import
_FEWEST = 4  # look-ups that the kernel is compiled for
_LOGGED = 1 << 12  # changes of ranks for which there is room at least


class Linear(NamedTuple):
    """The look-ups of a linear recursion: those that search derivations, of imports or facts alone and of the
    relation, and those that follow its rows."""

    relation: str
    facts: Store | None
    of_imports: Sequence[Following]
    of_relation: Sequence[Following]
    ways: Sequence[Following]


def linear_of(
    rules: Sequence[FixpointRule[Joiner]],
    searches: Mapping[str, Searches] | None,
) -> Linear | None:
    """The look-ups of a recursion, if it is linear."""
    if searches is None or len(searches) != 1:
        return None
    ((relation, found),) = searches.items()
    recursive = [forward(rule) for rule in rules if rule.starts]
    ways = [way for way in recursive if way is not None]
    if len(ways) != len(recursive):
        return None
    backs = [(each.recursive, each.back) for each in found.each if each.back is not None]
    if len(backs) != len(found.each) or not ways:
        return None
    of_imports, of_relation = ([back for reads, back in backs if reads == which] for which in (False, True))
    if found.facts is not None:
        every = tuple(range(len(found.facts.schema)))
        of_imports.append(Following(_FACTS, every, every, ()))
    return Linear(relation, found.facts, of_imports, of_relation, ways)


class LookUps(NamedTuple):
    """The look-ups of a linear recursion, ready for the kernel. The first `searches` of them search, those
    from number `linear` on rows of the relation. There are `number`; then the last one comes again, up to a
    length that recursions share: for each length the kernel is compiled once more."""

    each: tuple[LookedUp, ...]
    linear: int
    searches: int
    number: int


class Iterated(NamedTuple):
    """The iterations that were done, the last of them, and the rows looked up or found. `open`: what follows
    from the delta of the last one is to be derived in the general way."""

    done: int
    last: int
    spent: int
    open: bool


def ready(linear: Linear, layout: PackedLayout | None, imports: Mapping[int, Imported]) -> LookUps | None:
    """The look-ups of an epoch, if all of them can be done in the kernel."""
    if layout is None:
        return None
    sources = dict(imports)
    if linear.facts is not None:
        sources[_FACTS] = Imported(linear.facts, False, None)

    def ready_one(each: Following, made: PackedLayout, forward: bool) -> LookedUp | None:
        if each.source not in sources:
            return None
        store, weighted, _ = sources[each.source]
        return each.look_up(layout, store, made, weighted and forward)

    every = [ready_one(each, NO_COLUMNS, False) for each in linear.of_imports]
    every += [ready_one(each, layout, False) for each in linear.of_relation]
    searches = len(every)
    every += [ready_one(each, layout, True) for each in linear.ways]
    found = [each for each in every if each is not None and each[_WEIGHTS].dtype == np.int64]
    if len(found) < len(every):
        return None
    places = max(_FEWEST, 1 << (len(found) - 1).bit_length())
    each = (*found, *found[-1:] * (places - len(found)))
    return LookUps(each, len(linear.of_imports), searches, len(found))


def iterate(relation: Ranked, look_ups: LookUps, most: int) -> Iterated:
    """Runs iterations of the relation, at most so many."""
    table = relation.table
    words, slots, ids, bits, limit = table.with_room(1)
    room = min(limit - table.size, thresholds.FOLLOWED_ROWS)
    numbers = relation.numbers(table.size + room)
    rows, times, changes = relation.take_waiting()
    log = np.empty((2, max(_LOGGED, 2 * len(rows))), np.int64)
    state = np.zeros(5, np.int64)
    state[kernels.SIZE] = table.size
    try:
        rows, times, changes, delta = kernels.iterate(
            words,
            slots,
            ids,
            bits,
            numbers,
            room,
            rows,
            times,
            changes,
            *look_ups,
            thresholds.FOLLOWED_MATCHES,
            log[0],
            log[1],
            state,
            most,
            thresholds.FOLLOWED_WORK,
        )
    finally:
        size, logged, done, last, spent = state.tolist()
        table.size = size
        relation.moved(log[0, :logged], log[1, :logged], last)
    relation.wait(rows, times, changes, delta)
    return Iterated(done, last, spent, len(delta) > 0)
