"""The application: routes, the pages of the console, WebSockets, and errors as answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as Path_
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors.diagnostics import DDlogError, internal_error_text
from ..errors.server import BadRequest, ServerEnds
from .answers import CALL, JSON
from .bodies import TooLarge, body_of_request, errors_body, key_of, object_of, problem_body, status_of
from .copies import CopyRequest, Parent
from .direct import LENT
from .failures import told
from .guard import Access, AccessGuard
from .routes import ROUTES, relations_of
from .service import Service
from .transactions import decoded_changes

PAGES = Path(__file__).parent / "console"
_AT_A_TIME = 1_000  # transactions of a WebSocket that are not answered
_MESSAGE: dict[str, tuple[type, ...]] = {
    "subscribe": (list, str), "last": (str,), "transaction": (list, dict), "key": (str, int),
    "changes": (bool,), "id": (str, int, float, bool, list, dict, type(None)),
}  # fmt: skip
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def application(service: Service, access: Access, agents: bool = False) -> AccessGuard:
    """The application of a service, behind its guard; with the tools for `agents` at /mcp."""
    answers = {(each.method, each.path): _Answer(service, number) for number, each in enumerate(ROUTES)}
    routes: list[BaseRoute] = [
        Path_(path, answer, methods=[method]) for (method, path), answer in answers.items()
    ]
    service.owner.answers["request"] = partial(_in_a_copy, service)
    routes.append(WebSocketRoute("/socket", partial(_socket, service)))
    routes += [Path_(_address(file), partial(_page, file)) for file in sorted(PAGES.iterdir())]
    lifespan = None
    if agents:
        from .agents import agent_routes

        more, lifespan = agent_routes(service)
        routes += more
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _no_such, 405: _no_such})
    return AccessGuard(_straight(answers, app), access, service.limits.body)


async def _no_such(request: Request, error: Exception) -> Response:
    """The answer to a request that there is not."""
    text = f"there is no request {request.method} {request.url.path[:100]}; /openapi.json describes all"
    headers = getattr(error, "headers", None)
    return Response(problem_body(text), getattr(error, "status_code", 404), headers, JSON)


def _straight(answers: Mapping[tuple[str, str], ASGIApp], others: ASGIApp) -> ASGIApp:
    """Gives a request with the very path of an answer to that, and another one to the router, whose layers
    take a third of the time of a small transaction."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        to = answers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        await (to or others)(scope, receive, send)

    return app


def _address(file: Path) -> str:
    return "/" if file.name == "index.html" else f"/console/{file.name}"


async def _page(file: Path, request: Request) -> Response:
    return FileResponse(file, media_type=_TYPES[file.suffix])


class _Answer:
    """Answers a request; errors are answers, too. A question that comes while a commit runs is answered by a
    copy of the process, if there can be one."""

    def __init__(self, service: Service, number: int) -> None:
        self._service, self._number, self._route = service, number, ROUTES[number]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            response = await self._answered(scope, receive, send)
            if response is not None:
                await response(scope, receive, send)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the server ends
            with suppress(RuntimeError):  # an answer has begun
                ends = errors_body(DDlogError([ServerEnds()]))
                await Response(ends, 503, media_type=JSON)(scope, receive, send)

    async def _answered(self, scope: Any, receive: Any, send: Any) -> Response | None:
        """The answer; None if it is sent already."""
        if not self._route.asks:
            return await self._response(Request(scope, receive))
        try:
            body = await body_of_request(Request(scope, receive), self._service.limits.body)
        except TooLarge:
            return self._too_large()
        kept = {name: scope[name] for name in _SCOPE if name in scope}
        response = await self._service.aside(
            CopyRequest("request", (self._number, kept, body), scope.get("extensions", {}).get(LENT)),
            send,
            lambda: self._response(Request(scope, _again(body))),
            self._route.is_long(self._service, Request(scope)),
        )
        return response

    async def _response(self, request: Request) -> Response:
        exactly = CALL in request.headers.get("accept", "")
        try:
            self._check_parameters(request)
            return await self._route.act(self._service, request)
        except TooLarge:
            return self._too_large()
        except ClientDisconnect:
            raise
        except Exception as error:
            status = status_of(error) if isinstance(error, DDlogError) else 500
            media = CALL if exactly and isinstance(error, DDlogError) else JSON
            return Response(errors_body(_known(error), media == CALL), status, media_type=media)

    def _check_parameters(self, request: Request) -> None:
        """Raises DDlogError for a parameter of the address that the request does not have."""
        if request.scope["query_string"]:
            known = [name for name, _ in self._route.parameters]
            for name in request.query_params:
                if name not in known:
                    others = f"there may be {', '.join(known)}" if known else "it has none"
                    raise DDlogError([BadRequest(f"there is no parameter {name[:40]!r}; {others}")])

    def _too_large(self) -> Response:
        text = f"the body has more than {self._service.limits.body:,} bytes, the limit of this server"
        return Response(problem_body(text), 413, media_type=JSON)


_SCOPE = ("type", "method", "path", "path_params", "query_string", "headers")


async def _in_a_copy(
    service: Service, number: int, kept: Mapping[str, Any], body: bytes, parent: Parent
) -> None:
    """Answers a request in a copy."""
    scope = {**kept, "asgi": {"version": "3.0", "spec_version": "2.4"}, "extensions": {LENT: parent}}
    response = await _Answer(service, number)._response(Request(scope, _again(body)))
    await response(scope, _again(b""), parent.send)


def _again(body: bytes) -> Any:
    """Gives a body that was received."""

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _known(error: Exception) -> DDlogError:
    """An error as answers tell it; one that is a fault of ddlog says so."""
    if isinstance(error, DDlogError):
        return error
    return DDlogError([BadRequest(internal_error_text(error))])


async def _socket(service: Service, socket: WebSocket) -> None:
    """Answers messages: `{"subscribe": ["Reach"], "last": ID}` begins a subscription, and `{"transaction": …,
    "id": …}` is one, of many at a time; answers have its id."""
    await socket.accept()
    tasks: set[asyncio.Task[None]] = set()
    free = asyncio.Semaphore(_AT_A_TIME)  # one that reads no answers may not make more and more of them

    def begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    try:
        while True:
            try:
                given = object_of((await socket.receive_text()).encode(errors="replace"), **_MESSAGE)
                if ("subscribe" in given) == ("transaction" in given):
                    raise DDlogError([BadRequest("expected `subscribe` or `transaction`")])
                if "subscribe" in given:
                    begin(_subscribed(service, socket, given))
                else:
                    await free.acquire()
                    begin(_transacted(service, socket, given)).add_done_callback(lambda _: free.release())
            except DDlogError as error:
                await socket.send_text(errors_body(error).decode())
    except KeyError:  # a message of bytes
        await socket.close(1003, "a message is a text")
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        for task in list(tasks):
            task.cancel()


async def _transacted(service: Service, socket: WebSocket, given: dict[str, Any]) -> None:
    id = json.dumps(given.get("id"))
    try:
        updates = decoded_changes(service.program, given["transaction"])
        tell = service.texts.changes if given.get("changes") else None
        answer = await service.transact(updates, key_of(given.get("key")), tell)
        text = f'{{"id":{id},{answer.text()}}}'
    except Exception as error:
        text = f'{{"id":{id},{json.dumps({"errors": told(_known(error).diagnostics)})[1:]}'
    await _sent(socket, text)


async def _subscribed(service: Service, socket: WebSocket, given: dict[str, Any]) -> None:
    try:
        names = given["subscribe"]
        names = relations_of(",".join(map(str, names)) if isinstance(names, list) else names)
        subscriber = await service.subscribe(names, given.get("last"))
    except Exception as error:
        await _sent(socket, json.dumps({"errors": told(_known(error).diagnostics)}))
        return
    try:
        async for event in subscriber.events():
            await socket.send_text(event.message())
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        service.feed.remove(subscriber)


async def _sent(socket: WebSocket, text: str) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(text)
