"""The inputs of the benchmarks: classic Datalog workloads, the same bytes on every machine.

Random numbers come from splitmix64 over a counter, so a workload depends on its parameters alone, not on
a NumPy version. Each has the size and digest of its result: a run is checked, not only timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Relations = Mapping[str, "Ints | Text"]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


@dataclass(frozen=True)
class Text:
    """A table whose columns are written as text: each column's numbers in a form like `var/%d`."""

    table: Ints
    forms: tuple[str, ...]


def mix(words: Words) -> Words:
    """The finaliser of splitmix64, element by element."""
    with np.errstate(over="ignore"):
        for shift, factor in STEPS:
            words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words


class Random:
    """Random numbers as a function of a seed and a position; each draw moves the position on."""

    def __init__(self, seed: int) -> None:
        with np.errstate(over="ignore"):
            self.start: np.uint64 = mix(np.array([seed], dtype=np.uint64) + GAMMA)[0]
        self.position = 0

    def words(self, count: int) -> Words:
        """Uniform 64-bit words."""
        positions = np.arange(self.position + 1, self.position + count + 1, dtype=np.uint64)
        self.position += count
        with np.errstate(over="ignore"):
            return mix(self.start + positions * GAMMA)

    def below(self, bound: int, count: int) -> Ints:
        """Integers from 0 to bound - 1, by scaling the upper half of each word."""
        half = np.uint64(32)
        return (((self.words(count) >> half) * np.uint64(bound)) >> half).astype(np.int64)

    def unit(self, count: int) -> NDArray[np.float64]:
        """Floats in [0, 1)."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) / 2.0**53


def rows(*columns: Ints) -> Ints:
    """Columns side by side."""
    return np.column_stack(columns).astype(np.int64)


def without_duplicates(pairs: Ints) -> Ints:
    """The distinct rows of two columns, in the order of their first occurrence."""
    first = np.unique((pairs[:, 0] << 32) | pairs[:, 1], return_index=True)[1]
    distinct: Ints = pairs[np.sort(first)]
    return distinct


def without_loops(pairs: Ints) -> Ints:
    """The rows whose two columns differ."""
    kept: Ints = pairs[pairs[:, 0] != pairs[:, 1]]
    return kept


def random_graph(random: Random, nodes: int, edges: int) -> Ints:
    """Distinct directed edges without loops, uniform over the pairs of nodes."""
    graph = np.empty((0, 2), dtype=np.int64)
    while len(graph) < edges:
        wanted = int((edges - len(graph)) * 1.1) + 16
        tails = random.below(nodes, wanted)
        heads = random.below(nodes, wanted)
        graph = without_duplicates(np.concatenate([graph, without_loops(rows(tails, heads))]))
    return graph[:edges]


def chain(n: int) -> Relations:
    """A path of n nodes: many iterations, with few rows each."""
    nodes = np.arange(n - 1)
    return {"Edge": rows(nodes, nodes + 1)}


def graph(n: int, m: int, seed: int = 1) -> Relations:
    """A random directed graph. With m = 2n most nodes are in one component: few, large iterations."""
    return {"Edge": random_graph(Random(seed), n, m)}


def uniform(n: int, per_mille: int, seed: int = 11) -> Relations:
    """A directed graph in which each pair of nodes, also equal ones, is an edge with a probability."""
    random = Random(seed)
    heads = [np.flatnonzero(random.below(1000, n) < per_mille) for _ in range(n)]
    tails = np.repeat(np.arange(n), [len(each) for each in heads])
    return {"Edge": rows(tails, np.concatenate(heads))}


def uniform_parents(n: int, per_mille: int) -> Relations:
    """The same as parents and children."""
    return {"Parent": uniform(n, per_mille)["Edge"]}


def weighted_graph(n: int, m: int, seed: int = 9) -> Relations:
    """A random directed graph with costs from 1 to 99, and the one node to start from."""
    random = Random(seed)
    edges = random_graph(random, n, m)
    costs = 1 + random.below(99, m)
    return {"Source": edges[:1, :1], "Edge": rows(edges[:, 0], edges[:, 1], costs)}


def chains(count: int, length: int) -> Relations:
    """Paths of so many edges each: the label of a component has a long way."""
    nodes = np.arange(count * (length + 1)).reshape(count, length + 1)
    return {"Edge": rows(nodes[:, :-1].ravel(), nodes[:, 1:].ravel())}


def grid(side: int) -> Relations:
    """The edges of a square of nodes, numbered row by row."""
    nodes = np.arange(side * side).reshape(side, side)
    across = rows(nodes[:, :-1].ravel(), nodes[:, 1:].ravel())
    return {"Edge": np.concatenate([across, rows(nodes[:-1].ravel(), nodes[1:].ravel())])}


def shares(companies: int, seed: int = 10) -> Relations:
    """Each company belongs to three others, with a share each; often one of them has most of it."""
    random = Random(seed)
    owners = np.column_stack([random.below(companies, companies) for _ in range(3)])
    most = 30 + random.below(40, companies)
    other = random.below(30, companies)
    percents = np.column_stack([most, other, 100 - most - other])
    owned = np.repeat(np.arange(companies), 3)
    table = rows(owners.ravel(), owned, percents.ravel())
    return {"Owns": table[(table[:, 0] != table[:, 1]) & (table[:, 2] > 0)]}


def tree(depth: int) -> Relations:
    """A complete binary tree, numbered as a heap."""
    children = np.arange(1, 2 ** (depth + 1) - 1)
    return {"Parent": rows((children - 1) // 2, children)}


def parents(n: int, m: int, seed: int = 2) -> Relations:
    """A random graph read as a relation of parents and children, with shared children and cycles."""
    return {"Parent": random_graph(Random(seed), n, m)}


def source_and_edges(n: int, m: int, seed: int = 3) -> Relations:
    """A large random graph and the one node to start from."""
    edges = random_graph(Random(seed), n, m)
    return {"Source": edges[:1, :1], "Edge": edges}


def memberships(users: int, teams: int, above: int, seed: int = 13) -> Relations:
    """Two teams of each user, and so many teams above each, on average."""
    random = Random(seed)
    users_of_two = np.repeat(np.arange(users), 2)
    return {
        "In": without_duplicates(rows(users_of_two, random.below(teams, 2 * users))),
        "Under": random_graph(random, teams, above * teams),
    }


def statements(functions: int, size: int = 40, seed: int = 5) -> Relations:
    """The four statements of a pointer analysis, clustered as the variables of functions are."""
    random = Random(seed)

    def pairs(count: int, crossing: int) -> Ints:
        """Targets and sources: in one function, low before high but for 1 in 16; `crossing` per mille from a
        function up to eight before."""
        function = random.below(functions, count)
        one, other = random.below(size, count), random.below(size, count)
        backward = random.below(16, count) == 0
        low, high = np.minimum(one, other), np.maximum(one, other)
        crosses = random.below(1000, count) < crossing
        distance = 1 + random.below(8, count)
        origin = np.where(crosses, np.maximum(function - distance, 0), function)
        target, source = np.where(backward, low, high), np.where(backward, high, low)
        return rows(function * size + target, origin * size + source)

    variables = functions * size
    address_of, assign = pairs(variables // 3, 0), pairs(variables, 30)
    load, store = pairs(variables // 4, 0), pairs(variables // 4, 0)
    return {
        "AddressOf": without_duplicates(address_of),
        "Assign": without_duplicates(without_loops(assign)),
        "Load": without_duplicates(load),
        "Store": without_duplicates(store),
    }


def measurements(count: int, groups: int, seed: int = 8) -> Relations:
    """Rows of an id, a group and a value under 1000; low groups are larger."""
    random = Random(seed)
    group = np.minimum((groups * random.unit(count) ** 2).astype(np.int64), groups - 1)
    return {"Row": rows(np.arange(count), group, random.below(1000, count))}


@dataclass(frozen=True)
class Workload:
    """Inputs, the program that reads them, its output, and the required time and memory.

    `souffle` is what the engine of that name takes for the same files (interpreted, -j2; compiled, -j1
    and -j2), whole process, as measured elsewhere on such a machine; None where it has no such programs.
    With a `query`, by scale, that is all the run is asked for, and its answer is the output."""

    name: str
    program: str
    output: str
    make: Callable[..., Relations]
    full: Mapping[str, float]
    tiny: Mapping[str, float]
    expected: Mapping[str, str]
    limit: float
    souffle: tuple[float, float, float] | None
    limit_mib: int | None = None
    query: Mapping[str, str] | None = None

    def inputs(self, scale: str) -> Relations:
        """The input relations at the scale `full` or `tiny`."""
        return self.make(**(self.full if scale == "full" else self.tiny))


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "tc_chain",
            "tc",
            "TC",
            chain,
            {"n": 1000},
            {"n": 60},
            {"full": "499500:63070265aa0dbbed", "tiny": "1770:5b11b0c71c441a09"},
            0.8,
            (0.26, 0.15, 0.25),
        ),
        Workload(
            "tc_random_1m",
            "tc",
            "TC",
            graph,
            {"n": 1250, "m": 2500},
            {"n": 60, "m": 120},
            {"full": "1028121:ab905333b1868e38", "tiny": "2151:93c22fe0c7a13e1e"},
            1.0,
            (0.36, 0.53, 0.35),
        ),
        Workload(
            "tc_random_10m",
            "tc",
            "TC",
            graph,
            {"n": 4000, "m": 8000},
            {"n": 90, "m": 180},
            {"full": "10254072:ca03ebd1f3acd0d2", "tiny": "5136:3371518bf2bf1fdb"},
            3.0,
            (3.8, 5.9, 3.4),
            1024,
        ),
        Workload(
            "sg_tree",
            "sg",
            "SG",
            tree,
            {"depth": 10},
            {"depth": 5},
            {"full": "1396054:0eb77b53acf35d7e", "tiny": "1302:b3fbe3e1297a6e21"},
            1.2,
            (0.23, 0.23, 0.18),
        ),
        Workload(
            "sg_random",
            "sg",
            "SG",
            parents,
            {"n": 1700, "m": 2550},
            {"n": 60, "m": 75},
            {"full": "1008874:ca8871926e9204a6", "tiny": "384:87a26385e38f5753"},
            1.2,
            (0.44, 0.67, 0.41),
        ),
        Workload(
            "tc_g5k",
            "tc",
            "TC",
            uniform,
            {"n": 5000, "per_mille": 1},
            {"n": 60, "per_mille": 20},
            {"full": "24566686:7ca8ad25a0e6675a", "tiny": "785:ae5ec7fd335abbbb"},
            1.5,
            None,
            300,
        ),
        Workload(
            "tc_g10k",
            "tc",
            "TC",
            uniform,
            {"n": 10_000, "per_mille": 1},
            {"n": 60, "per_mille": 20},
            {"full": "99990000:7e733b9142020f2a", "tiny": "785:ae5ec7fd335abbbb"},
            8.0,
            None,
            1000,
        ),
        Workload(
            "sg_g5k",
            "sg_all",
            "SG",
            uniform_parents,
            {"n": 5000, "per_mille": 1},
            {"n": 60, "per_mille": 20},
            {"full": "24423404:a271c754c7779614", "tiny": "1620:0e6cfc5317ffc01e"},
            2.9,
            None,
            400,
        ),
        Workload(
            "sg_g10k",
            "sg_all",
            "SG",
            uniform_parents,
            {"n": 10_000, "per_mille": 1},
            {"n": 60, "per_mille": 20},
            {"full": "100000000:3104b1bbb3125401", "tiny": "1620:0e6cfc5317ffc01e"},
            20.0,
            None,
            1000,
        ),
        Workload(
            "reach",
            "reach",
            "Reach",
            source_and_edges,
            {"n": 1_000_000, "m": 5_000_000},
            {"n": 200, "m": 500},
            {"full": "993029:b783f2cc24bb031b", "tiny": "180:3a95d480d7c01f97"},
            3.5,
            (3.9, 4.4, 3.8),
        ),
        Workload(
            "andersen",
            "andersen",
            "PointsTo",
            statements,
            {"functions": 6000},
            {"functions": 4},
            {"full": "1315721:e5f61b3cd1d1e6fc", "tiny": "477:ca248ae5edd857a5"},
            2.5,
            (1.4, 2.0, 1.2),
        ),
        Workload(
            "groupby",
            "groupby",
            "Totals",
            measurements,
            {"count": 5_000_000, "groups": 100_000},
            {"count": 500, "groups": 20},
            {"full": "100000:1b0d584c6f51685c", "tiny": "20:f6146e3b87f6a20f"},
            2.5,
            (3.9, 3.7, 3.6),
        ),
        Workload(
            "countsum",
            "countsum",
            "Totals",
            measurements,
            {"count": 5_000_000, "groups": 100_000},
            {"count": 500, "groups": 20},
            {"full": "100000:1b0d584c6f51685c", "tiny": "20:f6146e3b87f6a20f"},
            2.5,
            None,
        ),
        Workload(
            "components",
            "components",
            "Component",
            graph,
            {"n": 250_000, "m": 500_000},
            {"n": 60, "m": 70},
            {"full": "245449:92696512d0a87589", "tiny": "57:f4780f92c06ba58d"},
            2.0,
            None,
        ),
        Workload(
            "components_grid",
            "components",
            "Component",
            grid,
            {"side": 500},
            {"side": 8},
            {"full": "250000:9327c27e839a935a", "tiny": "64:ac81e7427d10c298"},
            2.0,
            None,
        ),
        Workload(
            "components_chains",
            "components",
            "Component",
            chains,
            {"count": 500, "length": 1000},
            {"count": 5, "length": 20},
            {"full": "500500:7403a835829e2ec3", "tiny": "105:03f8af4730877fd6"},
            2.0,
            None,
        ),
        Workload(
            "equivalence",
            "equivalence",
            "Same",
            chains,
            {"count": 1000, "length": 40},
            {"count": 5, "length": 6},
            {"full": "1681000:b9ff17564aaf174b", "tiny": "245:0be2b72fd87c73c5"},
            2.0,
            None,
        ),
        Workload(
            "members",
            "members",
            "Member",
            memberships,
            {"users": 12_000, "teams": 2000, "above": 500},
            {"users": 30, "teams": 20, "above": 5},
            {"full": "10494377:e2208042f2419a72", "tiny": "269:bb76cc17982e424b"},
            4.0,
            None,
        ),
        Workload(
            "cheapest",
            "cheapest",
            "Cheapest",
            weighted_graph,
            {"n": 100_000, "m": 400_000},
            {"n": 60, "m": 150},
            {"full": "97971:1370ef0c90998716", "tiny": "57:fb136eba6121bf0c"},
            2.0,
            None,
        ),
        Workload(
            "control",
            "control",
            "Controls",
            shares,
            {"companies": 100_000},
            {"companies": 40},
            {"full": "182784:93b5250e5fd33851", "tiny": "230:aba1c0a56b85ac5e"},
            4.0,
            None,
        ),
        Workload(
            "demand_sg",
            "sg",
            "query",
            tree,
            {"depth": 14},
            {"depth": 5},
            {"full": "1:e646becf47baea87", "tiny": "1:d7599677879feaea"},
            1.0,
            None,
            query={"full": "SG(32766, y), y == 16383", "tiny": "SG(62, y), y == 31"},
        ),
        Workload(
            "demand_source",
            "reach",
            "Reach",
            source_and_edges,
            {"n": 200_000, "m": 1_000_000},
            {"n": 200, "m": 500},
            {"full": "198634:7ede028c06c7284c", "tiny": "180:3a95d480d7c01f97"},
            2.0,
            None,
        ),
        Workload(
            "demand_left",
            "tc",
            "query",
            graph,
            {"n": 200_000, "m": 1_000_000, "seed": 3},
            {"n": 200, "m": 500, "seed": 3},
            {"full": "198634:7ede028c06c7284c", "tiny": "179:fd0ae1d21cbe3183"},
            2.0,
            None,
            query={"full": "TC(147503, x)", "tiny": "TC(147, x)"},
        ),
        Workload(
            "demand_right",
            "tc_right",
            "query",
            graph,
            {"n": 200_000, "m": 1_000_000, "seed": 3},
            {"n": 200, "m": 500, "seed": 3},
            {"full": "198634:7ede028c06c7284c", "tiny": "179:fd0ae1d21cbe3183"},
            2.0,
            None,
            query={"full": "TC(147503, x)", "tiny": "TC(147, x)"},
        ),
    )
}


def write(relations: Relations, directory: Path, chunk: int = 200_000) -> None:
    """Write `<Relation>.facts` files: a row a line, columns separated by tabs."""
    directory.mkdir(parents=True, exist_ok=True)
    for relation, given in relations.items():
        table = given.table if isinstance(given, Text) else given
        forms = given.forms if isinstance(given, Text) else ["%d"] * table.shape[1]
        line = "\t".join(forms) + "\n"
        with open(directory / f"{relation}.facts", "w", encoding="ascii") as file:
            for start in range(0, len(table), chunk):
                part = table[start : start + chunk]
                file.write(line * len(part) % tuple(part.ravel().tolist()))


def digest(table: Ints) -> str:
    """The number of rows and a checksum that does not depend on their order."""
    state = np.zeros(len(table), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in table.T:
            state = mix(state + column.astype(np.uint64) + GAMMA)
        total = int(state.sum(dtype=np.uint64))
    return f"{len(table)}:{total:016x}"
