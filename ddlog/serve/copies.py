"""Readers beside commits: they ask a copy of the process, which is at the last whole epoch.

    owner:  ── epoch 7 ──┬── epoch 8 … safe point … ──────────────── epoch 8 is committed ──
                         │              └ fork
    copy:                │                 └ takes back what epoch 8 did ── epoch 7
                         │                        ├ fork: answers one request after another
                         │                        └ fork: …

The copy is made by `os.fork`, so that it shares the memory of all that the commit does not change, and the
commit goes on meanwhile. In the copy the commit ends as if by Ctrl-C. Requests that come at the same time are
answered by workers, processes of their own, so that they wait neither for each other nor for their clients.
A worker lasts as long as its copy: a fork takes about 12 ms for each GB of memory.

An answer that takes long comes from a copy also where no commit runs, so that none has to wait for it. Such a
copy is made between two jobs of the owner, and is itself its only worker.
"""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import signal
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_SIZE = struct.Struct("!Q")
_AT_A_TIME = 8  # workers of a copy
_ROOM = 8 << 20  # bytes of an answer that wait in the event loop

Message = Mapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
Answering = Callable[["CopyRequest", Send], Awaitable[None]]


class AskedElsewhere(BaseException):
    """A question that is to be asked elsewhere: of a copy, since a commit runs; or of the owner itself, since
    a copy cannot answer it."""


class Copied(BaseException):
    """Ends what runs in a copy, which takes requests from a socket, or `alone` is the only worker there."""

    def __init__(self, control: socket.socket, alone: bool) -> None:
        super().__init__()
        self.control, self.alone = control, alone


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """A request for a copy: who answers it there, and what of it is sent."""

    of: str
    given: tuple[Any, ...]


_may_move: ContextVar[bool] = ContextVar("may_move", default=False)


@contextmanager
def movable() -> Iterator[None]:
    """Questions that this task asks may be asked elsewhere."""
    token = _may_move.set(True)
    try:
        yield
    finally:
        _may_move.reset(token)


def is_movable() -> bool:
    """Whether a question of this task may be asked elsewhere."""
    return _may_move.get()


class Copy:
    """A copy of this process, as its parent sees it in the event loop. `alone`: it has one worker, itself."""

    def __init__(self, process: int, control: socket.socket, alone: bool) -> None:
        self._process, self._control, self.alone = process, control, alone
        self._free = asyncio.Semaphore(1 if alone else _AT_A_TIME)
        self._idle: list[_Worker] = []
        self._ended = False

    async def answer(self, asked: CopyRequest, send: Send, seconds: float) -> bool:
        """Sends the answer to a request; False if the copy has none, or does not begin in so many seconds."""
        async with self._free:
            try:
                worker = self._idle.pop() if self._idle else await self._new_worker()
            except OSError:
                return False
            done = begun = False
            try:
                worker.writer.write(_framed(asked))
                while (message := await worker.message(None if begun else seconds)) is not None:
                    if not message:
                        done = True
                        return begun
                    begun = True
                    await send(message)
                if begun:
                    raise ConnectionError("a copy of the server has ended")
                return False
            finally:
                if done and not self._ended:
                    self._idle.append(worker)
                else:
                    worker.writer.close()

    async def _new_worker(self) -> _Worker:
        if self.alone:
            return _Worker(*await asyncio.open_unix_connection(sock=self._control, limit=_ROOM))
        here, there = socket.socketpair()
        with there:
            try:
                socket.send_fds(self._control, [b"?"], [there.fileno()])
            except BaseException:
                here.close()
                raise
        return _Worker(*await asyncio.open_unix_connection(sock=here, limit=_ROOM))

    async def end(self) -> None:
        """Lets the copy end, when it has answered what it was asked."""
        self._ended = True
        self._control.close()
        while self._idle:
            self._idle.pop().writer.close()
        await asyncio.to_thread(os.waitpid, self._process, 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    """A process that answers requests of a socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def message(self, seconds: float | None) -> Message | None:
        """The next message of an answer, an empty one at its end; None if there is none in so many
        seconds."""
        try:
            (size,) = _SIZE.unpack(await asyncio.wait_for(self.reader.readexactly(_SIZE.size), seconds))
            found: Message = pickle.loads(await self.reader.readexactly(size))
        except (asyncio.IncompleteReadError, TimeoutError, OSError):
            return None
        return found


def fork(alone: bool = False) -> tuple[int, socket.socket]:
    """Makes a copy of this process. Returns its number and a socket to it. Raises Copied in the copy, and
    OSError if there can be none."""
    ours, theirs = socket.socketpair()
    gc.freeze()  # a collection in the copy would write to all of the shared memory
    try:
        process = os.fork()  # beside other threads: the copy uses nothing of theirs
    except OSError:
        ours.close()
        theirs.close()
        raise
    finally:
        gc.unfreeze()
    if process:
        theirs.close()
        return process, ours
    gc.freeze()
    _let_go(theirs.fileno())
    raise Copied(theirs, alone)


def be_a_copy(copied: Copied, answer: Answering) -> None:
    """Lets this process answer requests until its parent ends it. The caller ends the process then."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    control = copied.control
    if copied.alone:
        _work(control, answer)
        return
    while True:
        data, sockets, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            _work(socket.socket(fileno=sockets[0]), answer)
            return
        os.close(sockets[0])


def _let_go(control: int) -> None:
    """Lets the files of the parent be closed with it: its connections, and the state. Their numbers stay
    taken, for objects that are forgotten here close the numbers that they have."""
    with open(os.devnull, "r+b") as nothing:
        kept = control, nothing.fileno()
        try:
            numbers = [int(each) for each in os.listdir("/proc/self/fd")]
        except OSError:
            numbers = [*range(3)]
            os.closerange(3, min(kept))
            os.closerange(min(kept) + 1, max(kept))
            os.closerange(max(kept) + 1, os.sysconf("SC_OPEN_MAX"))
        for number in numbers:
            if number not in kept:
                os.dup2(nothing.fileno(), number)


def _framed(found: object) -> bytes:
    data = pickle.dumps(found)
    return _SIZE.pack(len(data)) + data


def _work(to: socket.socket, answer: Answering) -> None:
    """Answers requests, one after another."""

    async def send(message: Message) -> None:
        to.sendall(_framed(dict(message)))

    with to, to.makefile("rb") as file, suppress(OSError):
        while size := file.read(_SIZE.size):
            asked = pickle.loads(file.read(*_SIZE.unpack(size)))
            with suppress(AskedElsewhere):
                asyncio.run(answer(asked, send))  # type: ignore[arg-type]
            to.sendall(_framed({}))
