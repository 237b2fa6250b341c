"""Nested time for recursions that are not monotone: what an operator emits in a round, in one epoch.

A row of a recursion by rounds may come and go several times within one evaluation. Its *timeline* has the
changes of its weight by round, and its weight in a round is their sum up to there. An epoch makes another
timeline of the old one, and tells the readers the difference:

    round                      0    1    2    3    4
    timeline before            .   +1    .   -1   +1          there in the rounds 1, 2 and from 4 on
    this epoch                +1    .    .   +1   -1
    timeline now              +1   +1    .    .    .          an input: there from 0 on
    distinct before            .   +1    .   -1   +1
    distinct now              +1    .    .    .    .
    change of distinct        +1   -1    .   +1   -1          = what the readers are told, in these rounds

An operator Q that is not linear (*distinct*, a group) keeps the timeline of its input and that of its output.
The rounds are visited in order. When round i is visited, all changes of the input up to i are known, and the
output is right up to i - 1. So there is one thing to tell:

    missing(i)  =  Q(input up to i)  -  output up to i                                               (the law)

where the input holds the changes of this epoch, and the output those told so far, beside the entries of the
epochs before at and after i. Nothing needs to be known of the timelines before. `missing` is 0 unless

- the epoch changes the input in round i, or
- it changed the input or the output earlier, and the input has an entry in round i

for the key in question: for the row, or the group that it is in. So a key that the epoch touches is visited
at its own entries from there on, and no other key is visited at all.

A group whose aggregates are sums over its members (count, sum, mean) needs no look at them: its accumulators
have a timeline, of one entry a round, and those of a round are the sum up to there. An entry at which they do
not change need not be visited, for neither did the output change there:

    shares of a company by round    +30   +25    .    +10 -10     +5
    entry of its group (n, sum)    1, 30  1, 25  .      0, 0     1, 5
    in the round                     30    55    55      55       60

An aggregate that looks at members is visited where one of them has an entry. The least of them in a round is
the first in order that is there; any other function reads all that are there.

A join is bilinear. Its entry from an entry of either side lies in the later one of their rounds, and each
change is joined, when its round is visited, with the timeline that the other side has then. Whatever of that
lies before the round may be summed up first. A negated term is 1 minus the presence of its row, a timeline,
too.

`inprocess/kernels/timelinesbyround.py` and `inprocess/groups/roundgroup.py` must agree with the functions
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from . import zset
from .zset import Row, Zset

Timeline: TypeAlias = Mapping[int, Zset]
"""The changes of a Z-set by round."""


def upto(timeline: Timeline, time: int) -> Zset:
    """The Z-set in a round."""
    return zset.add({}, *(change for t, change in timeline.items() if t <= time))


def added(timeline: Timeline, change: Timeline) -> dict[int, Zset]:
    """The sum of two timelines."""
    sums = {t: zset.add(timeline.get(t, {}), change.get(t, {})) for t in {*timeline, *change}}
    return {t: rows for t, rows in sums.items() if rows}


def missing(operator: Callable[[Zset], Zset], source: Timeline, told: Timeline, time: int) -> Zset:
    """What an operator emits when a round is visited, given its input, with the epoch's changes up to the
    round, and its output, which is right in all rounds before."""
    return zset.subtract(operator(upto(source, time)), upto(told, time))


def of_keys(timeline: Timeline, keys: Iterable[Row], arity: int) -> dict[int, Zset]:
    """The part of a timeline whose rows begin with one of these keys."""
    wanted = set(keys)
    return {
        t: {r: w for r, w in rows.items() if r[:arity] in wanted}
        for t, rows in timeline.items()
        if any(r[:arity] in wanted for r in rows)
    }


def maintain(
    operator: Callable[[Zset], Zset], arity: int, source: Timeline, told: Timeline, change: Timeline
) -> dict[int, Zset]:
    """The change of the output of an operator that works key by key, the first `arity` columns, for a change
    of its input. `source` and `told` are its input and output before."""
    emitted: dict[int, Zset] = {}
    touched: set[Row] = set()
    done: dict[int, Zset] = {}
    for time in sorted({*source, *change}):
        done[time] = change.get(time, {})
        touched |= {row[:arity] for row in done[time]}
        known = of_keys(added(source, done), touched, arity)
        if time in known or done[time]:
            told_now = of_keys(added(told, emitted), touched, arity)
            emitted[time] = missing(operator, known, told_now, time)
    return {t: rows for t, rows in emitted.items() if rows}


Sums: TypeAlias = tuple[int, int]
"""The accumulators of a group: the number of its members, and the sum of a column of them."""


def sums_by_round(source: Timeline, arity: int, column: int) -> dict[Row, dict[int, Sums]]:
    """The changes of the accumulators of each group by round, where there are some. The source is a set in
    each round; the first `arity` columns are the key."""
    found: dict[Row, dict[int, Sums]] = {}
    for time, rows in source.items():
        for row, weight in rows.items():
            group = found.setdefault(row[:arity], {})
            count, total = group.get(time, (0, 0))
            group[time] = count + weight, total + weight * row[column]
    return {key: {t: sums for t, sums in group.items() if any(sums)} for key, group in found.items()}


def maintain_sums(
    result: Callable[[Row, Sums], Row],
    arity: int,
    column: int,
    source: Timeline,
    told: Timeline,
    change: Timeline,
) -> dict[int, Zset]:
    """`maintain` for a group whose row follows from its key and its accumulators."""
    emitted: dict[int, Zset] = {}
    touched: set[Row] = set()
    done: dict[int, Zset] = {}
    for time in sorted({*source, *change}):
        done[time] = change.get(time, {})
        changed = {row[:arity] for row in done[time]}
        touched |= changed
        groups = sums_by_round(added(source, done), arity, column)
        visited = {key for key in touched if key in changed or time in groups.get(key, {})}
        now = []
        for key in visited:
            past = [sums for t, sums in groups.get(key, {}).items() if t <= time]
            count, total = (sum(parts) for parts in zip((0, 0), *past, strict=True))
            if count:
                now.append(result(key, (count, total)))
        emitted[time] = zset.subtract(
            zset.of_rows(now), upto(of_keys(added(told, emitted), visited, arity), time)
        )
    return {t: rows for t, rows in emitted.items() if rows}


def product(
    left: Timeline, right: Timeline, joined: Callable[[Zset, Zset], Zset], time: int
) -> dict[int, Zset]:
    """The join of the changes of the left side in round `time` with the timeline of the right one: what is
    before the round counts as one change in it."""
    change = left.get(time, {})
    later = {t: joined(change, rows) for t, rows in right.items() if t > time}
    return {t: rows for t, rows in {time: joined(change, upto(right, time)), **later}.items() if rows}
