"""Readers beside commits: they ask a copy of the process, which is at the last whole epoch.

    owner:  ── epoch 7 ──┬── epoch 8 … safe point … ──────────────── epoch 8 is committed ──
                         │              └ fork
    copy:                │                 └ takes back what epoch 8 did ── epoch 7
                         │                        ├ fork: answers one request after another
                         │                        └ fork: …

The copy is made by `os.fork`, so that it shares the memory of all that the commit does not change, and the
commit goes on meanwhile. In the copy the commit ends as if by Ctrl-C. Requests that come at the same time are
answered by workers, processes of their own, so that they wait neither for each other nor for their clients.
A worker lasts as long as its copy: a fork takes about 12 ms for each GB of memory. Parts of a large body go
from a worker to the client itself (`direct.py`). The history of the state comes from the parent: a copy
cannot use the file of the state.

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
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .answers import Parts
from .direct import DirectConnection, write_parts

if TYPE_CHECKING:
    from ..durability.contents import FileHistory
    from ..durability.records import Stored

_HEAD = struct.Struct("!cQ")  # of a frame: its kind, and its bytes
_REQUEST, _MESSAGE, _PART, _END = b"R", b"M", b"P", b"E"
_HISTORY, _CONNECTION = b"H", b"C"
_AT_A_TIME = 8  # workers of a copy
_ROOM = 8 << 20  # bytes of an answer that wait in the event loop
_NICE = 10  # of a copy for one long answer, so that commits go first

Message = Mapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
Answering = Callable[["CopyRequest", "Parent"], Awaitable[None]]
History = Callable[[Sequence["Stored"]], Awaitable["FileHistory | None"]]


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
    """A request for a copy: who answers it there, what of it is sent, and the client's connection."""

    of: str
    given: tuple[Any, ...]
    connection: DirectConnection | None = None


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
    """A copy of this process, as its parent sees it in the event loop. `alone`: it has one worker, itself.
    `history` gives it the history of relations of the state."""

    def __init__(self, process: int, control: socket.socket, alone: bool, history: History) -> None:
        self._process, self._control, self.alone, self._history = process, control, alone, history
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
                worker.writer.write(_framed(_REQUEST, (asked.of, asked.given)))
                while (frame := await worker.frame(None if begun else seconds)) is not None:
                    kind, data = frame
                    if kind == _END:
                        done = True
                        return begun
                    if kind == _HISTORY:
                        worker.writer.write(_framed(_HISTORY, await self._history(pickle.loads(data))))
                    elif kind == _CONNECTION:
                        await worker.lend(asked.connection)
                    else:
                        begun = True
                        await send(_body(data) if kind == _PART else pickle.loads(data))
                if begun and asked.connection is not None:
                    await asked.connection.drop()
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
            return await _Worker.on(self._control)
        here, there = socket.socketpair()
        with there:
            try:
                socket.send_fds(self._control, [b"?"], [there.fileno()])
            except BaseException:
                here.close()
                raise
        return await _Worker.on(here)

    def end(self) -> None:
        """Lets the copy end, when it has answered what it was asked."""
        self._ended = True
        self._control.close()
        while self._idle:
            self._idle.pop().writer.close()
        threading.Thread(target=os.waitpid, args=(self._process, 0), daemon=True).start()


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    """A process that answers requests of a socket."""

    end: socket.socket
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @staticmethod
    async def on(sock: socket.socket) -> _Worker:
        """The worker at the other end of a socket."""
        return _Worker(sock, *await asyncio.open_unix_connection(sock=sock, limit=_ROOM))

    async def frame(self, seconds: float | None) -> tuple[bytes, bytes] | None:
        """The next frame, its kind and its data; None if there is none in so many seconds."""
        try:
            head = await asyncio.wait_for(self.reader.readexactly(_HEAD.size), seconds)
            kind, size = _HEAD.unpack(head)
            return kind, await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, TimeoutError, OSError):
            return None

    async def lend(self, connection: DirectConnection | None) -> None:
        """Lends the worker a connection, or none if it cannot be lent."""
        file = None if connection is None else await connection.file()
        try:
            socket.send_fds(self.end, [_CONNECTION], [] if file is None else [file])
        finally:
            if file is not None:
                os.close(file)


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
        os.nice(_NICE)
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


def _framed(kind: bytes, found: object) -> bytes:
    data = pickle.dumps(found)
    return _HEAD.pack(kind, len(data)) + data


def _body(part: bytes) -> Message:
    return {"type": "http.response.body", "body": part, "more_body": True}


class Parent:
    """The process of which this one is a copy, as a worker there sees it: it has the connection of the client
    that asks."""

    def __init__(self, to: socket.socket) -> None:
        self._to, self._file = to, to.makefile("rb")
        self._history: FileHistory | None = None
        self._is_waiting = False

    def asked(self) -> CopyRequest | None:
        """The next request; None: there are no more, or what comes next would be an answer."""
        return None if self._is_waiting or (found := self._next()) is None else CopyRequest(*found)

    def _next(self) -> Any:
        head = self._file.read(_HEAD.size)
        return pickle.loads(self._file.read(_HEAD.unpack(head)[1])) if head else None

    async def send(self, message: Message) -> None:
        """Sends a message of an answer."""
        if message.get("more_body"):
            self._to.sendall(_HEAD.pack(_PART, len(message["body"])))
            self._to.sendall(message["body"])
        else:
            self._to.sendall(_framed(_MESSAGE, dict(message)))

    def end(self) -> None:
        """Ends an answer."""
        self._to.sendall(_HEAD.pack(_END, 0))

    async def write(self, parts: Parts) -> bool:
        """Writes the parts of a body. See `direct.Lending`."""
        self._to.sendall(_HEAD.pack(_CONNECTION, 0))
        _, files, _, _ = socket.recv_fds(self._to, 1, 1)
        for file in files:
            try:
                write_parts(file, parts, self._to.fileno())
            finally:
                os.close(file)
        return bool(files)

    def history(self, stored: Sequence[Stored]) -> FileHistory:
        """The history of relations of the state, asked for once. Raises AskedElsewhere if it is not told."""
        if self._history is None:
            self._to.sendall(_framed(_HISTORY, stored))
            self._is_waiting = True  # whatever interrupts it
            self._history = self._next()
            self._is_waiting = False
        if self._history is None:
            raise AskedElsewhere
        return self._history


def _work(to: socket.socket, answer: Answering) -> None:
    """Answers requests, one after another."""
    with to, suppress(OSError):
        parent = Parent(to)
        while (asked := parent.asked()) is not None:
            with suppress(AskedElsewhere):
                asyncio.run(answer(asked, parent))  # type: ignore[arg-type]
            parent.end()
