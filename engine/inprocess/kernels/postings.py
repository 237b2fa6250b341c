"""Kernels of indexes: the rows of each key, in a slab."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel


@kernel
def count(groups: Any, counts: Any) -> None:
    """Adds the number of rows of each group."""
    for i in range(groups.shape[0]):
        counts[groups[i]] += 1


@kernel
def scatter(groups: Any, rows: Any, cursor: Any, slab: Any) -> None:
    """Bulk build: puts each row id in its group's stretch of the slab. `cursor` is advanced."""
    for i in range(rows.shape[0]):
        group = groups[i]
        slab[cursor[group]] = rows[i]
        cursor[group] += 1


@kernel
def link(
    groups: Any, rows: Any, first: Any, count: Any, room: Any, slab: Any, end: int, place: Any
) -> tuple[int, int]:
    """Appends row ids to their groups' stretches, moving a full stretch to the slab's end.

    Returns (position reached, slab end); stops where the slab is too short for a move.
    """
    track = place.shape[0] > 0
    for i in range(rows.shape[0]):
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
def lay_out(room: Any, first: Any) -> int:
    """Adds an eighth to the room of each group, and notes where it begins if all lie one behind the other.
    Returns their end."""
    end = 0
    for group in range(room.shape[0]):
        room[group] += room[group] >> 3
        first[group] = end
        end += room[group]
    return end


@kernel
def move(first: Any, count: Any, slab: Any, places: Any, into: Any) -> None:
    """Copies each group's stretch to its place in another slab."""
    for group in range(count.shape[0]):
        start, to = first[group], places[group]
        for j in range(count[group]):
            into[to + j] = slab[start + j]


@kernel
def shift(first: Any, count: Any, slab: Any, places: Any) -> bool:
    """As `move`, in the same slab, if the stretches lie in the order of their groups, as the places do.
    False: they do not, and nothing has moved."""
    end = 0
    for group in range(count.shape[0]):
        if count[group] > 0:
            if first[group] < end:
                return False
            end = first[group] + count[group]
    for group in range(count.shape[0]):  # down, and then up: none meets one that has still to move
        start, to = first[group], places[group]
        if to < start:
            for j in range(count[group]):
                slab[to + j] = slab[start + j]
    for group in range(count.shape[0] - 1, -1, -1):
        start, to = first[group], places[group]
        if to > start:
            for j in range(count[group] - 1, -1, -1):
                slab[to + j] = slab[start + j]
    return True


@kernel
def unlink(groups: Any, rows: Any, first: Any, count: Any, slab: Any, place: Any) -> None:
    """Removes row ids from their groups: the group's last row takes the place of each. Without places it
    looks for each row in its group."""
    track = place.shape[0] > 0
    for i in range(rows.shape[0]):
        group = groups[i]
        last = first[group] + count[group] - 1
        at = last
        if track:
            at = place[rows[i]]
        else:
            while slab[at] != rows[i]:
                at -= 1
        moved = slab[last]
        slab[at] = moved
        if track:
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
def expand(groups: Any, first: Any, count: Any, slab: Any, total: int, limit: int) -> Any:
    """Every (position in `groups`, row id of that group), as two arrays, for row ids below `limit` only.
    Of all row ids there are `total`."""
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
