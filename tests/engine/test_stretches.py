"""Stretches of ids by key, as rows come and go: moved to the end, or packed where they are."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from ddlog.engine import thresholds
from ddlog.engine.inprocess.arrangements.index import RowIndex
from ddlog.engine.inprocess.arrangements.stretches import Stretched
from ddlog.engine.inprocess.kernels import postings
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.schema import Array


def held(index: RowIndex) -> dict[int, list[int]]:
    """The ids of each key."""
    first, count, slab = index.stretches()
    keys = index.keys.column(0)
    found = {int(key): slab[first[k] : first[k] + count[k]].tolist() for k, key in enumerate(keys)}
    return {key: sorted(ids) for key, ids in found.items() if ids}


def grow_and_shrink(seed: int, packed_ids: int) -> list[bool]:
    """Lets rows come and go, and compares. Returns, for each time that there was no room, whether the slab
    stayed."""
    random, stayed = np.random.default_rng(seed), list[bool]()
    make_room = Stretched._make_room

    def noting(index: Stretched, coming: Array) -> None:
        slab = index._slab
        make_room(index, coming)
        stayed.append(index._slab is slab)

    low = mock.patch.multiple(thresholds, PACKED_IDS=packed_ids, LARGE_ARRAY=1)
    with low, mock.patch.object(Stretched, "_make_room", noting):
        table = RowTable(2)
        index = RowIndex(table, (0,), range(0))
        expected: dict[int, list[int]] = {}
        for _ in range(40):
            count, keys = int(random.integers(1, 60)), int(random.integers(1, 30))
            ids = np.arange(table.size, table.size + count)
            columns = random.integers(0, keys, count), ids
            table.insert_new(columns, count)
            index.insert(ids)
            for key, at in zip(columns[0].tolist(), ids.tolist(), strict=True):
                expected.setdefault(key, []).append(at)
            if random.random() < 0.3:
                gone = np.array(sorted({at for ids in expected.values() for at in ids[:2]}))
                index.remove(gone)
                expected = {key: [at for at in ids if at not in gone] for key, ids in expected.items()}
            assert held(index) == {key: ids for key, ids in expected.items() if ids}
    return stayed


@pytest.mark.parametrize("seed", range(4))
def test_stretches_hold_what_came(seed: int) -> None:
    stayed = [each for packed_ids in (0, 100, 400) for each in grow_and_shrink(seed, packed_ids)]
    assert True in stayed and False in stayed


def test_stretches_are_shifted_in_both_directions() -> None:
    first, count = np.array([4, 0, 9, 14]), np.array([3, 0, 4, 2])
    slab = np.arange(40)
    places = np.array([0, 3, 5, 20])
    assert postings.shift(first, count, slab, places)
    assert slab[:3].tolist() == [4, 5, 6] and slab[5:9].tolist() == [9, 10, 11, 12]
    assert slab[20:22].tolist() == [14, 15]
    before = slab.copy()
    assert not postings.shift(np.array([5, 0]), np.array([2, 2]), slab, np.array([0, 2]))
    assert (slab == before).all()
