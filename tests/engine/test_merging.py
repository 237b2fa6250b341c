"""Projections made distinct early: the same rows, with the same weights, as without."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ddlog
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess import merging, proposals
from ddlog.engine.inprocess.merging import Merger, pays
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.valuation import Valuation
from ddlog.engine.schema import Column, Kind

from .random_circuits import INPUTS, Changes, circuits, streams
from .test_oracle import follow, undo

PROGRAM = """
input relation A(x: s64, y: s64)
input relation B(y: s64, z: s64)
input multiset C(z: s64, w: s64)
output relation R(x: s64)
R(x) :- A(x, y), B(y, z), C(z, _).
output relation S(x: s64, u: s64)
S(x, u) :- A(x, y), B(y, z), C(z, w), A(w, u), x != u.
output multiset Many(x: s64, w: s64)
Many(x, w) :- A(x, y), B(y, z), C(z, w).
output relation Total(x: s64, n: s64)
Total(x, n) :- A(x, y), B(y, z), C(z, _), var n = z.group_by(x).sum().
output relation Path(x: s64, y: s64)
Path(x, y) :- A(x, y).
Path(x, z) :- Path(x, y), B(y, w), A(w, z), B(z, _).
"""


def always(least: int) -> ExitStack:
    """Merges wherever a look-up gives so many rows, in small pieces."""
    patched = ExitStack()
    patched.enter_context(mock.patch.object(proposals, "FEW", 0))
    limits = {"MANY": least, "SAMPLE": 1, "PIECE": 3, "LEAST_FANOUT": 0}
    patched.enter_context(mock.patch.multiple(merging, pays=lambda *_: True, **limits))
    return patched


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(circuits(), streams())
def test_merging_in_every_epoch(circuit: Circuit, epochs: list[Changes]) -> None:
    together = {name: [one for epoch in epochs for one in epoch.get(name, [])] for name in INPUTS}
    with always(1):
        back = map(undo, reversed(epochs))
        follow(circuit, InProcess(incrementalize(circuit)), [together, *epochs, *back])


def outcomes(least: int, epochs: list[list[tuple[bool, str, tuple[int, int]]]]) -> tuple[list[Any], int]:
    """What each epoch leaves, and how often rows were summed up."""
    found: list[Any] = []
    with (
        always(least),
        ddlog.compile(PROGRAM).session() as session,
        mock.patch.object(Merger, "rows", autospec=True, side_effect=Merger.rows) as merged,
    ):
        for changes in epochs:
            for come, relation, row in changes:
                (session.insert_rows if come else session.delete_rows)(relation, [row])
            session.commit()
            names = ("R", "S", "Many", "Total", "Path")
            found.append({name: sorted(session[name].tuples()) for name in names})
        return found, merged.call_count


@pytest.mark.parametrize("seed", range(2))
def test_merged_rows_keep_their_weights(seed: int) -> None:
    random = np.random.default_rng(seed)
    facts = [(name, (int(x), int(y))) for name in ("A", "B", "C") for x, y in random.integers(0, 8, (30, 2))]
    epochs = [
        [(True, *fact) for fact in facts],
        [(False, *fact) for fact in facts[::3]],
        [(True, *fact) for fact in facts[::6]],
    ]
    (found, merged), (expected, never) = outcomes(1, epochs), outcomes(1 << 60, epochs)
    assert found == expected
    assert merged
    assert not never


@given(st.integers(1, 40), st.booleans())
def test_a_sample_tells_whether_many_are_equal(bits: int, shared: bool) -> None:
    """Rows drawn from 2**bits values alike: a million of them have many that are equal if bits are few."""
    drawn = np.random.default_rng(bits).integers(0, 1 << bits, 8192)
    column = Column("x", Kind.INT, "x")
    sample = Valuation({"x": (column, drawn)}, len(drawn), None, np.zeros(8192, np.int64) if shared else None)
    if bits < 18:
        assert pays(sample, 1 << 20)
    if bits > 22:
        assert not pays(sample, 1 << 20)
