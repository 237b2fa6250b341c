"""Work that is shared among threads.

    with among(workers):            an epoch, in the thread that commits
        outcomes = run_all(tasks)   what several tasks return or raise, in the order of the tasks

A task reads the state and changes nothing but what is built when first asked for: an index, or the ids of a
table. That is built under `building`. The state is changed by the thread that commits, while no task runs. So
the tasks, their outcomes and the order of these do not depend on the number of threads, which decides only
who runs them. Kernels and NumPy release the interpreter's lock while they work.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from queue import SimpleQueue
from typing import Any, TypeVar

from ... import interrupt, memory

T = TypeVar("T")

building = threading.RLock()
"""Held while something is built that tasks may ask for at the same time."""


class Unshared(Exception):
    """A task met work that only the thread that commits may do."""


class Stopped(Exception):
    """A task ended early since there was a Ctrl-C."""


class _Here(threading.local):
    workers = 1  # threads among which this thread shares work
    in_task = False


_here = _Here()


class among:
    """Inside, the work of this thread is shared among so many threads, itself one of them."""

    __slots__ = ("_before", "_workers")

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def __enter__(self) -> None:
        self._before, _here.workers = _here.workers, self._workers

    def __exit__(self, *_: object) -> None:
        _here.workers = self._before


def workers() -> int:
    """The number of threads among which this thread shares work; 1 inside a task."""
    return 1 if _here.in_task else _here.workers


def in_task() -> bool:
    """Whether this thread runs a task."""
    return _here.in_task


def alone() -> None:
    """Says that what follows must not run in a task. Raises Unshared there."""
    if _here.in_task:
        raise Unshared


def safe_point() -> None:
    """Acts on a Ctrl-C that was noted; in a task it ends the task, and the thread that commits acts. Raises
    what the handler of Ctrl-C raises."""
    if not _here.in_task:
        interrupt.check()
    elif interrupt.noted():
        raise Stopped


def run_all(tasks: Sequence[Callable[[], T]]) -> list[T | BaseException]:
    """The result or error of each task. Ends when all tasks have ended."""
    outcomes: list[Any] = [None] * len(tasks)
    numbers = itertools.count()

    def work() -> None:
        _here.in_task = True
        try:
            while (number := next(numbers)) < len(tasks):
                try:
                    outcomes[number] = tasks[number]()
                except BaseException as error:
                    outcomes[number] = error
        finally:
            _here.in_task = False

    limit = memory.limits.get(threading.get_ident())

    def help() -> None:
        with nullcontext() if limit is None else memory.limited(limit.size, limit.relieve):
            work()

    helpers = [_Helper(help) for _ in range(min(workers(), len(tasks)) - 1)]
    work()
    for helper in helpers:
        helper.done.acquire()
    return outcomes


def run_parts(tasks: Sequence[Callable[[], object]]) -> None:
    """Runs the parts of one piece of work, each of which changes other items than the others do. Raises what
    one of them raises."""
    if len(tasks) == 1 or workers() == 1:
        for task in tasks:
            task()
        return
    for outcome in run_all(tasks):
        if isinstance(outcome, BaseException):
            raise outcome


class _Helper:
    """A call that a thread of the pool makes."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call, self.done = call, threading.Lock()
        self.done.acquire()
        _pool.give(self)


class _Pool:
    """Threads that wait for calls: as many as calls were ever open at the same time."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Helper] = SimpleQueue()
        self._idle, self._lock = 0, threading.Lock()

    def give(self, helper: _Helper) -> None:
        """Lets a thread make a call."""
        with self._lock:
            self._idle -= 1
            new = self._idle < 0
            if new:
                self._idle += 1
        if new:
            threading.Thread(target=self._serve, args=(helper,), name="ddlog", daemon=True).start()
        else:
            self._calls.put(helper)

    def _serve(self, helper: _Helper) -> None:
        while True:
            helper.call()
            done = helper.done
            del helper  # what it refers to, the caller may want for itself
            with self._lock:
                self._idle += 1
            done.release()
            helper = self._calls.get()


_pool = _Pool()


def _forget_threads() -> None:
    """In the child of a fork: its parent's threads are not there."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
