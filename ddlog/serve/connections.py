"""The connections of a server: how many there may be, and those that send no whole request."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn import Server

PATIENCE = 10.0
"""The seconds in which the head of a request comes."""
_FILES = 65_536


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
