"""A session for agents: the tools of a server of the Model Context Protocol, over HTTP or on stdio. Results
are bounded, and have what is needed to ask for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import Field
from starlette.routing import BaseRoute

from ..errors.diagnostics import DDlogError
from ..errors.installation import version
from ..sessions.results import Changes
from ..sessions.session import Session
from ..values.tojson import json_text
from . import questions
from .answers import JSON
from .copies import CopyRequest, Parent
from .groupcommit import Answer
from .service import Service
from .transactions import read_json

MOST = 1_000
"""The most rows of a result."""

_LONGEST = 50_000  # characters of an explanation
_READS = ToolAnnotations(read_only_hint=True)

Updates = Annotated[
    dict[str, Any] | list[dict[str, Any]],
    Field(
        description='a transaction: {"insert": {"Link": [["a", "b"]]}, "delete": {"Link": [["a", "z"]]}}'
        ' or a list of such objects, carried out in order; also "insert_or_update", "delete_key", "clear",'
        ' and "modify": {"Node": {"key": 1, "set": {"name": "x"}}}'
    ),
]
Limit = Annotated[int, Field(ge=1, le=MOST, description="the most rows of the result")]
Offset = Annotated[int, Field(ge=0, description="the rows to pass over, as `count` of the result says")]
Body = Annotated[
    str, Field(description='a rule body, such as Reach("a", x), x != "b"; or with `sql` a SELECT statement')
]
Atom = Annotated[str, Field(description='a row of a relation: Reach("a", "d")')]


def agent_server(service: Service) -> MCPServer[Any]:
    """The tools of a service."""
    server: MCPServer[Any] = MCPServer(
        "ddlog", version=version(), instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    tools = _tools(service)
    for tool, hints in tools.items():
        called = _aside(service, tool) if hints.read_only_hint else tool
        server.tool(annotations=hints, structured_output=False)(_told(called))
    service.owner.answers["tool"] = partial(_in_a_copy, {each.__name__: each for each in tools})
    return server


def agent_routes(service: Service) -> tuple[Sequence[BaseRoute], Callable[[Any], Any]]:
    """The routes of the tools over HTTP, and what has to be entered around them."""
    server = agent_server(service)
    app = server.streamable_http_app(
        stateless_http=True, json_response=True, max_request_body_size=service.limits.body,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # see the guard
    )  # fmt: skip
    return app.routes, lambda _: server.session_manager.run()


_INSTRUCTIONS = (
    "A deductive database: output relations follow from input relations by rules, and are kept up to date. "
    "Begin with `schema`. Try a transaction with `try_transaction` before `transact` commits it."
)


def _aside(service: Service, tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, which a copy of the session carries out while a commit runs."""

    @wraps(tool)
    async def called(*given: Any, **named: Any) -> str:
        sent: list[Any] = []

        async def take(message: Any) -> None:
            sent.append(message["found"])

        asked = CopyRequest("tool", (tool.__name__, given, named))
        found = await service.aside(asked, take, lambda: tool(*given, **named)) or sent[0]
        if isinstance(found, DDlogError):
            raise found
        return str(found)

    return called


async def _in_a_copy(
    tools: Mapping[str, Callable[..., Any]], name: str, given: Any, named: Any, parent: Parent
) -> None:
    try:
        found = await tools[name](*given, **named)
    except DDlogError as error:
        found = error
    await parent.send({"found": found})


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool with its result as text, and its errors as those that an agent can read."""

    @wraps(tool)
    async def called(*given: Any, **named: Any) -> str:
        try:
            found: str = await tool(*given, **named)
        except DDlogError as error:
            raise ToolError(str(error)) from None
        return found

    return called


def _tools(service: Service) -> dict[Callable[..., Any], ToolAnnotations]:
    async def schema() -> str:
        """The relations with their columns and numbers of rows, the indexes, and the text of the program."""
        found = questions.schema(service.program, service.session, service.sizes)
        text = service.program.source.text[:_LONGEST]
        return json_text({"epoch": service.number, "readOnly": service.read_only, **found, "program": text})

    async def query(query: Body, sql: bool = False, limit: Limit = 100, offset: Offset = 0) -> str:
        """The rows that satisfy a query over the relations as of the last commit."""
        found: str = await service.ask(lambda session: _asked(session, query, sql, limit, offset))
        return found

    async def try_transaction(updates: Updates, limit: Limit = 100, offset: Offset = 0) -> str:
        """The exact changes of the output relations that a transaction would make. It is rolled back."""
        changes = read_json(service.program, json.dumps(updates))
        found = await service.try_out(changes, lambda found: _changed(service, found, limit, offset))
        return f"{{{found}}}"

    async def what_if(
        updates: Updates, query: Body, sql: bool = False, limit: Limit = 100, offset: Offset = 0
    ) -> str:
        """The answer to a query as it would be after a transaction, which is rolled back."""
        changes = read_json(service.program, json.dumps(updates))
        found: str = await service.after(changes, lambda session: _asked(session, query, sql, limit, offset))
        return found

    async def transact(
        updates: Updates, key: str | None = None, limit: Limit = 100, offset: Offset = 0
    ) -> str:
        """Commits a transaction, all of it or nothing, and gives the exact changes of the output relations.
        With a `key` it is committed once, however often it is sent."""
        changes, name = read_json(service.program, json.dumps(updates)), key and json.dumps(key)
        answer: Answer = await service.transact(
            changes, name, lambda found: _changed(service, found, limit, offset)
        )
        rest = '"repeated":true' if answer.repeated else answer.changes
        return f'{{"epoch":{answer.epoch},{rest}}}'

    async def why(row: Atom, ask: str = "why", depth: Annotated[int, Field(ge=1, le=100)] = 5) -> str:
        """A proof of a row that holds. `ask`: why_all gives one for each derivation, why_ends the smallest
        sets of facts whose change ends the row, why_change the reason that the last commit made it come or
        go."""
        return await _explained(service, {"ask": ask, "question": row, "depth": depth})

    async def why_not(row: Atom, depth: Annotated[int, Field(ge=1, le=100)] = 3) -> str:
        """The reason that a row does not hold: how far each rule comes, and facts that would make it hold."""
        return await _explained(service, {"ask": "why_not", "question": row, "depth": depth})

    changing = ToolAnnotations(destructive_hint=True, idempotent_hint=False)
    reads = (schema, query, try_transaction, what_if, why, why_not)
    return {**dict.fromkeys(reads, _READS), **({} if service.read_only else {transact: changing})}


async def _explained(service: Service, asked: Mapping[str, Any]) -> str:
    text: str = await service.ask(lambda session: questions.explained(session, {**asked, "format": "text"}))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… the rest is left out: ask for less depth"


def _asked(session: Session, text: str, sql: bool, limit: int, offset: int) -> str:
    """The rows of an answer, fewer if they would be too long a text."""
    while True:
        found: str = questions.query(session, text, sql, JSON, limit, offset).decode()
        if len(found) <= _LONGEST or limit == 1:
            return found
        limit = max(1, limit // 4)


def _changed(service: Service, changes: Changes, limit: int, offset: int) -> str:
    """The changed rows from an offset on, relation by relation, and the number of all."""
    shown, count = dict[str, Any](), 0
    for name in changes:
        rows = changes.stored(name)
        first, last = max(0, offset - count), max(0, offset + limit - count)
        count += len(rows)
        if rows[first:last]:
            shown[name] = rows[first:last]
    return f'"changes":{service.texts.named(shown)},"count":{count},"offset":{offset}'
