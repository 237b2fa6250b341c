"""Ctrl-C during an epoch: it takes effect at a safe point, and the state is that of the last commit."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from types import FunctionType
from typing import Any, cast

import pytest

import ddlog
from ddlog.engine import interrupt, thresholds
from ddlog.engine.circuit import (
    Circuit,
    Distinct,
    Fixpoint,
    FixpointResult,
    Import,
    Input,
    Join,
    Let,
    Output,
    Sum,
    Term,
    Variable,
)
from ddlog.engine.divergence import IterationLimit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.epoch import RunningEpoch
from ddlog.engine.inprocess.groups.wholegroups import FirstRows, Whole
from ddlog.engine.inprocess.kernels import compilation, compiler
from ddlog.engine.inprocess.rowwalk import RowWalk
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.operators.group import First
from ddlog.engine.schema import RowExpr
from ddlog.sessions.transactions import state

from .random_circuits import int_column, schema


def endless() -> Circuit:
    """R(x) :- A(x).  R(x + 1) :- R(x)."""
    one = schema(1)
    step = RowExpr(("x",), int_column("n"), "x+1", "x + 1", "t.dl:1:1", lambda x: x + 1)
    body = (
        Import(0, one),
        Variable("R", one),
        Join((Term(0, ("x",)),), (), ("x",), one),
        Join((Term(1, ("x",)),), (Let("n", step),), ("n",), one),
        Sum((2, 3), one),
        Distinct(4, one),
    )
    nodes = (
        Input("A", one),
        Fixpoint(Circuit(body), (("R", 5),)),
        FixpointResult(1, "R", one),
        Output("R", 2, one),
    )
    return Circuit(nodes, (("A", 0), ("R", 2)))


def test_ctrl_c_rolls_the_epoch_back() -> None:
    runtime = InProcess(incrementalize(endless()))
    runtime.commit({})
    press = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        runtime.commit({"A": [(runtime.batch("A", [(0,)]), 1)]})
    assert runtime.size("A") == 0
    assert runtime.size("R") == 0


def test_the_iteration_limit_rolls_the_epoch_back() -> None:
    runtime = InProcess(incrementalize(endless()))
    with pytest.raises(IterationLimit, match="no fixpoint after 10 iterations of R"):
        runtime.commit({"A": [(runtime.batch("A", [(0,)]), 1)]}, max_iterations=10)
    assert runtime.size("A") == runtime.size("R") == 0


def test_an_interrupt_waits_for_a_safe_point() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupt.deferred():
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
        interrupt.check()
        raise AssertionError("the check did not act")
    assert reached


def test_an_interrupt_without_a_safe_point_comes_at_the_end() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt.deferred():
        os.kill(os.getpid(), signal.SIGINT)


def test_user_code_is_interrupted_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt.deferred(), interrupt.immediate():
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**9):
            pass


def test_a_function_that_ranks_rows_of_a_group_is_interrupted_at_once() -> None:
    ranked = list[Any]()

    def rank(row: Any) -> Any:
        ranked.append(row)
        os.kill(os.getpid(), signal.SIGINT)
        return row

    first = FirstRows(cast("Whole", None), First(1, rank), ())
    with pytest.raises(KeyboardInterrupt), interrupt.deferred():
        first._taken(0, [(at,) for at in range(2 * thresholds.SMALL_GROUP)], 2 * thresholds.SMALL_GROUP)
    assert ranked == [(0,)]


def test_an_interrupt_waits_after_one_that_came_at_the_end_of_user_code() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupt.deferred(), interrupt.held():
        interrupt.immediate().__enter__()  # it does not come to its end
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("what is held")
    with pytest.raises(KeyboardInterrupt), interrupt.deferred():
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("the next epoch")
    assert reached == ["what is held", "the next epoch"]


PATHS = """
input relation Edge(a: bigint, b: bigint)
input relation Weight(a: bigint, w: bigint)
output relation Path(a: bigint, b: bigint)
output relation Share(a: bigint, b: bigint, s: bigint)
Path(x, y) :- Edge(x, y), 100 / (x + 10) > 0.
Path(x, z) :- Path(x, y), Edge(y, z).
Share(x, y, 100 / w) :- Path(x, y), Weight(x, w).
"""


@pytest.mark.parametrize("bad", [("Weight", (2, 0)), ("Edge", (-10, 1))])
def test_a_fault_before_or_after_a_recursion_rolls_it_back(bad: tuple[str, tuple[int, int]]) -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert("Edge", (1, 2), (2, 3), (3, 1), (3, 4))
        session.insert("Weight", (1, 5))
        session.commit()
        for deleted in ((3, 4), (3, 1), (1, 2)):
            before = {name: list(session[name].tuples()) for name in ("Edge", "Path", "Share")}
            session.delete("Edge", deleted)
            session.insert("Edge", (4, 5))
            session.insert(*bad)
            with pytest.raises(ddlog.DDlogError, match="division by zero"):
                session.commit()
            assert {name: list(session[name].tuples()) for name in before} == before
            session.delete("Edge", deleted)
            session.commit()
            with ddlog.compile(PATHS).session() as again:
                again.insert("Edge", *session["Edge"].tuples())
                again.insert("Weight", (1, 5))
                again.commit()
                assert list(again["Share"].tuples()) == list(session["Share"].tuples())
                assert list(again["Path"].tuples()) == list(session["Path"].tuples())


def press_after(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, number: int = signal.SIGINT
) -> None:
    """Presses Ctrl-C when the method was run; as an operator, only the last of the circuit."""
    plain = getattr(owner, method)

    def pressing(self: Any, *arguments: Any) -> Any:
        result = plain(self, *arguments)
        if method != "keep" or arguments[0] == len(self.circuit.nodes) - 1:
            os.kill(os.getpid(), number)
        return result

    monkeypatch.setattr(owner, method, pressing)


KEYED = """
input relation Price(item: string, cents: bigint) primary key (x) x.item
output relation Cheap(item: string)
Cheap(item) :- Price(item, cents), cents < 100.
"""


@pytest.mark.parametrize(("owner", "method", "few"), [(RunningEpoch, "keep", 0), (RowWalk, "run", 8)])
def test_ctrl_c_in_the_last_operator_rolls_the_epoch_back(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, few: int
) -> None:
    monkeypatch.setattr(thresholds, "ROWS_ONE_BY_ONE", few)
    with ddlog.compile(KEYED).session() as session:
        session.insert("Price", ("pen", 50))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as interrupted:
            press_after(patch, owner, method)
            session.commit()
        assert not interrupted.value.committed  # type: ignore[attr-defined]
        assert not session["Price"] and not session["Cheap"]
        session.insert("Price", ("pen", 20))
        assert session.commit().rows("Cheap") == [(("pen",), 1)]


class OutOfTime(Exception):
    """What a limit of time raises."""


@pytest.fixture
def raising() -> Iterator[None]:
    """Handlers of SIGTERM and SIGALRM that raise, as programs have them."""

    def end(number: int, frame: object) -> None:
        raise SystemExit if number == signal.SIGTERM else OutOfTime

    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGALRM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("raising")
@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGALRM, OutOfTime)],
)
def test_a_signal_after_the_last_operator_leaves_the_epoch_whole(
    monkeypatch: pytest.MonkeyPatch, number: int, raised: type[BaseException]
) -> None:
    with ddlog.compile(KEYED).session() as session:
        session.insert("Price", ("ink", 70))
        session.commit()
        session.insert("Price", ("pen", 50))
        with monkeypatch.context() as patch, pytest.raises(raised) as interrupted:
            press_after(patch, Store, "commit", number)
            session.commit()
        assert interrupted.value.committed  # type: ignore[attr-defined]
        assert list(session["Price"].tuples()) == [("ink", 70), ("pen", 50)]
        assert not session.in_transaction
        with pytest.raises(ddlog.DDlogError, match="pen"):
            session.insert("Price", ("pen", 20))
        session.delete_key("Price", "pen")
        assert session.commit().rows("Cheap") == [(("pen",), -1)]


@pytest.mark.usefixtures("raising")
@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("before", [True, False])
def test_a_signal_where_handlers_are_set_leaves_those_of_before(
    monkeypatch: pytest.MonkeyPatch, at: int, before: bool
) -> None:
    """The function that sets a handler acts on signals, before and after it does."""
    plain, numbers = interrupt._set_handler, (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    handlers, turns = [*map(signal.getsignal, numbers)], itertools.count()

    def pressed(number: int, handler: Any) -> None:
        hit = next(turns) == at
        if hit and before:
            os.kill(os.getpid(), signal.SIGALRM)
        plain(number, handler)
        if hit and not before:
            os.kill(os.getpid(), signal.SIGALRM)

    with monkeypatch.context() as patch, pytest.raises(OutOfTime), ExitStack() as stack:
        patch.setattr(interrupt, "_set_handler", pressed)
        stack.enter_context(interrupt.deferred())
    assert [*map(signal.getsignal, numbers)] == handlers
    test_an_interrupt_waits_for_a_safe_point()


def test_ctrl_c_at_the_begin_of_a_question_gives_the_lock_back(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = sys.getrecursionlimit()
    with ddlog.compile(KEYED).session() as session:
        session.commit()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            press_after(patch, state.Diagnosing, "__enter__")
            session.query("Cheap(item)")
        others = threading.Thread(target=session.query, args=("Cheap(item)",), daemon=True)
        others.start()
        others.join(20)
        assert not others.is_alive()
    gc.collect()
    assert sys.getrecursionlimit() == limit


def test_ctrl_c_between_the_log_and_the_change_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    class Log(list[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            os.kill(os.getpid(), signal.SIGINT)

    with ddlog.compile(KEYED).session() as session:
        session.upsert("Price", ("ink", 70))
        with session.transaction.changing("Price") as (_, pending):
            pass
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(pending, "_log", Log(pending._log))  # type: ignore[attr-defined]
            session.upsert("Price", ("pen", 50))
        assert session.commit().rows("Cheap") == [(("ink",), 1)]
        assert list(session["Price"].tuples()) == [("ink", 70)]


def test_ctrl_c_where_numba_takes_over_a_kernel_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def alone(numbers: Any) -> int:
        return len(numbers)

    found = dict[str, Any]()
    kernel = FunctionType(alone.__code__, found, "alone")
    monkeypatch.setattr(compiler, "_kernels", [kernel])
    monkeypatch.setattr(compiler, "compiled", {})
    press_after(monkeypatch, compilation.Compilation, "__init__")
    with pytest.raises(KeyboardInterrupt):
        compiler.compile_by_numba()
    assert "alone" in found


def test_threads_that_hold_in_turn_leave_nothing_held() -> None:
    """One enters while the other is inside, and leaves after it."""
    entered, leave, called = threading.Event(), threading.Event(), list[int]()

    def inside() -> None:
        with interrupt.held():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=inside)
    with interrupt.held():
        thread.start()
        entered.wait()
    interrupt.ask(lambda: called.append(1))
    try:
        interrupt.check()
        assert not called
        leave.set()
        thread.join()
        interrupt.check()
        assert called
    finally:
        interrupt.ask(None)
