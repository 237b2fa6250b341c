"""The load of a server on the same machine: writers of one-row transactions, whose state is durable.

    python tests/bench/serve.py [--writers 200] [--transactions 20000] [--by http|httpx|socket]
    python tests/bench/serve.py --subscribers 1000     how soon they are told of a changed row
    python tests/bench/serve.py --export 10000000      exports of rows by Arrow, and commits beside them
    python tests/bench/serve.py --readers 10000000     readers beside long commits, of so many rows

Writers are connections of this process: by default plain ones with HTTP 1.1, which take little of the two
processors; or clients of httpx, or WebSockets.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
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
PART = 2_000_000  # rows of a transaction
TOKEN = "a-token-of-a-benchmark"
ARROW = "application/vnd.apache.arrow.stream"
QUESTIONS: tuple[tuple[str, str, Any], ...] = (
    ("a page of a small relation", "/relations/Degree/rows?limit=20", None),
    ("a page of the largest relation", "/relations/Kind/rows?limit=20", None),
    ("a query", "/query", {"query": "Reach(3000000001, x), x < 3000000010"}),
    ("a query in SQL", "/query", {"sql": "SELECT count(*) FROM Degree"}),
)


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


class _Subscriber(asyncio.Protocol):
    """A connection that notes when it is told of a change of Near."""

    def __init__(self, host: str, told: list[float]) -> None:
        self._host, self._told = host, told

    def connection_made(self, transport: Any) -> None:
        path = "/changes?relations=Near&snapshot=false"
        head = f"GET {path} HTTP/1.1\r\nhost: {self._host}\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        transport.write(head.encode())

    def data_received(self, data: bytes) -> None:
        if b"event: change" in data:
            self._told.append(time.perf_counter())


async def _subscribers(url: str, count: int, commits: int = 50) -> None:
    """Prints how soon subscribers are told of a commit of one changed row, from when it is sent."""
    host = url.partition("//")[2]
    name, _, port = host.partition(":")
    told, delays, acknowledged = list[float](), list[float](), list[float]()
    headers = {"authorization": f"Bearer {TOKEN}"}
    loop = asyncio.get_running_loop()
    for _ in range(count):
        await loop.create_connection(lambda: _Subscriber(host, told), name, int(port))
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        await client.post("/transactions", json={"insert": {"Kind": [1, 7]}})
        await asyncio.sleep(1)
        for number in range(commits):
            told.clear()
            data = {"delete" if number % 2 else "insert": {"Link": [0, 1]}}
            began = time.perf_counter()
            assert (await client.post("/transactions", json=data)).status_code == 200
            acknowledged.append(time.perf_counter() - began)
            while len(told) < count:
                await asyncio.sleep(0.001)
            delays += [each - began for each in told]
    delays.sort()
    shares = ", ".join(
        f"{each}% in {delays[len(delays) * each // 100] * 1000:.1f} ms" for each in (50, 95, 99)
    )
    acknowledged.sort()
    print(
        f"{count:,} subscribers are told: {shares}; acknowledged: {acknowledged[commits // 2] * 1000:.1f} ms"
    )


async def _fill(client: httpx.AsyncClient, rows: int) -> None:
    schema = pa.schema([("node", pa.uint32()), ("kind", pa.uint32())])
    for at in range(0, rows, PART):
        nodes = np.arange(at, min(at + PART, rows), dtype=np.uint32)
        table, sink = pa.table([nodes, nodes % 1000], schema), io.BytesIO()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_table(table)
        media = {"content-type": ARROW}
        answer = await client.post("/transactions?relation=Kind", content=sink.getvalue(), headers=media)
        assert answer.status_code == 200, answer.text


async def _flip(client: httpx.AsyncClient, links: list[list[int]], number: int) -> float:
    """Commits links, or that they are gone, and returns the seconds that it took."""
    began = time.perf_counter()
    data = {"delete" if number % 2 else "insert": {"Link": links}}
    assert (await client.post("/transactions", json=data)).status_code == 200
    return time.perf_counter() - began


async def _export(url: str, rows: int, times: int, rate: float, process: int) -> None:
    """Prints the rate of exports by a process of their own, and the times of commits without and beside
    them."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=600) as client:
        await _fill(client, rows)
        links = [[4_000_000_000, 4_000_000_001]]
        for number in range(20):  # the first ones build indexes
            await _flip(client, links, number)
        alone = sorted([await _flip(client, links, number) for number in range(200)])
        spent = _spent(process)
        for number in range(200):
            await _flip(client, links, number)
        of_commit = (_spent(process) - spent) / 200
        command = [sys.executable, __file__, "--from", url, "--times", str(times), "--rate", str(rate)]
        exporting = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert exporting.stdout is not None
        await exporting.stdout.readline()
        beside, spent = list[float](), _spent(process)
        ended = asyncio.ensure_future(exporting.stdout.read())
        while not ended.done() or len(beside) % 2:
            beside.append(await _flip(client, links, len(beside)))
        beside.sort()
        print((await ended).decode(), end="")
        await exporting.wait()
        spent = (_spent(process) - spent - of_commit * len(beside)) / times
        print(f"processor time of the server for each, without that of the commits beside it: {spent:.2f} s")
    shown = [
        f"{each[len(each) // 2] * 1000:.1f} ms, at most {each[-1] * 1000:.0f}" for each in (alone, beside)
    ]
    print(f"commits: median {shown[0]} alone; {shown[1]} beside it ({len(beside):,})")


def _take(url: str, times: int, rate: float) -> None:
    """Takes exports, at most `rate` MB/s if it is not 0, and prints their rates."""
    host, _, port = url.partition("//")[2].partition(":")
    head = f"GET /relations/Kind/rows HTTP/1.1\r\nhost: {host}:{port}\r\nauthorization: Bearer {TOKEN}\r\n"
    print("begins", flush=True)
    room, rates, size = bytearray(1 << 20), [], 0
    for _ in range(times):
        with socket.create_connection((host, int(port))) as connection:
            began, size, end = time.perf_counter(), 0, b""
            connection.sendall(f"{head}accept: {ARROW}\r\n\r\n".encode())
            while not end.endswith(b"0\r\n\r\n"):
                come = connection.recv_into(room)
                assert come, "the connection is closed"
                size += come
                if rate and (early := size / 1e6 / rate - (time.perf_counter() - began)) > 0:
                    time.sleep(early)
                end = bytes(room[max(0, come - 5) : come])
            rates.append(size / 1e6 / (time.perf_counter() - began))
    print(f"{size / 1e6:,.0f} MB, {times} times: {', '.join(f'{each:,.0f}' for each in rates)} MB/s")


async def _readers(url: str, rows: int, process: int, seconds: float = 60) -> None:
    """Prints how long readers wait beside commits that take a second or more."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=600) as client:
        await _fill(client, rows)
        chain = [[3_000_000_000 + at, 3_000_000_001 + at] for at in range(1200)]
        await _flip(client, chain, 0)
        commits, until = list[float](), time.perf_counter() + seconds
        print(f"the server has {_resident(process) / 1e6:,.0f} MB")

        async def write() -> None:
            while time.perf_counter() < until:
                commits.append(await _flip(client, [chain[600]], 1 + len(commits)))

        writing = asyncio.create_task(write())
        taken: dict[str, list[float]] = {}
        while time.perf_counter() < until:
            for name, path, body in QUESTIONS:
                began = time.perf_counter()
                answer = await (client.get(path) if body is None else client.post(path, json=body))
                assert answer.status_code == 200, answer.text
                taken.setdefault(name, []).append(time.perf_counter() - began)
                await asyncio.sleep(0.02)
        await writing
        commits.sort()
        print(f"{len(commits)} commits: median {commits[len(commits) // 2]:.2f} s, at most {commits[-1]:.2f}")
        for name, times in taken.items():
            times.sort()
            half, most = times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000
            print(f"{name}: half in {half:.0f} ms, p99 {most:.0f} ms, at most {times[-1] * 1000:.0f} ms")


def main() -> None:
    """Prints the acknowledged transactions a second, and how long they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=200)
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--subscribers", type=int, default=0)
    parser.add_argument("--export", type=int, default=0)
    parser.add_argument("--readers", type=int, default=0)
    parser.add_argument("--from", dest="url")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0, help="MB/s that an export takes at most")
    parser.add_argument("--by", choices=("http", "httpx", "socket"), default="http")
    given = parser.parse_args()
    if given.url:
        _take(given.url, given.times, given.rate)
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "load.dl").write_text(PROGRAM)
        Path(folder, "token").write_text(TOKEN)
        command = [sys.executable, "-m", "ddlog", "serve", "load.dl", "--state", "state", "--port", "0"]
        command += ["--token-file", "token", "--quiet", "--body-limit", "256MiB"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().partition("/?")[0]
            try:
                other = None
                if given.subscribers:
                    other = _subscribers(url, given.subscribers)
                elif given.export:
                    other = _export(url, given.export, given.times, given.rate, server.pid)
                elif given.readers:
                    other = _readers(url, given.readers, server.pid)
                if other is not None:
                    asyncio.run(other)
                    print(f"the server has {_resident(server.pid) / 1e6:,.0f} MB")
                    return
                asyncio.run(_load(url, given.writers, given.writers * 5, given.by))
                before, began, spent_before = os.times(), time.perf_counter(), _spent(server.pid)
                times = sorted(asyncio.run(_load(url, given.writers, given.transactions, given.by)))
                seconds, after = time.perf_counter() - began, os.times()
                spent_server = _spent(server.pid) - spent_before
                held = _resident(server.pid)
                metrics = httpx.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
            finally:
                server.terminate()
    epochs = next(line for line in metrics.splitlines() if line.startswith("ddlog_epochs_total"))
    spent = after.user + after.system - before.user - before.system
    print(f"{len(times) / seconds:,.0f} transactions a second, {len(times):,} in {seconds:.1f} s; {epochs}")
    print(f"median {times[len(times) // 2] * 1000:.1f} ms, p99 {times[len(times) * 99 // 100] * 1000:.1f} ms")
    print(
        f"processor time: {spent:.1f} s of the clients, {spent_server:.1f} s of the server; "
        f"the server has {held / 1e6:,.0f} MB"
    )


def _resident(process: int) -> int:
    """The bytes that a process has in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _spent(process: int) -> float:
    """The processor time of a process, and of its children that have ended."""
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
