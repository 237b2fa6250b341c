"""A server that is killed at any time: what it acknowledged is there, and nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import ddlog
from ddlog.serve.answers import ARROW, LINES
from tests.trying import longer

PROGRAM = """
input multiset Paid(account: u32, payment: u64)
output relation Total(account: u32, payments: u64)
Total(a, n) :- Paid(a, p), var n = p.group_by(a).count().
"""
WRITERS = 4
TOKEN = "a-token-of-a-test"


class Writer(threading.Thread):
    """Sends payments one after the other, each until it is acknowledged."""

    def __init__(self, account: int, address: list[str], done: threading.Event) -> None:
        super().__init__(daemon=True)
        self.account, self._address, self._done, self.acknowledged = account, address, done, 0

    def run(self) -> None:
        headers = {"authorization": f"Bearer {TOKEN}"}
        with httpx.Client(headers=headers, timeout=20) as client:
            while not self._done.is_set():
                key = {"idempotency-key": f"{self.account}-{self.acknowledged}"}
                data = {"insert": {"Paid": [self.account, self.acknowledged]}}
                try:
                    answer = client.post(f"{self._address[0]}/transactions", json=data, headers=key)
                except httpx.TransportError:
                    time.sleep(0.02)
                    continue
                if answer.status_code == 200:
                    self.acknowledged += 1


def test_a_program_that_is_changed_when_the_server_is_killed_is_the_old_or_the_new_one(
    tmp_path: Path,
) -> None:
    wide = PROGRAM.replace("payment: u64)", "payment: u64, by: string)").replace(
        "Paid(a, p)", "Paid(a, p, _)"
    )
    (tmp_path / "paid.dl").write_text(PROGRAM)
    (tmp_path / "token").write_text(TOKEN)
    chance, headers, texts = random.Random(3), {"authorization": f"Bearer {TOKEN}"}, [PROGRAM, wide]
    for number in range(longer(2, 60)):
        server, url = _begin(tmp_path)
        rows = [[number, each] if texts[0] is PROGRAM else [number, each, ""] for each in range(1000)]
        answer = httpx.post(
            f"{url}/transactions", json={"insert": {"Paid": rows}}, headers=headers, timeout=20
        )
        assert answer.status_code == 200
        changing = threading.Thread(target=_put, args=(url, texts[1], headers))
        changing.start()
        time.sleep(chance.uniform(0, 0.2))
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        changing.join()
        text, session = _opened(tmp_path / "state", texts)
        with session:
            assert len(session["Paid"]) == 1000 * (number + 1)
            assert {tuple(each) for each in session["Total"]} == {(n, 1000) for n in range(number + 1)}
        texts = [text, *(each for each in texts if each != text)]
        (tmp_path / "paid.dl").write_text(text)


def _opened(state: Path, texts: list[str]) -> tuple[str, ddlog.Session]:
    """The session of a state, and the program that has its inputs."""
    try:
        return texts[1], ddlog.compile(texts[1]).session(state=state)
    except ddlog.DDlogError as error:
        assert "other input relations" in str(error)
    return texts[0], ddlog.compile(texts[0]).session(state=state)


def _put(url: str, text: str, headers: dict[str, str]) -> None:
    with suppress(httpx.TransportError):
        httpx.put(f"{url}/program", content=text, headers=headers, timeout=20)


def _begin(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [
        sys.executable,
        "-m",
        "ddlog",
        "serve",
        "paid.dl",
        "--state",
        "state",
        "--port",
        "0",
        "--quiet",
    ]
    server = subprocess.Popen(
        [*command, "--token-file", "token"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    return server, server.stdout.readline().partition("/?")[0]


def test_all_that_was_acknowledged_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "paid.dl").write_text(PROGRAM)
    (tmp_path / "token").write_text(TOKEN)
    server, url = _begin(tmp_path)
    address, done, chance = [url], threading.Event(), random.Random(7)
    writers = [Writer(number, address, done) for number in range(WRITERS)]
    for each in writers:
        each.start()
    for _ in range(longer(1, 200)):
        time.sleep(chance.uniform(0.05, 0.6))
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        server, address[0] = _begin(tmp_path)
    time.sleep(0.3)
    done.set()
    for each in writers:
        each.join(30)
    headers = {"authorization": f"Bearer {TOKEN}", "accept": LINES}
    lines = httpx.get(f"{address[0]}/relations/Paid/rows", headers=headers, timeout=20).text.splitlines()
    held = sorted((row["account"], row["payment"]) for row in map(json.loads, lines))
    assert sum(each.acknowledged for each in writers) > 0
    assert held == [(each.account, number) for each in writers for number in range(each.acknowledged)]
    server.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.wait(20) == 0
    assert time.monotonic() - began < 5


def _stalled(url: str, path: str, accept: str) -> socket.socket:
    """A connection that reads nothing of its answer but the beginning."""
    host, _, port = url.partition("//")[2].partition(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    head = f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\nauthorization: Bearer {TOKEN}\r\n"
    connection.sendall(f"{head}accept: {accept}\r\n\r\n".encode())
    connection.recv(100)
    return connection


@pytest.mark.long
def test_sigterm_ends_all_kinds_of_work_within_5_seconds(tmp_path: Path) -> None:
    program = PROGRAM + (
        'output relation Text(t: string)\nText("${a} ${p}") :- Paid(a, p).\n'
        "output relation Far(a: u64, b: u64)\n"
        "Far(a, b) :- Link(a, b).\nFar(a, c) :- Far(a, b), Link(b, c).\ninput relation Link(a: u64, b: u64)\n"
    )
    (tmp_path / "paid.dl").write_text(program)
    (tmp_path / "token").write_text(TOKEN)
    server, url = _begin(tmp_path)
    headers, statuses = {"authorization": f"Bearer {TOKEN}"}, list[int]()

    def post(path: str, data: Any) -> None:
        status = 200
        with httpx.Client(headers=headers, timeout=60) as client:
            while status == 200:
                try:
                    status = client.post(f"{url}{path}", json=data).status_code
                except httpx.TransportError:  # between two requests
                    status = 503
        statuses.append(status)

    rows = {"insert": {"Paid": [[each % 100, each] for each in range(200_000)]}}
    assert httpx.post(f"{url}/transactions", json=rows, headers=headers, timeout=60).status_code == 200
    exports = ("/relations/Paid/rows", LINES), ("/relations/Text/rows", ARROW)
    subscriptions = [
        (path, "*/*") for path in ("/changes?relations=Text", "/changes?relations=Total", "/watch")
    ]
    stalled = [_stalled(url, *each) for each in (*exports, *subscriptions)]
    asked: list[tuple[str, Any]] = [
        *(("/transactions", {"insert": {"Paid": [7, each]}}) for each in range(4)),
        ("/query", {"query": "Paid(a, p), Paid(b, q), p + q == 77"}),
        ("/query", {"query": "Text(t)", "epoch": 2}),
        ("/transactions", {"insert": {"Link": [[each, each + 1] for each in range(3000)]}}),
    ]
    threads = [threading.Thread(target=post, args=each) for each in asked]
    for each in threads:
        each.start()
        time.sleep(0.2)
    time.sleep(1)
    began = time.monotonic()
    server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 0
    assert time.monotonic() - began < 5
    for each in threads:
        each.join()
    assert statuses == [503] * len(asked)
    for connection in stalled:
        connection.close()
