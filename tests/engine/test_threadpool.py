"""The number of threads changes nothing: not the rows, not their order, not what fails."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

import ddlog
from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.divergence import Unsettled
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.arrangements.index import RowIndex, made_once
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage import threadpool
from ddlog.engine.inprocess.storage.table import RowTable

from ..trying import trying
from .random_circuits import INPUTS, Changes, any_circuits, apply, streams
from .test_oracle import legal

thorough = trying(20)


@contextmanager
def small_chunks() -> Iterator[None]:
    """Chunks so small that a few rows are work for several threads."""
    small = {"JOIN_CHUNK": 3, "JOIN_LEAST": 1, "JOIN_WAVE": 4, "JOIN_ROOM": 5}
    small |= {"INDEX_CHUNK": 2, "INDEX_WAVE": 2, "INDEX_ROWS_PER_KEY": 0, "SHARED_WORDS": 2}
    with mock.patch.multiple(thresholds, **small):
        yield


def told(circuit: Circuit, epochs: list[Changes], workers: int) -> list[object]:
    """All that a runtime says of some epochs, in its order."""
    runtime = InProcess(incrementalize(circuit), workers=workers)
    contents: dict[str, dict[tuple, int]] = {name: {} for name in INPUTS}
    said: list[object] = []
    for changes in epochs:
        changes = changes | {"M": legal(contents["M"], changes.get("M", []))}
        apply(contents, changes)
        batches = {
            name: [(runtime.batch(name, [row for row, s in signed if s == sign]), sign) for sign in (1, -1)]
            for name, signed in changes.items()
        }
        try:
            deltas = runtime.commit(batches)
        except Unsettled as error:
            said.append(error.args)
            break
        for name, delta in sorted(deltas.items()):
            said += [name, list(delta.rows), list(delta.weights), list(runtime.rows(name))]
    return said


@thorough
@given(any_circuits, streams())
def test_the_same_with_any_number_of_workers(circuit: Circuit, epochs: list[Changes]) -> None:
    with small_chunks():
        alone = told(circuit, epochs, 1)
        assert told(circuit, epochs, 2) == alone
        assert told(circuit, epochs, 3) == alone


PROGRAM = """
input relation R(x: s32, y: s32)
input relation S(y: s32, z: s32)
output relation Quotient(x: s32, q: s32)
output relation Text(t: string)
output relation Far(x: s32, y: s32)
Quotient(x, q) :- R(x, y), S(y, z), var q = x / z, q > 1.
Text("${x}-${z}") :- R(x, y), S(y, z), x > z.
Far(x, y) :- R(x, y).
Far(x, z) :- Far(x, y), R(y, z), x != z.
"""


def rows_or_error(workers: int, divisors: list[int]) -> list[object]:
    """What a program gives that divides and makes texts, or its error; then the same without the divisors."""
    said: list[object] = []
    with ddlog.compile(PROGRAM).session(workers=workers) as session:
        for zs in (divisors, [2, 3]):
            session.insert("R", *((x, (x * 7) % 31) for x in range(60)))
            session.insert("S", *((y, z) for y in range(31) for z in zs))
            try:
                session.commit()
            except ddlog.DDlogError as error:
                said.append(str(error))
                session.rollback()
                continue
            said += [list(session[name].tuples()) for name in ("Quotient", "Text", "Far")]
    return said


@pytest.mark.parametrize("divisors", [[1, 2], [1, 0]])
def test_steps_and_faults(divisors: list[int]) -> None:
    with small_chunks():
        alone = rows_or_error(1, divisors)
        assert rows_or_error(3, divisors) == alone
    assert rows_or_error(2, divisors)[-1] == alone[-1]


def test_outcomes_are_in_order() -> None:
    def task(number: int) -> int:
        assert threadpool.workers() == 1
        if number % 5 == 3:
            raise ValueError(number)
        return threading.get_ident() and number

    with threadpool.among(3):
        outcomes = threadpool.run_all([lambda n=n: task(n) for n in range(20)])
        assert threadpool.workers() == 3
    assert [o.args[0] if isinstance(o, ValueError) else o for o in outcomes] == list(range(20))
    assert [isinstance(o, ValueError) for o in outcomes] == [n % 5 == 3 for n in range(20)]


def test_ctrl_c_in_a_task() -> None:
    """A task ends early, and the thread that commits is interrupted."""

    def task() -> None:
        threadpool.safe_point()

    with pytest.raises(KeyboardInterrupt), interrupt.deferred(), threadpool.among(2):
        os.kill(os.getpid(), signal.SIGINT)
        outcomes = threadpool.run_all([task, task])
        assert all(isinstance(each, threadpool.Stopped) for each in outcomes)
        threadpool.safe_point()


def test_what_only_the_committing_thread_may_do() -> None:
    with threadpool.among(2):
        threadpool.alone()
        outcomes = threadpool.run_all([threadpool.alone, threadpool.alone])
    assert all(isinstance(each, threadpool.Unshared) for each in outcomes)


def test_a_table_that_is_read_late_is_read_before_threads_share_it() -> None:
    """The thread that builds an index holds what reading needs."""
    words = RowTable(2)
    words.insert((np.arange(40), np.arange(40) % 7), 40)
    layout = words.layout
    assert layout is not None
    late = RowTable(2)
    late.fill_later(40, layout, lambda: words.words[:40])
    with small_chunks(), threadpool.among(2):
        index = made_once({}, (1,), lambda: RowIndex(late, (1,), range(40)))
    assert index.keys.size == 7
