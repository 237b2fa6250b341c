"""Kernels on disk are loaded without what only compiling needs, and numba stays whole for others."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest

from ddlog.engine.inprocess.kernels import compiler, hashing

SCRIPT = """
import sys
import numpy as np
from ddlog.engine.inprocess.kernels import compiler, hashing, postings

def insert():
    slots, new = np.full(16, -1, np.int64), np.zeros(4, np.int64)
    hashing.insert_words(slots, 4, np.array([3, 5, 3]), new, 0, 4)
    first, count = np.zeros(1, np.int64), np.full(1, 3, np.int64)
    left, rows = postings.expand(np.zeros(2, np.int64), first, count, np.arange(3), 6)
    return new.tolist(), left.tolist(), rows.tolist()

compiler.compile_kernels()
print(insert())
print([*{"numba.np.arrayobj", "importlib.metadata", "yaml", "numpy.ma"}.intersection(sys.modules)])
import importlib.metadata
import numba
import yaml
print(numba.njit(lambda x: np.zeros(x).sum() + len(np.array([x]).copy()))(3))
print(numba.njit(lambda x: "%" + x[1:])("abc"), numba.typeof(np.array([1])))
print(importlib.metadata.version("numba") == numba.__version__, yaml.safe_load("[1]"))
try:
    numba.typeof(np.ma.masked_array([1]))
except numba.core.errors.NumbaTypeError:
    print("masked")
print(insert())
"""


def run() -> list[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_code_on_disk_needs_no_compiler_and_leaves_numba_whole() -> None:
    run()  # now the code is on disk
    inserted = "([3, 5, 0, 0], [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])"
    others = ["1.0", "%bc array(int64, 1d, C)", "True [1]", "masked"]
    assert run() == [inserted, "[]", *others, inserted]


MEANWHILE = """
import builtins
import threading
from ddlog.engine.inprocess.kernels import loading

plain, told = builtins.__import__, []

def other():
    import importlib.metadata
    import yaml
    told.append((importlib.metadata.version("numpy") > "1", yaml.safe_load("[1]")))

def imported(name, *more):
    if name == "numba.core":
        builtins.__import__ = plain
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    return plain(name, *more)

builtins.__import__ = imported
loading.import_numba()
print(told)
"""


def test_other_threads_import_modules_whole_meanwhile() -> None:
    done = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[(True, [1])]\n", "")


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint64, np.bool_, np.float64])
def test_arrays_have_the_types_that_numba_gives_them(kind: type[np.generic]) -> None:
    compiler.compile_kernels()
    typed = hashing.insert_words.typeof_pyval
    square = np.zeros((4, 4), kind)
    fixed = square.copy()
    fixed.flags.writeable = False
    for each in (square, square.T, square[::2], square[:, 1], square[0], square[:0], fixed, fixed[0], 3, 2.5):
        assert typed(each) == numba.typeof(each)
