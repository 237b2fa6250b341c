"""The load of a server on the same machine: writers of one-row transactions, whose state is durable.

    python tests/bench/serve.py [--writers 200] [--transactions 20000] [--by http|httpx|socket]

Writers are connections of this process: by default plain ones with HTTP 1.1, which take little of the two
processors; or clients of httpx, or WebSockets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import websockets

PROGRAM = """
input relation Link(from: u32, to: u32)
input relation Kind(node: u32, kind: u32)
output relation Near(from: u32, kind: u32)
output relation Degree(node: u32, links: u64)
output relation Reach(from: u32, to: u32)
Near(x, k) :- Link(x, y), Kind(y, k).
Degree(x, n) :- Link(x, y), var n = y.group_by(x).count().
Reach(x, y) :- Link(x, y).
Reach(x, z) :- Reach(x, y), Link(y, z).
"""
TOKEN = "a-token-of-a-benchmark"


def transaction(writer: int, number: int) -> object:
    """A link between two nodes of a writer's own, which has 100 pairs of them."""
    at = writer * 1000 + number % 100 * 2
    return {"delete" if number // 100 % 2 else "insert": {"Link": [at, at + 1]}}


class _Writer(asyncio.Protocol):
    """A connection that sends a transaction when the one before is acknowledged."""

    def __init__(self, host: str, writer: int, count: int, times: list[float]) -> None:
        self._head = (
            f"POST /transactions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n"
            "content-type: application/json\r\ncontent-length: "
        )
        self._writer, self._count, self._times = writer, count, times
        self._number, self._began, self._come = 0, 0.0, b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        body = json.dumps(transaction(self._writer, self._number))
        self._began = time.perf_counter()
        self._transport.write(f"{self._head}{len(body)}\r\n\r\n{body}".encode())

    def data_received(self, data: bytes) -> None:
        self._come += data
        if not self._come.endswith(b"}"):
            return
        assert self._come.startswith(b"HTTP/1.1 200") and b'{"epoch":' in self._come, self._come
        self._times.append(time.perf_counter() - self._began)
        self._come = b""
        self._number += 1
        if self._number < self._count:
            self._send()
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server has closed a connection"))


async def _plain(url: str, writer: int, count: int, times: list[float]) -> None:
    host = url.partition("//")[2]
    name, _, port = host.partition(":")
    loop = asyncio.get_running_loop()
    _, made = await loop.create_connection(lambda: _Writer(host, writer, count, times), name, int(port))
    await made.done


async def _requests(url: str, writer: int, count: int, times: list[float]) -> None:
    limits = httpx.Limits(max_connections=1)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client:
        for number in range(count):
            began = time.perf_counter()
            answer = await client.post("/transactions", json=transaction(writer, number))
            assert answer.status_code == 200, answer.text
            times.append(time.perf_counter() - began)


async def _socket(url: str, writer: int, count: int, times: list[float]) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    address = url.replace("http", "ws") + "/socket"
    async with websockets.connect(address, additional_headers=headers) as socket:
        for number in range(count):
            began = time.perf_counter()
            await socket.send(json.dumps({"transaction": transaction(writer, number), "id": number}))
            assert "epoch" in json.loads(await socket.recv())
            times.append(time.perf_counter() - began)


async def _load(url: str, writers: int, count: int, by: str) -> list[float]:
    times: list[float] = []
    write = {"http": _plain, "httpx": _requests, "socket": _socket}[by]
    await asyncio.gather(*(write(url, writer, count // writers, times) for writer in range(writers)))
    return times


def main() -> None:
    """Prints the acknowledged transactions a second, and how long they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=200)
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--by", choices=("http", "httpx", "socket"), default="http")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "load.dl").write_text(PROGRAM)
        Path(folder, "token").write_text(TOKEN)
        command = [sys.executable, "-m", "ddlog", "serve", "load.dl", "--state", "state", "--port", "0"]
        command += ["--token-file", "token", "--quiet"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().partition("/?")[0]
            try:
                asyncio.run(_load(url, given.writers, given.writers * 5, given.by))
                before, began, spent_before = os.times(), time.perf_counter(), _spent(server.pid)
                times = sorted(asyncio.run(_load(url, given.writers, given.transactions, given.by)))
                seconds, after = time.perf_counter() - began, os.times()
                spent_server = _spent(server.pid) - spent_before
                metrics = httpx.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
            finally:
                server.terminate()
    epochs = next(line for line in metrics.splitlines() if line.startswith("ddlog_epochs_total"))
    spent = after.user + after.system - before.user - before.system
    print(f"{len(times) / seconds:,.0f} transactions a second, {len(times):,} in {seconds:.1f} s; {epochs}")
    print(f"median {times[len(times) // 2] * 1000:.1f} ms, p99 {times[len(times) * 99 // 100] * 1000:.1f} ms")
    print(f"processor time: {spent:.1f} s of the clients, {spent_server:.1f} s of the server")


def _spent(process: int) -> float:
    """The processor time of a process."""
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
