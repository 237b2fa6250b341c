"""A server that is killed at any time: what it acknowledged is there, and nothing twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

from ddlog.serve.answers import LINES
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
    for _ in range(longer(2, 200)):
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
