"""Arrays and hash sets that grow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import memory, thresholds
from ddlog.engine.inprocess.kernels import hashing
from ddlog.engine.inprocess.storage import allocator, arrays, table
from ddlog.engine.inprocess.storage.batch import Batch, TableColumns
from ddlog.engine.inprocess.storage.table import RowTable

from ..trying import trying

BITS = 6


class Owner:
    def __init__(self, length: int) -> None:
        self.array = np.arange(length, dtype=np.int64)


def test_a_large_array_gives_its_pages_back_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "LARGE_ARRAY", 1 << 16)
    given: list[int] = []

    def give_back(part: np.ndarray) -> None:
        given.append(int(part[0]))
        allocator.give_back_pages(part)

    monkeypatch.setattr(arrays, "give_back_pages", give_back)
    owner = Owner(1 << 17)
    arrays.lengthen(owner, "array", 1 << 18, fill=-1)
    assert given == [0, 1 << 16]
    assert owner.array[: 1 << 17].tolist() == list(range(1 << 17))
    assert set(owner.array[1 << 17 :].tolist()) == {-1}


def test_a_view_keeps_what_it_shows() -> None:
    owner = Owner(thresholds.LARGE_ARRAY)
    view = owner.array[5:8]
    arrays.grow(owner, "array", 2 * thresholds.LARGE_ARRAY)
    owner.array[5] = 0
    assert view.tolist() == [5, 6, 7]


def home(word: int, bits: int) -> int:
    return (word * int(hashing.GOLDEN) % (1 << 64)) >> (64 - bits)


NEAR_THE_END = [word for word in range(1 << 14) if home(word, BITS) > (1 << BITS) - 4]
WIDTH = 34  # of words in slots of 32 bits, of which a few are left for distances
INVERSE = pow(int(hashing.GOLDEN) >> 64 - WIDTH | 1, -1, 1 << WIDTH)


@trying(33)
@given(
    st.lists(st.integers(0, 1 << WIDTH) | st.sampled_from(NEAR_THE_END), unique=True, max_size=48),
    st.integers(1, 3),
    st.booleans(),
)
def test_words_that_spread_are_found(words: list[int], more: int, narrow: bool) -> None:
    if narrow:  # by their codes, so that some are at home near the end
        codes = {min(word << 20 if word < 1 << 14 else word, (1 << WIDTH) - 1) for word in words}
        words = [code * INVERSE % (1 << WIDTH) for code in codes]
    held, kind = np.array(words, np.int64), np.int32 if narrow else np.int64
    before, bits = (each + (WIDTH << 8 if narrow else 0) for each in (BITS, BITS + more))
    slots = np.full(1 << BITS, -1, kind)
    if not hashing.rehash_words(slots, before, held, len(held)):
        return
    displaced = hashing.most_displaced(slots, before)
    if 2 * displaced >= len(slots):
        return
    more_slots = np.full((1 << BITS + more) - len(slots), -1, kind)
    numbers = np.full(len(slots), -1, np.int32)
    hashing.number_words(slots, numbers, before, held, 0, len(held))
    absent = np.setdiff1d(np.arange(1 << 10), held)
    for numbered in (False, True):
        spread = np.concatenate([slots, more_slots])
        ids = np.concatenate([numbers, more_slots.astype(np.int32)])
        given_ids = ids if numbered else np.empty(0, np.int32)
        hashing.spread_words(spread, given_ids, before, bits, 2 * displaced + 1)
        if not numbered:
            hashing.number_words(spread, ids, bits, held, 0, len(held))
        assert hashing.find_words(spread, ids, bits, held).tolist() == list(range(len(words)))
        assert hashing.find_words(spread, ids, bits, absent).max() == -1
        assert np.count_nonzero(spread >= 0) == len(words)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_large_table_grows(monkeypatch: pytest.MonkeyPatch, numbered: bool) -> None:
    for name in ("LARGE_ARRAY", "LARGE_SLOTS"):
        monkeypatch.setattr(thresholds, name, 64)
    rows, numbers = RowTable(2), np.random.default_rng(1).integers(0, 3000, (40, 500, 2))
    if numbered:
        rows.numbered_slots()
    seen: dict[tuple[int, int], int] = {}
    for batch in numbers:
        rows.insert_new((batch[:, 0].copy(), batch[:, 1].copy()), len(batch))
        for row in map(tuple, batch.tolist()):
            seen.setdefault(row, len(seen))
    assert rows.size == len(seen)
    assert list(zip(*(column.tolist() for column in rows.columns()), strict=True)) == list(seen)
    asked = tuple(numbers.reshape(-1, 2)[:, k].copy() for k in range(2))
    assert rows.find(asked, len(asked[0])).tolist() == [
        seen[row] for row in map(tuple, numbers.reshape(-1, 2).tolist())
    ]


def test_a_table_whose_slots_found_no_memory_grows_by_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "LARGE_SLOTS", 16)
    rows = RowTable(1)

    def insert(stop: int) -> list[int]:
        return rows.insert((np.arange(stop),), stop).tolist()  # type: ignore[no-any-return]

    def no_slots(owner: RowTable, name: str, *others: int) -> None:
        if name == "_slots":
            raise MemoryError
        arrays.lengthen(owner, name, *others)

    insert(100)
    with monkeypatch.context() as here:
        here.setattr(table, "lengthen", no_slots)
        with pytest.raises(MemoryError):
            insert(5000)
    rows.truncate(100)
    for stop in 400, 6000:
        assert insert(stop) == [*range(stop)]


def test_a_part_of_a_batch_unpacks_its_rows() -> None:
    rows = RowTable(2)
    rows.insert_new((np.arange(9), np.arange(9) * 10), 9)
    batch = Batch(TableColumns(rows, 1, 9), 8)
    assert batch.columns[1].tolist() == [10, 20, 30, 40, 50, 60, 70, 80]
    part = batch.slice(2, 20).slice(1, 3)
    assert part.length == 2
    assert [column.tolist() for column in part.columns] == [[4, 5], [40, 50]]


class _Library:
    def __init__(self) -> None:
        self.trimmed = 0

    def malloc_trim(self, pad: int) -> None:
        self.trimmed += 1


def test_freed_memory_goes_back_after_a_long_epoch_only(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _Library()
    monkeypatch.setattr(allocator, "_library", lambda: library)
    monkeypatch.setattr(memory, "_library", lambda: library)
    with allocator.kept_memory():
        pass
    assert library.trimmed == 0
    monkeypatch.setattr(memory, "LONG", 0.0)
    with pytest.raises(ZeroDivisionError), allocator.kept_memory():
        raise ZeroDivisionError
    assert library.trimmed == 1
    monkeypatch.setattr(allocator, "_library", lambda: None)  # another C library
    with allocator.kept_memory():
        pass
