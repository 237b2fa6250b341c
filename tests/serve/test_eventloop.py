"""The ways to a server: sockets, TLS, a proxy, a file that is watched, and the time of questions."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
import websockets

import ddlog
from ddlog.console.arguments import parser
from ddlog.serve.eventloop import ServerAddress, serve
from ddlog.serve.limits import Limits
from ddlog.serve.programwatch import watched
from tests.serve.conftest import PROGRAM, Served, Serving


def test_subscriptions_and_transactions_by_a_socket(serving: Serving) -> None:
    served = serving()
    headers = {"authorization": f"Bearer {served.token}"}
    address = served.url.replace("http", "ws") + "/socket"

    async def run() -> None:
        async with websockets.connect(address, additional_headers=headers) as socket:

            async def next_of(*kinds: str) -> Any:
                while True:
                    found = json.loads(await asyncio.wait_for(socket.recv(), 20))
                    if kinds[0] in found:
                        return found

            await socket.send(json.dumps({"subscribe": ["Reach", "Name"]}))
            assert (await next_of("event"))["event"] == "snapshot"
            wrong = [
                {"nothing": 1},
                {"subscribe": ["Reach"], "transaction": {"insert": {"Link": ["a", "b"]}}},
                {"subscribe": ["Rech"]},
                {"subscribe": []},
                [],
                {"transaction": 7, "id": 1},
            ]
            for each in wrong:
                await socket.send(json.dumps(each))
                assert (await next_of("errors"))["errors"][0]["message"]
            await socket.send("{")
            assert "errors" in await next_of("errors")
            rows, last = Counter[str](), ""
            for number, link in enumerate([["a", "b"], ["b", "c"]]):
                data = {"transaction": {"insert": {"Link": link}}, "id": number, "key": f"k{number}"}
                await socket.send(json.dumps(data))
            while len(rows) < 3:
                event = await next_of("event")
                last = event["id"]
                for each in event["data"]["relations"].get("Reach", ()):
                    rows[json.dumps(each["row"])] += each["weight"]
        async with websockets.connect(address, additional_headers=headers) as socket:
            await socket.send(json.dumps({"subscribe": ["Reach"], "last": last}))
            await socket.send(json.dumps({"transaction": {"delete": {"Link": ["a", "b"]}}, "changes": True}))
            answer = await next_of("epoch")
            assert len(answer["changes"]["Reach"]) == 2
        async with websockets.connect(address, additional_headers=headers) as socket:
            await socket.send(json.dumps({"subscribe": ["Reach"], "last": last}))
            event = await next_of("event")
            assert (event["event"], len(event["data"]["relations"]["Reach"])) == ("change", 2)
            await socket.send(b"{}")
            with pytest.raises(websockets.exceptions.ConnectionClosed, match="a message is a text"):
                while True:
                    await socket.recv()
        with pytest.raises(websockets.exceptions.InvalidStatus):
            await websockets.connect(address)

    asyncio.run(run())


def test_an_own_certificate(serving: Serving, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    served = serving(place=ServerAddress(port=0, certificate=str(certificate), key=str(key)))
    assert served.url.startswith("https://")
    trusting = ssl.create_default_context(cafile=str(certificate))
    with ddlog.connect(served.address, verify=trusting) as session:
        session.insert("Link", ("a", "b"))
        assert len(session.commit()["Reach"]) == 1
    headers = {"authorization": f"Bearer {served.token}", "accept": "application/vnd.apache.arrow.stream"}
    rows = httpx.get(f"{served.url}/relations/Link/rows", headers=headers, verify=trusting).content
    assert pa.ipc.open_stream(rows).read_all().to_pylist() == [{"from": "a", "to": "b"}]
    with pytest.raises(ddlog.DDlogError, match="certificate"):
        ddlog.connect(served.address, patience=0)
    begin = httpx.get(served.address, verify=trusting)
    assert "; Secure" in begin.headers["set-cookie"]


def test_behind_a_proxy_the_server_has_the_name_of_the_proxy(serving: Serving) -> None:
    served = serving(place=ServerAddress(port=0, proxy="Data.Example.org"))
    headers = {"authorization": f"Bearer {served.token}", "host": "data.example.org"}
    assert httpx.get(f"{served.url}/schema", headers=headers).status_code == 200
    origin = {"origin": "https://data.example.org"}
    assert httpx.get(f"{served.url}/schema", headers=headers | origin).status_code == 200
    origin = {"origin": "https://example.org"}
    assert httpx.get(f"{served.url}/schema", headers=headers | origin).status_code == 403
    assert httpx.get(f"{served.url}/schema", headers=headers | {"host": "example.org"}).status_code == 421
    begin = httpx.get(f"{served.url}/?token={served.token}", headers={"host": "data.example.org"})
    assert "; Secure" in begin.headers["set-cookie"]


def test_two_servers_of_a_machine_keep_their_cookies(serving: Serving) -> None:
    one, other = serving(), serving()
    with httpx.Client() as browser:
        for served in (one, other, one):
            browser.get(served.address if served is not one or not browser.cookies else served.url)
            assert browser.get(f"{served.url}/schema").status_code == 200


def test_a_file_that_is_watched(tmp_path: Path) -> None:
    file, said = tmp_path / "p.dl", list[str]()
    file.write_text(PROGRAM)
    told = threading.Condition()

    def say(text: str) -> None:
        with told:
            said.append(text)
            told.notify()

    def wait(count: int) -> str:
        with told:
            assert told.wait_for(lambda: len(said) >= count, 30)
        return said[-1]

    def change() -> None:
        try:
            file.write_text(PROGRAM + "output relation Loop(x: string)\nLoop(x) :- Reach(x, y, z).\n")
            assert "the program stays as it was" in wait(1) and "Loop" in said[0]
            file.write_text(PROGRAM + "output relation Loop(x: string)\nLoop(x) :- Reach(x, x).\n")
            assert "the program is that of" in wait(2)
        finally:
            ends[0].owner.end()

    ends: list[Any] = []
    begin = watched(file, say)
    with ddlog.compile(file).session() as session:
        thread = threading.Thread(target=change)
        serve(
            session, ServerAddress(port=0), ready=lambda _: thread.start(),
            began=lambda service: (ends.append(service), begin(service)),
        )  # fmt: skip
        thread.join()
        assert len(said) == 2 and len(session["Loop"]) == 0


SLOW = """
input relation N(x: u64)
output relation M(x: u64)
M(x) :- N(x).
"""


def test_a_question_that_takes_too_long_ends() -> None:
    """The server is in the main thread, which gets the signal of the time that is over."""
    answers: list[Any] = []

    def ask(address: str) -> None:
        served = Served(address, services[0], threading.current_thread())
        try:
            with served.client() as client:
                client.post("/transactions", json={"insert": {"N": [[n] for n in range(400)]}})
                slow = {"query": "N(a), N(b), N(c), N(d), a + b + c + d == 7777"}
                answers.append(client.post("/query", json=slow))
                for _ in range(5):  # a kernel may have to be compiled first, which takes longer, once
                    answers.append(client.post("/query", json={"query": "N(3)"}))
        finally:
            services[0].owner.end()

    services: list[Any] = []
    with ddlog.compile(SLOW).session() as session:
        serve(
            session, ServerAddress(port=0), limits=Limits(seconds=0.5), began=services.append,
            ready=lambda address: threading.Thread(target=ask, args=[address]).start(),
        )  # fmt: skip
    assert answers[0].status_code == 408 and "--query-seconds" in answers[0].json()["errors"][0]["hint"]
    assert answers[-1].json()["count"] == 1


def test_the_commands_of_the_container_and_of_the_service_are_options_of_ddlog() -> None:
    home = Path(__file__).parents[2]
    service = re.search(r"^ExecStart=\S+ (serve .*)$", (home / "docs/deploying.md").read_text(), re.MULTILINE)
    container = re.search(r"^CMD (\[.*?\])", (home / "Dockerfile").read_text(), re.MULTILINE | re.DOTALL)
    assert service is not None and container is not None
    for words in (service[1].split(), json.loads(container[1].replace("\\\n", ""))):
        assert parser().parse_args(words).state.startswith(("/var/lib/ddlog", "/state/"))
