"""Kernels give the same interpreted and compiled."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
from ddlog.engine.inprocess.kernels import compiler, postings
from ddlog.engine.inprocess.arrangements.index import RowIndex
from ddlog.engine.inprocess.storage.table import RowTable

if sys.argv[1] == "compiled":
    compiler.patient_seconds, compiler.pause_seconds = -1, 300
    compiler.compile_kernels()
else:
    compiler.interpreted_seconds = 1e9
rng = np.random.default_rng(7)
out = []
for low, high, arity in ((0, 9, 2), (-(2**40), 2**40, 2), (-(2**63), 2**63 - 1, 1), (-(2**62), 2**62, 3)):
    table = RowTable(arity)
    for _ in range(4):
        columns = [rng.integers(low, high, 60) for _ in range(arity)]
        out.append(table.insert(columns, 60).tolist())
        table.insert_new([c[::-1].copy() for c in columns], 60)
    index = RowIndex(table, (0,), np.arange(table.size // 2))
    index.insert(np.arange(table.size // 2, table.size))
    index.remove(np.arange(3))
    groups = index.groups([table.column(0)], table.size)
    out += [index.matches(groups), [a.tolist() for a in index.expand(groups, index.matches(groups))]]
    out.append(table.find([c + 1 for c in table.columns()], table.size).tolist())
one, three = np.zeros(1, np.int64), np.full(1, 3, np.int32)
group, slab = one.astype(np.int32), np.zeros(9, np.int32)
moved = postings.link(group, one, one.copy(), three, three.copy(), slab, 3, one[:0])
out += [moved, type(moved[1])]  # a number of Python: other kernels are given it
print("llvmlite" in sys.modules, hash(str(out)), len(str(out)))
"""


def run(mode: str) -> list[str]:
    script = [sys.executable, "-c", SCRIPT, mode]
    done = subprocess.run(script, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "0"})
    assert done.stderr == ""
    return done.stdout.split()


def test_interpreted_and_compiled_kernels_agree() -> None:
    interpreted, compiled = run("interpreted"), run("compiled")
    assert (interpreted[0], compiled[0]) == ("False", "True")
    assert interpreted[1:] == compiled[1:]
