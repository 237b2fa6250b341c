"""Recursions that are not monotone, with random changes, against the definition."""

from __future__ import annotations

import random

import pytest

import ddlog
from ddlog.engine.circuit import Fixpoint
from ddlog.engine.paths import path_plan

from ..engine.reference_runtime import by_definition
from .test_corpus import CORPUS

NODES = 9
EPOCHS = 40


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


@pytest.mark.parametrize("seed", range(3))
def test_random_changes(seed: int) -> None:
    rng, program = random.Random(seed), ddlog.compile(CORPUS / "recursions.dl")
    facts = {name: set[tuple[int, ...]]() for name in ("Edge", "Start", "Owns", "Move")}
    gone: list[tuple[str, tuple[int, ...]]] = []
    with program.session() as session, by_definition(program) as definition:
        both = (session, definition)
        for epoch in range(EPOCHS):
            for _ in range(rng.choice([1, 1, 2, 20 if epoch % 10 == 0 else 3])):
                name = rng.choice(["Edge", "Edge", "Start", "Owns", "Owns", "Move"])
                row = a_row(rng, name)
                if gone and rng.random() < 0.25:
                    name, row = rng.choice(gone)
                if comes := not (facts[name] and rng.random() < 0.4):
                    facts[name].add(row)
                else:
                    row = rng.choice(sorted(facts[name]))
                    facts[name].remove(row)
                    gone.append((name, row))
                for each in both:
                    (each.insert if comes else each.delete)(name, row)
            found, wanted = (each.commit() for each in both)
            assert str(found) == str(wanted)


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
