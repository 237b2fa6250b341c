"""The load of a server on the same machine: writers of one-row transactions, whose state is durable.

    python tests/bench/serve.py [--writers 200] [--transactions 20000] [--socket]

Writers are coroutines of this process. With `--socket` each has a WebSocket; without, it sends requests.
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


async def _load(url: str, writers: int, count: int, by_socket: bool) -> list[float]:
    times: list[float] = []
    write = _socket if by_socket else _requests
    await asyncio.gather(*(write(url, writer, count // writers, times) for writer in range(writers)))
    return times


def main() -> None:
    """Prints the acknowledged transactions a second, and how long they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=200)
    parser.add_argument("--transactions", type=int, default=20_000)
    parser.add_argument("--socket", action="store_true")
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
                asyncio.run(_load(url, given.writers, given.writers * 5, given.socket))
                before, began = os.times(), time.perf_counter()
                times = sorted(asyncio.run(_load(url, given.writers, given.transactions, given.socket)))
                seconds, after = time.perf_counter() - began, os.times()
                metrics = httpx.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
            finally:
                server.terminate()
    epochs = next(line for line in metrics.splitlines() if line.startswith("ddlog_epochs_total"))
    spent = after.user + after.system - before.user - before.system
    print(f"{len(times) / seconds:,.0f} transactions a second, {len(times):,} in {seconds:.1f} s; {epochs}")
    print(f"median {times[len(times) // 2] * 1000:.1f} ms, p99 {times[len(times) * 99 // 100] * 1000:.1f} ms")
    print(f"processor time of the clients: {spent:.1f} s")


if __name__ == "__main__":
    main()
