"""The application: routes, the pages of the console, WebSockets, and errors as answers."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as Path_
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors.diagnostics import DDlogError, internal_error_text
from .answers import CALL, JSON
from .bodies import TooLarge, errors_body, problem_body, status_of
from .failures import told
from .guard import Access, Guard
from .routes import ROUTES, Answering, relations_of
from .service import Service
from .transactions import read_json

PAGES = Path(__file__).parent / "console"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def application(service: Service, access: Access) -> Guard:
    """The application of a service, behind its guard."""
    routes: list[BaseRoute] = [
        Path_(each.path, _Answer(service, each.act), methods=[each.method]) for each in ROUTES
    ]
    routes.append(WebSocketRoute("/socket", partial(_socket, service)))
    routes += [Path_(_address(file), partial(_page, file)) for file in sorted(PAGES.iterdir())]
    return Guard(Starlette(routes=routes), access, service.limits.body)


def _address(file: Path) -> str:
    return "/" if file.name == "index.html" else f"/console/{file.name}"


async def _page(file: Path, request: Request) -> Response:
    return FileResponse(file, media_type=_TYPES[file.suffix])


class _Answer:
    """Answers a request; errors are answers, too."""

    def __init__(self, service: Service, act: Answering) -> None:
        self._service, self._act = service, act

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        response = await self._response(Request(scope, receive))
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        exactly = CALL in request.headers.get("accept", "")
        try:
            return await self._act(self._service, request)
        except DDlogError as error:
            media = CALL if exactly else JSON
            return Response(errors_body(error, exactly), status_of(error), media_type=media)
        except TooLarge:
            most = self._service.limits.body
            text = f"the body has more than {most:,} bytes, the limit of this server"
            return Response(problem_body(text), 413, media_type=JSON)
        except Exception as error:
            return Response(problem_body(internal_error_text(error)), 500, media_type=JSON)


async def _socket(service: Service, socket: WebSocket) -> None:
    """A WebSocket: `{"subscribe": ["Reach"], "last": ID}` begins a subscription, and `{"transaction": …,
    "id": …}` is one, of many at a time; answers have its id."""
    await socket.accept()
    tasks: set[asyncio.Task[None]] = set()

    def begin(work: Any) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    try:
        while True:
            text = await socket.receive_text()
            if len(text) > service.limits.body:
                await socket.close(1009)
                return
            try:
                given = json.loads(text)
                if not isinstance(given, dict):
                    raise ValueError("expected an object")
                if "subscribe" in given:
                    begin(_subscribed(service, socket, given))
                elif "transaction" in given:
                    begin(_transacted(service, socket, given))
                else:
                    raise ValueError("expected `subscribe` or `transaction`")
            except (ValueError, RecursionError) as error:
                await socket.send_text(problem_body(str(error)).decode())
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        for task in list(tasks):
            task.cancel()


async def _transacted(service: Service, socket: WebSocket, given: dict[str, Any]) -> None:
    id = json.dumps(given.get("id"))
    try:
        updates = read_json(service.program, json.dumps(given["transaction"]))
        key = given.get("key")
        answer = await service.transact(
            updates,
            None if key is None else json.dumps(key),
            service.texts.changes if given.get("changes") else None,
        )
        repeated = ',"repeated":true' if answer.repeated else ""
        changes = "" if answer.changes is None else f',"changes":{answer.changes}'
        text = f'{{"id":{id},"epoch":{answer.epoch}{repeated}{changes}}}'
    except DDlogError as error:
        text = json.dumps({"id": given.get("id"), "errors": told(error.diagnostics)})
    await _sent(socket, text)


async def _subscribed(service: Service, socket: WebSocket, given: dict[str, Any]) -> None:
    try:
        names = given["subscribe"]
        names = relations_of(",".join(map(str, names)) if isinstance(names, list) else str(names))
        last = given.get("last")
        subscriber = await service.subscribe(names, None if last is None else str(last))
    except DDlogError as error:
        await _sent(socket, json.dumps({"errors": told(error.diagnostics)}))
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
