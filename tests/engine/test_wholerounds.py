"""Rounds of a loop as wholes: they give the same as rounds by their changes, and the definition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Admit, Circuit, Earlier, Join, Loop
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.recursion.wholerounds import WholeRounds
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.passes import optimize
from ddlog.engine.wellformed import check_circuit

from ..trying import trying
from .random_circuits import Changes, modes, streams
from .test_loops import follow, loops
from .test_oracle import undo

INPUTS = """
input relation A(x: s64, y: s64)
input relation B(x: s64, y: s64)
input relation C(x: s64)
input multiset M(x: s64)
"""
SUMS = """
loop L rounds 6 {
    output relation R(x: s64, n: s64)
    initial R(x, 1) :- A(x, _).
    R(x, n) :- Part(x, from, each), var n = (from, each).group_by(x).sum_second().
    output relation Part(x: s64, from: s64, n: s64)
    Part(x, -1, 1) :- A(x, _).
    Part(y, x, 3 * n % 7) :- R-1(x, n), A(x, y), not C(y).
}
"""
TWO = """
loop L rounds 7 {
    output relation R(x: s64, n: s64)
    initial R(x, y) :- A(x, y).
    initial S(y) :- B(_, y).
    R(y, (n + 1) % 3) :- S-1(x), B(x, y), A(y, n).
    R(y, n) :- R-1(x, n), A(x, y), M(n).
    R(x, 9) :- C(x).
    output relation S(x: s64)
    S((x + n) % 4) :- R-1(x, n), not C(n).
    output relation N(x: s64, n: s64)
    N(x, n as s64) :- R(x, y), var n = y.group_by(x).count().
}
"""
SETTLED = """
loop L rounds 9 {
    output relation R(x: s64, n: s64)
    initial R(x, 8) :- A(x, _).
    R(x, n / 2) :- R-1(x, n).
    output relation T(x: s64, n: s64)
    T(x, n) :- R(x, n), round >= 3.
    T(x, y) :- T-1(x, y), B(x, _).
}
"""
LATE = """
loop L rounds 9 {
    output relation R(x: s64, n: s64)
    initial R(x, 1) :- A(x, _).
    R(x, n / 2) :- R-1(x, n).
    output relation T(x: s64, n: s64)
    T(x, n) :- R(x, n), round >= 5, round < 8.
    T(x, y) :- T-1(x, y), B(x, _).
}
"""
PROGRAMS = {
    name: ddlog.compile(INPUTS + text)
    for name, text in [("sums", SUMS), ("two", TWO), ("settled", SETTLED), ("late", LATE)]
}


@contextmanager
def wholes(share: float) -> Iterator[list[int]]:
    """Inside, rounds are evaluated as wholes from round 1 on, wherever they can be, until less than a share
    of the rows changes. Gives the rows of the parts of each round."""
    found: list[int] = []
    round_of = WholeRounds.round

    def noted(self: WholeRounds) -> Any:
        result = round_of(self)
        found.append(sum(batch.length for batch in result[0].values()))
        return result

    with (
        mock.patch.object(WholeRounds, "pays", lambda *_: True),
        mock.patch.object(WholeRounds, "round", noted),
        mock.patch.object(thresholds, "LOOP_WHOLE", share),
    ):
        yield found


@pytest.mark.parametrize("name", PROGRAMS)
def test_rounds_as_wholes_are_those_of_the_definition(name: str) -> None:
    circuit = PROGRAMS[name].circuit("relational")
    sizes = []

    @trying(20)
    @given(streams(), modes(), st.sampled_from([0.0, 0.3, 1.0]))
    def check(epochs: list[Changes], maintain: Mode | Coin, share: float) -> None:
        with wholes(share) as found:
            runtime = InProcess(incrementalize(circuit), maintain=maintain)
            follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs))], limited=False)
        sizes.extend(found)

    check()
    assert len(sizes) > 5 and max(sizes) > 5


def calmed(body: Circuit) -> Circuit:
    """A body whose joins read one part that moves, at most: other terms read inputs in place of them."""
    still = {2: 0, 1: 2}  # A and C
    moving: set[int] = set()
    nodes = []
    for at, node in enumerate(body.nodes):
        if isinstance(node, Join):
            moved = [k for k, term in enumerate(node.terms) if term.source in moving]
            kept = next((k for k in moved if not node.terms[k].negated), None)
            terms = [
                replace(term, source=still[len(term.columns)]) if k in moved and k != kept else term
                for k, term in enumerate(node.terms)
            ]
            node = replace(node, terms=tuple(terms))
        if isinstance(node, Earlier | Admit) or moving.intersection(node.reads()):
            moving.add(at)
        nodes.append(replace(node, rounds=1) if isinstance(node, Earlier) else node)
    return replace(body, nodes=tuple(nodes))


@st.composite
def counted(draw: Any) -> Circuit:
    """A circuit with a loop of a number of rounds, most rounds of which can be evaluated as wholes."""
    circuit: Circuit = draw(loops(1))
    nodes = [
        replace(node, body=calmed(node.body), rounds=draw(st.integers(0, 8)), empty=None)
        if isinstance(node, Loop)
        else node
        for node in circuit.nodes
    ]
    return replace(circuit, nodes=tuple(nodes))


def test_rounds_of_random_loops_as_wholes() -> None:
    sizes = []

    @trying(60)
    @given(counted(), streams(), modes(), st.sampled_from([0.0, 0.3, 1.0]), st.booleans())
    def check(
        circuit: Circuit, epochs: list[Changes], maintain: Mode | Coin, share: float, optimized: bool
    ) -> None:
        check_circuit(circuit)
        run = optimize(circuit) if optimized else circuit
        with wholes(share) as found:
            runtime = InProcess(incrementalize(run), maintain=maintain)
            follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs))], limit=8, run=run)
        sizes.append(len(found))

    check()
    assert sum(size > 0 for size in sizes) > len(sizes) / 5


BEYOND = """
input relation A(x: s64)
loop L rounds 9 limit 5 {
    output relation S(x: s64)
    initial S(x) :- A(x).
    S(x) :- S-1(x).
    output relation R(x: s64, n: s64)
    initial R(x, 1) :- A(x).
    R(x, n + 1) :- R-1(x, n).
}
"""


def test_a_loop_that_goes_beyond_its_limit_is_told_by_what_changes() -> None:
    with ddlog.compile(BEYOND).session() as session:
        session.insert_rows("A", [(7,)])
        with pytest.raises(ddlog.DDlogError, match=r"changing: R\{\.x = 7, \.n = 7\} goes") as raised:
            session.commit()
    assert "changing: S" not in str(raised.value)


RANKS = """
input relation Edge(a: s64, b: s64)
loop Ranks rounds 12 {
    output relation Rank(v: s64, r: s64)
    initial Rank(a, 1000000) :- Edge(a, _).
    Rank(v, r) :- Part(v, from, each), var r = (from, each).group_by(v).sum_second().
    relation Part(v: s64, from: s64, r: s64)
    Part(a, -1, 150000) :- Edge(a, _).
    Part(b, a, 85 * r / 300) :- Rank-1(a, r), Edge(a, b).
}
"""


def test_rounds_are_wholes_while_most_rows_change() -> None:
    """The first round brings rows, and the second replaces them."""
    noted: list[int] = []
    round_of = WholeRounds.round

    def note(self: WholeRounds) -> Any:
        result = round_of(self)
        noted.append(self._evaluator.iteration)
        return result

    edges = [(x, (x * x + step) % 50) for x in range(50) for step in range(1 + x % 3)]
    program = ddlog.compile(RANKS)
    with mock.patch.object(WholeRounds, "round", note), program.session() as session:
        session.insert_rows("Edge", edges)
        session.commit()
        assert noted == [*range(2, 13)]
        ranks = {row.v: row.r for row in session["Rank"]}
    expected = dict.fromkeys(range(50), 1000000)
    for _ in range(12):
        parts = {(b, a): 85 * expected[a] // 300 for a, b in edges}
        expected = {v: 150000 + sum(r for (b, _), r in parts.items() if b == v) for v in range(50)}
    assert ranks == expected


MANY = """
input relation A(x: s64)
input relation B(x: s64)
loop L rounds 9 {
    output relation R(x: s64, n: s64)
    initial R(x, 1) :- A(x).
    R(x, n + 1) :- R-1(x, n).
    output relation X(x: s64, n: s64)
    HEAD :- B(x).
    X(x, n) :- R-1(x, n).
}
"""


@pytest.mark.parametrize("many", [1, 400])
@pytest.mark.parametrize("head", ["X(x, 0)", "initial X(0, 0) :- A(_). X(x, 0)"])
def test_rounds_are_no_wholes_beside_many_rows_that_stay(head: str, many: int) -> None:
    rounds = mock.Mock(side_effect=WholeRounds.round)
    program = ddlog.compile(MANY.replace("HEAD", head))
    with mock.patch.object(WholeRounds, "round", lambda self: rounds(self)), program.session() as session:
        session.insert_rows("A", [(x,) for x in range(10)])
        session.insert_rows("B", [(x,) for x in range(many)])
        session.commit()
        assert len(session["X"]) == 10 + many
    assert rounds.called == (many == 1)
