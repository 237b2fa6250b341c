"""Joins that start from groups of rows: the same rows and weights as without groups."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Join, Term
from ddlog.engine.inprocess.joins import grouping
from ddlog.engine.inprocess.joins.valuation import Valuation
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.schema import Column, Kind

PROGRAM = """
input relation A(x: s64, y: s64)
input relation B(x: s64, y: s64, z: s64)
input relation C(y: s64, z: s64)
output relation P(x: s64, z: s64)
output relation Q(x: s64, r: s64, z: s64)
output relation Apart(x: s64, z: s64)
output multiset Many(x: s64, z: s64)
output multiset Alike(x: s64, z: s64, w: s64)
P(x, z) :- A(x, z).
P(x, z) :- P(y, w), B(w, r, z), Q(x, r, y).
Q(x, r, z) :- B(x, r, z).
Q(x, e, o) :- Q(x, y, z), C(y, e), P(z, o).
Apart(x, z) :- B(x, y, z), A(y, v), C(v, w), not A(v, y).
Many(x, z) :- B(x, y, _), A(y, v), C(v, z).
Alike(x, z, x) :- B(x, y, y), C(y, v), A(v, z), C(y, z).
"""

FAR = 1 << 61


def epochs(seed: int) -> list[list[tuple[bool, str, tuple[Any, ...]]]]:
    """Random rows that come, more of them of values that do not fit a word, and some that go."""
    random = np.random.default_rng(seed)

    def rows(values: list[int]) -> list[tuple[str, tuple[Any, ...]]]:
        return [
            (name, tuple(values[k] for k in row))
            for name, count, arity in (("A", 18, 2), ("B", 30, 3), ("C", 20, 2))
            for row in random.integers(0, len(values), (count, arity))
        ]

    first, wide = rows([*range(9)]), rows([-FAR, -3, *range(8), 1 << 40, FAR])
    return [
        [(True, *each) for each in first],
        [(False, *each) for each in first[::3]],
        [(True, *each) for each in wide[::4]],
        [(False, *each) for each in wide[::4][::2]] + [(True, *each) for each in first[::3]],
    ]


def outcomes(rows: int, seed: int) -> tuple[list[Any], int]:
    """The relations after each epoch, if joins start by groups from so many rows on, and the number of times
    that they did."""
    made: list[int] = []

    def keys_of(*arguments: Any) -> Batch:
        found = plain(*arguments)
        made.append(found.length)
        return found

    plain, found = grouping.keys_of, []
    low = mock.patch.multiple(thresholds, GROUPED_ROWS=rows, GROUPED_GAIN=0.0, CHUNK=7, FUSED_MATCHES=1)
    with low, mock.patch.object(grouping, "keys_of", keys_of), ddlog.compile(PROGRAM).session() as session:
        for changes in epochs(seed):
            for come, relation, row in changes:
                (session.insert_rows if come else session.delete_rows)(relation, [row])
            session.commit()
            names = ("P", "Q", "Apart", "Many", "Alike")
            found.append({name: sorted(map(repr, session[name].weighted())) for name in names})
    return found, len(made)


@pytest.mark.parametrize("seed", range(4))
def test_groups_give_the_same_rows(seed: int) -> None:
    plain, never = outcomes(1 << 60, seed)
    grouped, often = outcomes(1, seed)
    assert grouped == plain
    assert never == 0 and often > 0


@pytest.mark.parametrize("last, groups", [("C(w, _, z)", False), ("C(w, y, z)", True)])
def test_rows_that_are_alike_without_a_key_are_summed_up(last: str, groups: bool) -> None:
    """Without y, of the rows (x, y, w) few are left, and groups by y would be joined with C one by one."""
    inputs = "input relation A(x: s64, y: s64)\ninput relation B(y: s64, w: s64)\n"
    inputs += "input relation C(w: s64, y: s64, z: s64)\noutput relation P(x: s64, z: s64)\n"
    low = mock.patch.multiple(
        thresholds, GROUPED_ROWS=300, GROUPED_GAIN=0.0, MERGED_ROWS=1000, MERGED_SAMPLE=128
    )
    starts = np.random.default_rng(0).permutation(800).tolist()
    with (
        low,
        mock.patch.object(grouping, "keys_of", side_effect=grouping.keys_of) as keys_of,
        ddlog.compile(f"{inputs}P(x, z) :- A(x, y), B(y, w), {last}.").session() as session,
    ):
        session.insert_rows("B", [(y, w) for y in range(100) for w in range(8)])
        session.insert_rows("C", [(w, y, z) for w in range(8) for y in range(100) for z in range(5)])
        session.commit()
        keys_of.reset_mock()
        session.insert_rows("A", [(k % 8, k // 8) for k in starts])
        session.commit()
        assert {tuple(row) for row in session["P"]} == {(x, z) for x in range(8) for z in range(5)}
    assert keys_of.called is groups


NUMBER = Column("s64", Kind.INT, "s64")


def join(*terms: tuple[str, ...], output: str = "x z", negated: int = -1) -> Join:
    """A join of terms with these columns."""
    made = tuple(Term(k, each, k == negated) for k, each in enumerate(terms))
    names = tuple(output.split())
    return Join(made, (), names, (NUMBER,) * len(names))


@pytest.mark.parametrize(
    "node, keys",
    [
        (join(("x", "r", "y"), ("y", "w"), ("w", "r", "z")), (1, 2)),
        (join(("x", "y"), ("y", "z")), None),  # nothing comes before the last term
        (join(("x", "y"), ("y", "z"), ("x", "z")), None),  # all columns are read
        (join(("x", "y"), ("w", "z"), ("w", "v")), None),  # none is
        (join(("v", "y"), ("y", "x"), ("x", "z")), None),  # the output reads no other one
        (join(("x", "y"), ("y", "w"), ("w", "z"), ("x",), negated=3), None),
        (join(("x", "y"), ("y", "z"), ("y",), negated=2), None),
    ],
)
def test_joins_that_start_by_groups(node: Join, keys: tuple[int, ...] | None) -> None:
    found = grouping.grouping_of(node, [(NUMBER,) * len(each.columns) for each in node.terms], 0)
    assert (found and found.keys) == keys


def test_few_groups_pay() -> None:
    node = join(("x", "y"), ("y", "w"), ("w", "z"))
    way = grouping.grouping_of(node, [(NUMBER, NUMBER)] * 3, 0)
    assert way is not None
    for groups, expected in ((1000, True), (90_000, False), (1 << 40, False)):
        numbers = np.random.default_rng(0).integers(0, groups, 100_000)
        variables = {"x": (NUMBER, np.arange(100_000)), "y": (NUMBER, numbers)}
        assert grouping.pays(way, Valuation(variables, 100_000, None, None)) is expected
