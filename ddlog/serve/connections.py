"""The connections of a server: how many there may be, how long heads are, and those that send no whole
request."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .direct import LENT, DirectConnection

if TYPE_CHECKING:
    from uvicorn import Server

PATIENCE = 10.0
"""The seconds in which the head of a request comes."""
_FILES = 65_536  # that are enough, where the system sets no limit
_HEAD = 64 << 10  # bytes of the head of a request


class Http(HttpToolsProtocol):
    """HTTP with a limit for the head of a request, and for what is neither a head nor a body: the parser
    itself would keep all of it."""

    _apart = 0  # bytes since the last part of a body

    def data_received(self, data: bytes) -> None:
        if self.parser is None:
            return
        self._apart += len(data)
        super().data_received(data)
        if self._apart > _HEAD:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {LENT: DirectConnection(self.transport)}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum([len(name) + len(value) for name, value in self.headers])
        if size > _HEAD:
            raise ValueError("the head is too long")  # the parser ends, and the answer is 400
        if self.parser.get_http_version() != "1.1":
            self.scope.pop("extensions")  # its client knows no chunks
        self._apart = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._apart = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._apart = 0
        super().on_message_complete()


def many_files() -> None:
    """Lets this process have as many connections and files as it may."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(few, enough), most))


async def closing_silent(server: Server) -> None:
    """Closes connections on which no request begins in time, until the server ends. Anyone who reaches the
    port could hold all connections that there may be."""
    loop = asyncio.get_running_loop()
    known: dict[Any, tuple[object, float]] = {}
    while not server.should_exit:
        await asyncio.sleep(PATIENCE / 10)
        now, silent = loop.time(), dict[Any, tuple[object, float]]()
        for each in list(server.server_state.connections):
            cycle = getattr(each, "cycle", each)  # a WebSocket has no cycles of requests and answers
            if cycle is None or getattr(cycle, "response_complete", False):
                last, since = known.get(each, (cycle, now))
                silent[each] = (cycle, since if last is cycle else now)
                if now - silent[each][1] > PATIENCE:
                    each.transport.abort()
        known = silent
