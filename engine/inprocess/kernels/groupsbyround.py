"""Kernels of groups by round (see `engine.nestedtime`): for each group a chain of entries, the last round
first; and lists of rows by group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import kernel


@kernel
def split_entries(head: Any, following: Any, when: Any, groups: Any, time: int) -> Any:
    """The entries of groups: (position in `groups`, entry) of those up to a round, and the same of the later
    ones."""
    past = 0
    later = 0
    for i in range(groups.shape[0]):
        at = head[groups[i]]
        while at >= 0:
            if when[at] <= time:
                past += 1
            else:
                later += 1
            at = following[at]
    past_left = np.empty(past, np.int64)
    past_entry = np.empty(past, np.int64)
    later_left = np.empty(later, np.int64)
    later_entry = np.empty(later, np.int64)
    past = 0
    later = 0
    for i in range(groups.shape[0]):
        at = head[groups[i]]
        while at >= 0:
            if when[at] <= time:
                past_left[past] = i
                past_entry[past] = at
                past += 1
            else:
                later_left[later] = i
                later_entry[later] = at
                later += 1
            at = following[at]
    return past_left, past_entry, later_left, later_entry


@kernel
def chains_of(head: Any, following: Any, rows: int, kept: Any, renumbered: Any) -> Any:
    """The chains of the groups 0 .. rows - 1 without the entries that are not `kept`: (following, the former
    numbers of the entries). `head` is rewritten; `renumbered` has room for the kept ones."""
    new_following = np.empty(renumbered.shape[0], np.int64)
    used = 0
    for row in range(rows):
        at = head[row]
        head[row] = -1
        last = -1
        while at >= 0:
            if kept[at]:
                renumbered[used] = at
                new_following[used] = -1
                if last < 0:
                    head[row] = used
                else:
                    new_following[last] = used
                last = used
                used += 1
            at = following[at]
    return new_following


@kernel
def turned(head: Any, following: Any, when: Any, weight: Any, rows: Any, changes: Any, time: int) -> Any:
    """For each row, whose entry of a round has changed: 1 if it was 0, -1 if it is 0 now, else 0."""
    out = np.zeros(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        at = head[rows[i]]
        while at >= 0 and when[at] != time:
            at = following[at]
        now = weight[at] if at >= 0 else 0
        out[i] = (1 if now != 0 else 0) - (1 if now != changes[i] else 0)
    return out


@kernel
def first_present(head: Any, following: Any, when: Any, weight: Any, rows: Any, time: int, step: int) -> int:
    """The place of the first of the rows, or with a step of -1 the last one, that is there in a round; -1 if
    none is."""
    place = 0 if step > 0 else rows.shape[0] - 1
    while 0 <= place < rows.shape[0]:
        total = 0
        at = head[rows[place]]
        while at >= 0:
            if when[at] <= time:
                total += weight[at]
            at = following[at]
        if total > 0:
            return place
        place += step
    return -1


@kernel
def link(first: Any, following: Any, groups: Any, rows: Any) -> None:
    """Puts rows into the lists of their groups, unless they are in them: `following` is -2 for a row in no
    list, and -1 for the last one of a list."""
    for i in range(rows.shape[0]):
        if following[rows[i]] == -2:
            following[rows[i]] = first[groups[i]]
            first[groups[i]] = rows[i]


@kernel
def listed(first: Any, following: Any, groups: Any) -> Any:
    """The rows in the lists of groups, each of which is given once."""
    count = 0
    for i in range(groups.shape[0]):
        row = first[groups[i]]
        while row >= 0:
            count += 1
            row = following[row]
    rows = np.empty(count, np.int64)
    count = 0
    for i in range(groups.shape[0]):
        row = first[groups[i]]
        while row >= 0:
            rows[count] = row
            count += 1
            row = following[row]
    return rows


@kernel
def unlink_ghosts(
    first: Any, following: Any, groups: Any, head: Any, following_entry: Any, weight: Any
) -> None:
    """Takes the rows that have no entry out of the lists of groups."""
    for i in range(groups.shape[0]):
        last = -1
        row = first[groups[i]]
        while row >= 0:
            after = following[row]
            at = head[row]
            while at >= 0 and weight[at] == 0:
                at = following_entry[at]
            if at >= 0:
                last = row
            else:
                following[row] = -2
                if last < 0:
                    first[groups[i]] = after
                else:
                    following[last] = after
            row = after
