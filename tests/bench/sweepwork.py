"""The workloads of the sweep: six that it is about, and others of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workloads import (
    Random,
    Relations,
    graph,
    np,
    parents,
    random_graph,
    rows,
    shares,
    source_and_edges,
    statements,
    weighted_graph,
    without_duplicates,
)


@dataclass(frozen=True)
class Swept:
    """A workload: its program, how its inputs are made, and the relations whose rows change."""

    name: str
    program: str
    changing: tuple[str, ...]
    full: Callable[[], Relations]
    tiny: Callable[[], Relations]


def forest(trees: int, depth: int) -> Relations:
    """Complete binary trees."""
    children = np.arange(1, 2 ** (depth + 1) - 1)
    one = rows((children - 1) // 2, children)
    shift = np.repeat(np.arange(trees) * 2 ** (depth + 1), len(one))
    return {"Parent": np.tile(one, (trees, 1)) + shift[:, None]}


def objects(functions: int) -> Relations:
    """The statements of a pointer analysis, where objects have three fields."""
    found = statements(functions)
    random = Random(21)
    loads, stores = np.asarray(found["Load"]), np.asarray(found["Store"])
    of_loads, of_stores = random.below(3, len(loads)), random.below(3, len(stores))
    return {
        "New": found["AddressOf"],
        "Assign": found["Assign"],
        "LoadField": rows(loads[:, 0], loads[:, 1], of_loads),
        "StoreField": rows(stores[:, 0], of_stores, stores[:, 1]),
    }


def flows(nodes: int, edges: int, labels: int) -> Relations:
    """A random graph with a few sources of each label; one node in five cleans a label."""
    random = Random(22)
    given = np.repeat(np.arange(labels), 3)
    cleaned = nodes * labels // 5
    return {
        "Taints": without_duplicates(rows(random.below(nodes, len(given)), given)),
        "Flow": random_graph(random, nodes, edges),
        "Cleans": without_duplicates(rows(random.below(nodes, cleaned), random.below(labels, cleaned))),
        "Sink": rows(np.arange(0, nodes, 10)),
    }


SIX = (
    Swept("dense closure", "tc", ("Edge",), lambda: graph(1000, 50_000), lambda: graph(30, 150)),
    Swept("sparse closure", "tc", ("Edge",), lambda: graph(1250, 2500), lambda: graph(60, 120)),
    Swept("same generation", "sg", ("Parent",), lambda: forest(4000, 4), lambda: forest(5, 3)),
    Swept(
        "points-to",
        "andersen",
        ("AddressOf", "Assign", "Load", "Store"),
        lambda: statements(3000),
        lambda: statements(4),
    ),
    Swept(
        "reach",
        "reach",
        ("Edge",),
        lambda: source_and_edges(400_000, 1_200_000),
        lambda: source_and_edges(200, 500),
    ),
    Swept(
        "shortest paths",
        "cheapest",
        ("Edge",),
        lambda: weighted_graph(20_000, 100_000),
        lambda: weighted_graph(60, 150),
    ),
)

OTHERS = (
    Swept(
        "fields",
        "fields",
        ("New", "Assign", "LoadField", "StoreField"),
        lambda: objects(2000),
        lambda: objects(4),
    ),
    Swept(
        "taint",
        "taint",
        ("Taints", "Flow", "Cleans"),
        lambda: flows(10_000, 30_000, 40),
        lambda: flows(60, 150, 4),
    ),
    Swept("cousins", "sg", ("Parent",), lambda: parents(1200, 1800), lambda: parents(60, 75)),
    Swept("control", "control", ("Owns",), lambda: shares(20_000), lambda: shares(40)),
    Swept("components", "components", ("Edge",), lambda: graph(50_000, 100_000), lambda: graph(60, 70)),
)
