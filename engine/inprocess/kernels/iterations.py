"""The iterations of a recursion with ranks whose rules are one look-up each: all of them in one kernel.

It runs what an iteration runs elsewhere kernel by kernel (`kernels.ranks`, `kernels.following`). A look-up is
a tuple, the arguments of `following.follow` after the first two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import following, hashing, ranks
from .compiler import kernel

SIZE, LOGGED, DONE, LAST, SPENT = range(5)
"""What a state of `iterate` holds: the size of the table, the ranks noted, the iterations done and the last
of them, and the rows that were looked up or found."""


@kernel
def first_due(rows: Any, times: Any, changes: Any) -> tuple[int, Any, Any, Any, Any, Any]:
    """Of derivations that wait, the first iteration, its rows once each with the sums of their changes, and
    the other derivations, moved together in the arrays given."""
    time = times[0]
    for i in range(times.shape[0]):
        time = min(time, times[i])
    due = np.empty(rows.shape[0], np.int64)
    sums = np.empty(rows.shape[0], np.int64)
    found = 0
    kept = 0
    for i in range(rows.shape[0]):
        if times[i] == time:
            due[found] = rows[i]
            sums[found] = changes[i]
            found += 1
        else:
            rows[kept] = rows[i]
            times[kept] = times[i]
            changes[kept] = changes[i]
            kept += 1
    due, sums = ranks.summed(due[:found], sums[:found])
    return time, due, sums, rows[:kept], times[:kept], changes[:kept]


@kernel
def least_ranks(
    words: Any,
    slots: Any,
    ids: Any,
    bits: int,
    numbers: Any,
    enough: int,
    searches: Any,
    linear: int,
    fanout: int,
    state: Any,
) -> tuple[Any, bool]:
    """The least ranks that derivations give rows, as `search.Searches.least_ranks` says. False: a search gave
    more than `fanout` matches of each row, and the ranks are not known. The searches from number `linear` on
    lead to rows of the relation."""
    best = np.full(words.shape[0], ranks.NEVER, np.int64)
    open_ = np.arange(words.shape[0])
    for k in range(len(searches)):
        left, made, _, done = following.follow(words[open_], fanout * (open_.shape[0] + 64), *searches[k])
        state[SPENT] += open_.shape[0] + made.shape[0]
        if not done:
            return best, False
        places = open_[left]
        if k < linear:
            best[places] = 0
        else:
            following.least_ranks(best, places, made, slots, ids, bits, numbers)
        open_ = np.flatnonzero(best > enough)
    return best, True


@kernel
def iterate(
    words: Any,
    slots: Any,
    ids: Any,
    bits: int,
    numbers: Any,
    room: int,
    rows: Any,
    times: Any,
    changes: Any,
    searches: Any,
    linear: int,
    ways: Any,
    fanout: int,
    log: Any,
    before: Any,
    state: Any,
    iterations: int,
    work: int,
) -> tuple[Any, Any, Any, Any]:
    """Runs iterations of one relation, given the derivations that wait: at most so many, until so much work
    is spent. The packed rows `words` are in a numbered hash set with room for `room` more; `numbers` are
    their ranks. `searches` lead back from rows, `ways` to new ones. `log` gets the rows whose ranks change,
    and `before` their numbers before; when these may be too short, the iterations end.

    A look-up that gives more than `fanout` matches of each row ends the iterations, and so does a row made
    that does not fit, or has no room: a search before its iteration, a way in its midst, with a delta whose
    consequences are not derived.

    Returns (rows, times and changes that wait from now on; the rows of such a delta).
    """
    delta = rows[:0]
    while rows.shape[0] and state[DONE] < iterations and state[SPENT] < work:
        if state[LOGGED] + rows.shape[0] > log.shape[0]:
            break
        time, due, sums, rows, times, changes = first_due(rows, times, changes)
        come, asked = ranks.decide(due, sums, numbers, time)
        best, done = least_ranks(
            words[asked], slots, ids, bits, numbers, time, searches, linear, fanout, state
        )
        if not done:
            times = np.concatenate((times, np.full(due.shape[0], time, np.int64)))
            return np.concatenate((rows, due)), times, np.concatenate((changes, sums)), delta
        moved, came, old, now, later, again, _ = ranks.settle(come, asked, best, numbers, time)
        for i in range(moved.shape[0]):
            if old[i] >= 0:
                log[state[LOGGED]] = moved[i]
                before[state[LOGGED]] = old[i]
                state[LOGGED] += 1
        for i in range(moved.shape[0]):
            numbers[moved[i]] = now[i] - (ranks.CAME if i < came else 0)
        state[DONE] += 1
        state[LAST] = time
        starts = words[moved]
        signs = np.ones(moved.shape[0], np.int64)
        signs[came:] = -1
        new = rows[:0]
        weights = rows[:0]
        for k in range(len(ways)):
            left, made, factors, fits = following.follow(starts, fanout * (moved.shape[0] + 64), *ways[k])
            done = done and fits
            new = np.concatenate((new, made))
            weights = np.concatenate((weights, signs[left] * factors))
        for i in range(new.shape[0]):
            done = done and new[i] >= 0
        if done:
            places = np.empty(new.shape[0], np.int64)
            size = state[SIZE]
            reached, state[SIZE] = hashing.number_new_words(
                slots, ids, bits, new, words, size, places, 0, room
            )
            room -= state[SIZE] - size
            done = reached == new.shape[0]
        state[SPENT] += new.shape[0]
        rows = np.concatenate((rows, later))
        times = np.concatenate((times, again))
        changes = np.concatenate((changes, np.zeros(later.shape[0], np.int64)))
        if not done:
            return rows, times, changes, moved
        following_, when, more, _ = ranks.take_in(
            places, np.full(new.shape[0], time + 1, np.int64), weights, numbers
        )
        rows = np.concatenate((rows, following_))
        times = np.concatenate((times, when))
        changes = np.concatenate((changes, more))
    return rows, times, changes, delta
