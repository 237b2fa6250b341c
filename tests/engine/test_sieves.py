"""Sieves let through every word of a table, and few others; the kernel finds the same with and without."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine.inprocess.joins import sieves
from ddlog.engine.inprocess.kernels import expansion
from ddlog.engine.inprocess.storage.table import RowTable

from ..trying import trying

SMALL = st.integers(0, 40)


def table_of(words: list[int]) -> RowTable:
    """A table of one column."""
    table = RowTable(1)
    table.insert_new([np.array(words, np.int64)], len(words))
    return table


@trying(60)
@given(
    st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=60),
    st.sets(st.integers(0, 80), min_size=1),
    st.lists(st.integers(-1, 5), min_size=1),
    st.integers(6, 12),
)
def test_a_look_up_finds_the_same_through_a_sieve(
    rows: list[tuple[int, int]], held: set[int], groups: list[int], bits: int
) -> None:
    """Group g has the rows g, g + 6, …; a match makes a word of two numbers, or of -1 none."""
    words, slots, ids = np.array(sorted(held)), np.full(256, -1, np.int64), np.zeros(256, np.int32)
    for number, word in enumerate(words.tolist()):
        at = next(k for k in range(256) if slots[(home(word) + k) % 256] == -1)
        slots[(home(word) + at) % 256], ids[(home(word) + at) % 256] = word, number
    stretches = [list(range(g, len(rows), 6)) for g in range(6)]
    count = np.array([len(each) for each in stretches], np.int32)
    first = (np.cumsum(count) - count).astype(np.int32)
    slab = np.array([row for each in stretches for row in each], np.int32)
    right = np.array([b for _, b in rows])
    base = np.array([-1 if g == 5 else 64 * (k % 2) for k, g in enumerate(groups)])
    fields = np.array([[0, 63, 0, 64, 0]])
    expected = [
        (k, row, sorted(held).index(int(base[k]) | int(right[row])))
        for k, g in enumerate(groups)
        if g >= 0 and base[k] >= 0
        for row in stretches[g]
        if int(base[k]) | int(right[row]) in held
    ]
    marks = np.zeros(1 << (bits - 6), np.int64)
    expansion.fill_sieve(words, len(words), marks, bits)
    for sieve in (sieves.ALL, sieves.Sieve(marks, bits)):
        left, found, numbers = (np.zeros(2048, np.int64) for _ in range(3))
        *_, size = expansion.expand_found(
            np.array(groups), first, count, slab, 1 << 40, right, base, fields, slots, ids, 8,
            left, found, numbers, 0, 0, 1 << 20, *sieve,
        )  # fmt: skip
        assert [*zip(left[:size], found[:size], numbers[:size], strict=True)] == expected


def home(word: int) -> int:
    """The slot of 256 where the search for a word begins."""
    return (word * 0x9E3779B97F4A7C15 % (1 << 64)) >> 56


def test_a_sieve_is_made_where_it_pays() -> None:
    large, small = table_of([*range(0, 900_000, 3)]), table_of([*range(1000)])
    for table, found, to_come, pays in (
        (large, 10, 1e6, True),
        (small, 10, 1e6, False),
        (large, 900, 1e6, False),
        (large, 10, 1e4, False),
    ):
        made = sieves.Sieves()
        made.consider(table, 1000, found, to_come)
        assert (made.of(table) is not sieves.ALL) == pays
    some = sieves.Sieves()
    some.consider(large, 1000, 0, math.inf)
    marks, bits = some.of(large)
    through = sum(int(each).bit_count() for each in marks.view(np.uint64))
    assert 0 < through <= large.size and 1 << bits >= 8 * large.size
    large.insert_new([np.array([1])], 1)
    assert some.of(large) is sieves.ALL
