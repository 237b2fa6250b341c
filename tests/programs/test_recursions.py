"""Recursions that are not monotone, with random changes, against plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable

import networkx as nx
import pytest

import ddlog
from ddlog.engine.circuit import Fixpoint
from ddlog.engine.paths import path_plan

from .test_corpus import CORPUS

Facts = dict[str, set[tuple[int, ...]]]
NODES = 9
EPOCHS = 40


def shortest(facts: Facts) -> set[tuple[int, ...]]:
    """The cost of a shortest path from a start to each node that has one."""
    graph = nx.DiGraph()
    for x, y, cost in facts["Edge"]:
        if not graph.has_edge(x, y) or graph.edges[x, y]["weight"] > cost:
            graph.add_edge(x, y, weight=cost)
    starts = {n for (n,) in facts["Start"]}
    graph.add_nodes_from(starts)
    return set(nx.multi_source_dijkstra_path_length(graph, starts).items()) if starts else set()


def component(facts: Facts) -> set[tuple[int, ...]]:
    """The least node of the component of each node with an edge."""
    graph = nx.Graph((x, y) for x, y, _ in facts["Edge"])
    return {(node, min(nodes)) for nodes in nx.connected_components(graph) for node in nodes}


def controls(facts: Facts) -> set[tuple[int, ...]]:
    """Who controls whom: grown from nothing."""
    found: set[tuple[int, ...]] = set()
    while True:
        shares: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for z, y, n in facts["Owns"]:
            for x in {z, *(x for x, other in found if other == z)}:
                shares.setdefault((x, y), set()).add((z, n))
        new = {pair for pair, held in shares.items() if sum(n for _, n in held) > 50}
        if new == found:
            return found
        found = new


def span(facts: Facts) -> set[tuple[int, frozenset[int]]]:
    """The starts from which each node can be reached."""
    graph = nx.DiGraph((x, y) for x, y, _ in facts["Edge"])
    reached: dict[int, set[int]] = {}
    for (start,) in facts["Start"]:
        for node in {start, *(nx.descendants(graph, start) if start in graph else ())}:
            reached.setdefault(node, set()).add(start)
    return {(node, frozenset(starts)) for node, starts in reached.items()}


def widest(facts: Facts) -> set[tuple[int, int, int]]:
    """The width of a widest path to each node that can be reached, with the node before."""
    starts = {n for (n,) in facts["Start"]}
    width = dict.fromkeys(starts, 1000)
    for _ in range(NODES):
        for x, y, w in facts["Edge"]:
            if x in width:
                width[y] = max(width.get(y, 0), min(width[x], w))
    offers = {(n, 1000, n) for n in starts}
    offers |= {(y, min(width[x], w), x) for x, y, w in facts["Edge"] if x in width}
    best = {n: min((-w, via) for m, w, via in offers if m == n) for n in width}
    return {(n, -w, via) for n, (w, via) in best.items()}


def won(facts: Facts) -> set[tuple[int, ...]]:
    """The positions from which the player to move wins; no play goes on for ever."""
    graph = nx.DiGraph(list(facts["Move"]))
    found: set[int] = set()
    for p in reversed(list(nx.topological_sort(graph))):
        if any(q not in found for q in graph.successors(p)):
            found.add(p)
    return {(p,) for p in found}


def lost(facts: Facts) -> set[tuple[int, ...]]:
    """The other positions."""
    return {(p,) for move in facts["Move"] for p in move} - won(facts)


ORACLES: dict[str, Callable[[Facts], object]] = {
    "Shortest": shortest,
    "Component": component,
    "Controls": controls,
    "Span": span,
    "Widest": widest,
    "Won": won,
    "Lost": lost,
}


def a_row(rng: random.Random, relation: str) -> tuple[int, ...]:
    x, y = rng.sample(range(NODES), 2)
    match relation:
        case "Edge":
            return x, y, rng.randint(1, 9)
        case "Owns":
            return x, y, rng.randint(5, 60)
        case "Move":
            return min(x, y), max(x, y)
        case _:
            return (x,)


@pytest.mark.parametrize("seed", range(6))
def test_random_changes(seed: int) -> None:
    rng = random.Random(seed)
    facts: Facts = {name: set() for name in ("Edge", "Start", "Owns", "Move")}
    gone: list[tuple[str, tuple[int, ...]]] = []
    with ddlog.compile(CORPUS / "recursions.dl").session() as session:
        for epoch in range(EPOCHS):
            for _ in range(rng.choice([1, 1, 2, 20 if epoch % 10 == 0 else 3])):
                name = rng.choice(["Edge", "Edge", "Start", "Owns", "Owns", "Move"])
                row = a_row(rng, name)
                if gone and rng.random() < 0.25:
                    name, row = rng.choice(gone)
                if facts[name] and rng.random() < 0.4:
                    row = rng.choice(sorted(facts[name]))
                    session.delete(name, row)
                    facts[name].discard(row)
                    gone.append((name, row))
                else:
                    session.insert(name, row)
                    facts[name].add(row)
            session.commit()
            for relation, oracle in ORACLES.items():
                assert {plain(row) for row in session[relation]} == oracle(facts), relation


def plain(row: object) -> tuple[object, ...]:
    """A row as a tuple of plain values; a route as its fields."""
    values: list[object] = []
    for value in row:  # type: ignore[attr-defined]
        if hasattr(value, "width"):
            values += [value.width, value.via]
        elif isinstance(value, int):
            values.append(value)
        else:
            values.append(frozenset(value))
    return tuple(values)


def test_a_game_with_draws_settles_by_counted_moves() -> None:
    session = ddlog.compile(
        """
        input relation Move(p: u8, q: u8)
        relation Turn(n: u8)
        Turn(0).
        Turn(n + 1) :- Turn(n), n < 8.
        relation Position(p: u8)
        Position(p), Position(q) :- Move(p, q).
        relation Escape(p: u8, n: u8)
        output relation Won(p: u8, n: u8)
        output relation Lost(p: u8, n: u8)
        Won(p, n + 1) :- Move(p, q), Lost(q, n), n < 8.
        Lost(p, n) :- Position(p), Turn(n), not Escape(p, n).
        Escape(p, n) :- Move(p, q), Turn(n), not Won(q, n).
        """
    ).session()
    for end, won, lost in ((3, {2}, {1, 3}), (1, set(), set())):
        session.clear("Move")
        session.insert_rows("Move", [(1, 2), (2, 1), (2, end), (4, 5), (5, 4)])
        session.commit()
        assert {p for p, n in session["Won"] if n == 8} == won
        assert {p for p, n in session["Lost"] if n == 8} == lost


INPUTS = """
input relation Edge(x: u8, y: u8, c: u8)
input relation Start(x: u8, v: u8)
input relation Shut(x: u8)
"""
PATHS = {
    "sums": "Offer(x, v) :- Start(x, v). Offer(y, v + 2 * c + 1) :- Best(x, v), Edge(x, y, c).",
    "labels": "Offer(x, x) :- Edge(x, _, _). Offer(y, l) :- Edge(x, y, _), Best(x, l), not Shut(y)."
    " Offer(x, l) :- Edge(x, y, _), Best(y, l).",
    "bounds": "Offer(x, v) :- Start(x, v). Offer(y, max(c, v)) :- Best(x, v), Edge(x, y, c), c > 1,"
    " not Shut(x).",
    "two terms": "Offer(x, v) :- Start(x, v). Offer(3, 9). Offer(z, w) :- Best(x, v), Edge(x, y, c),"
    " Edge(y, z, d), var w = c + v + d. Offer(y, v) :- Best(x, v), Start(x, y).",
}
GREATEST = {
    "widths": "Offer(x, v) :- Start(x, v). Offer(y, min(v, c)) :- Best(x, v), Edge(x, y, c).",
    "losses": "Offer(x, 200 + v) :- Start(x, v). Offer(y, v - c) :- Best(x, v), Edge(x, y, c).",
}
ROUNDS = {
    "guarded": "Offer(x, v) :- Start(x, v). Offer(y, v + c) :- Best(x, v), Edge(x, y, c), v < 20.",
    "from any": "Offer(x, v) :- Start(x, v). Offer(y, v + 1) :- Best(_, v), Start(y, _), v < 9.",
    "key in value": "Offer(x, v) :- Start(x, v). Offer(y, v | x) :- Best(x, v), Edge(x, y, _).",
    "product": "Offer(x, v) :- Start(x, v). Offer(y, v + v) :- Best(x, v), Edge(x, y, _), v < 9.",
}


def paths_program(rules: str, function: str) -> str:
    """A recursion over paths, with the columns in some order."""
    return (
        f"{INPUTS} output relation Offer(x: u8, v: u8) output relation Best(x: u8, v: u8) {rules}"
        f" Best(x, v) :- Offer(x, each), var v = each.group_by(x).{function}()."
    )


def changes_of(session: ddlog.Session, rng: random.Random, held: set[tuple[str, tuple[int, ...]]]) -> None:
    """Commits some changes."""
    for _ in range(rng.choice([1, 1, 2, 9])):
        name = rng.choice(["Edge", "Edge", "Edge", "Start", "Shut"])
        x, y, c = rng.randrange(7), rng.randrange(7), rng.randint(0, 6)
        row = {"Edge": (x, y, c), "Start": (x, c), "Shut": (x,)}[name]
        if held and rng.random() < 0.5:
            name, row = rng.choice(sorted(held))
            session.delete(name, row)
            held.discard((name, row))
        else:
            session.insert(name, row)
            held.add((name, row))


@pytest.mark.parametrize("name", [*PATHS, *GREATEST, *ROUNDS])
def test_paths_are_rounds(name: str) -> None:
    """Recursions over paths come to what rounds come to; only they are evaluated over paths."""
    function = "max" if name in GREATEST else "min"
    program = ddlog.compile(paths_program((PATHS | GREATEST | ROUNDS)[name], function))
    (node,) = (
        each for each in program.circuit("incremental").nodes if isinstance(each, Fixpoint) and each.lifted
    )
    assert (path_plan(node, lambda at: False) is not None) == (name not in ROUNDS)
    with program.session() as session, program.session(max_iterations=10_000) as by_rounds:
        rng, again = random.Random(name), random.Random(name)
        held: set[tuple[str, tuple[int, ...]]] = set()
        held_again: set[tuple[str, tuple[int, ...]]] = set()
        for _ in range(60):
            changes_of(session, rng, held)
            changes_of(by_rounds, again, held_again)
            changes, expected = session.commit(), by_rounds.commit()
            assert list(changes) == list(expected)
            for relation in changes:
                assert changes.rows(relation) == expected.rows(relation)
            for relation in ("Offer", "Best"):
                assert list(session[relation]) == list(by_rounds[relation])
