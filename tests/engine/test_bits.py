"""Sets of pairs as lists and as bit matrices, and recursions over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.recursion import denseset
from ddlog.engine.inprocess.recursion.densesets import DenseSets
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage import bits
from ddlog.engine.inprocess.storage.bits import BitMatrix, PairList, product
from ddlog.engine.maintenance import Coin, Mode

from ..trying import trying
from .random_circuits import Changes, modes, products, streams
from .test_oracle import follow, undo

WAYS = (0, 1 << 40)


@contextmanager
def ways(followed: int, turned: int, listed: int) -> Iterator[None]:
    """Makes some ways of a product cheap, and others dear, and deltas lists or matrices."""
    with (
        mock.patch.multiple(bits, _FOLLOWED=followed, _TURNED=turned),
        mock.patch.object(denseset, "_LISTED", listed),
    ):
        yield


def pairs(some: np.ndarray[Any, Any]) -> PairList:
    """The pairs of a matrix of bools."""
    return PairList(*np.nonzero(some), *some.shape)


def truth(found: bits.Pairs) -> np.ndarray[Any, Any]:
    """The matrix of bools of some pairs."""
    if isinstance(found, BitMatrix):
        found = found.pairs()
    out = np.zeros((found.height, found.width), bool)
    out[found.left, found.right] = True
    return out


@pytest.mark.parametrize("followed", WAYS)
@pytest.mark.parametrize("turned", WAYS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 64, 65), (130, 5, 64), (70, 129, 200)])
def test_products(sizes: tuple[int, int, int], followed: int, turned: int) -> None:
    random = np.random.default_rng(1)
    for density in (0.0, 0.02, 0.5, 1.0):
        a, b = (random.random(shape) < density for shape in (sizes[:2], sizes[1:]))
        some = a.astype(int) @ b.astype(int) > 0
        assert pairs(a).bits.count == a.sum()
        assert (truth(pairs(a).bits.turned) == a.T).all()
        for left in (pairs(a), pairs(a).bits):
            for right in (pairs(b), pairs(b).bits):
                with ways(followed, turned, 0):
                    assert (truth(product(left, right)) == some).all()


@trying(20)
@given(products(), streams(), modes(), *map(st.sampled_from, [WAYS] * 3))
def test_recursions_of_products(
    circuit: Circuit, epochs: list[Changes], maintain: Mode | Coin, followed: int, turned: int, listed: int
) -> None:
    with ways(followed, turned, listed):
        runtime = InProcess(incrementalize(circuit), maintain=maintain)
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


PROGRAM = """
input relation Arc(x: s64, y: s64)
output relation Tc(x: s64, y: s64)
output relation Sg(x: s64, y: s64)
Tc(x, y) :- Arc(x, y).
Tc(x, z) :- Tc(x, y), Arc(y, z).
Sg(x, y) :- Arc(p, x), Arc(p, y), x != y.
Sg(x, y) :- Arc(a, x), Sg(a, b), Arc(b, y), x != y.
"""


def contents(rows: list[tuple[int, int]], dense: bool) -> list[Any]:
    """The relations after some commits, evaluated over bits or not."""
    found: list[Any] = []
    some = mock.patch.multiple(thresholds, DENSE_ROWS=20 if dense else 1 << 60)
    begun = mock.patch.object(DenseSets, "derive", autospec=True, side_effect=DenseSets.derive)
    with some, begun as derived, ddlog.compile(PROGRAM).session() as session:
        for change in (rows[:-2], rows[-2:]):
            session.insert_rows("Arc", change)
            session.commit()
            found.append([sorted(session[name].tuples()) for name in ("Tc", "Sg")])
        session.delete_rows("Arc", rows[::9])
        session.commit()
        found.append([sorted(session[name].tuples()) for name in ("Tc", "Sg")])
        assert derived.called == dense
    return found


@pytest.mark.parametrize("values", [range(90), [(k - 40) << 20 for k in range(90)]])
def test_an_epoch_goes_on_in_bits(values: Any) -> None:
    random = np.random.default_rng(3)
    rows = list({(values[x], values[y]) for x, y in random.integers(0, 90, (200, 2)).tolist()})
    assert contents(rows, True) == contents(rows, False)


def test_more_iterations_than_a_byte_counts() -> None:
    rows = [(k, k + 1) for k in range(300)]
    assert contents(rows, True) == contents(rows, False)


def test_relations_of_values_too_large_for_bits_are_kept_as_rows() -> None:
    """An import may hold values that the relation never comes to."""
    rules = """
    input relation Start(x: u64)
    input relation Arc(x: u64, y: u64)
    output relation Tc(x: u64, y: u64)
    Tc(x, x) :- Start(x).
    Tc(x, z) :- Tc(x, y), Arc(y, z).
    """
    with mock.patch.object(thresholds, "DENSE_ROWS", 20), ddlog.compile(rules).session() as session:
        session.insert_rows("Start", [(x,) for x in range(20)])
        session.insert_rows("Arc", [(x, (x + 1) % 20) for x in range(20)] + [(1 << 61, 1 << 61)])
        session.commit()
        assert len(session["Tc"]) == 400
