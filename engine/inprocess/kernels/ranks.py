"""Kernels of ranked relations (see `engine.ranks`).

The rank of a row is kept as one number of 32 bits: 1 + rank for a row that is present, plus CAME if it came
at the running iteration; 0 for a row that is absent; -(1 + rank) for a row that left in the running epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import hashing
from .compiler import kernel

CAME = 1 << 30

NEVER = 1 << 60
"""The rank of a row without a derivation."""


@kernel
def seen(left: Any, rows: Any, ranks: Any, gone: int) -> Any:
    """The matches that are there, with their ranks. `gone` 0: as they are now; else as before the running
    iteration, of which `gone` is the number of a row that left at it.

    Returns (left, rows, ranks); the first two are the given arrays, moved together.
    """
    times = np.empty(rows.shape[0], np.int64)
    found = 0
    for i in range(rows.shape[0]):
        number = np.int64(ranks[rows[i]])
        if number > 0:
            if number >= CAME:
                if gone != 0:
                    continue
                number -= CAME
        elif number < 0 and number == gone:
            number = -number
        else:
            continue
        left[found] = left[i]
        rows[found] = rows[i]
        times[found] = number - 1
        found += 1
    return left[:found], rows[:found], times[:found]


@kernel
def take_in(rows: Any, times: Any, changes: Any, ranks: Any) -> Any:
    """The derivations that may change presence: of those of absent rows all, and of those of a row that is
    present the ones taken back that its rank may rest on, which are to be looked at when its rank comes.

    Returns (rows, times, changes, whether all times are the same).
    """
    out = np.empty(rows.shape[0], np.int64)
    when = np.empty(rows.shape[0], np.int64)
    change = np.empty(rows.shape[0], np.int64)
    found = 0
    same = True
    for i in range(rows.shape[0]):
        number = np.int64(ranks[rows[i]])
        if number > 0:
            if number >= CAME:
                number -= CAME
            if changes[i] >= 0 or times[i] >= number:
                continue
            when[found] = number - 1
            change[found] = 0
        else:
            when[found] = times[i]
            change[found] = changes[i]
        out[found] = rows[i]
        same = same and when[found] == when[0]
        found += 1
    return out[:found], when[:found], change[:found], same


@kernel
def decide(rows: Any, changes: Any, ranks: Any, time: int) -> Any:
    """The fate of rows at an iteration: those that come, and those whose derivations must be searched.

    A row in `rows` may occur only once; `changes` is the sum of its derivations.
    """
    come = np.empty(rows.shape[0], np.int64)
    ask = np.empty(rows.shape[0], np.int64)
    found = 0
    asked = 0
    for i in range(rows.shape[0]):
        number = np.int64(ranks[rows[i]])
        if number > 0:
            if number == time + 1:
                ask[asked] = rows[i]
                asked += 1
        elif changes[i] > 0:
            come[found] = rows[i]
            found += 1
        elif number < 0:
            ask[asked] = rows[i]
            asked += 1
    return come[:found], ask[:asked]


@kernel
def settle(come: Any, asked: Any, best: Any, ranks: Any, time: int) -> Any:
    """Which rows change at iteration `time`: the rows `come`, and of the rows `asked`, whose least ranks
    `best` a search has found, those whose presence is another one now. An asked row with a rank above `time`
    leaves if it is there, and is looked at again in the iteration of that rank, if it has one.

    Returns (rows that change, those that come first; how many come; their numbers before, and from now on;
    rows to be looked at later; the iterations; whether these are all the same).
    """
    most = come.shape[0] + asked.shape[0]
    rows = np.empty(most, np.int64)
    before = np.empty(most, np.int64)
    now = np.empty(most, np.int64)
    later = np.empty(asked.shape[0], np.int64)
    times = np.empty(asked.shape[0], np.int64)
    came = come.shape[0]
    for i in range(came):  # a slice takes ten times as long to compile
        rows[i] = come[i]
    waiting = 0
    same = True
    for i in range(asked.shape[0]):
        if best[i] > time:
            if best[i] < NEVER:
                later[waiting] = asked[i]
                times[waiting] = best[i]
                same = same and best[i] == times[0]
                waiting += 1
        elif ranks[asked[i]] <= 0:
            rows[came] = asked[i]
            came += 1
    found = came
    for i in range(asked.shape[0]):
        if best[i] > time and ranks[asked[i]] > 0:
            rows[found] = asked[i]
            found += 1
    for i in range(found):
        before[i] = ranks[rows[i]]
        now[i] = CAME + time + 1 if i < came else -(time + 1)
    return rows[:found], came, before[:found], now[:found], later[:waiting], times[:waiting], same


@kernel
def summed(rows: Any, changes: Any) -> Any:
    """The rows once each, with the sums of their changes."""
    bits = 4
    while 1 << bits < 2 * rows.shape[0]:
        bits += 1
    slots = np.full(1 << bits, -1, np.int64)
    ids = np.empty(1 << bits, np.int32)
    out = np.empty(rows.shape[0], np.int64)
    places = np.empty(rows.shape[0], np.int64)
    none: Any = np.int64(0)  # a literal has a type of its own, for which a kernel is compiled again
    _, found = hashing.number_new_words(slots, ids, bits, rows, out, none, places, none, rows.shape[0])
    total = np.zeros(found, np.int64)
    for i in range(rows.shape[0]):
        total[places[i]] += changes[i]
    return out[:found], total
