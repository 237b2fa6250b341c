"""Kernels of recursions over paths (see `engine.paths`). Less is better; a key without a value has NONE.

Steps have ids. `first`, `count` and `slab` say which steps lead from each key but the start, `into_first` and
so on which lead into it: the ids of key k are slab[first[k] : first[k] + count[k]].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiler import kernel, part

NONE = 9223372036854775807


@part
def offer(cost: int, kind: int, value: int) -> int:
    """What a step gives the key that it leads to, from the value of its key: their sum, or the greater."""
    return cost + value if kind == 0 else max(cost, value)


@part
def longer(items: Any) -> Any:
    """An array that begins with the items, and has room for as many more."""
    found = np.empty(2 * items.shape[0] + 64, np.int64)
    for i in range(items.shape[0]):
        found[i] = items[i]
    return found


@part
def push(values: Any, keys: Any, size: int, value: int, key: int) -> None:
    """Puts a key into a heap that has room for it."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if values[above] <= value:
            break
        values[at] = values[above]
        keys[at] = keys[above]
        at = above
    values[at] = value
    keys[at] = key


@part
def pop(values: Any, keys: Any, size: int) -> None:
    """Takes the first of `size` keys out of a heap."""
    last = size - 1
    value = values[last]
    key = keys[last]
    at = 0
    while 2 * at + 1 < last:
        below = 2 * at + 1
        if below + 1 < last and values[below + 1] < values[below]:
            below += 1
        if values[below] >= value:
            break
        values[at] = values[below]
        keys[at] = keys[below]
        at = below
    values[at] = value
    keys[at] = key


@kernel
def spread(
    first: Any,
    count: Any,
    slab: Any,
    target: Any,
    cost: Any,
    kind: Any,
    value: Any,
    rank: Any,
    old: Any,
    mark: Any,
    touched: Any,
    used: int,
    offered: Any,
    offered_rank: Any,
    offered_to: Any,
) -> Any:
    """Gives keys the values offered, in rising order, where they are better, and what follows from them.

    A key that is given a value for the first time has its former one noted in `old`, is marked, and comes
    into `touched`, of which so many are used. Returns `touched`, which may have had to grow, and its length.
    """
    values = np.empty(64, np.int64)
    keys = np.empty(64, np.int64)
    size = 0
    queue = np.empty(64, np.int64)  # keys with the value of the moment, in order of rank
    begin = 0
    end = 0
    at = 0
    while True:
        if begin < end:
            node = queue[begin]
            begin += 1
        else:
            begin = 0
            end = 0
            if at < offered.shape[0] and (size == 0 or offered[at] <= values[0]):
                node = offered_to[at]
                at += 1
                if value[node] <= offered[at - 1]:
                    continue
                if mark[node] == 0:
                    mark[node] = 1
                    old[node] = value[node]
                    if used == touched.shape[0]:
                        touched = longer(touched)
                    touched[used] = node
                    used += 1
                value[node] = offered[at - 1]
                rank[node] = offered_rank[at - 1]
            elif size > 0:
                node = keys[0]
                best = values[0]
                pop(values, keys, size)
                size -= 1
                if value[node] != best:
                    continue
            else:
                break
        now = value[node]
        for j in range(first[node], first[node] + count[node]):
            step = slab[j]
            to = target[step]
            given = offer(cost[step], kind[step], now)
            if given >= value[to]:
                continue
            if mark[to] == 0:
                mark[to] = 1
                old[to] = value[to]
                if used == touched.shape[0]:
                    touched = longer(touched)
                touched[used] = to
                used += 1
            value[to] = given
            if given == now:
                rank[to] = rank[node] + 1
                if end == queue.shape[0]:
                    queue = longer(queue)
                queue[end] = to
                end += 1
            else:
                rank[to] = 0
                if size == values.shape[0]:
                    values = longer(values)
                    keys = longer(keys)
                push(values, keys, size, given, to)
                size += 1
    return touched, used


@kernel
def withdraw(
    first: Any,
    count: Any,
    slab: Any,
    into_first: Any,
    into_count: Any,
    into_slab: Any,
    source: Any,
    target: Any,
    cost: Any,
    kind: Any,
    value: Any,
    rank: Any,
    old: Any,
    mark: Any,
    doubted: Any,
) -> Any:
    """The keys that have lost their values, of those doubted and all that rest on them. They are marked,
    their former values noted in `old`, and have none any more."""
    waiting = longer(doubted)
    begin = 0
    end = doubted.shape[0]
    lost = np.empty(64, np.int64)
    used = 0
    while begin < end:
        node = waiting[begin]
        begin += 1
        now = value[node]
        if now == NONE:
            continue
        held = False
        for j in range(into_first[node], into_first[node] + into_count[node]):
            step = into_slab[j]
            origin = source[step]
            before = value[origin]
            if before == NONE:
                continue
            given = offer(cost[step], kind[step], before)
            if given == now and (before < now or rank[origin] < rank[node]):
                held = True
                break
        if held:
            continue
        if used == lost.shape[0]:
            lost = longer(lost)
        lost[used] = node
        used += 1
        mark[node] = 1
        old[node] = now
        value[node] = NONE
        for j in range(first[node], first[node] + count[node]):
            step = slab[j]
            to = target[step]
            given = offer(cost[step], kind[step], now)
            if value[to] == given:
                if end == waiting.shape[0]:
                    left = end - begin
                    more = np.empty(2 * left + 64, np.int64)
                    for i in range(left):
                        more[i] = waiting[begin + i]
                    waiting = more
                    begin = 0
                    end = left
                waiting[end] = to
                end += 1
    return lost[:used]


@kernel
def best_offers(
    nodes: Any,
    into_first: Any,
    into_count: Any,
    into_slab: Any,
    source: Any,
    cost: Any,
    kind: Any,
    value: Any,
    rank: Any,
) -> Any:
    """The best value that is offered to each key, NONE if none is, and the rank that it would have."""
    best = np.full(nodes.shape[0], NONE, np.int64)
    ranks = np.zeros(nodes.shape[0], np.int64)
    for i in range(nodes.shape[0]):
        node = nodes[i]
        for j in range(into_first[node], into_first[node] + into_count[node]):
            step = into_slab[j]
            before = value[source[step]]
            if before == NONE:
                continue
            given = offer(cost[step], kind[step], before)
            placed = 0 if given > before else rank[source[step]] + 1
            if given < best[i] or (given == best[i] and placed < ranks[i]):
                best[i] = given
                ranks[i] = placed
    return best, ranks


@kernel
def take_out(
    first: Any,
    count: Any,
    slab: Any,
    into_first: Any,
    into_count: Any,
    into_slab: Any,
    source: Any,
    target: Any,
    cost: Any,
    kind: Any,
    weight: Any,
    sources: Any,
    targets: Any,
    costs: Any,
    kinds: Any,
    weights: Any,
) -> Any:
    """Takes steps away, `weights` of each. Returns the ids of those of which none is left, and whether all
    were there; they still stand in the slabs."""
    gone = np.empty(sources.shape[0] + 64, np.int64)
    used = 0
    for i in range(sources.shape[0]):
        node = sources[i]
        to = targets[i]
        left = weights[i]
        if node > 0 and count[node] <= into_count[to]:  # steps from the start are listed by `to` alone
            start = first[node]
            stop = start + count[node]
            within = slab
        else:
            start = into_first[to]
            stop = start + into_count[to]
            within = into_slab
        for j in range(start, stop):
            step = within[j]
            if (
                weight[step] > 0
                and source[step] == node
                and target[step] == to
                and cost[step] == costs[i]
                and kind[step] == kinds[i]
            ):
                taken = min(left, weight[step])
                weight[step] -= taken
                left -= taken
                if weight[step] == 0:
                    if used == gone.shape[0]:
                        gone = longer(gone)
                    gone[used] = step
                    used += 1
                if left == 0:
                    break
        if left > 0:
            return gone[:used], False
    return gone[:used], True


@kernel
def depth(starts: Any, first: Any, count: Any, slab: Any, target: Any) -> int:
    """The greatest number of steps from the start to a key on the way that has the fewest; the start has a
    step to each of `starts`."""
    level = np.full(count.shape[0], -1, np.int64)
    queue = np.empty(count.shape[0], np.int64)
    end = 0
    for i in range(starts.shape[0]):
        to = starts[i]
        if level[to] < 0:
            level[to] = 1
            queue[end] = to
            end += 1
    begin = 0
    deepest = 0
    while begin < end:
        node = queue[begin]
        begin += 1
        deepest = level[node]
        for j in range(first[node], first[node] + count[node]):
            to = target[slab[j]]
            if level[to] < 0:
                level[to] = deepest + 1
                queue[end] = to
                end += 1
    return deepest


@kernel
def changed_offers(
    nodes: Any,
    first: Any,
    count: Any,
    slab: Any,
    target: Any,
    cost: Any,
    kind: Any,
    weight: Any,
    value: Any,
    old: Any,
) -> Any:
    """The offers that these keys make and those that they made with their `old` values, by the same steps:
    keys, values, and weights, negative for those of before."""
    total = 0
    for i in range(nodes.shape[0]):
        total += 2 * count[nodes[i]]
    to = np.empty(total, np.int64)
    values = np.empty(total, np.int64)
    weights = np.empty(total, np.int64)
    used = 0
    for i in range(nodes.shape[0]):
        node = nodes[i]
        for j in range(first[node], first[node] + count[node]):
            step = slab[j]
            for sign in range(2):
                carried = old[node] if sign == 0 else value[node]
                if carried == NONE:
                    continue
                given = offer(cost[step], kind[step], carried)
                to[used] = target[step]
                values[used] = given
                weights[used] = -weight[step] if sign == 0 else weight[step]
                used += 1
    return to[:used], values[:used], weights[:used]
