"""Bodies of many bytes, which go to a client's connection past the event loop.

    event loop:   head ───▶ waits … ───────────────────────▶ end of the body
    a thread, or a copy of the process:    part, part, part

The event loop would copy each part several times, for which commits wait. It only writes what comes before
and after, and lends the connection meanwhile. Where there is none to lend, as with TLS, parts go through it.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, Protocol

from starlette.concurrency import iterate_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from .answers import Parts

LENT = "ddlog.connection"
"""The name of a request's connection among the extensions of its scope."""

_PAUSE = 0.001  # seconds between two looks at what waits to be sent


class Lending(Protocol):
    """A client's connection, to be lent."""

    async def write(self, parts: Parts) -> bool:
        """Writes the parts of a body that has begun; False: they are to go through the event loop."""


class DirectConnection:
    """The connection of a request in this process."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def file(self) -> int | None:
        """A descriptor of the connection, to be closed, once all is sent that was to be sent; None: it cannot
        be lent. Raises ClientDisconnect."""
        found = self._transport.get_extra_info("socket")
        if found is None or self._transport.get_extra_info("sslcontext") is not None:
            return None
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await asyncio.sleep(_PAUSE)
        if self._transport.is_closing():
            raise ClientDisconnect
        return os.dup(found.fileno())

    async def write(self, parts: Parts) -> bool:
        file = await self.file()
        if file is None:
            return False
        of_thread = os.dup(file)  # which writes on for a moment after a cancellation

        def write() -> None:
            try:
                write_parts(of_thread, parts)
            finally:
                os.close(of_thread)

        try:
            await _in_a_thread(write)
        except asyncio.CancelledError:
            end(file)
            raise
        except OSError:
            await self.drop()
        finally:
            os.close(file)
        return True

    async def drop(self) -> NoReturn:
        """Ends the connection in the middle of an answer, of which the server is told. Raises
        ClientDisconnect."""
        self._transport.abort()
        await asyncio.sleep(_PAUSE)
        raise ClientDisconnect


def _in_a_thread(call: Callable[[], None]) -> asyncio.Future[None]:
    """Makes a call in a thread of its own: one that waits for a client must not take the place of others."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error = None
        try:
            call()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=run, name="ddlog-export", daemon=True).start()
    return done


class PartsResponse(Response):
    """An answer whose body comes in parts."""

    def __init__(self, parts: Parts, media_type: str) -> None:
        self._parts = parts
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self.headers["transfer-encoding"] = "chunked"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        lending: Lending | None = scope.get("extensions", {}).get(LENT)
        if lending is None or not await lending.write(self._parts):
            async for part in iterate_in_threadpool(self._parts):
                await send({"type": "http.response.body", "body": b"".join(part), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def write_parts(file: int, parts: Parts, watched: int | None = None) -> None:
    """Writes parts of a body to the descriptor of a connection, as chunks of HTTP. Raises OSError if the
    connection ends, or the other end of `watched`."""
    ready = select.poll()
    ready.register(file, select.POLLOUT)
    if watched is not None:
        ready.register(watched, 0)  # tells only that it has ended
    for part in parts:
        views = [memoryview(each).cast("B") for each in part if len(each)]
        if not views:
            continue
        left = [memoryview(b"%x\r\n" % sum(map(len, views))), *views, memoryview(b"\r\n")]
        while left:
            try:
                count = os.writev(file, left)
            except BlockingIOError:
                if any(each != file for each, _ in ready.poll()):
                    raise ConnectionError("the server has ended") from None
                continue
            while left and count >= len(left[0]):
                count -= len(left.pop(0))
            if count:
                left[0] = left[0][count:]


def end(file: int) -> None:
    """Ends a connection, whoever else has a descriptor of it."""
    with suppress(OSError), socket.socket(fileno=os.dup(file)) as connection:
        connection.shutdown(socket.SHUT_RDWR)
