"""Rounds of a recursion from a few rows, row by row."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.inprocess.recursion import monotoneepoch
from ddlog.engine.inprocess.recursion.memories import GrowingSets
from ddlog.engine.inprocess.recursion.monotoneepoch import depths
from ddlog.errors.diagnostics import DDlogError

# Two relations, two heads of one body, a negated import; some nodes have more neighbours than a walk takes.
RULES = """
input relation Next(x: u32, y: u32)
input relation Stop(x: u32)
output relation Seen(x: u32)
output relation Third(x: u32, of: u32)
Seen(0).
Seen(y) :- Seen(x), Next(x, y), not Stop(y).
Third(x, 1000 / (x + 1)), Seen(x + 1) :- Seen(x), x < 300, x % 3 == 0.
Seen(y) :- Third(x, y).
"""
# Rules that read the recursion in two or three terms: rows that are seen with the last round, and without.
PRODUCTS = """
input relation Next(x: u32, y: u32)
output relation Way(x: u32, y: u32)
output relation Back(y: u32, x: u32)
Way(0, 0). Way(0, 1).
Way(y, z) :- Way(x, y), Way(w, x), Next(y, z), w <= x.
Back(y, x) :- Way(x, y), x % 7 != 3.
Way(x, z) :- Back(y, x), Way(y, z), Back(z, y), z > x + 3, x % 40 < 2.
Back(0, y) :- Back(y, x), Way(0, 1), Way(x, y), x % 10 == 0.
"""
# Look-ups by computed values: with a condition, by a text, of an import, and two at once.
COMPUTED = """
input relation Next(x: u32, y: u32)
output relation F(i: u32, x: u32)
output relation Text(i: u32, t: string)
output relation G(i: u32, x: u32)
F(0, 0). F(1, 1). Text(0, "0").
F(i + 1, (x + y) % 1000) :- F(i, x), F(i - 1, y), i < 200.
Text(i + 1, "${i + 1}") :- Text(i, t), Next(j, _), "${j}" == t, i < 200.
G(i, x + y) :- F(i, x), x % 3 == 0, F(j, y), j > 5, j / 2 == i - 2.
G(i + 1, x) :- G(i, x), i < 200, Next(i, j), F(k, x), k * 3 == j * 3.
"""
LINE = {(x, x + 1) for x in range(400) if x % 51}
FANS = {(x, 1000 * x + k) for x in (20, 300) for k in range(2 * thresholds.MATCHES_ONE_BY_ONE)}
STOPS = {7000, 20005, 399}


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rounds that were run row by row, one after the other."""
    found: list[int] = []
    original = GrowingSets._one_by_one

    def noted(sets: GrowingSets, rules: Any, most: int) -> tuple[int, bool]:
        done, gave_up = original(sets, rules, most)
        if done:
            found.append(done)
        return done, gave_up

    monkeypatch.setattr(GrowingSets, "_one_by_one", noted)
    return found


Births: TypeAlias = "tuple[list[str], list[tuple[int, int]]]"


def births(most: int, monkeypatch: pytest.MonkeyPatch, rules: str = RULES) -> Births:
    """The rows, and their numbers by the round in which they came, where a walk has so many rounds."""
    noted: list[list[tuple[int, int]]] = []
    monkeypatch.setattr(thresholds, "ROUNDS_AT_ONCE", most)
    monkeypatch.setattr(monotoneepoch, "depths", lambda sets: noted.append(depths(sets)) or noted[-1])
    program = ddlog.compile(rules)
    with program.session() as session:
        session.insert("Next", *LINE, *FANS)
        if rules is RULES:
            session.insert("Stop", *((x,) for x in STOPS))
        session.commit()
        return [str(row) for name in program.names("output") for row in session[name]], noted[-1]


@pytest.mark.parametrize("rules", [RULES, PRODUCTS, COMPUTED], ids=["linear", "products", "computed"])
def test_rows_and_rounds_are_those_of_the_general_way(
    walked: list[int], monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    general = births(1, monkeypatch, rules)
    assert not walked
    assert births(30, monkeypatch, rules) == general
    assert 15 < max(walked) <= 30 and sum(walked) > 40


def test_a_fault_is_told_as_ever(walked: list[int]) -> None:
    text = "output relation R(x: s64)\nR(100).\nR(x - 1) :- R(x), {body}."
    with ddlog.compile(text.format(body="x > 0, 100 / x > 0")).session() as session:
        assert len(list(session.query("R(x)"))) == 101
    with (
        ddlog.compile(text.format(body="100 / x > -1")).session() as session,
        pytest.raises(DDlogError, match=r"division by zero.*for x = 0"),
    ):
        session.commit()
    assert sum(walked) >= 190


def test_a_value_that_cannot_be_computed_is_told_as_ever(walked: list[int]) -> None:
    text = "output relation R(x: s64)\nR(100).\nR(x - 1) :- R(x), R(y), {of} == x, x > 0."
    with ddlog.compile(text.format(of="y + 1 - 100 / (1000 - y) * 0 - 1")).session() as session:
        assert len(list(session.query("R(x)"))) == 101
    with (
        ddlog.compile(text.format(of="y + 100 / (y - 40) * 0")).session() as session,
        pytest.raises(DDlogError, match="division by zero"),
    ):
        session.commit()
    assert sum(walked) > 100


def test_indexes_take_in_rows_of_rounds_together(monkeypatch: pytest.MonkeyPatch, walked: list[int]) -> None:
    monkeypatch.setattr(thresholds, "ROWS_LATER", 7)
    with ddlog.compile(COMPUTED).session() as session:
        session.insert("Next", *LINE)
        session.commit()
        found = list(session["F"])
        session.delete("Next", *LINE)
        session.commit()
        session.insert("Next", *LINE)
        session.commit()
        assert list(session["F"]) == found
    values = [0, 1]
    while len(values) < 201:
        values.append((values[-1] + values[-2]) % 1000)
    assert [row.x for row in found] == values
    assert sum(walked) > 100


def test_a_limit_of_rounds_is_kept(walked: list[int]) -> None:
    with (
        ddlog.compile("output relation R(x: s64)\nR(0).\nR(x + 1) :- R(x).").session(
            max_iterations=50
        ) as session,
        pytest.raises(DDlogError, match="no fixpoint after 50 iterations"),
    ):
        session.commit()
    assert not walked
