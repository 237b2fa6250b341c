"""Requests of a client to a server, which are sent again while the server cannot be reached."""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit
from urllib.request import getproxies

from ..errors.diagnostics import DDlogError
from ..errors.server import UnknownServer
from ..errors.sessions import NotInstalled, SessionClosed
from .answers import CALL
from .failures import error_of
from .jsonforms import received

try:
    import httpx
except ImportError:
    raise DDlogError([NotInstalled("ddlog[client]")]) from None

_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0)  # seconds between attempts
Unpack = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """A server-sent event."""

    kind: str
    id: str
    data: Any


class Connection:
    """A server at an address. Methods raise DDlogError. For so many seconds (`patience`) a request is sent
    again to a server that does not answer, if that does no harm."""

    def __init__(self, url: str, token: str | None, patience: float, verify: Any) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise DDlogError([UnknownServer(url, "an address begins with http:// or https://")])
        given = parse_qs(parts.query).get("token", [""])[0]
        self.url = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self._patience = patience
        headers = {"accept": CALL}
        if token or given:
            headers["authorization"] = f"Bearer {token or given}"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=4)
        # Reading the certificates of all authorities takes 0.06 s: not where nothing is encrypted.
        checked = verify if parts.scheme == "https" or getproxies() else False
        self._client = httpx.Client(
            base_url=self.url, headers=headers, timeout=None, verify=checked, limits=limits
        )

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        epoch: int | None = None,
        program: str | None = None,
        again: bool = True,
    ) -> tuple[Any, Unpack]:
        """The answer to a call, and a function that gives its rows as bytes."""
        asked: dict[str, Any] = {"method": method, "arguments": arguments}
        asked |= {} if epoch is None else {"epoch": epoch}
        asked |= {} if program is None else {"program": program}
        content = json.dumps(asked, ensure_ascii=False).encode()
        return self._answer(lambda: self._client.post("/call", content=content), again)

    def transact(self, content: bytes, media: str, program: str) -> tuple[Any, Unpack]:
        """The answer to a transaction, which is committed once, however often it has to be sent."""
        headers = {"content-type": media, "ddlog-program": program, "idempotency-key": secrets.token_hex(12)}
        return self._answer(
            lambda: self._client.post("/transactions", content=content, headers=headers), True
        )

    def events(
        self, relation: str, last: str | None, opened: Callable[[Callable[[], None]], None]
    ) -> Iterator[ReceivedEvent]:
        """The events of a subscription after the event `last`; None: from now on. `opened` gets a function
        that ends the events. Raises OSError when the connection ends."""
        params = {"relations": relation, "snapshot": "false"}
        headers = {} if last is None else {"last-event-id": last}
        try:
            with self._client.stream("GET", "/changes", params=params, headers=headers) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise self._error(answer)
                opened(lambda: _shut(answer))
                yield from _events(answer.iter_lines())
        except (httpx.TransportError, httpx.StreamError) as error:
            raise OSError(str(error)) from None

    def _answer(self, send: Callable[[], httpx.Response], again: bool) -> tuple[Any, Unpack]:
        answer = self._sent(send, again)
        if answer.status_code != 200:
            raise self._error(answer)
        head, _, rest = answer.content.partition(b"\n")
        parts: list[bytes] = []
        try:
            sizes, data = head[1:].split(b"]", 1)[0] + b"]", head[head.index(b"]") + 2 : -1]
            for size in json.loads(sizes):
                parts.append(rest[:size])
                rest = rest[size:]
            return received(data, lambda at: parts[at]), parts.__getitem__
        except ValueError as error:
            raise DDlogError([UnknownServer(self.url, f"its answer cannot be read: {error}")]) from None

    def _sent(self, send: Callable[[], httpx.Response], again: bool) -> httpx.Response:
        began, attempt = time.monotonic(), 0
        while True:
            if self._client.is_closed:
                raise DDlogError([SessionClosed()])
            try:
                answer = send()
                if answer.status_code != 503:
                    return answer
            except httpx.TransportError as error:
                safe = again or isinstance(error, httpx.ConnectError)
                if not safe or time.monotonic() - began > self._patience:
                    raise DDlogError([UnknownServer(self.url, str(error) or type(error).__name__)]) from None
            else:
                if time.monotonic() - began > self._patience:
                    return answer
            time.sleep(_PAUSES[min(attempt, len(_PAUSES) - 1)])
            attempt += 1

    def _error(self, answer: httpx.Response) -> DDlogError:
        try:
            if CALL in answer.headers.get("content-type", ""):
                return error_of(answer.content)
            return DDlogError([UnknownServer(self.url, json.loads(answer.content)["errors"][0]["message"])])
        except (ValueError, LookupError, TypeError):
            reason = f"it answers with the status {answer.status_code}"
            return DDlogError([UnknownServer(self.url, reason)])


def _events(lines: Iterator[str]) -> Iterator[ReceivedEvent]:
    parts: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            parts[name] = value
        elif parts:
            yield ReceivedEvent(parts["event"], parts.get("id", ""), json.loads(parts["data"]))
            parts = {}


def _shut(answer: httpx.Response) -> None:
    """Ends a connection that another thread reads."""
    stream = answer.extensions.get("network_stream")
    connection = None if stream is None else stream.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
