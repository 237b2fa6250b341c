"""Readers while a commit runs: they ask a copy of the process, which is at the last whole epoch.

    owner:  ── epoch 7 ──┬── epoch 8 … safe point … ──────────────── epoch 8 is committed ──
                         │              └ fork
    copy:                │                 └ takes back what epoch 8 did ── epoch 7
                         │                        ├ fork: answers a request, and ends
                         │                        └ fork: …

The copy is made by `os.fork`, so that it shares the memory of all that the commit does not change, and the
commit goes on meanwhile. In the copy the commit ends as if by Ctrl-C, and each request is answered by a
process of its own, so that requests wait neither for each other nor for their clients.
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
_AT_A_TIME = 8  # requests that one copy answers

Message = Mapping[str, Any]
Send = Callable[[Any], Awaitable[None]]


class Elsewhere(BaseException):
    """A question that is to be asked elsewhere: of a copy, since a commit runs; or of the owner itself, since
    a copy cannot answer it."""


class Copied(BaseException):
    """Ends the commit in a copy, which takes requests from a socket."""

    def __init__(self, control: socket.socket) -> None:
        super().__init__()
        self.control = control


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a copy: the place of its route in the table of routes, what it has of the scope of the
    request, and its body."""

    route: int
    scope: Mapping[str, Any]
    body: bytes


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
    """A copy of this process, as its parent sees it in the event loop."""

    def __init__(self, process: int, control: socket.socket) -> None:
        self._process, self._control = process, control
        self._free = asyncio.Semaphore(_AT_A_TIME)

    async def answer(self, asked: Asked, send: Send, seconds: float) -> bool:
        """Sends the answer to a request; False if the copy has none, or does not begin in so many seconds."""
        async with self._free:
            here, there = socket.socketpair()
            with here:
                with there:
                    try:
                        socket.send_fds(self._control, [b"?"], [there.fileno()])
                    except OSError:
                        return False
                reader, writer = await asyncio.open_unix_connection(sock=here)
                try:
                    writer.write(pickle.dumps(asked))
                    begun = False
                    while (message := await _message(reader, None if begun else seconds)) is not None:
                        begun = True
                        await send(message)
                        if message["type"] == "http.response.body" and not message.get("more_body"):
                            return True
                    if begun:
                        raise ConnectionError("a copy of the server has ended")
                    return False
                finally:
                    writer.close()

    async def end(self) -> None:
        """Lets the copy end, when it has answered what it was asked."""
        self._control.close()
        await asyncio.to_thread(os.waitpid, self._process, 0)


async def _message(reader: asyncio.StreamReader, seconds: float | None) -> Message | None:
    """The next message of an answer; None if there is none in so many seconds."""
    try:
        (size,) = _SIZE.unpack(await asyncio.wait_for(reader.readexactly(_SIZE.size), seconds))
        found: Message = pickle.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, TimeoutError, OSError):
        return None
    return found


def fork() -> tuple[int, socket.socket]:
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
    raise Copied(theirs)


def be_a_copy(control: socket.socket, answer: Callable[[Asked, Send], Awaitable[None]]) -> None:
    """Lets this process answer requests until its parent ends it. The caller ends the process then."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    while True:
        data, sockets, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            _answer(socket.socket(fileno=sockets[0]), answer)
            return
        os.close(sockets[0])


def _let_go(control: int) -> None:
    """Closes the files of the parent: its connections, and the state, end with it alone."""
    with open(os.devnull, "r+b") as nothing:
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    most = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, control)
    os.closerange(control + 1, most)


def _answer(to: socket.socket, answer: Callable[[Asked, Send], Awaitable[None]]) -> None:
    with to, to.makefile("rb") as file, suppress(Elsewhere, OSError):
        asked = pickle.load(file)

        async def send(message: Message) -> None:
            data = pickle.dumps(dict(message))
            to.sendall(_SIZE.pack(len(data)) + data)

        asyncio.run(answer(asked, send))  # type: ignore[arg-type]
