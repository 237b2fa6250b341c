"""Sessions over the wire for programs with an event loop: each method of `Session` as a coroutine.

    async with await ddlog.connect_async("http://127.0.0.1:8420", token="…") as session:
        await session.insert("Link", ("a", "b"))
        await session.commit()
        async for changes in await session.subscribe("Reach"):
            …

The requests of a session are made in a thread of its own, one after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any

from ..sessions.results import RelationView
from .client import RemoteSession, connect


async def connect_async(
    url: str, token: str | None = None, *, patience: float = 30.0, verify: Any = True
) -> AsyncSession:
    """The session of a server, as `connect` gives it, with coroutines. Raises DDlogError."""
    thread = ThreadPoolExecutor(1, "ddlog-client")
    connecting = partial(connect, url, token, patience=patience, verify=verify)
    try:
        session = await asyncio.get_running_loop().run_in_executor(thread, connecting)
    except BaseException:
        thread.shutdown(wait=False)
        raise
    return AsyncSession(session, thread)


class AsyncSession:
    """The session of a server. A method of `Session` is a coroutine here, and a property is as there."""

    def __init__(self, session: RemoteSession, thread: ThreadPoolExecutor) -> None:
        self._session, self._thread = session, thread

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if isinstance(getattr(RemoteSession, name, None), property):
            return getattr(self._session, name)
        method: Callable[..., Any] = getattr(self._session, name)
        if not callable(method):
            return method

        def called(*given: Any, **named: Any) -> Coroutine[Any, Any, Any]:
            return self._done(partial(method, *given, **named))

        return called

    async def view(self, relation: str) -> RelationView:
        """The rows of a relation, as `session[relation]` gives them; they are read now. Raises DDlogError."""

        def read() -> RelationView:
            view = self._session[relation]
            list(view.stored)
            return view

        found: RelationView = await self._done(read)
        return found

    async def subscribe(self, relation: str) -> AsyncIterator[list[tuple[Any, int]]]:
        """The changed rows of an output relation with the changes of their weights, epoch by epoch from now
        on. Raises DDlogError, and the iterator does if it cannot go on without missing a change."""
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[Any]()

        def put(item: Any) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(waiting.put_nowait, item)

        stop = await self._done(partial(self._session.follow, relation, put, put))
        return _items(waiting, stop)

    async def close(self) -> None:
        """Ends the session."""
        await self._done(self._session.close)
        self._thread.shutdown(wait=False)

    async def _done(self, call: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            await self._done(self._session.rollback)
        await self.close()


async def _items(waiting: asyncio.Queue[Any], stop: Callable[[], None]) -> AsyncIterator[Any]:
    try:
        while True:
            item = await waiting.get()
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop()
