"""Look-ups fused with what follows them: the same rows as without, whatever the ranges of the columns."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.inprocess.joins.sieves import Sieves
from ddlog.engine.inprocess.kernels import expansion, hashing
from ddlog.engine.inprocess.storage.table import RowTable

PROGRAM = """
input relation A(x: s64, y: s64)
input relation B(x: s64, y: s64, z: s64)
input relation C(y: s64, z: s64)
output relation P(x: s64, z: s64)
output relation Q(x: s64, r: s64, z: s64)
output relation Pairs(x: s64, z: s64)
output multiset Many(x: s64, z: s64)
P(x, z) :- A(x, z).
P(x, z) :- P(x, y), P(y, z).
P(x, z) :- B(y, w, z), P(x, w), P(x, y).
P(x, x) :- Q(x, r, y), C(y, r).
Q(x, r, z) :- B(x, r, z).
Q(x, r, z) :- P(x, y), Q(y, r, z).
Q(z, z, x) :- Q(x, y, z), C(y, v), Q(z, v, _), not A(x, z).
Pairs(x, z) :- A(x, y), C(y, z), C(z, w), A(w, x).
Many(x, z) :- A(x, y), C(y, z), A(z, _).
"""

FAR = 1 << 61


def facts(seed: int, values: list[int]) -> dict[str, list[tuple[Any, ...]]]:
    """Random rows over these values."""
    random = np.random.default_rng(seed)

    def rows(count: int, arity: int) -> list[tuple[Any, ...]]:
        return [tuple(values[k] for k in row) for row in random.integers(0, len(values), (count, arity))]

    return {"A": rows(18, 2), "B": rows(25, 3), "C": rows(30, 2)}


def outcomes(
    least: int, epochs: list[list[tuple[bool, str, tuple[Any, ...]]]], sieved: bool = False
) -> list[Any]:
    """What each epoch leaves, if look-ups of so many matches are fused; `sieved`: all that can be."""
    consider, made = Sieves.consider, []

    def always(self: Sieves, table: RowTable, searched: int, found: int, to_come: float) -> None:
        consider(self, table, searched, 0, math.inf)
        made.append(self.of(table).bits)

    found: list[Any] = []
    if sieved:
        sieves = (
            mock.patch.object(Sieves, "consider", always),
            mock.patch.object(thresholds, "SIEVED_SLOTS", 0),
        )
        with sieves[0], sieves[1]:
            found = outcomes(least, epochs)
        assert max(made) > 0, "no sieve was made"
        return found
    small = mock.patch.multiple(
        thresholds,
        FUSED_MATCHES=least,
        FUSED_ROOM=100,
        FUSED_ROOM_NEW=100,
        FUSED_WORK=1000,
        ORDERED_TABLE=0,
        ROWS_BY_MEANS=2,
        PROPOSED_BY_MEANS=2,
    )
    with small, ddlog.compile(PROGRAM).session() as session:
        for changes in epochs:
            for come, relation, row in changes:
                (session.insert_rows if come else session.delete_rows)(relation, [row])
            session.commit()
            found.append({name: sorted(session[name].tuples()) for name in ("P", "Q", "Pairs", "Many")})
    return found


@pytest.mark.parametrize("seed", range(4))
def test_fused_look_ups_find_the_same_rows(seed: int) -> None:
    small, wide = list(range(24)), [-FAR, -3, *range(20), 1 << 40, FAR]
    first, more, last = facts(seed, small), facts(seed + 10, wide), facts(seed + 20, small)
    epochs = [
        [(True, name, row) for name, rows in first.items() for row in rows],
        [(True, name, row) for name, rows in more.items() for row in rows[::4]],
        [(False, name, row) for name, rows in first.items() for row in rows[::3]],
        [(True, name, row) for name, rows in last.items() for row in rows],
    ]
    expected = outcomes(1 << 60, epochs)
    assert outcomes(1, epochs) == expected
    assert outcomes(1, epochs, sieved=True) == expected


@pytest.mark.parametrize("there", [0, 1, 256, 512])
def test_words_far_from_their_homes_are_told_from_new_ones(there: int) -> None:
    """A block of matches into a set that is as full as sets become, with room for no match more."""
    bits, size = 10, expansion.BLOCK
    words = np.random.default_rng(5).permutation(1 << 20)[: 676 + size]
    held, others = words[:676], words[676 + there :]
    slots = np.full(1 << bits, -1, np.int64)
    hashing.rehash_words(slots, bits, held, len(held))
    table = np.random.default_rng(6).permutation(np.concatenate([held[:there], others]))
    zero, new = np.zeros(1, np.int64), np.empty(size, np.int64)
    stretches = zero, np.array([size], np.int32), np.arange(size, dtype=np.int32)
    fields = np.array([(0, (1 << 20) - 1, 0, 1 << 20, 0)], np.int64)
    *_, count = expansion.expand_new(
        zero, *stretches, size, table, zero, fields, slots, bits, new, 0, 0, size
    )
    assert sorted(new[:count].tolist()) == sorted(others.tolist())
