"""The thread that owns a session: it commits what waits, answers questions, and ends them when their time is
over. While it commits, a copy of the process answers (`copies.py`)."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, TypeAlias, TypeVar

from ..durability.contents import FileHistory
from ..durability.records import Stored
from ..engine import interrupt
from ..engine.inprocess.runtime import InProcess
from ..engine.inprocess.storage.threadpool import in_task
from ..errors.diagnostics import DDlogError
from ..errors.server import QuestionTooLong, ServerEnds, TooMuchWaits
from ..sessions.persistence.durable import Durable
from ..sessions.session import Session
from .copies import (
    AskedElsewhere,
    Copied,
    Copy,
    CopyRequest,
    Parent,
    Send,
    be_a_copy,
    fork,
    is_movable,
    movable,
)
from .groupcommit import Answer, Committer, Outcome, Waiting
from .limits import Limits


class EpochTakenBack(BaseException):
    """Ends an epoch that runs when the server is to end, which takes the epoch back."""


T = TypeVar("T")
Told: TypeAlias = tuple[asyncio.Future[Any] | None, Outcome | Any]
_MOST_TOGETHER = 1_000  # transactions of one epoch
_SOON, _EARLY = (
    0.02,
    0.05,
)  # seconds of a change after which a reader gets a copy; and after which the next may
_MOMENT = 0.01  # seconds in which those that had a transaction in the last epoch may have another in the next
_LAST = 1.5  # seconds that an epoch may go on when the server is to end
_LONG = 4  # long answers at a time
_LATELY = 60.0  # seconds for which a reader counts as one that may come again


@dataclass(slots=True, eq=False)
class Question:
    """A call on the session, and whom to tell what it returns. `limited`: its time is."""

    call: Callable[[], Any]
    future: asyncio.Future[Any] | None
    limited: bool


@dataclass(slots=True, eq=False)
class Changing:
    """A change of the session that runs: since when, after how many epochs, the copy as of before it, and an
    event of its end, or of the copy."""

    since: float = field(default_factory=time.monotonic)
    committed: int = -1
    copy: Copy | None = None
    ended: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Owner:
    """Takes jobs from an event loop, and carries them out in the thread that calls `run`."""

    def __init__(self, session: Session, committer: Committer, limits: Limits) -> None:
        self.session, self._committer, self._limits = session, committer, limits
        self.loop: asyncio.AbstractEventLoop | None = None
        self.answers: dict[str, Callable[..., Awaitable[None]]] = {}
        """What answers requests in a copy, by the name that they have for it: it is called with what they
        give, and with the parent, to which it sends messages."""
        self.ends, self._ended_at = False, 0.0
        self.copied = 0
        """The copies that were made for readers."""
        self._jobs: SimpleQueue[Waiting | Question | None] = SimpleQueue()
        self._taking = threading.Lock()
        self._changing: Changing | None = None
        self._is_copy = self._asking = self._late = False
        self._read_at = float("-inf")
        self._together = 0  # transactions of the last epoch
        self._told, self._telling = socket.socketpair()  # of signals
        self._telling.setblocking(False)
        self._long = asyncio.Semaphore(_LONG)
        self._can_copy = hasattr(os, "fork") and type(session.state.host.offer.here) is InProcess

    # ------------------------------------------------------------- in the event loop

    def begin(self) -> None:
        """Takes jobs from this event loop. It wakes the owner on a signal: the system may give one to another
        thread than the owner's, which would sleep on."""
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(self._told, self._wake)

    def _wake(self) -> None:
        if {signal.SIGTERM, signal.SIGINT} & {*self._told.recv(64)}:
            self.end()

    async def transact(self, waiting: Waiting) -> Answer:
        """The answer to a transaction. Raises what it raises."""
        future: asyncio.Future[Answer] = self._loop().create_future()
        waiting.future = future
        self._add(waiting)
        return await future

    async def ask(self, call: Callable[[], T], *, limited: bool = True) -> T:
        """The result of a call on the session. Raises the errors of the call, and AskedElsewhere if a copy is
        to be asked."""
        if self._is_copy:
            found: T = self._outcome(Question(call, None, limited))
            if isinstance(found, BaseException):
                raise found
            return found
        future: asyncio.Future[T] = self._loop().create_future()
        self._add(Question(call, future, limited), is_movable())
        return await future

    async def aside(
        self, asked: CopyRequest, send: Send, here: Callable[[], Awaitable[T]], long: bool
    ) -> T | None:
        """Lets a copy send the answer to a request, if a change runs, or the answer takes `long`. Returns
        what `here` returns if the session itself is to be asked."""
        while True:
            copy = await self._copy()
            if copy is not None or (long and self._can_copy):
                async with nullcontext(copy) if copy is not None else self._copy_alone() as found:
                    if found and await found.answer(asked, send, self._limits.seconds + 5):
                        return None
                return await here()
            try:
                with movable():
                    return await here()
            except AskedElsewhere:
                continue  # a commit has just begun

    async def _copy(self) -> Copy | None:
        """The copy to ask while a change runs; None: the session itself is free, or cannot be copied."""
        self._read_at = time.monotonic()
        while (changing := self._changing) is not None and self._can_copy:
            if changing.copy is not None:
                return changing.copy
            self._want(max(self._read_at, changing.since + _SOON))
            if self._changing is not changing:
                continue  # what was asked for is not wanted any more
            changing.news.clear()
            if not changing.ended:
                await changing.news.wait()
        return None

    @asynccontextmanager
    async def _copy_alone(self) -> AsyncIterator[Copy | None]:
        """A copy for one long answer, made between two changes; None: there can be none."""
        async with self._long:
            made = asyncio.ensure_future(self.ask(lambda: self._forked(alone=True)))
            try:
                copy = await asyncio.shield(made)
            except asyncio.CancelledError:
                made.add_done_callback(_end_made)
                raise
            try:
                yield copy
            finally:
                if copy is not None:
                    copy.end()

    @property
    def is_changing(self) -> bool:
        """Whether a change runs, or is about to."""
        return self._changing is not None

    def close(self) -> None:
        """Ends for good, after the event loop."""
        self._told.close()
        self._telling.close()

    def check_own(self) -> None:
        """Raises AskedElsewhere in a copy: what follows changes the session."""
        if self._is_copy:
            raise AskedElsewhere

    @property
    def ending(self) -> float:
        """The seconds since `end`."""
        return time.monotonic() - self._ended_at

    @property
    def waiting(self) -> int:
        """The number of jobs that wait."""
        return self._jobs.qsize()

    def end(self) -> None:
        """Takes no more jobs, and ends `run` after those that wait; an epoch that takes long is taken back.
        Called in any thread, or by a signal."""
        if not self.ends:
            self._ended_at = time.monotonic()
            self.ends = True
            if self._changing is not None:
                self._want(None)
            self._jobs.put(None)

    def _want(self, copy_at: float | None) -> None:
        """Asks for a copy at the first safe point from a time on; or for an end of the epoch, if the server
        ends."""
        if self.ends:
            interrupt.ask(self._give_up, self._ended_at + _LAST)
        else:
            interrupt.ask(None if copy_at is None else self._fork, copy_at or 0.0)
            if self.ends:
                self._want(None)

    def _add(self, job: Waiting | Question, movable: bool = False) -> None:
        if self.ends:
            raise DDlogError([ServerEnds()])
        if self._jobs.qsize() >= self._limits.waiting:
            raise DDlogError([TooMuchWaits(self._limits.waiting)])
        with self._taking:
            if movable and self._changing is not None and self._can_copy:
                raise AskedElsewhere
            self._jobs.put(job)

    def _loop(self) -> asyncio.AbstractEventLoop:
        assert self.loop is not None
        return self.loop

    # ------------------------------------------------------------- in the thread of the session

    def run(self) -> None:
        """Carries out jobs until `end`."""
        self._thread = threading.get_ident()
        with self._heard():
            try:
                while self._carry_out():
                    pass
                interrupt.ask(None)  # `end` may have asked after the last change
            except Copied as copied:
                try:
                    self._is_copy = True
                    interrupt.ask(None)
                    if self.session.in_transaction:
                        self.session.rollback()
                    with self._heard():
                        be_a_copy(copied, self._answered)
                finally:
                    os._exit(1)

    async def _answered(self, asked: CopyRequest, parent: Parent) -> None:
        """Answers a request, in a copy."""
        durable = self.session.state.durable
        if isinstance(durable, Durable):
            durable.elsewhere = partial(_history_of, durable, parent)
        await self.answers[asked.of](*asked.given, parent)

    async def _history(self, stored: Sequence[Stored]) -> FileHistory | None:
        """The history of relations of the state, for a copy; None if it cannot be told beside a change."""
        durable = self.session.state.durable
        assert isinstance(durable, Durable)
        try:
            return await asyncio.to_thread(durable.history_for, stored)
        except (DDlogError, OSError):
            return None  # the session itself will tell

    def _carry_out(self) -> bool:
        """Carries out the jobs that wait, at least one. Returns whether to go on."""
        transactions: list[Waiting] = []
        questions: list[Question] = []
        changes: list[Question] = []
        going, job = True, self._jobs.get()
        self._gather()
        with self._taking:
            while True:
                if job is None:
                    going = False
                elif isinstance(job, Waiting):
                    transactions.append(job)
                else:
                    (questions if job.limited else changes).append(job)
                if len(transactions) >= _MOST_TOGETHER:
                    break
                try:
                    job = self._jobs.get_nowait()
                except Empty:
                    break
            if transactions or changes:
                self._changing = Changing()
        for each in questions:
            self._tell([(each.future, self._outcome(each))])
        if self._changing is not None:
            self._change(self._changing, transactions, changes)
        return going

    def _gather(self) -> None:
        """Waits a moment for the transactions of those that had one in the last epoch, if there were several:
        an epoch of all takes little longer than one of a few."""
        until = time.monotonic() + _MOMENT
        while self._jobs.qsize() + 1 < self._together and time.monotonic() < until and not self.ends:
            time.sleep(_MOMENT / 20)

    def _change(self, changing: Changing, transactions: list[Waiting], changes: list[Question]) -> None:
        """Carries out what changes the session. Readers can have a copy meanwhile."""
        here = self.session.state.host.offer.here
        if self._can_copy and type(here) is InProcess:
            changing.since, changing.committed = time.monotonic(), here.committed
            recent = changing.since - self._read_at < _LATELY
            self._want(changing.since + _EARLY if recent else None)
        decided: list[tuple[Waiting, Outcome]] = []
        outcomes: list[Told] = []
        try:
            self._committer.commit(transactions, decided)
            outcomes = [(each.future, self._outcome(each)) for each in changes]
        except EpochTakenBack:
            if self.session.in_transaction:
                self.session.rollback()
            ended = {each for each, _ in decided}
            left = [each.future for each in transactions if each not in ended]
            left += [each.future for each in changes]
            outcomes = [(future, DDlogError([ServerEnds()])) for future in left]
        finally:
            interrupt.ask(None)
            self._changing = None
        outcomes += [(each.future, outcome) for each, outcome in decided]
        self._together = len(transactions)
        self._tell(outcomes, changing)

    def _fork(self) -> None:
        """Makes a copy, at a safe point of a change."""
        changing, here = self._changing, self.session.state.host.offer.here
        if changing is None or threading.get_ident() != self._thread or in_task():
            return
        if type(here) is not InProcess or not (here.is_running or here.committed == changing.committed):
            return
        self._want(None)
        copy = self._forked()
        if copy is None:
            self._tell([], changing)
        elif self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_has_copy, changing, copy)

    def _give_up(self) -> None:
        """Ends an epoch, at a safe point."""
        here = self.session.state.host.offer.here
        if threading.get_ident() == self._thread and isinstance(here, InProcess) and here.is_running:
            interrupt.ask(None)
            raise EpochTakenBack

    def _forked(self, alone: bool = False) -> Copy | None:
        """A new copy of this process; None if there can be none: from now on readers wait."""
        try:
            copy = Copy(*fork(alone), alone, self._history)
        except OSError:
            self._can_copy = False  # too little memory, say
            return None
        self.copied += 1
        return copy

    def _outcome(self, question: Question) -> Any:
        """What a question returns or raises."""
        outcome: Any
        try:
            with self._in_time(question.limited):
                if self.ends and question.limited:
                    raise DDlogError([ServerEnds()])
                outcome = question.call()
        except (KeyboardInterrupt, Exception) as error:
            self._rest()
            outcome = error
            if self._late or isinstance(error, KeyboardInterrupt):  # code below may turn it into an error
                gone = ServerEnds() if self.ends else QuestionTooLong(self._limits.seconds)
                outcome = DDlogError([gone])
        if self.session.in_transaction:  # a trial's; here nothing interrupts taking it back
            self.session.rollback()
        return outcome

    def _tell(self, outcomes: list[Told], changing: Changing | None = None) -> None:
        if (outcomes or changing) and self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_settle, outcomes, changing)

    @contextmanager
    def _in_time(self, limited: bool) -> Iterator[None]:
        """The time for a question, whose end raises KeyboardInterrupt; only the main thread gets signals."""
        if not limited or threading.current_thread() is not threading.main_thread():
            yield
            return
        self._asking, self._late = True, False
        signal.setitimer(signal.ITIMER_REAL, self._limits.seconds, 0.2)
        try:
            yield
        finally:
            self._rest()

    def _rest(self) -> None:
        """Lets no signal interrupt any more."""
        self._asking = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    @contextmanager
    def _heard(self) -> Iterator[None]:
        """Lets signals end the questions inside, at safe points, and SIGINT and SIGTERM the owner."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(number: int, frame: FrameType | None) -> None:
            if not self._late:
                self.end()
            if self._asking:
                raise KeyboardInterrupt

        def alarm(number: int, frame: FrameType | None) -> None:
            handler = signal.getsignal(signal.SIGINT)  # that of the engine, in an epoch
            if self._asking and callable(handler):
                self._late = True
                handler(signal.SIGINT, frame)

        def end(number: int, frame: FrameType | None) -> None:
            self.end()
            alarm(number, frame)

        for each in (alarm, end):
            vars(each)["by_interrupt"] = True  # see `engine.interrupt.deferred`
        before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
        telling = -1 if self._is_copy else self._telling.fileno()
        told = signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.set_wakeup_fd(told)
            for number, handler in before.items():
                signal.signal(number, handler)


def _history_of(durable: Durable, parent: Parent) -> FileHistory:
    """The history of a state up to its last epoch here, in a copy."""
    found = parent.history([*durable.stored.values()])
    found.last = durable.epoch
    return found


def _settle(outcomes: list[Told], changing: Changing | None) -> None:
    for future, outcome in outcomes:
        if future is not None and not future.done():
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
    if changing is not None:
        changing.ended = True
        changing.news.set()
        if changing.copy is not None:
            changing.copy.end()


def _has_copy(changing: Changing, copy: Copy) -> None:
    if changing.ended:
        copy.end()
    else:
        changing.copy = copy
        changing.news.set()


def _end_made(made: asyncio.Future[Copy | None]) -> None:
    copy = None if made.cancelled() or made.exception() else made.result()
    if copy is not None:
        copy.end()
