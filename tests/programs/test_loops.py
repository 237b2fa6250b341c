"""Programs with loops, with random changes, against the definition; and loops that do not end."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog.engine import interrupt, memory
from ddlog.engine.inprocess.recursion.freshrounds import FreshRoundsEpoch
from ddlog.sessions.explanations import SessionHeld

from ..engine.reference_runtime import by_definition
from ..taking import taking

NODES = 9
EPOCHS = 10

GRAPH = """
input relation Edge(a: u32, b: u32)
relation Node(v: u32)
Node(a), Node(b) :- Edge(a, b).
"""

PAGERANK = """
relation Degree(v: u32, n: bigint)
Degree(v, n as bigint) :- Edge(v, w), var n = w.group_by(v).count().
relation Size(n: bigint)
Size(n as bigint) :- Node(v), var n = v.group_by(()).count().

// In units of a billionth, rounded down.
loop PageRank rounds 20 {
    output relation Rank(v: u32, r: bigint)
    initial Rank(v, 1000000000 / n) :- Node(v), Size(n).
    Rank(v, r) :- Part(v, from, each), var r = (from, each).group_by(v).sum_second().
    relation Part(v: u32, from: Option<u32>, r: bigint)
    Part(v, None, 150000000 / n) :- Node(v), Size(n).
    Part(b, Some{a}, 85 * r / (100 * n)) :- Rank-1(a, r), Edge(a, b), Degree(a, n).
}

// Exact: the rank of v is n / s. The scale grows by 20 times 2520, which every degree up to 10 divides.
loop Exactly rounds 20 {
    output relation Scale(s: bigint)
    initial Scale(n) :- Size(n).
    Scale(50400 * s) :- Scale-1(s).
    output relation Share(v: u32, n: bigint)
    initial Share(v, 1) :- Node(v).
    Share(v, n) :- Parts(v, from, each), var n = (from, each).group_by(v).sum_second().
    relation Parts(v: u32, from: Option<u32>, n: bigint)
    #[product]
    Parts(v, None, 3 * s / (20 * n)) :- Node(v), Scale(s), Size(n).
    Parts(b, Some{a}, 42840 * n / d) :- Share-1(a, n), Edge(a, b), Degree(a, d).
}
"""

CORE = """
input relation AtLeast(k: u64)
relation Side(a: u32, b: u32)
Side(a, b), Side(b, a) :- Edge(a, b), a != b.
loop Core {
    output relation InCore(v: u32, k: u64)
    #[product]
    initial InCore(v, k) :- Node(v), AtLeast(k).
    InCore(v, k) :- InCore-1(v, k), Side(v, w), InCore-1(w, k),
        var n = w.group_by((v, k)).count(), n >= k.
}
"""

COMPONENTS = (Path(__file__).parent / "loops" / "components.dl").read_text()

BELLMAN_FORD = """
input relation Start(v: u32)
input relation Road(a: u32, b: u32, cost: s64)
loop BellmanFord rounds 9 {
    relation Way(v: u32, d: s64)
    Way(v, 0) :- Start(v).
    Way(v, d) :- Cheapest-1(v, d).
    Way(b, d + cost) :- Cheapest-1(a, d), Road(a, b, cost).
    output relation Cheapest(v: u32, d: s64)
    Cheapest(v, d) :- Way(v, each), var d = each.group_by(v).min().
    output relation StillFalls(v: u32)
    StillFalls(v) :- Cheapest(v, d), not Cheapest-1(v, d).
}
"""


TRUSS = """
relation Pair(a: u32, b: u32)
Pair(min(a, b), max(a, b)) :- Edge(a, b), a != b.
loop Truss until unchanged {  // every edge in two triangles at least
    output relation Kept(a: u32, b: u32)
    initial Kept(a, b) :- Pair(a, b).
    Kept(a, b) :- Kept-1(a, b), Both-1(a, c), Both-1(b, c), var n = c.group_by((a, b)).count(), n >= 2.
    relation Both(a: u32, b: u32)
    Both(a, b), Both(b, a) :- Kept(a, b).
}
"""

LABELS = """
relation Side(a: u32, b: u32)
Side(a, b), Side(b, a) :- Edge(a, b), a != b.
loop Labels rounds 5 {  // the label that most neighbours have, the least of several
    output relation Label(v: u32, l: u32)
    initial Label(v, v) :- Node(v).
    Label(v, l) :- Most(v, n), Votes(v, each, n), var l = each.group_by(v).min().
    relation Votes(v: u32, l: u32, n: u64)
    Votes(v, l, n) :- Side(v, w), Label-1(w, l), var n = w.group_by((v, l)).count().
    relation Most(v: u32, n: u64)
    Most(v, n) :- Votes(v, _, each), var n = each.group_by(v).max().
}
"""

LIFE = """
input relation Cell(x: s32, y: s32)
relation Step(x: s32, y: s32)
Step(-1, -1). Step(-1, 0). Step(-1, 1). Step(0, -1). Step(0, 1). Step(1, -1). Step(1, 0). Step(1, 1).
loop Life rounds 6 {
    output relation Alive(x: s32, y: s32)
    initial Alive(x, y) :- Cell(x, y).
    Alive(x, y) :- Around(x, y, 3).
    Alive(x, y) :- Around(x, y, 2), Alive-1(x, y).
    relation Around(x: s32, y: s32, n: u64)
    #[product]
    Around(x, y, n) :- Alive-1(a, b), Step(c, d), var x = a + c, var y = b + d,
        var n = (a, b).group_by((x, y)).count().
}
"""


PROGRAMS = {
    "PageRank": (GRAPH + PAGERANK, ("Edge",)),
    "k-core": (GRAPH + CORE, ("Edge", "Edge", "Edge", "AtLeast")),
    "components": (GRAPH + COMPONENTS, ("Edge",)),
    "k-truss": (GRAPH + TRUSS, ("Edge",)),
    "labels": (GRAPH + LABELS, ("Edge",)),
    "life": (LIFE, ("Cell",)),
    "Bellman-Ford": (BELLMAN_FORD, ("Road", "Road", "Road", "Start")),
}
"""The programs with their inputs, of which some change more often."""


def a_row(rng: random.Random, relation: str) -> tuple[int, ...]:
    a, b = rng.sample(range(NODES), 2)
    rows = {
        "Edge": (a, b),
        "Road": (a, b, rng.randint(-1, 9)),
        "Start": (a,),
        "AtLeast": (rng.randint(1, 4),),
        "Cell": (a % 5, b % 5),
    }
    return rows[relation]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_changes(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed == 2:  # rounds begin from nothing by a coin
        coin = random.Random(seed)
        monkeypatch.setattr(FreshRoundsEpoch, "_pays", lambda *_: coin.random() < 0.5)
    text, inputs = PROGRAMS[name]
    rng, program = random.Random(seed), ddlog.compile(text)
    held = {relation: set[tuple[int, ...]]() for relation in inputs}
    with (
        program.session(maintain="auto" if seed else "always") as session,
        by_definition(program) as definition,
    ):
        both = (session, definition)
        for epoch in range(EPOCHS + 1):
            for _ in range(25 if epoch in (0, 6) else rng.choice([1, 1, 2, 4])):
                relation = rng.choice(inputs)
                row = a_row(rng, relation)
                if comes := not (held[relation] and epoch and rng.random() < 0.5):
                    held[relation].add(row)
                else:
                    row = rng.choice(sorted(held[relation]))
                    held[relation].remove(row)
                for each in both:
                    (each.insert if comes else each.delete)(relation, row)
            if epoch == EPOCHS:
                for relation in held:
                    for each in both:
                        each.clear(relation)
            found, wanted = (each.commit() for each in both)
            assert str(found) == str(wanted)


COUNTING = """
input relation Seed(n: u32)
{before}loop Counting {limit} {{
    output relation Count(n: u32)
    output relation Seen(n: u32)
    initial Count(n) :- {seeds}.
    Count(n + 1) :- Count-1(n), n < 50.
    Seen(n) :- Count(n).
    Seen(n) :- Seen-1(n).
}}{after}
"""
ALONE = {"before": "", "seeds": "Seed(n)", "after": ""}
INSIDE = {  # it counts in the second round of the loop around it only
    "before": "loop Around rounds 1 { relation Any(n: u32) Any(n) :- Seed(n), not Any-1(n).\n",
    "seeds": "Seed(n), not Any(n)",
    "after": "}",
}


@pytest.mark.parametrize("place", [ALONE, INSIDE])
@pytest.mark.parametrize(("limit", "option"), [("limit 10", None), ("limit 10", 20), ("", 10)])
def test_a_loop_beyond_its_limit(place: dict[str, str], limit: str, option: int | None) -> None:
    """The error names the loop, its place and rows that still change; the commit is taken back."""
    text = COUNTING.format(limit=limit, **place)
    with ddlog.compile(text).session(max_iterations=option) as session:
        for held in ([], [40], [48], [40]):  # 40 settles in the last round that is allowed
            session.clear("Seed")
            session.insert_rows("Seed", [(n,) for n in held])
            session.commit()
            counted = {n for each in held for n in range(each, 51)}
            for wrong in (39, 1):
                session.insert("Seed", (wrong,))
                with pytest.raises(ddlog.DDlogError) as raised:
                    session.commit()
                message = str(raised.value)
                line, column = (3, 1) if place is ALONE else (4, 1)
                assert f"<program>:{line}:{column}: loop Counting still changes after 10 rounds" in message
                assert f"still changing: Count{{.n = {wrong + 11}}} goes" in message
                assert {n for (n,) in session["Seen"]} == counted
                assert {n for (n,) in session["Seed"]} == set(held)


TURNING = """
input relation Seed(n: u32)
{before}loop Turning {end} {{
    output relation Hand(n: u32)
    initial Hand(n) :- {seeds}.
    Hand(n + 1) :- Hand-1(n), n % 5 < 4.
    Hand(n - 4) :- Hand-1(n), n % 5 == 4.
}}{after}
"""


@pytest.mark.parametrize("maintain", ["always", "never"])
@pytest.mark.parametrize("place", [ALONE, INSIDE])
def test_a_loop_that_repeats_itself(place: dict[str, str], maintain: Any) -> None:
    """The error names the loop, its period and rows; a loop whose last round is said may repeat itself."""
    for end in ("until unchanged", "until empty(Hand)", "rounds 101"):
        text = TURNING.format(end=end, **place)
        with ddlog.compile(text).session(maintain=maintain) as session:
            session.commit()
            session.insert("Seed", (0,))
            if end == "rounds 101":
                session.commit()
                assert {n for (n,) in session["Hand"]} == {1}
                continue
            with pytest.raises(ddlog.DDlogError) as raised:
                session.commit()
            message = str(raised.value)
            assert "loop Turning never ends" in message and "after every 5 rounds: Hand" in message
            assert "still changing: Hand{.n = 0} comes and goes" in message
            assert not session["Hand"] and not session["Seed"]


def test_a_recursion_in_a_loop_beyond_the_limit() -> None:
    """The error points at the loop."""
    text = """input relation Seed(n: u32)
    loop Outer rounds 2 {
        output relation Up(n: u32)
        Up(n) :- Seed(n).
        Up(n + 1) :- Up(n), n < 50.
    }"""
    with ddlog.compile(text).session(max_iterations=20) as session:
        session.insert("Seed", (48,))
        session.commit()
        session.insert("Seed", (4,))
        with pytest.raises(ddlog.DDlogError) as raised:
            session.commit()
        assert "<program>:2:5: a recursion in a loop still changes after 20 rounds: Up" in str(raised.value)
        assert "\n        loop Outer rounds 2 {\n" in str(raised.value)
        assert {n for (n,) in session["Up"]} == {48, 49, 50}


LONG_BODY = """
input relation Base(x: u32)
input relation Tick(x: u32, round: u32)
loop Blinking rounds 100 {{
    relation Round(n: u32)
    initial Round(0).
    Round(n + 1) :- Round-1(n).
    relation On(x: u32)
    On(x) :- Base(x), Round(n), Tick(x, n).
    output relation Seen(x: u32)
    Seen(x) :- {body}.
    Seen(x) :- Seen-1(x).
}}
"""


def test_a_long_body_whose_rows_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that changes at k times gives its valuations k times, not k ** terms; Ctrl-C is looked for."""
    text = LONG_BODY.format(body=", ".join(["On(x)"] * 26))
    looks: list[None] = []
    monkeypatch.setattr(interrupt, "check", lambda: looks.append(None))
    limit = (memory.resident() or 0) + (1 << 30)
    with ddlog.compile(text).session(maintain="always", memory_limit=limit) as session:
        session.insert_rows("Tick", [(x, 10 * k) for x in range(2) for k in range(10)])
        session.insert("Base", (1,))
        session.commit()
        session.insert("Base", (0,))
        assert session.commit()["Seen"] == [((0,), 1)]
        assert "by +Base" in str(session.why_change("Seen(0)"))
        looks.clear()
        session.delete("Base", (0,))
        assert session.commit()["Seen"] == [((0,), -1)]
        assert len(looks) > 26


GROUPS = """
input relation Come(round: bigint, k: bigint, v: bigint)
input relation Go(round: bigint, k: bigint, v: bigint)
loop Rounds rounds 6 {
    relation In(k: bigint, v: bigint)
    In(k, v) :- Come(n, k, v), round == n.
    In(k, v) :- In-1(k, v), not Out(k, v).
    relation Out(k: bigint, v: bigint)
    Out(k, v) :- Go(n, k, v), round == n.
    output relation Most(k: bigint, v: bigint)
    Most(k, v) :- Most-1(k, v).
    Most(k, m) :- In(k, v), var m = v.group_by(k).max().
    output relation Total(k: bigint, v: bigint)
    Total(k, v) :- Total-1(k, v).
    Total(k, m) :- In(k, v), var m = v.group_by(k).sum().
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_visited_again_in_later_rounds(seed: int) -> None:
    """A member that comes in an early round changes the groups of all later ones in which others come and go,
    also where as many come as go, and where epochs are taken back between."""
    with taking(seed, 4 if seed else 0), ddlog.compile(GROUPS).session(maintain="always") as session:
        session.insert("Come", (2, 1, 5), (3, 1, 7))
        session.insert("Go", (3, 1, 5), (5, 1, 7))
        session.commit()
        session.insert("Come", (0, 1, 1))
        found = session.commit()
        assert dict(found.rows("Most")) == {(1, 1): 1}
        assert dict(found.rows("Total")) == {(1, 5): -1, (1, 7): -1, (1, 1): 1, (1, 6): 1, (1, 8): 1}
        session.insert("Come", (0, 1, 9))
        found = session.commit()
        assert dict(found.rows("Most")) == {(1, 1): -1, (1, 5): -1, (1, 7): -1, (1, 9): 1}
        totals = {(1, total): -1 for total in (1, 6, 8)}
        assert dict(found.rows("Total")) == totals | {(1, total): 1 for total in (10, 15, 17)}


BREADTH = """
input relation Edge(a: bigint, b: bigint)
loop Breadth until empty(Frontier) {
    relation Frontier(v: bigint)
    initial Frontier(0).
    Frontier(b) :- Frontier-1(a), Edge(a, b), not Seen-1(b).
    output relation Seen(v: bigint)
    Seen(v) :- Seen-1(v).
    Seen(v) :- Frontier(v).
    output relation Total(n: u64, sum: bigint)
    Total(g.count(), g.sum()) :- Seen(v), var g = v.group_by(()).
}
"""


def test_sums_and_gates_are_left_as_they_were_by_epochs_that_are_taken_back() -> None:
    """Also sums of integers that are too large for columns."""
    program = ddlog.compile(BREADTH)
    edges = [(a << 62, b << 62) for a, b in ((0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (1, 3))]
    with program.session(maintain="always") as session:
        session.commit()
        held = SessionHeld(session.state)
        for at in (0, 1, 3, 2, 0, 5, 1, 4, 0, 2, 3, 5, 4):
            present = {*session["Edge"].tuples()}
            for edge in edges:
                come, gone = (
                    [("Edge", edge)] if (edge in present) is there else [] for there in (False, True)
                )
                held.attempt(come, gone, lambda: None, None)
            (session.delete if edges[at] in present else session.insert)("Edge", edges[at])
            session.commit()
            with program.session() as afresh:
                afresh.insert("Edge", *session["Edge"].tuples())
                afresh.commit()
                for name in ("Seen", "Total"):
                    assert list(session[name]) == list(afresh[name])
