"""A service on an address: the event loop in a thread of its own, and the session in this one."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from ..errors.diagnostics import DDlogError
from ..errors.server import CannotListen
from ..sessions.session import Session
from .app import application
from .connections import Http, closing_silent, many_files
from .feed import Event
from .guard import Access
from .limits import Limits
from .service import Service

_PATIENCE, _LEAST = 2.5, 1.0
"""The seconds that connections have to end, since the server is told to end, and after the last commit."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server. `proxy` is the name of a proxy before it that has TLS, with its port if it has
    another than https."""

    host: str = "127.0.0.1"
    port: int = 8420
    certificate: str | None = None
    key: str | None = None
    proxy: str | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def secure(self) -> bool:
        """True if the server is reached by https."""
        return self.certificate is not None or self.proxy is not None

    def access(self, port: int) -> Access:
        """Who may ask, on a port."""
        names = {self.host, "localhost", "127.0.0.1", "[::1]"}
        hosts = {f"{name.lower()}:{port}" for name in names}
        if self.proxy is not None:
            hosts.add(self.proxy.lower())
        if port == (443 if self.secure else 80):
            hosts |= {name.lower() for name in names}
        return Access(self.token, frozenset(hosts), f"ddlog-token-{port}", self.secure)


def serve(
    session: Session,
    place: ServerAddress,
    *,
    limits: Limits | None = None,
    read_only: bool = False,
    agents: bool = False,
    ready: Callable[[str], None],
    began: Callable[[Service], None] | None = None,
) -> None:
    """Serves a session until SIGTERM or Ctrl-C, or until `service.owner.end()`; the session stays open.
    `ready` is called with the address; `agents` have tools at /mcp. Raises DDlogError if there can be no
    server there."""
    many_files()
    listening = _listening(place)
    port = listening.getsockname()[1]
    service = Service(session, limits or Limits(), read_only)
    config = uvicorn.Config(
        application(service, place.access(port), agents), log_config=None, access_log=False, lifespan="auto",
        http=Http,
        ssl_certfile=place.certificate, ssl_keyfile=place.key, server_header=False,
        proxy_headers=False, ws_max_size=service.limits.body,
    )  # fmt: skip
    server = uvicorn.Server(config)
    up = threading.Event()

    async def main() -> None:
        service.owner.begin()
        asyncio.get_running_loop().set_exception_handler(_told)
        up.set()
        closing = asyncio.create_task(closing_silent(server))
        await server.serve([listening])
        closing.cancel()

    def run() -> None:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(main())

    thread = threading.Thread(target=run, name="ddlog-server", daemon=True)
    thread.start()
    up.wait()
    if began is not None:
        began(service)
    scheme = "https" if place.certificate is not None else "http"
    shown = "localhost" if place.host in ("0.0.0.0", "::") else place.host
    ready(f"{scheme}://{shown}:{port}/?token={place.token}")
    try:
        service.owner.run()
    finally:
        assert service.owner.loop is not None
        service.owner.ends = True
        service.owner.loop.call_soon_threadsafe(
            service.feed.tell, Event("end", "", '{"reason":"the server ends"}')
        )
        left = max(_LEAST, _PATIENCE - service.owner.ending)
        config.timeout_graceful_shutdown = left  # type: ignore[assignment]
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # which tells of all that is cut off
        server.should_exit = True
        thread.join(left + 1)
        service.close_pasts()
        service.owner.close()


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """One line about what goes wrong between the server and a connection, as when there are too many."""
    error = context.get("exception")
    print(f"note: {context['message']}" + (f": {error}" if error else ""), file=sys.stderr, flush=True)


def serve_agents(
    session: Session, limits: Limits, read_only: bool, began: Callable[[Service], None] | None = None
) -> None:
    """Serves a session to an agent on standard input and output, until its end or SIGTERM; the session stays
    open."""
    from .agents import agent_server

    service = Service(session, limits, read_only)
    up = threading.Event()

    async def main() -> None:
        service.owner.begin()
        up.set()
        try:
            await agent_server(service).run_stdio_async()
        finally:
            service.owner.end()

    threading.Thread(target=lambda: asyncio.run(main()), name="ddlog-agent", daemon=True).start()
    up.wait()
    if began is not None:
        began(service)
    try:
        service.owner.run()
    finally:
        service.close_pasts()


def _listening(place: ServerAddress) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )  # of connections, too: answers go at once
        listening.bind((place.host, place.port))
        listening.listen(2048)
    except OSError as error:
        raise DDlogError([CannotListen(place.host, place.port, error.strerror or str(error))]) from None
    return listening
