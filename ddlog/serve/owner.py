"""The thread that owns a session: it commits what waits, answers questions, and ends them when their time is
over."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from types import FrameType
from typing import Any, TypeVar

from ..errors.diagnostics import DDlogError
from ..errors.serving import QuestionTooLong, ServerEnds, TooMuchWaits
from ..sessions.session import Session
from .grouping import Answer, Committer, Outcome, Waiting
from .limits import Limits

T = TypeVar("T")
_MOST_TOGETHER = 1_000  # transactions of one epoch


@dataclass(slots=True, eq=False)
class Question:
    """A call on the session, and whom to tell what it returns. `limited`: its time is."""

    call: Callable[[], Any]
    future: asyncio.Future[Any]
    limited: bool


class Owner:
    """Takes jobs from an event loop, and carries them out in the thread that calls `run`."""

    def __init__(self, session: Session, committer: Committer, limits: Limits) -> None:
        self.session, self._committer, self._limits = session, committer, limits
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ends = False
        self._jobs: SimpleQueue[Waiting | Question | None] = SimpleQueue()
        self._asking = self._late = False

    # ------------------------------------------------------------- in the event loop

    async def transact(self, waiting: Waiting) -> Answer:
        """The answer to a transaction. Raises what it raises."""
        future: asyncio.Future[Answer] = self._loop().create_future()
        waiting.future = future
        self._add(waiting)
        return await future

    async def ask(self, call: Callable[[], T], *, limited: bool = True) -> T:
        """The result of a call on the session. Raises the errors of the call."""
        future: asyncio.Future[T] = self._loop().create_future()
        self._add(Question(call, future, limited))
        return await future

    @property
    def waiting(self) -> int:
        """The number of jobs that wait."""
        return self._jobs.qsize()

    def end(self) -> None:
        """Takes no more jobs, and ends `run` after those that wait. Called in any thread, or by a signal."""
        if not self.ends:
            self.ends = True
            self._jobs.put(None)

    def _add(self, job: Waiting | Question) -> None:
        if self.ends:
            raise DDlogError([ServerEnds()])
        if self._jobs.qsize() >= self._limits.waiting:
            raise DDlogError([TooMuchWaits(self._limits.waiting)])
        self._jobs.put(job)

    def _loop(self) -> asyncio.AbstractEventLoop:
        assert self.loop is not None
        return self.loop

    # ------------------------------------------------------------- in the thread of the session

    def run(self) -> None:
        """Carries out jobs until `end`."""
        with self._heard():
            going = True
            while going:
                transactions: list[Waiting] = []
                questions: list[Question] = []
                job = self._jobs.get()
                while True:
                    if job is None:
                        going = False
                    elif isinstance(job, Question):
                        questions.append(job)
                    else:
                        transactions.append(job)
                    if self._jobs.empty() or len(transactions) >= _MOST_TOGETHER:
                        break
                    job = self._jobs.get()
                self._tell([(each.future, out) for each, out in self._committer.commit(transactions)])
                for each in questions:
                    self._answer(each)

    def _answer(self, question: Question) -> None:
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
        self._tell([(question.future, outcome)])

    def _tell(self, outcomes: list[tuple[asyncio.Future[Any] | None, Any]]) -> None:
        if outcomes and self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_settle, outcomes)

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

        before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _settle(outcomes: list[tuple[asyncio.Future[Any] | None, Outcome | Any]]) -> None:
    for future, outcome in outcomes:
        if future is not None and not future.done():
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
