"""Servers for tests: a service in threads of this process."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ddlog

HERE = all(map(importlib.util.find_spec, ("httpx", "starlette", "uvicorn")))
collect_ignore_glob = [] if HERE else ["test_*.py"]  # pip install 'ddlog[serve]'

if HERE:
    import httpx

    from ddlog.serve.eventloop import ServerAddress, serve
    from ddlog.serve.limits import Limits
    from ddlog.serve.service import Service

PROGRAM = """
input relation Link(from: string, to: string)
input relation Node(id: u32, name: string) primary key (n) n.id
input multiset Seen(what: string)
output relation Reach(from: string, to: string)
output relation Degree(node: string, links: bigint)
output relation Name(id: u32, name: string)
output relation Share(what: string, part: bigint)
Reach(x, y) :- Link(x, y).
Reach(x, z) :- Reach(x, y), Link(y, z).
Degree(x, n) :- Link(x, y), var n = y.group_by(x).count() as bigint.
Name(i, n) :- Node(i, n).
Share(w, 100 / (w.len() as bigint)) :- Seen(w).
"""


@dataclass
class Served:
    """A server of this process: its address, its token, and what it serves."""

    address: str
    service: Service
    thread: threading.Thread

    @property
    def url(self) -> str:
        """The address without the token."""
        return self.address.partition("/?")[0]

    @property
    def token(self) -> str:
        """The token."""
        return self.address.partition("token=")[2]

    def client(self) -> httpx.Client:
        """A client with the token."""
        return httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {self.token}"}, timeout=30)

    def end(self) -> None:
        """Ends the server."""
        self.service.owner.end()
        self.thread.join(20)
        assert not self.thread.is_alive()


Serving = Callable[..., Served]


def begin(
    program: str | ddlog.Program = PROGRAM,
    state: Path | None = None,
    limits: Limits | None = None,
    read_only: bool = False,
    place: ServerAddress | None = None,
    agents: bool = False,
) -> Served:
    """Begins a server of a program."""
    services: list[Service] = []
    addresses: list[str] = []
    up = threading.Event()

    def ready(address: str) -> None:
        addresses.append(address)
        up.set()

    def run() -> None:
        try:
            made = ddlog.compile(program) if isinstance(program, str) else program
            with made.session(state=state) as session:
                serve(
                    session, place or ServerAddress(port=0), limits=limits, read_only=read_only, ready=ready,
                    began=services.append, agents=agents,
                )  # fmt: skip
        finally:
            up.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    up.wait(60)
    return Served(addresses[0], services[0], thread)


@contextmanager
def connected(program: str | ddlog.Program, state: Path | None = None) -> Iterator[ddlog.Session]:
    """The session of a server of a program, over the wire."""
    served = begin(program, state)
    try:
        with ddlog.connect(served.address) as session:
            yield session
    finally:
        served.end()


@pytest.fixture
def serving() -> Iterator[Serving]:
    """A function that begins a server of a program."""
    begun: list[Served] = []

    def beginning(*given: Any, **more: Any) -> Served:
        begun.append(begin(*given, **more))
        return begun[-1]

    yield beginning
    for each in begun:
        if each.thread.is_alive():
            each.end()
