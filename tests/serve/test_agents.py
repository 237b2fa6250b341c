"""The tools for agents, called by the official client: in this process, over HTTP, and on stdio."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.serve.conftest import Serving

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="needs the package mcp")


async def _told(client: Any, tool: str, **arguments: Any) -> tuple[Any, bool]:
    """The text of a tool's result, and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    return result.content[0].text, bool(result.is_error)


async def _conversation(client: Any) -> None:
    async def asked(tool: str, **arguments: Any) -> Any:
        text, is_error = await _told(client, tool, **arguments)
        assert not is_error, text
        return json.loads(text)

    tools = {each.name for each in (await client.list_tools()).tools}
    assert tools == {"schema", "query", "try_transaction", "what_if", "transact", "why", "why_not"}
    found = await asked("schema")
    assert "Reach" in {each["name"] for each in found["relations"]} and "Reach(x, z)" in found["program"]
    links = {"insert": {"Link": [["a", "b"], ["b", "c"]]}}
    tried = await asked("try_transaction", updates=links, limit=2, offset=4)
    assert tried["count"] == 5 and tried["changes"] == {
        "Reach": [
            {"row": {"from": "a", "to": "c"}, "weight": 1}, {"row": {"from": "b", "to": "c"}, "weight": 1}
        ][tried["offset"] - 3 :]
    }  # fmt: skip
    then = await asked("what_if", updates=links, query='Reach("a", x)')
    assert then["rows"] == [{"x": "b"}, {"x": "c"}]
    assert (await asked("query", query="Reach(x, y)"))["count"] == 0
    done = await asked("transact", updates=links, key="one")
    assert done["count"] == 5
    assert (await asked("transact", updates=links, key="one"))["repeated"]
    page = await asked("query", query="SELECT * FROM Reach ORDER BY 1, 2", sql=True, limit=1, offset=1)
    assert (page["count"], page["rows"]) == (3, [{"from": "a", "to": "c"}])
    text, _ = await _told(client, "why", row='Reach("a", "c")')
    assert "height 2" in text
    text, _ = await _told(client, "why_not", row='Reach("c", "a")')
    assert 'it would hold with: Link("c", "a")' in text
    for tool, arguments, message in (
        ("query", {"query": "Rech(x, y)"}, "did you mean `Reach`?"),
        ("transact", {"updates": {"insert": {"Link": [[1]]}}}, "Link"),
        ("try_transaction", {"updates": {"insert": {"Seen": [""]}}}, "division by zero"),
        ("query", {"query": "Reach(x, y)", "limit": 10_000}, "1000"),
    ):
        text, is_error = await _told(client, tool, **arguments)
        assert is_error and message in text


def test_tools_in_this_process(serving: Serving) -> None:
    from mcp.client import Client

    from ddlog.serve.agents import agent_server

    served = serving()

    async def run() -> None:
        async with Client(agent_server(served.service)) as client:
            await _conversation(client)

    assert served.service.owner.loop is not None
    asyncio.run_coroutine_threadsafe(run(), served.service.owner.loop).result(60)


def test_tools_over_http(serving: Serving) -> None:
    served = serving(agents=True)

    async def run() -> None:
        from httpx2 import AsyncClient
        from mcp.client import Client
        from mcp.client.streamable_http import streamable_http_client

        headers = {"authorization": f"Bearer {served.token}"}
        async with (
            AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{served.url}/mcp", http_client=http)) as client,
        ):
            await _conversation(client)
        async with AsyncClient() as stranger:
            assert (await stranger.post(f"{served.url}/mcp", json={})).status_code == 401

    asyncio.run(run())


def test_tools_on_stdio(tmp_path: Path) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from tests.serve.conftest import PROGRAM

    (tmp_path / "p.dl").write_text(PROGRAM)
    command = [sys.executable, "-m", "ddlog", "serve", "p.dl", "--mcp", "stdio", "--read-only", "--quiet"]
    parameters = StdioServerParameters(command=command[0], args=command[1:], cwd=str(tmp_path))

    async def run() -> None:
        async with Client(stdio_client(parameters)) as client:
            tools = {each.name for each in (await client.list_tools()).tools}
            assert "query" in tools and "transact" not in tools
            assert (await _told(client, "query", query="Reach(x, y)"))[1] is False

    asyncio.run(run())
