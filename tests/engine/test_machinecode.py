"""Machine code on disk is loaded without numba, and numba stays whole for others."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from ddlog.engine.inprocess.kernels import compiler, machinecode

KERNELS = """
import sys
import numpy as np
from ddlog.engine.inprocess.kernels import compiler, hashing, postings

def insert():
    slots, new = np.full(16, -1, np.int64), np.zeros(4, np.int64)
    hashing.insert_words(slots, 4, np.array([3, 5, 3]), new, 0, 4)
    first, count = np.zeros(1, np.int64), np.full(1, 3, np.int64)
    left, rows = postings.expand(np.zeros(2, np.int64), first, count, np.arange(3), 6, 3)
    return new.tolist(), left.tolist(), rows.tolist()

compiler.patient_seconds, compiler.pause_seconds = -1, 300
compiler.compile_kernels()
"""
INSERTED = "([3, 5, 0, 0], [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])"
ASK = KERNELS + 'print(insert())\nprint("numba" in sys.modules)\n'
NUMBA_AFTERWARDS = (
    ASK
    + """
two, one = np.zeros(2, np.int64), np.zeros(1, np.int64)
for many in (1 << 60, 1 << 58):
    try:
        postings.expand(two, one, one, np.arange(3), many, 3)
    except (MemoryError, ValueError) as error:
        print(error)
import numba
print(numba.njit(lambda x: np.zeros(x).sum() + len(np.array([x]).copy()))(3))
print(numba.njit(lambda x: "%" + x[1:])("abc"), numba.typeof(np.array([1])))
print(insert())
compiler.compile_by_numba()
print(insert())
"""
)
INTERRUPTED = (
    KERNELS
    + """
import signal

def interrupt(*_):
    raise KeyboardInterrupt

def interrupted(turns):
    postings.expand(*given)
    for turn in range(turns):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.002 + turn / 4000)
            while True:
                postings.expand(*given)
        except KeyboardInterrupt:
            yield turn

signal.signal(signal.SIGALRM, interrupt)
slab = np.arange(40)
given = np.zeros(30_000, np.int64), np.zeros(1, np.int64), np.full(1, 40, np.int64), slab, 1_200_000, 40
print(len([*interrupted(20)]))
compiler.compile_by_numba()
print(len([*interrupted(20)]))
"""
)
FILES = (
    KERNELS
    + """
import dataclasses
from ddlog.engine.inprocess.kernels.machinecode import loader

(insert_words,) = [each for each in compiler._kernels if each.__name__ == "insert_words"]
slots, new = np.full(16, -1, np.int64), np.zeros(4, np.int64)
arguments = slots, 4, np.array([3, 5, 3]), new, 0, 4
found = loader()
print(found.load(insert_words, arguments)(*arguments))
version, system, name, features = found.made_by
other = np.array([1.5]), *arguments[1:]
missing = type("", (), {"address_of_symbol": lambda name: None})
for changed, given in (
    (dataclasses.replace(found, made_by=("0", system, name, features)), arguments),
    (dataclasses.replace(found, made_by=(version, system, name + "x", features)), arguments),
    (dataclasses.replace(found, llvm=missing), arguments),
    (found, other),
):
    print(changed.load(insert_words, given))
"""
)


def run(script: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        | environment,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def on_disk() -> None:
    """The code of the kernels is on disk."""
    run(ASK)


@pytest.mark.usefixtures("on_disk")
def test_code_on_disk_needs_no_numba_and_leaves_it_whole() -> None:
    errors = [
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.",
        "Allocation failed (probably too large).",
    ]
    others = [*errors, "1.0", "%bc array(int64, 1d, C)"]
    assert run(NUMBA_AFTERWARDS) == [INSERTED, "False", *others, INSERTED, INSERTED]


def test_a_signal_whose_handler_raises_waits_for_machine_code() -> None:
    """Code that asks Python for its constants meets the handler there, and the process ended."""
    assert run(INTERRUPTED) == ["20", "20"]


def test_numba_acts_on_its_settings() -> None:
    assert run(ASK, NUMBA_OPT="3") == [INSERTED, "True"]


@pytest.mark.usefixtures("on_disk")
def test_only_code_for_the_same_version_processor_symbols_and_types_is_loaded() -> None:
    assert run(FILES) == ["(3, 2)", "None", "None", "None", "None"]


def test_a_folder_of_code_can_be_chosen_and_a_file_that_is_cut_off_is_made_anew(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(ASK, NUMBA_CACHE_DIR=str(tmp_path)) == [INSERTED, "False"]
    assert {"hashing.insert_words", "postings.expand"} <= {
        path.name.split("-")[0] for path in tmp_path.iterdir()
    }
    with open(tmp_path / "ahead.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # once the processes beside have ended
    for path in tmp_path.glob("*.code"):
        os.truncate(path, 40)
    assert run(ASK, NUMBA_CACHE_DIR=str(tmp_path)) == [INSERTED, "False"]
    (made,) = tmp_path.glob("hashing.insert_words-*.code")
    assert made.stat().st_size > 40


def test_without_compilation_kernels_stay_interpreted() -> None:
    assert run(ASK, NUMBA_DISABLE_JIT="1") == [INSERTED, "True"]


@pytest.mark.usefixtures("on_disk")
def test_kernels_of_a_module_that_is_imported_later_are_loaded_too() -> None:
    later = """
from ddlog.engine.inprocess.kernels import compiler, hashing
compiler.compile_kernels()
import numpy as np
from ddlog.engine.inprocess.kernels import postings
compiler.interpreted_seconds = -1
print(postings.expand(np.zeros(2, np.int64), np.zeros(1, np.int64), np.full(1, 3), np.arange(3), 6, 3)[1])
"""
    assert run(later) == ["[0 1 2 0 1 2]"]


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint64, np.bool_, np.float64])
def test_arguments_have_the_types_that_numba_gives_them(kind: type[np.generic]) -> None:
    square = np.zeros((4, 4), kind)
    fixed = square.copy()
    fixed.flags.writeable = False
    arrays = square, square.T, square[::2], square[:, 1], square[0], square[:0], fixed, fixed[0]
    tuples = (), (3, 2), (square, 3), ((square, 3), (square, 3)), ((square, 3), (square, 2.5)), (arrays, True)
    for each in (*arrays, 3, 2.5, True, np.int64(3), *tuples):
        assert machinecode._type_name(each) == str(numba.typeof(each))


def kernel(known: object, find: object) -> int:
    raise AssertionError("its machine code is called instead")


def test_code_is_chosen_by_the_kinds_of_all_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_kernels", [kernel])
    loaded = []

    def load(function: object, arguments: object) -> Callable[..., int]:
        loaded.append(arguments)
        number = len(loaded)
        return lambda *_: number

    compiler._loaded(kernel, SimpleNamespace(load=load))(wide := np.zeros(2, np.int64), 3)
    narrow, called = wide.astype(np.int32), globals()["kernel"]
    others = (narrow, 3), (3, wide), (3, narrow), (wide, (wide, 3)), (wide, (narrow, 3)), (wide, 2.5)
    assert [called(*each) for each in others] == [2, 3, 4, 5, 6, 7]
    assert [called(*each) for each in others] == [2, 3, 4, 5, 6, 7]
    assert called(narrow[::2], 3) == 8
