"""The requests that a server answers. `ROUTES` has a row for each, for the OpenAPI document, too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ..core import relation_named
from ..errors.diagnostics import DDlogError
from ..errors.server import BadRequest, ProgramIsAnother
from ..profiling.page import page as profile_page
from ..values.tojson import json_text
from . import questions
from .answers import ARROW, CALL, JSON, LINES, STATEMENT
from .bodies import body_of_request, key_of, number_of, object_of, text_of
from .calls import METHODS, StatementChanges, answer_of, called, changes_part
from .direct import PartsResponse
from .failures import told
from .feed import Subscriber
from .service import Service
from .transactions import read_arrow, read_json, read_lines

Answering = Callable[["Service", Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """A request: its method and path, what it does, its parameters (name: what it is), and the types of its
    body and of its answer. `fields` are those of a body of JSON."""

    method: str
    path: str
    act: Answering
    does: str
    parameters: tuple[tuple[str, str], ...] = ()
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = (JSON,)
    fields: tuple[tuple[str, str], ...] = ()
    asks: bool = False
    """Whether it asks the session something, which a copy of the session can answer."""
    is_long: Callable[[Service, Request], bool] = lambda service, request: False
    """Whether the answer to a request takes so long that a copy gives it, so that no commit waits for it."""


async def _transaction(service: Service, request: Request) -> Response:
    body = await body_of_request(request, service.limits.body)
    headers = request.headers
    media = headers.get("content-type", JSON).partition(";")[0].strip().lower()
    read: Callable[[], Any]
    if media == ARROW:
        asked = request.query_params
        relation, kind = asked.get("relation", ""), asked.get("kind", "insert")
        read = partial(read_arrow, service.program, body, relation, kind)
    elif media == LINES:
        read = partial(read_lines, service.program, text_of(body))
    elif media == STATEMENT:
        read = partial(StatementChanges, service, body)
    elif media == JSON:
        read = partial(read_json, service.program, text_of(body))
    else:
        known = f"a transaction is {JSON}, {LINES} or {ARROW}, as the header Content-Type says"
        return _problem(415, f"{known}, not {media[:100]}")
    updates: Any = await service.read(read, len(body))
    key = key_of(headers.get("idempotency-key"))
    wanted, exactly = _flag(request, "changes"), CALL in headers.get("accept", "")
    tell: Any = service.texts.changes if wanted else None
    if exactly:
        _check_program(service, headers.get("ddlog-program"))
        program = service.program
        tell = lambda changes: changes_part(changes, program)  # noqa: E731
    answer = await service.transact(updates, key, tell, len(body))
    if exactly:
        told = {"epoch": answer.epoch, "repeated": answer.repeated, "changes": answer.changes}
        told |= updates.outcome if isinstance(updates, StatementChanges) else {}
        return Response(answer_of(told, program), media_type=CALL)
    return Response(f"{{{answer.text()}}}", media_type=JSON)


async def _trial(service: Service, request: Request) -> Response:
    body = await body_of_request(request, service.limits.body)
    updates = await service.read(partial(read_json, service.program, text_of(body)), len(body))
    changes = await service.try_out(updates, service.texts.changes)
    return Response(f'{{"changes":{changes}}}', media_type=JSON)


async def _query(service: Service, request: Request) -> Response:
    body = await body_of_request(request, service.limits.body)
    asked = object_of(body, query=(str,), sql=(str,), limit=(int,), offset=(int,), epoch=(int,))
    if ("query" in asked) == ("sql" in asked):
        raise DDlogError([BadRequest("a body has `query`, in the language, or `sql`")])
    text, is_sql = asked.get("query", asked.get("sql")), "sql" in asked
    most, offset = _window(service, asked.get("limit"), asked.get("offset"))
    media = _media(request)
    found = await service.ask(
        lambda session: questions.query(session, str(text), is_sql, media, most, offset),
        _past(asked.get("epoch")),
    )
    return _rows(found, media)


async def _relation(service: Service, request: Request) -> Response:
    name, asked = request.path_params["name"], request.query_params
    limit, offset = number_of(asked.get("limit"), "limit", None), number_of(asked.get("offset"), "offset", 0)
    most, first = _window(service, limit, offset)
    media, epoch = _media(request), number_of(asked.get("epoch"), "epoch", None)
    order, holding = asked.get("order", ""), asked.get("contains", "")
    found = await service.ask(
        lambda session: questions.page(session, name, media, most, first, order, holding), epoch
    )
    return _rows(found, media)


def _is_long(service: Service, request: Request) -> bool:
    """Whether a request is for all rows of a large relation, and to write them takes the session long."""
    media = _media(request)
    declared = relation_named(request.path_params["name"], service.program.relations)
    if declared is None or media == JSON or service.sizes.get(declared.name, 0) <= questions.MANY:
        return False
    return media == LINES or not questions.is_exported_beside(declared)


async def _why(service: Service, request: Request) -> Response:
    body = await body_of_request(request, service.limits.body)
    asked = object_of(
        body, ask=(str,), question=(str,), relation=(str,), row=(list, dict, str, int, float, bool),
        depth=(int,), format=(str,),
    )  # fmt: skip
    found = await service.ask(lambda session: questions.explained(session, asked))
    return Response(found, media_type=questions.FORMS[asked.get("format", "json")])


async def _call(service: Service, request: Request) -> Response:
    body = await body_of_request(request, service.limits.body)
    asked = object_of(body, method=(str,), arguments=(dict,), epoch=(int,), program=(str,))
    method = asked.get("method", "")
    call = called(service, method, asked.get("arguments", {}))

    def at_once(session: Any) -> bytes:
        if method != "program":
            _check_program(service, asked.get("program"))
        return call(session)

    found = await service.ask(at_once, _past(asked.get("epoch")), limited=not METHODS[method].changes)
    return Response(found, media_type=CALL)


def _check_program(service: Service, known: str | None) -> None:
    if known is not None and known != service.log:
        raise DDlogError([ProgramIsAnother()])


async def _schema(service: Service, request: Request) -> Response:
    found = questions.schema(service.program, service.session, service.sizes)
    state = {
        "epoch": service.number,
        "readOnly": service.read_only,
        "durable": service.session.epoch is not None,
    }
    limits = {"rows": service.limits.rows, "body": service.limits.body}
    return _json({**state, **found, "limits": limits})


async def _program(service: Service, request: Request) -> Response:
    source = service.program.source
    rules = [
        {"text": rule.text, "line": rule.span.line, "source": rule.span.source.name}
        for rule in service.program.checked.rules if rule.span is not None
    ]  # fmt: skip
    return _json({"name": source.name, "text": source.text, "rules": rules})


async def _put_program(service: Service, request: Request) -> Response:
    text = text_of(await body_of_request(request, service.limits.body))
    if not text.strip():
        raise DDlogError([BadRequest("the body is empty: it is the text of the whole program")])
    fill = dict(map(_filled, request.query_params.getlist("fill")))
    found = await service.change_program(text, fill)
    rest = json_text({name: found[name] for name in ("migrated", "gone")})
    warnings = json_text(told(found["warnings"]))
    body = f'{{"epoch":{found["epoch"]},"changes":{found["changes"]},"warnings":{warnings},{rest[1:]}'
    return Response(body, media_type=JSON)


def _filled(text: str) -> tuple[str, str]:
    """A column, and the value for it. Raises DDlogError."""
    name, equals, value = text.partition("=")
    if not equals or "." not in name:
        raise DDlogError([BadRequest(f"fill is Relation.column=value, not {text[:40]!r}")])
    return name, value


async def _profile(service: Service, request: Request) -> Response:
    if "text/html" in request.headers.get("accept", "") and _flag(request, "page"):
        text = await service.ask(lambda session: profile_page(session.profile()))
        return Response(text, media_type="text/html")
    return Response(await service.ask(lambda session: session.profile().json()), media_type=JSON)


async def _circuit(service: Service, request: Request) -> Response:
    form = request.query_params.get("format", "svg")
    if form not in ("svg", "text"):
        raise DDlogError([BadRequest(f"format is svg or text, not {form[:40]!r}")])
    svg = form == "svg"
    found = await service.ask(lambda session: questions.drawn(session.program, svg))
    return Response(found, media_type="image/svg+xml" if svg else "text/plain")


async def _state(service: Service, request: Request) -> Response:
    return _json({"lines": await service.ask(lambda session: session.described_state())})


async def _epochs(service: Service, request: Request) -> Response:
    return _json(
        {"epoch": service.number, "epochs": [each.summary() for each in list(service.feed.epochs)[-500:]]}
    )


async def _epoch(service: Service, request: Request) -> Response:
    number = number_of(request.path_params["epoch"], "epoch", 0) or 0
    most = service.limits.rows

    def told(changed: Mapping[str, Sequence[Any]]) -> str:
        changes = service.texts.named({name: rows[:most] for name, rows in changed.items()})
        return f'{{"epoch":{number},"changes":{changes}}}'

    kept = next((each for each in list(service.feed.epochs) if each.number == number), None)
    if kept is not None:
        return Response(told(kept.changed), media_type=JSON)
    found = await service.ask(lambda session: told(questions.changes_of(session, number, most)))
    return Response(found, media_type=JSON)


async def _changes(service: Service, request: Request) -> Response:
    last = request.headers.get("last-event-id") or request.query_params.get("last")
    relations, snapshot = (
        relations_of(request.query_params.get("relations")),
        _flag(request, "snapshot", True),
    )
    subscriber = await service.subscribe(relations, last, snapshot)
    return StreamingResponse(_streamed(service, subscriber), media_type="text/event-stream")


async def _streamed(service: Service, subscriber: Subscriber) -> AsyncIterator[str]:
    try:
        async for event in subscriber.events():
            yield event.sse()
    finally:
        service.feed.remove(subscriber)


async def _watch(service: Service, request: Request) -> Response:
    watcher = service.watch()
    return StreamingResponse(_streamed(service, watcher), media_type="text/event-stream")


async def _health(service: Service, request: Request) -> Response:
    return _json({"alive": True})


async def _ready(service: Service, request: Request) -> Response:
    return Response(
        json_text({"ready": not service.owner.ends}), 503 if service.owner.ends else 200, media_type=JSON
    )


async def _metrics(service: Service, request: Request) -> Response:
    bytes_of = await service.bytes_of()
    sizes = {service.texts.name(each): (rows, bytes_of.get(each)) for each, rows in service.sizes.items()}
    gauges = (
        ("subscribers", "Subscribers now.", len(service.feed.subscribers)),
        ("queue", "Transactions and questions that wait.", service.owner.waiting),
        ("epoch", "The last epoch.", service.number),
    )
    return Response(service.metrics.text(gauges, sizes), media_type="text/plain; version=0.0.4")


async def _openapi(service: Service, request: Request) -> Response:
    from .openapi import document

    return _json(document(ROUTES))


def relations_of(text: str | None) -> list[str]:
    """The relations that a parameter names. Raises DDlogError."""
    names = [each for each in (text or "").split(",") if each]
    if not names:
        raise DDlogError(
            [BadRequest("`relations` are the names of output relations, with commas between them")]
        )
    return names


def _flag(request: Request, name: str, otherwise: bool = False) -> bool:
    if not request.scope["query_string"]:
        return otherwise
    text = request.query_params.get(name, "true" if otherwise else "false")
    if text not in ("true", "false", "1", "0"):
        raise DDlogError([BadRequest(f"{name} is true or false, not {text[:40]!r}")])
    return text in ("true", "1")


def _window(service: Service, limit: int | None, offset: int | None) -> tuple[int, int]:
    most = service.limits.rows
    if (limit is not None and limit < 0) or (offset is not None and not 0 <= offset < 1 << 62):
        raise DDlogError([BadRequest("limit and offset are at least 0")])
    return most if limit is None else min(limit, most), offset or 0


def _past(epoch: int | None) -> int | None:
    if epoch is not None and not 0 <= epoch < 1 << 53:
        raise DDlogError([BadRequest("epoch is a number of at least 0")])
    return epoch


def _media(request: Request) -> str:
    accepted = request.headers.get("accept", "")
    return next((each for each in (ARROW, LINES) if each in accepted), JSON)


def _rows(body: Any, media: str) -> Response:
    if isinstance(body, bytes):
        return Response(body, media_type=media)
    return PartsResponse(body, media)


def _json(data: Any) -> Response:
    return Response(json_text(data), media_type=JSON)


def _problem(status: int, text: str) -> Response:
    from .bodies import problem_body

    return Response(problem_body(text), status, media_type=JSON)


_EPOCH = ("epoch", "integer: as of this epoch of the state")
_WINDOW = (("limit", "integer: the most rows"), ("offset", "integer: the rows to pass over"))
ROUTES = (
    Route("POST", "/transactions", _transaction, "commit a transaction: all of it or nothing",
          (("changes", "boolean: answer with the exact changes"),
           ("relation", "string: with Arrow, the relation of the rows"),
           ("kind", "string: with Arrow, insert, delete or upsert")), (JSON, LINES, ARROW)),
    Route("POST", "/trials", _trial, "the changes that a transaction would make", (), (JSON,), asks=True),
    Route("POST", "/query", _query, "answer a query", (), (JSON,), (JSON, LINES, ARROW),
          (("query", "string: a rule body"), ("sql", "string: a SELECT"), *_WINDOW, _EPOCH), asks=True),
    Route("GET", "/relations/{name}/rows", _relation, "rows of a relation",
          (*_WINDOW, _EPOCH, ("order", "string: a column, or -column"),
           ("contains", "string: only rows with a cell that has this text")), (), (JSON, LINES, ARROW),
          asks=True, is_long=_is_long),
    Route("POST", "/why", _why, "explain a row or its absence, a change, or what ends a row", (), (JSON,),
          tuple(questions.FORMS.values()),
          (("ask", "string: why, why_all, why_not, why_ends or why_change"), ("question", "string: an atom"),
           ("relation", "string: its name"), ("row", "any: the row"), ("depth", "integer: levels"),
           ("format", "string: json, text, html or dot")), asks=True),
    Route("POST", "/call", _call, "call a method, as clients in Python do", (), (JSON,), (CALL,),
          (("method", "string: its name"), ("arguments", "object: its arguments"), _EPOCH,
           ("program", "string: the program that the client knows")), asks=True),
    Route("GET", "/schema", _schema, "the relations and indexes"),
    Route("GET", "/program", _program, "the text of the program and its rules"),
    Route("PUT", "/program", _put_program, "go on with another program",
          (("fill", "string: Relation.column=value, the value of a new column of rows"),), ("text/plain",)),
    Route("GET", "/profile", _profile, "where the time of commits went",
          (("page", "boolean: as a page"),), (), (JSON, "text/html"), asks=True),
    Route("GET", "/circuit", _circuit, "the circuit", (("format", "string: svg or text"),), (),
          ("image/svg+xml", "text/plain"), asks=True),
    Route("GET", "/state", _state, "the durable state and its history", asks=True),
    Route("GET", "/epochs", _epochs, "the last epochs"),
    Route("GET", "/epochs/{epoch}", _epoch, "the exact changes of an epoch", asks=True),
    Route("GET", "/changes", _changes, "subscribe to output relations by server-sent events",
          (("relations", "string: names with commas between them"), ("last", "string: as Last-Event-ID"),
           ("snapshot", "boolean: whether the rows of now come first")), (),
          ("text/event-stream",)),
    Route("GET", "/watch", _watch, "summaries of epochs, as events", (), (), ("text/event-stream",)),
    Route("GET", "/health", _health, "whether the server is alive"),
    Route("GET", "/ready", _ready, "whether it takes transactions"),
    Route("GET", "/metrics", _metrics, "counts and sizes, as Prometheus reads them", (), (), ("text/plain",)),
    Route("GET", "/openapi.json", _openapi, "this document"),
)  # fmt: skip
