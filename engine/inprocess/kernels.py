"""The kernels: generic loops over int64 arrays, compiled by numba once per installation.

They know words and ids, not columns: a packed row is one non-negative word, a wide row a row of a
two-dimensional array, and -1 a word that no table holds. Open addressing with linear probing; the
multiplier is the golden ratio's (Knuth, The Art of Computer Programming, 6.4). All loops release the GIL.

Loading numba takes longer than a small program runs, so at first kernels are interpreted: the same
functions, as Python. When that has taken a while, or arrays get long, every name of a kernel in this
module is rebound to its compiled form; call kernels through the module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
EMPTY = np.int64(-1)

LONG = 20_000  # items of an array that are not worth interpreting a loop over
interpreted_seconds = 0.06  # that may still be spent in interpreted kernels
_kernels: list[Callable[..., Any]] = []


def kernel(function: F) -> F:
    """Makes a kernel of a function: interpreted while little is to do, compiled from then on."""
    _kernels.append(function)

    @functools.wraps(function)
    def interpreted(*arguments: Any) -> Any:
        global interpreted_seconds
        longest = max(a.shape[0] for a in arguments if isinstance(a, np.ndarray))
        if interpreted_seconds < 0 or longest > LONG:
            compile_kernels()
            return globals()[function.__name__](*arguments)
        start = perf_counter()
        with np.errstate(over="ignore"):
            result = function(*arguments)
        interpreted_seconds -= perf_counter() - start
        return result

    return cast(F, interpreted)


def compile_kernels() -> None:
    """Rebinds all kernels to their compiled forms; the machine code is kept beside the module."""
    import numba

    for function in _kernels:
        globals()[function.__name__] = numba.njit(cache=True, nogil=True, boundscheck=False)(function)


# ------------------------------------------------------------------- packing


@kernel
def pack(out: Any, column: Any, offset: int, width: int, shift: int) -> int:
    """Adds a column to words under construction; a value that does not fit makes the word -1.

    Returns the number of words that do not fit.
    """
    misfits = 0
    limit = np.uint64(1) << np.uint64(width)
    for i in range(column.shape[0]):
        value = np.uint64(column[i]) - np.uint64(np.int64(offset))
        if out[i] < 0 or column[i] < offset or value >= limit:
            out[i] = -1
            misfits += 1
        else:
            out[i] |= np.int64(value) << shift
    return misfits


@kernel
def unpack(words: Any, offset: int, mask: int, shift: int) -> Any:
    """A column of packed words."""
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        out[i] = ((words[i] >> shift) & mask) + offset
    return out


@kernel
def unpack_at(words: Any, rows: Any, offset: int, mask: int, shift: int) -> Any:
    """A column of the packed words at the given row ids."""
    out = np.empty(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        out[i] = ((words[rows[i]] >> shift) & mask) + offset
    return out


# ---------------------------------------------- tables of packed rows (words)


@kernel
def insert_words(slots: Any, bits: int, words: Any, new: Any, start: int, room: int) -> tuple[int, int]:
    """Inserts words[start:] in a hash set; the absent ones go to `new` in order.

    Stops when `room` words were new. Returns (position reached, number of new words).
    """
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    found = 0
    for i in range(start, words.shape[0]):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while True:
            held = slots[at]
            if held == word:
                break
            if held == EMPTY:
                if found == room:
                    return i, found
                slots[at] = word
                new[found] = word
                found += 1
                break
            at = (at + 1) & mask
    return words.shape[0], found


@kernel
def rehash_words(slots: Any, bits: int, words: Any, count: int) -> None:
    """Fills an empty hash set with distinct words."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for i in range(count):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = word


@kernel
def number_words(slots: Any, ids: Any, bits: int, words: Any, start: int, count: int) -> None:
    """Notes at each word's slot its position in `words`, for words[start:count]."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for i in range(start, count):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while slots[at] != word:
            at = (at + 1) & mask
        ids[at] = i


@kernel
def find_words(slots: Any, ids: Any, bits: int, words: Any) -> Any:
    """The id of each word, -1 where there is none."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    out = np.empty(words.shape[0], np.int64)
    for i in range(words.shape[0]):
        word = words[i]
        out[i] = -1
        if word < 0:
            continue
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while True:
            held = slots[at]
            if held == word:
                out[i] = ids[at]
                break
            if held == EMPTY:
                break
            at = (at + 1) & mask
    return out


@kernel
def number_new_words(
    slots: Any, ids: Any, bits: int, words: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """Finds or inserts words[start:]; `out` gets their ids, `rows` the new words from `count` on.

    Stops when `room` words were new. Returns (position reached, new count).
    """
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    limit = count + room
    for i in range(start, words.shape[0]):
        word = words[i]
        at = np.int64((np.uint64(word) * GOLDEN) >> shift)
        while True:
            held = slots[at]
            if held == word:
                out[i] = ids[at]
                break
            if held == EMPTY:
                if count == limit:
                    return i, count
                slots[at] = word
                ids[at] = count
                rows[count] = word
                out[i] = count
                count += 1
                break
            at = (at + 1) & mask
    return words.shape[0], count


# ------------------------------------------------------- tables of wide rows


@kernel
def _hash_row(row: Any, shift: Any) -> int:
    mixed = np.uint64(0)
    for j in range(row.shape[0]):
        mixed = (mixed ^ np.uint64(row[j])) * GOLDEN
        mixed ^= mixed >> np.uint64(29)
    return np.int64((mixed * GOLDEN) >> shift)  # type: ignore[return-value]


@kernel
def _same_row(a: Any, b: Any) -> bool:
    for j in range(a.shape[0]):  # noqa: SIM110 (any() is slower in a kernel)
        if a[j] != b[j]:
            return False
    return True


@kernel
def number_new_rows(
    slots: Any, bits: int, wide: Any, rows: Any, count: int, out: Any, start: int, room: int
) -> tuple[int, int]:
    """As number_new_words, for the rows of a two-dimensional array; slots hold ids."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    limit = count + room
    for i in range(start, wide.shape[0]):
        at = _hash_row(wide[i], shift)
        while True:
            held = slots[at]
            if held == EMPTY:
                if count == limit:
                    return i, count
                slots[at] = count
                rows[count] = wide[i]
                out[i] = count
                count += 1
                break
            if _same_row(rows[held], wide[i]):
                out[i] = held
                break
            at = (at + 1) & mask
    return wide.shape[0], count


@kernel
def rehash_rows(slots: Any, bits: int, rows: Any, count: int) -> None:
    """Fills an empty table with distinct wide rows."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for i in range(count):
        at = _hash_row(rows[i], shift)
        while slots[at] != EMPTY:
            at = (at + 1) & mask
        slots[at] = i


@kernel
def find_rows(slots: Any, bits: int, rows: Any, wide: Any) -> Any:
    """The id of each wide row, -1 where there is none."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    out = np.empty(wide.shape[0], np.int64)
    for i in range(wide.shape[0]):
        out[i] = -1
        at = _hash_row(wide[i], shift)
        while slots[at] != EMPTY:
            if _same_row(rows[slots[at]], wide[i]):
                out[i] = slots[at]
                break
            at = (at + 1) & mask
    return out


# ------------------------------------------------------------------- indexes


@kernel
def scatter(groups: Any, rows: Any, cursor: Any, slab: Any) -> None:
    """Bulk build: puts each row id in its group's stretch of the slab. `cursor` is advanced."""
    for i in range(rows.shape[0]):
        group = groups[i]
        slab[cursor[group]] = rows[i]
        cursor[group] += 1


@kernel
def link(
    groups: Any, rows: Any, first: Any, count: Any, room: Any, slab: Any, end: int, place: Any, start: int
) -> tuple[int, int]:
    """Appends row ids to their groups' stretches, moving a full stretch to the slab's end.

    Returns (position reached, slab end); stops where the slab is too short for a move.
    """
    track = place.shape[0] > 0
    for i in range(start, rows.shape[0]):
        group = groups[i]
        used = count[group]
        if used == room[group]:
            size = max(4, 2 * used)
            if end + size > slab.shape[0]:
                return i, end
            old = first[group]
            for j in range(used):
                slab[end + j] = slab[old + j]
                if track:
                    place[slab[old + j]] = end + j
            first[group] = end
            room[group] = size
            end += size
        at = first[group] + used
        slab[at] = rows[i]
        count[group] = used + 1
        if track:
            place[rows[i]] = at
    return rows.shape[0], end


@kernel
def unlink(groups: Any, rows: Any, first: Any, count: Any, slab: Any, place: Any) -> None:
    """Removes row ids from their groups: the group's last row takes the place of each."""
    for i in range(rows.shape[0]):
        group = groups[i]
        last = first[group] + count[group] - 1
        at = place[rows[i]]
        moved = slab[last]
        slab[at] = moved
        place[moved] = at
        count[group] -= 1


@kernel
def locate(first: Any, count: Any, groups: int, slab: Any, place: Any) -> None:
    """Notes where each row id of the slab stands."""
    for group in range(groups):
        for at in range(first[group], first[group] + count[group]):
            place[slab[at]] = at


@kernel
def total_matches(groups: Any, count: Any) -> int:
    """The number of rows in the given groups; -1 is no group."""
    total = 0
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            total += count[groups[i]]
    return total


@kernel
def expand(groups: Any, first: Any, count: Any, slab: Any, total: int) -> Any:
    """Every (position in `groups`, row id of that group), as two arrays of length `total`."""
    left = np.empty(total, np.int64)
    rows = np.empty(total, np.int64)
    at = 0
    for i in range(groups.shape[0]):
        group = groups[i]
        if group < 0:
            continue
        start = first[group]
        for j in range(start, start + count[group]):
            left[at] = i
            rows[at] = slab[j]
            at += 1
    return left, rows


@kernel
def expand_below(groups: Any, first: Any, count: Any, slab: Any, total: int, limit: int) -> Any:
    """As expand, for row ids below `limit` only."""
    left = np.empty(total, np.int64)
    rows = np.empty(total, np.int64)
    at = 0
    for i in range(groups.shape[0]):
        group = groups[i]
        if group < 0:
            continue
        start = first[group]
        for j in range(start, start + count[group]):
            if slab[j] < limit:
                left[at] = i
                rows[at] = slab[j]
                at += 1
    return left[:at], rows[:at]


# ------------------------------------------------------- weights and history


@kernel
def add_weights(weight: Any, rows: Any, change: Any) -> Any:
    """Adds changes to the rows' weights. Returns the rows whose sign of presence may have changed,
    each once, with the weight that each had before: two arrays."""
    touched = np.empty(rows.shape[0], np.int64)
    before = np.empty(rows.shape[0], np.int64)
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        old = weight[row]
        new = old + change[i]
        weight[row] = new
        if (old > 0) != (new > 0):
            touched[found] = row
            before[found] = old
            found += 1
    return touched[:found], before[:found]


@kernel
def net_presence(weight: Any, rows: Any, before: Any, mark: Any) -> Any:
    """Of rows that add_weights touched (some perhaps several times), the net changes of presence:
    (rows, +1 or -1). `mark` is scratch of zeros over all rows and is left so."""
    out = np.empty(rows.shape[0], np.int64)
    sign = np.empty(rows.shape[0], np.int64)
    found = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if mark[row]:
            continue
        mark[row] = 1
        was = before[i] > 0
        now = weight[row] > 0
        if was != now:
            out[found] = row
            sign[found] = 1 if now else -1
            found += 1
    for i in range(rows.shape[0]):
        mark[rows[i]] = 0
    return out[:found], sign[:found]


@kernel
def record(
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    used: int,
    rows: Any,
    times: Any,
    changes: Any,
    log: Any,
) -> int:
    """Adds (row, time, change) triples to the rows' histories: chains of (time, weight).

    `log[i]` gets the entry that triple i went to. Returns the number of entries in use; the caller
    has made room for one more entry a triple.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        at = head[row]
        while at >= 0 and when[at] != times[i]:
            at = following[at]
        if at < 0:
            at = used
            used += 1
            when[at] = times[i]
            weight[at] = 0
            following[at] = head[row]
            head[row] = at
        weight[at] += changes[i]
        log[i] = at
    return used


@kernel
def step_births(
    rows: Any,
    time: int,
    head: Any,
    following: Any,
    when: Any,
    weight: Any,
    birth: Any,
    stamp: Any,
    epoch: int,
) -> Any:
    """Distinct in a recursion, one iteration: the rows touched or scheduled at `time`.

    For each row, S(k) is 1 from the first k at which the sum of its weights up to k is positive;
    `birth` is 1 + that k before this epoch (0: never). Emits
    (S_new(time) - S_new(time-1)) - (S_old(time) - S_old(time-1)), and schedules the row at the next
    time at which this may be nonzero. `stamp` keeps a row from being treated twice.
    Returns (emitted rows, their weights, scheduled rows, their times).
    """
    out = np.empty(rows.shape[0], np.int64)
    change = np.empty(rows.shape[0], np.int64)
    later = np.empty(rows.shape[0], np.int64)
    later_time = np.empty(rows.shape[0], np.int64)
    found = 0
    scheduled = 0
    code = epoch * 4294967296 + time
    for i in range(rows.shape[0]):
        row = rows[i]
        if stamp[row] == code:
            continue
        stamp[row] = code
        upto_now = 0
        upto_before = 0
        next_time = -1
        at = head[row]
        while at >= 0:
            if when[at] <= time:
                upto_now += weight[at]
                if when[at] < time:
                    upto_before += weight[at]
            elif weight[at] > 0 and (next_time < 0 or when[at] < next_time):
                next_time = when[at]
            at = following[at]
        born = birth[row] - 1
        emit = 0
        if upto_now > 0 and upto_before <= 0:
            emit += 1
        elif upto_now <= 0 and upto_before > 0:
            emit -= 1
        if born == time:
            emit -= 1
        if emit != 0:
            out[found] = row
            change[found] = emit
            found += 1
        if upto_now > 0:
            next_time = -1
        if born > time and (next_time < 0 or born < next_time):
            next_time = born
        if next_time >= 0:
            later[scheduled] = row
            later_time[scheduled] = next_time
            scheduled += 1
    return out[:found], change[:found], later[:scheduled], later_time[:scheduled]


@kernel
def settle_births(rows: Any, head: Any, following: Any, when: Any, weight: Any, birth: Any, out: Any) -> None:
    """The births of touched rows when the epoch ends: the first time with a positive sum, else -1.

    After an epoch the sums over time never fall, so that is the least time of positive weight.
    `out[i]` gets the birth that row i had before; births are kept plus one, 0 for absent rows.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        least = -1
        at = head[row]
        while at >= 0:
            if weight[at] > 0 and (least < 0 or when[at] < least):
                least = when[at]
            at = following[at]
        out[i] = birth[row]
        birth[row] = least + 1


@kernel
def compact_history(head: Any, following: Any, when: Any, weight: Any, rows: int) -> Any:
    """The histories of rows 0 .. rows-1 without entries of weight 0, each row's entries together.

    Returns (following, when, weight, entries in use); `head` is rewritten.
    """
    live = 0
    for row in range(rows):
        at = head[row]
        while at >= 0:
            if weight[at] != 0:
                live += 1
            at = following[at]
    new_following = np.empty(live, np.int64)
    new_when = np.empty(live, np.int64)
    new_weight = np.empty(live, np.int64)
    used = 0
    for row in range(rows):
        at = head[row]
        head[row] = -1
        while at >= 0:
            if weight[at] != 0:
                new_following[used] = head[row]
                new_when[used] = when[at]
                new_weight[used] = weight[at]
                head[row] = used
                used += 1
            at = following[at]
    return new_following, new_when, new_weight, used


@kernel
def chain_overlay(groups: Any, head: Any, following: Any, start: int) -> None:
    """Prepends the overlay entries start, start+1, ... to their groups' chains."""
    for i in range(groups.shape[0]):
        following[start + i] = head[groups[i]]
        head[groups[i]] = start + i


@kernel
def total_overlay(groups: Any, head: Any, following: Any, mark: int) -> int:
    """The number of overlay entries below `mark` in the given groups' chains."""
    total = 0
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            at = head[groups[i]]
            while at >= 0:
                if at < mark:
                    total += 1
                at = following[at]
    return total


@kernel
def expand_overlay(groups: Any, head: Any, following: Any, mark: int, total: int) -> Any:
    """Every (position in `groups`, overlay entry below `mark` of that group), `total` of them."""
    left = np.empty(total, np.int64)
    entry = np.empty(total, np.int64)
    found = 0
    for i in range(groups.shape[0]):
        if groups[i] >= 0:
            at = head[groups[i]]
            while at >= 0:
                if at < mark:
                    left[found] = i
                    entry[found] = at
                    found += 1
                at = following[at]
    return left, entry


@kernel
def accumulate(totals: Any, groups: Any, values: Any, weights: Any) -> None:
    """totals[group] += value * weight, wrapping."""
    for i in range(groups.shape[0]):
        totals[groups[i]] += values[i] * weights[i]


@kernel
def first_seen(groups: Any, mark: Any) -> Any:
    """The distinct groups in order of first occurrence. `mark` is scratch of zeros, left so."""
    out = np.empty(groups.shape[0], np.int64)
    found = 0
    for i in range(groups.shape[0]):
        if not mark[groups[i]]:
            mark[groups[i]] = 1
            out[found] = groups[i]
            found += 1
    for i in range(found):
        mark[out[i]] = 0
    return out[:found]
