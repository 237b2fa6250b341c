"""Who may ask: the token, the host and the origin of a request, and the headers of all answers."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN = frozenset({"/health", "/ready"})
"""The paths that need no token."""

_READ = frozenset({b"host", b"origin", b"content-length", b"authorization", b"cookie"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """The token and the names under which the server is reached, and the name of its cookie, which browsers
    send to all ports of a host; `secure`: by https."""

    token: str
    hosts: frozenset[str]
    cookie: str
    secure: bool = False


class AccessGuard:
    """Lets only requests pass that have the token, and that no page of another site sends."""

    def __init__(self, app: ASGIApp, access: Access, body: int) -> None:
        self._app, self._access, self._body = app, access, body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _READ}
        refused = self._refused(scope, headers)
        if refused is None and scope["path"] == "/" and scope["type"] == "http":
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if given and self._is_token(given):
                await self._welcome(given, send)
                return
        if refused is None and scope["path"] not in OPEN and not self._is_known(headers):
            refused = 401, "the token is missing or wrong: open the address that `ddlog serve` printed"
        if refused is not None:
            await _refuse(scope, *refused, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self._app(scope, receive, sending)

    def _refused(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str] | None:
        host = headers.get(b"host", "")
        if host.lower() not in self._access.hosts:
            return 421, f"this server is not {host or 'without a name'}"
        origin = headers.get(b"origin")
        if origin is not None:
            scheme, _, name = origin.partition("://")
            if name.lower() not in self._access.hosts or scheme not in ("http", "https"):
                return 403, f"pages of {origin} may not use this server"
        length = headers.get(b"content-length", "0")
        if length.isdecimal() and int(length) > self._body:
            return 413, f"the body has more than {self._body:,} bytes, the limit of this server"
        return None

    def _is_known(self, headers: dict[bytes, str]) -> bool:
        word, _, given = headers.get(b"authorization", "").partition(" ")
        if word.lower() == "bearer":
            return self._is_token(given.strip())
        try:
            cookie = SimpleCookie(headers.get(b"cookie", "")).get(self._access.cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._access.token.encode())

    async def _welcome(self, token: str, send: Send) -> None:
        """Puts the token into a cookie, and takes it out of the address."""
        secure = "; Secure" if self._access.secure else ""
        cookie = f"{self._access.cookie}={token}; HttpOnly; SameSite=Strict; Path=/{secure}"
        head = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": head})
        await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Scope, status: int, text: str, send: Send) -> None:
    from .bodies import problem_body

    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text[:120]})
        return
    head = [(b"content-type", b"application/json"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": problem_body(text)})
