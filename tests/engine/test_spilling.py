"""States of which the large arrays are on disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ddlog
from ddlog.engine import memory, spilling, thresholds
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess

from ..taking import as_usual
from ..trying import longer
from .test_remote import commit

CIRCUIT = ddlog.compile("""
input relation Edge(x: s64, y: s64)
input relation Name(x: s64, name: string)
output relation Path(x: s64, y: s64)
output relation Degree(x: s64, n: u64)
output relation Named(name: string, y: s64)
output relation Last(x: s64)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Degree(x, n) :- Path(x, y), var n = y.group_by(x).count().
Named(n, y) :- Name(x, n), Path(x, y).
Last(y) :- Path(_, y), not Edge(y, _).
""").circuit("relational")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder on a disk."""
    if not spilling.takes_arrays(tmp_path):
        pytest.skip("temporary files are in memory")
    return tmp_path


@contextmanager
def pressed(every: int) -> Iterator[None]:
    """Arrays of a page go to disk at each safe point of so many."""
    points = count(1)
    is_high = lambda limit: next(points) % every == 0  # noqa: E731
    with (
        mock.patch.multiple(memory, LEAST=0, _PAUSE=0, _is_high=is_high, _relieved=None),
        mock.patch.object(thresholds, "SPILLED_PIECE", os.sysconf("SC_PAGE_SIZE")),
    ):
        yield


def on_disk(folder: Path) -> int:
    """The number of stretches of memory that files of a folder have."""
    return sum(str(folder) in line for line in Path("/proc/self/maps").read_text().splitlines())


def test_answers_are_those_of_a_state_in_memory(folder: Path) -> None:
    """While rows come and go, epochs are taken back, and arrays grow that are on disk."""
    chosen, every = Random(34), longer(97, 11)
    edges = [(k, k + chosen.randrange(1, 9)) for k in range(0, 120, 2) for _ in range(2)]
    there = InProcess(incrementalize(CIRCUIT), memory_limit=1 << 50, spill=folder)
    here = InProcess(incrementalize(CIRCUIT))
    names = [(k, f"name {k}") for k in range(40)]

    def refuse(_: object) -> None:
        raise InterruptedError

    with pressed(every):
        for turn in range(longer(3, 30)):
            some = chosen.sample(edges, 30 + 10 * turn % 60)
            with pytest.raises(InterruptedError):
                there.commit({"Edge": [(there.batch("Edge", edges), 1)]}, seal=refuse)
            rows: dict[str, list[tuple[Any, ...]]] = {"Edge": some if turn else edges, "Name": names}
            for sign in (1, -1) if turn else (1,):
                assert commit(there, sign, **rows) == commit(here, sign, **rows)
    assert on_disk(folder)
    assert list(folder.iterdir()) == []
    for name in ("Path", "Degree", "Named", "Last"):
        assert set(there.rows(name)) == set(here.rows(name))


def test_an_array_stays_where_it_is(folder: Path) -> None:
    """It can be read, written and lengthened; a copy of the process has pages of its own."""
    numbers, page = np.arange(3 << 20), os.sysconf("SC_PAGE_SIZE")
    array = numbers.copy()
    held, view, address = {"a": [array]}, array[5:], array.ctypes.data
    spilling.spill([held], (), folder)
    assert on_disk(folder) == -(-(array.nbytes - page) // thresholds.SPILLED_PIECE)
    assert np.array_equal(array, numbers)
    view[:] += 1
    before, after = os.pipe()
    if (process := os.fork()) == 0:
        array[7] = 0
        os.write(after, bytes([int(array[6]), int(array[7])]))
        os._exit(0)
    os.waitpid(process, 0)
    assert os.read(before, 2) == bytes([7, 0])
    os.close(before)
    os.close(after)
    assert array.ctypes.data == address
    assert np.array_equal(array[5:], numbers[5:] + 1)
    del held, view
    array.resize(4 << 20, refcheck=False)
    assert np.array_equal(array[5 : 3 << 20], numbers[5:] + 1)
    assert on_disk(folder) == 0


def test_a_full_disk_is_told_when_the_limit_is_reached(folder: Path) -> None:
    """Until then it does no harm."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))

    with mock.patch.object(spilling, "_move", full), pressed(1):
        small = InProcess(incrementalize(CIRCUIT), memory_limit=1 << 50, spill=folder)
        commit(small, Edge=[(k, k + 1) for k in range(99)])
        small.limit = 1 << 20
        with pytest.raises(memory.Exhausted) as found:
            commit(small, Edge=[(k, k + 1) for k in range(99, 999)])
    assert found.value.problem == f"{folder}: No space left on device"


@as_usual()
@pytest.mark.parametrize("spills", [False, True])
def test_a_load_beyond_the_limit(folder: Path, spills: bool) -> None:
    """Without a disk it is an error; with one the process has what lies in memory alone."""
    pairs = ddlog.compile("""
    input relation A(x: s64, y: s64)
    output relation B(x: s64, z: s64)
    B(x, z) :- A(x, y), A(y, z).
    """).circuit("relational")
    rows = np.random.default_rng(1).integers(0, 1 << 40, (2, 400_000))
    with (
        mock.patch.object(memory, "_relieved", 0),
        mock.patch.object(thresholds, "SPILLED_PIECE", 1 << 19),
    ):
        runtime = InProcess(incrementalize(pairs), spill=folder if spills else None)
        for number, part in enumerate(np.split(rows, 20, axis=1)):
            if number == 2:
                runtime.limit = (memory.resident() or 0) + (35 << 20)
            try:
                runtime.commit({"A": [(runtime.batch_from_columns("A", [*part]), 1)]})
            except memory.Exhausted:
                break
        assert (runtime.size_of("A") == 400_000) == spills


def test_folders_that_take_no_arrays(folder: Path) -> None:
    """None that is not there, or is memory itself."""
    program = ddlog.compile("input relation A(x: s32)")
    wrong = [folder / "none", *filter(Path.is_dir, [Path("/dev/shm")])]
    for each in wrong:
        with pytest.raises(ddlog.DDlogError, match=f"spill '{each}': expected a folder on a disk"):
            program.session(spill=each)
    program.session(spill=str(folder)).close()
