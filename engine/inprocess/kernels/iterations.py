"""The iterations of a recursion with ranks whose rules are one look-up each: all of them in one kernel.

It runs what an iteration runs elsewhere kernel by kernel (`kernels.ranks`, `kernels.following`). A look-up is
a tuple, the arguments of `following.follow` after the first two.

What NumPy and slices have one word for stands here as loops, and in one function: numba takes long to compile
the former, and compiles a kernel once more in each that calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import following, hashing, ranks
from .compiler import kernel

SIZE, LOGGED, DONE, LAST, SPENT = range(5)
"""Places in the array `state` of `iterate`: the number of rows in the table, of changed ranks in the log, and
of iterations that ran; the last of these iterations; and the number of rows looked up or found."""


@kernel
def joined(items: Any, more: Any) -> Any:
    """The items of two arrays, one after the other. What NumPy has for it takes longer to compile."""
    out = np.empty(items.shape[0] + more.shape[0], np.int64)
    for i in range(items.shape[0]):
        out[i] = items[i]
    for i in range(more.shape[0]):
        out[items.shape[0] + i] = more[i]
    return out


@kernel
def first_due(rows: Any, times: Any, changes: Any) -> tuple[int, Any, Any, Any, Any, Any]:
    """Of derivations that wait, the first iteration, its derivations, and the others, moved together in the
    arrays given."""
    time = times[0]
    for i in range(times.shape[0]):
        time = min(time, times[i])
    due = np.empty(rows.shape[0], np.int64)
    change = np.empty(rows.shape[0], np.int64)
    found = 0
    kept = 0
    for i in range(rows.shape[0]):
        if times[i] == time:
            due[found] = rows[i]
            change[found] = changes[i]
            found += 1
        else:
            rows[kept] = rows[i]
            times[kept] = times[i]
            changes[kept] = changes[i]
            kept += 1
    return time, due[:found], change[:found], rows[:kept], times[:kept], changes[:kept]


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
    look_ups: Any,
    linear: int,
    searches: int,
    count: int,
    fanout: int,
    log: Any,
    before: Any,
    state: Any,
    iterations: int,
    work: int,
) -> tuple[Any, Any, Any, Any]:
    """Runs iterations of one relation, given the derivations that wait: at most so many, until so much work
    is spent. The packed rows `words` are in a numbered hash set with room for `room` more; `numbers` are
    their ranks. Of the `count` look-ups the first `searches` lead back from rows, those from number `linear`
    on to rows of the relation, and the others lead to new rows. `log` gets the rows whose ranks change, and
    `before` their numbers before; when these may be too short, the iterations end.

    A look-up that gives more than `fanout` matches of each row ends the iterations, and so does a row made
    that does not fit, or has no room: a search before its iteration, a way in its midst, with a delta whose
    consequences are not derived.

    Returns (rows, times and changes that wait from now on; the rows of such a delta).
    """
    delta = rows[:0]
    first: Any = np.int64(0)  # see `ranks.summed`
    while rows.shape[0] and state[DONE] < iterations and state[SPENT] < work:
        if state[LOGGED] + rows.shape[0] > log.shape[0]:
            break
        time, due, sums, rows, times, changes = first_due(rows, times, changes)
        due, sums = ranks.summed(due, sums)
        come, asked = ranks.decide(due, sums, numbers, time)
        done = True
        starts = np.empty(due.shape[0], np.int64)
        best = np.empty(asked.shape[0], np.int64)  # the least ranks, as `search.Searches.least_ranks` says
        open_ = np.empty(asked.shape[0], np.int64)
        for i in range(asked.shape[0]):
            best[i] = ranks.NEVER
        for k in range(searches):
            found = 0
            for i in range(asked.shape[0]):
                if best[i] > time:
                    open_[found] = i
                    starts[found] = words[asked[i]]
                    found += 1
            left, made, _, fits = following.follow(starts[:found], fanout * (found + 64), *look_ups[k])
            done = done and fits
            state[SPENT] += found + made.shape[0]
            for i in range(left.shape[0]):
                left[i] = open_[left[i]]
                if k < linear:
                    best[left[i]] = 0
            if k >= linear:
                following.least_ranks(best, left, made, slots, ids, bits, numbers)
        if not done:
            again = np.empty(due.shape[0], np.int64)
            for i in range(due.shape[0]):
                again[i] = time
            return joined(rows, due), joined(times, again), joined(changes, sums), delta
        moved, came, old, now, later, again, _ = ranks.settle(come, asked, best, numbers, time)
        signs = np.empty(moved.shape[0], np.int64)
        for i in range(moved.shape[0]):
            if old[i] >= 0:
                log[state[LOGGED]] = moved[i]
                before[state[LOGGED]] = old[i]
                state[LOGGED] += 1
            signs[i] = 1 if i < came else -1
            starts[i] = words[moved[i]]
        for i in range(moved.shape[0]):
            numbers[moved[i]] = now[i] - (ranks.CAME if i < came else 0)
        state[DONE] += 1
        state[LAST] = time
        new = rows[:0]
        weights = rows[:0]
        for k in range(searches, count):
            most = fanout * (moved.shape[0] + 64)
            left, made, factors, fits = following.follow(starts[: moved.shape[0]], most, *look_ups[k])
            done = done and fits
            for i in range(left.shape[0]):
                factors[i] *= signs[left[i]]
                done = done and made[i] >= 0
            new = joined(new, made)
            weights = joined(weights, factors)
        places = np.empty(new.shape[0], np.int64)
        when = np.empty(new.shape[0], np.int64)
        if done:
            size = state[SIZE]
            reached, state[SIZE] = hashing.number_new_words(
                slots, ids, bits, new, words, size, places, first, room
            )
            room -= state[SIZE] - size
            done = reached == new.shape[0]
        state[SPENT] += new.shape[0]
        for i in range(later.shape[0]):
            best[i] = 0
        rows = joined(rows, later)
        times = joined(times, again)
        changes = joined(changes, best[: later.shape[0]])
        if not done:
            return rows, times, changes, moved
        for i in range(new.shape[0]):
            when[i] = time + 1
        places, when, weights, _ = ranks.take_in(places, when, weights, numbers)
        rows = joined(rows, places)
        times = joined(times, when)
        changes = joined(changes, weights)
    return rows, times, changes, delta
