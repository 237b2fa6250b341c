"""Workloads whose joins go wrong by mean fan-outs: skewed graphs, a star, a points-to analysis over text."""

from __future__ import annotations

import numpy as np
from workloads import Ints, Random, Relations, Text, Workload, graph, rows, without_duplicates, without_loops


def skewed(random: Random, bound: int, count: int, power: float) -> Ints:
    """Integers from 0 to bound - 1; the higher the power, the more of them are low."""
    return np.minimum((bound * random.unit(count) ** power).astype(np.int64), bound - 1)


def skewed_graph(n: int, m: int, power: float, ascending: bool = False, seed: int = 21) -> Relations:
    """A graph of about m edges; few nodes have most of them, as tails and as heads. `ascending`: all edges
    lead from a lower node to a higher one."""
    random = Random(seed)
    edges = without_loops(rows(skewed(random, n, m, power), skewed(random, n, m, power)))
    if ascending:
        edges = np.sort(edges, axis=1)
    # Popular nodes lie anywhere among the numbers.
    names = np.argsort(random.words(n)) if not ascending else np.arange(n)
    return {"Edge": without_duplicates(names[edges])}


def star(keys: int, points: int, seed: int = 22) -> Relations:
    """Six relations over the same keys. Each has many rows for few keys, which the next has not."""
    random = Random(seed)
    made = {}
    for k, name in enumerate("ABCDEF"):
        spread = rows(random.below(keys, keys), random.below(points, keys))
        few = (random.below(keys // 600, points) * 6 + k) * 100
        missing = (spread[:, 0] % 600 // 100 == (k + 1) % 6) & (spread[:, 0] % 100 < 60)
        spread = spread[~missing]
        # Few keys with many rows are among those that the relation before this one has not.
        made[name] = without_duplicates(np.concatenate([spread, rows(few, random.below(points, points))]))
    return made


def array_stores(variables: int, levels: int = 30, seed: int = 23) -> Relations:
    """A Java program as a points-to analysis sees it. Types are a tree of `levels` levels below one root,
    with an array type each. A few variables, like the fields of collections, point to most objects."""
    random = Random(seed)
    types, objects, methods = levels * 40, variables // 5, variables // 20
    parent = np.zeros(types, np.int64)
    for level in range(1, levels):
        low = 1 + (level - 1) * 40
        count = min(40, types - low)
        parent[low : low + count] = 0 if level == 1 else low - 40 + skewed(random, 40, count, 2.0)
    subtypes, above = [], np.arange(types)
    for _ in range(levels + 1):
        subtypes.append(rows(np.arange(types), above))
        above = parent[above]
    plain = skewed(random, types, objects, 1.5)
    is_array = random.below(100, objects) < 15
    component = np.where(random.below(100, objects) < 40, 0, plain)
    heap_type = rows(np.arange(objects), np.where(is_array, types + component, plain))
    stores, loads, assigns = variables // 20, variables // 20, variables
    reachable = np.flatnonzero(random.below(10, methods) < 8)
    made = {
        "Reachable": (reachable[:, None], ("method/%d",)),
        "Alloc": (rows(np.arange(objects), skewed(random, variables, objects, 3.0)), ("heap/%d", "var/%d")),
        "Assign": (_assignments(random, variables, assigns), ("var/%d", "var/%d")),
        "StoreArray": (
            rows(
                skewed(random, variables, stores, 2.0),
                skewed(random, variables, stores, 2.0),
                random.below(methods, stores),
            ),
            ("var/%d", "var/%d", "method/%d"),
        ),
        "LoadArray": (
            rows(random.below(variables, loads), skewed(random, variables, loads, 2.0)),
            ("var/%d", "var/%d"),
        ),
        "HeapType": (heap_type, ("heap/%d", "type/%d")),
        "ComponentType": (rows(types + np.arange(types), np.arange(types)), ("type/%d", "type/%d")),
        "Subtype": (without_duplicates(np.concatenate(subtypes)), ("type/%d", "type/%d")),
    }
    return {name: Text(table, columns) for name, (table, columns) in made.items()}


def _assignments(random: Random, variables: int, count: int) -> Ints:
    """Mostly to a variable from one a little below it, so that few cycles arise."""
    to = random.below(variables, count)
    origin = np.maximum(to - 1 - random.below(50, count), 0)
    return without_duplicates(without_loops(rows(to, origin)))


SKEWED = {
    workload.name: workload
    for workload in (
        Workload(
            "triangles",
            "triangles",
            "Triangle",
            graph,
            {"n": 100_000, "m": 1_000_000},
            {"n": 40, "m": 200},
            {"full": "1035:a6450beda21da11d", "tiny": "126:661a3562de85d608"},
            1.0,
            None,
        ),
        Workload(
            "cliques4",
            "cliques4",
            "Clique",
            skewed_graph,
            {"n": 20_000, "m": 150_000, "power": 4.0, "ascending": True},
            {"n": 60, "m": 400, "power": 2.0, "ascending": True},
            {"full": "378967:696f4cf828395438", "tiny": "162:dc806c3700692be7"},
            1.5,
            None,
        ),
        Workload(
            "cycles4",
            "cycles4",
            "Cycle",
            skewed_graph,
            {"n": 50_000, "m": 60_000, "power": 3.5},
            {"n": 50, "m": 120, "power": 2.0},
            {"full": "515800:892a4fe84ef33e37", "tiny": "184:e71d46542475daaf"},
            2.0,
            None,
        ),
        Workload(
            "star6",
            "star6",
            "Star",
            star,
            {"keys": 60_000, "points": 200_000},
            {"keys": 600, "points": 600},
            {"full": "24239:70070d20f2f62c05", "tiny": "107:6523865441ce4bb0"},
            1.2,
            None,
        ),
        *(
            Workload(
                name,
                name,
                "Holds",
                array_stores,
                {"variables": 100_000},
                {"variables": 400, "levels": 5},
                {"full": "143983:3ccdfc0995d95551", "tiny": "100:baa20f26c2d44747"},
                limit,
                None,
            )
            for name, limit in (("arraystores", 4.0), ("arraystores_byhand", 4.0))
        ),
    )
}
