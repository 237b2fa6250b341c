"""Readers do not wait for a commit, and see the last whole epoch."""

from __future__ import annotations

import http.client
import importlib.util
import io
import json
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

import ddlog
from ddlog.engine import interrupt, memory
from ddlog.serve import direct, owner, questions, service
from ddlog.serve.copies import Copied, fork
from ddlog.serve.limits import Limits
from tests.serve.conftest import Served, Serving

PROGRAM = """
input relation Link(from: u32, to: u32)
input relation Kind(node: u32, kind: string)
input multiset Seen(node: u32)
output relation Reach(from: u32, to: u32)
output relation Degree(node: u32, links: u64)
output relation Near(from: u32, kind: string)
output relation Lonely(node: u32)
Reach(x, y) :- Link(x, y).
Reach(x, z) :- Reach(x, y), Link(y, z).
Degree(x, n) :- Link(x, y), var n = y.group_by(x).count().
Near(x, k ++ "!") :- Reach(x, y), Kind(y, k).
Lonely(x) :- Seen(x), not Reach(x, x).
"""
AGENTS = importlib.util.find_spec("mcp") is not None
NAMES = ("Link", "Kind", "Seen", "Reach", "Degree", "Near", "Lonely")


def _all(session: ddlog.Session) -> dict[str, Any]:
    """The rows of all relations, which are the same read in parts."""
    here = session.state.host.offer.here
    assert here is not None
    for name in NAMES:
        stored, size, weighted = session[name].stored, session.size(name), name == "Seen"
        parts = [here.some(name, at, 3, weighted) for at in range(0, size + 3, 3)]
        found = {row: weight for part in parts for row, weight in _weighted(part)}
        assert found == dict(_weighted(stored)) and max(map(len, parts)) <= 3
        if not weighted:
            lengths = [len(part.columns[0]) for part in here.parts(name, 5)]
            assert sum(lengths) == size and max(lengths) <= 5
    return {name: (list(session[name]), session[name].stored.weights) for name in NAMES}


def _weighted(rows: Any) -> list[tuple[Any, int]]:
    return list(zip(rows, rows.weights or [1] * len(rows), strict=True))


def _committed(session: ddlog.Session, at: int) -> bool:
    """Commits, with a copy at the safe point `at`. Whether there was one, which held what was there before,
    and answered a query."""
    before, left, copies = _all(session), at, list[int]()

    def count() -> None:
        nonlocal left
        left -= 1
        if not left:
            interrupt.ask(None)
            process, control = fork()
            copies.append(process)
            control.close()

    interrupt.ask(count)
    try:
        session.commit()
    except Copied:
        same = False
        try:
            asked = {tuple(each) for each in session.query("Near(x, k)")}
            same = _all(session) == before and asked == {tuple(each) for each in before["Near"][0]}
        finally:
            os._exit(0 if same else 1)
    finally:
        interrupt.ask(None)
    assert all(os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) == 0 for each in copies)
    return bool(copies)


def test_a_copy_at_any_safe_point_is_as_before_the_commit() -> None:
    chance, nodes, copies = random.Random(7), range(12), 0
    with ddlog.compile(PROGRAM).session(workers=2) as session:
        for number in range(40):
            for _ in range(chance.choice([1, 3, 20])):
                one, other = chance.choice(nodes), chance.choice(nodes)
                getattr(session, chance.choice(["insert", "insert", "delete"]))("Link", (one, other))
                getattr(session, chance.choice(["insert", "delete"]))("Kind", (one, f"k{other % 3}"))
                session.insert("Seen", (one,))
            copies += _committed(session, 1 + number % 20)
    assert copies > 15


class Held:
    """A commit by a thread, which is held at a safe point, once there is a copy, until `end`."""

    def __init__(self, served: Served, links: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.served, self.number, self.goes = served, served.service.number, threading.Event()
        measured, process, copied = memory.check, os.getpid(), served.service.owner.copied

        def slow() -> None:
            measured()
            if threading.get_ident() == served.thread.ident and os.getpid() == process:
                time.sleep(0 if self.goes.is_set() else 0.01)
                if served.service.owner.copied > copied:
                    self.goes.wait(60)

        monkeypatch.setattr(memory, "check", slow)
        self.answers: list[httpx.Response] = []
        self._writer = threading.Thread(target=self._commit, args=(links,))
        self._writer.start()
        while not served.service.owner.is_changing:
            time.sleep(0.001)

    def _commit(self, links: Any) -> None:
        with self.served.client() as client:
            self.answers.append(client.post("/transactions", json={"insert": {"Link": links}}, timeout=100))

    @property
    def runs(self) -> bool:
        """Whether the commit is not ended."""
        return self.served.service.number == self.number

    def wait(self) -> None:
        """Waits for the answer to the transaction."""
        self._writer.join()

    def end(self) -> None:
        """Lets the commit go on to its end."""
        self.goes.set()
        self.wait()
        assert self.answers[0].json() == {"epoch": self.number + 1}
        assert not self.runs and self.served.service.owner.copied


def _after(client: httpx.Client, path: str) -> httpx.Response:
    """The first event of a subscription, which ends then."""
    with client.stream("GET", path) as stream:
        data = next(line for line in stream.iter_lines() if line.startswith("data:"))
    return httpx.Response(200, text=data[5:])


def _filled(served: Served, size: int) -> list[list[int]]:
    """Fills a server with a chain of links. Returns more of them."""
    with served.client() as client:
        chain = [[each, each + 1] for each in range(size)]
        begin: Any = [{"insert": {"Link": chain}}, {"insert": {"Kind": [[9, "nine"]]}}]
        assert client.post("/transactions", json=begin).json()["epoch"] == 2
    return [[each, each * 7 % size] for each in range(0, size, 3)] + [[size, 0]]


def test_readers_do_not_wait_for_a_commit(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, size = serving(PROGRAM, tmp_path / "state", Limits(kept=1), agents=AGENTS), 100
    links, pairs = _filled(served, size), size * (size + 1) // 2
    with served.client() as other, ddlog.connect(served.address) as remote:
        assert other.post("/transactions", json={"insert": {"Kind": [5, "five"]}}).json() == {"epoch": 3}
        log = served.service.log
        asked: list[Any] = [
            (lambda: other.get("/relations/Reach/rows?limit=3"), lambda a: a["rows_in_all"], pairs),
            (lambda: other.post("/query", json={"query": 'Near(x, "nine!")'}), lambda a: a["count"], 9),
            (lambda: other.post("/query", json={"sql": "SELECT count(*) FROM Degree"}),
             lambda a: a["rows"][0]["count"], size),
            (lambda: other.post("/trials", json={"delete": {"Link": [[0, 1]]}}),
             lambda a: len(a["changes"]["Reach"]), size),
            (lambda: other.post("/why", json={"question": "Reach(3, 5)"}), lambda a: "errors" in a, False),
            (lambda: other.get("/relations/Nothing/rows"), lambda a: "errors" in a, True),
            (lambda: other.get("/state"), lambda a: a["lines"][-1].split()[-2:], ["Kind", "1"]),
            (lambda: other.get("/epochs/3"), lambda a: len(a["changes"]["Near"]), 5),
            (lambda: other.get("/relations/Near/rows?epoch=2"), lambda a: a["rows_in_all"], 9),
            (lambda: other.post("/query", json={"query": "Reach(0, x)", "epoch": 2}),
             lambda a: a["count"], size),
            (lambda: _after(other, f"/changes?relations=Near&last={log}-2"),
             lambda a: (a["since"], a["epoch"], len(a["relations"]["Near"])), (2, 3, 5)),
            (lambda: httpx.Response(200, json=remote.described_state()), lambda a: a[-1][:9], "  epoch 3"),
        ]  # fmt: skip
        if AGENTS:
            tool = {"name": "query", "arguments": {"query": 'Near(x, "nine!")'}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
            headers = {"accept": "application/json, text/event-stream"}
            told = lambda a: json.loads(a["result"]["content"][0]["text"])["count"]  # noqa: E731
            asked.append((lambda: other.post("/mcp", json=call, headers=headers), told, 9))
        held = Held(served, links, monkeypatch)
        for ask, of, expected in 2 * asked:
            assert of(ask().json()) == expected
        assert held.runs
        held.end()
        assert other.get("/relations/Reach/rows?limit=3").json()["rows_in_all"] == (size + 1) ** 2


@pytest.mark.parametrize("most", [100_000, 1])
def test_a_subscription_begins_beside_a_commit(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """`most`: rows of a relation, or of a change, that is not large."""
    monkeypatch.setattr(questions, "MANY", most)
    monkeypatch.setattr(service, "MANY", most)
    served, size = serving(PROGRAM, tmp_path / "state", Limits(kept=most)), 30
    links, sums = _filled(served, size), Counter[tuple[int, int]]()
    with served.client() as client, served.client() as other:
        wrong = other.get("/changes?relations=Link")
        held = Held(served, links, monkeypatch)
        assert other.get("/changes?relations=Link").json() == wrong.json() and "errors" in wrong.json()
        with client.stream("GET", "/changes?relations=Reach") as stream:
            for line in stream.iter_lines():
                if not line.startswith("data:"):
                    continue
                event = json.loads(line[5:])
                for each in event["relations"]["Reach"]:
                    sums[each["row"]["from"], each["row"]["to"]] += each["weight"]
                if event["epoch"] == 3:
                    break
                if not event["more"]:
                    assert held.runs and len(sums) == size * (size + 1) // 2
                    held.end()
        rows = other.get("/relations/Reach/rows").json()["rows"]
    assert sums == Counter((each["from"], each["to"]) for each in rows)


def test_long_answers(serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MANY", 100)
    monkeypatch.setattr(questions, "_PART", 7)
    served, size = serving(PROGRAM, tmp_path / "state"), 30
    _filled(served, size)
    arrow, lines = {"accept": "application/vnd.apache.arrow.stream"}, {"accept": "application/x-ndjson"}
    with served.client() as client:
        with client.stream("GET", "/relations/Reach/rows", headers=arrow) as stream:
            parts = stream.iter_raw(100)
            found = [next(parts)]
            assert client.post("/transactions", json={"delete": {"Link": [5, 6]}}).json() == {"epoch": 3}
            found += parts
        assert client.post("/transactions", json={"insert": {"Link": [5, 6]}}).json() == {"epoch": 4}
        before = served.service.owner.copied
        texts = client.get("/relations/Reach/rows", headers=lines).content.splitlines()
        assert served.service.owner.copied == before + 1
        pairs = {(each, other) for each in range(size) for other in range(each + 1, size + 1)}
        table = pa.ipc.open_stream(b"".join(found)).read_all().to_pylist()
        for rows in (table, list(map(json.loads, texts))):
            assert {(each["from"], each["to"]) for each in rows} == pairs and len(rows) == len(pairs)


def test_an_export_ends_when_its_client_goes_away(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: Queue[str] = Queue()
    write = direct.write_parts

    def noted(*given: Any) -> None:
        try:
            write(*given)
        except OSError as error:
            ended.put(type(error).__name__)
            raise

    monkeypatch.setattr(direct, "write_parts", noted)
    served, sink = (
        serving("input relation N(x: u64)\noutput relation O(x: u64)\nO(x) :- N(x), x < 9.\n"),
        io.BytesIO(),
    )
    table = pa.table({"x": np.arange(1 << 20)})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrow = "application/vnd.apache.arrow.stream"
    with served.client() as client:
        headers = {"content-type": arrow, "accept": arrow}
        assert client.post("/transactions?relation=N", content=sink.getvalue(), headers=headers).is_success
        connection = http.client.HTTPConnection(served.url.partition("//")[2])
        sent = {"authorization": f"Bearer {served.token}", "accept": arrow}
        connection.request("GET", "/relations/N/rows", headers=sent)
        assert connection.getresponse().read(100)
        connection.close()
        assert ended.get(timeout=20) in ("ConnectionResetError", "BrokenPipeError")
        rows = pa.ipc.open_stream(client.get("/relations/N/rows", headers=headers).content).read_all()
        assert (np.sort(rows["x"].to_numpy()) == np.arange(1 << 20)).all()


def test_a_commit_is_taken_back_when_the_server_ends(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "_LAST", 0.0)
    served, size = serving(PROGRAM, tmp_path / "state"), 300
    links = _filled(served, size)
    held = Held(served, links, monkeypatch)
    with served.client() as client:
        assert client.get("/relations/Reach/rows?limit=3").status_code == 200
    served.service.owner.end()
    held.goes.set()
    served.thread.join(60)
    assert not served.thread.is_alive()
    held.wait()
    assert (held.answers[0].status_code, held.answers[0].json()["errors"][0]["kind"]) == (503, "ServerEnds")
    monkeypatch.undo()
    with ddlog.compile(PROGRAM).session(state=tmp_path / "state") as session:
        assert session.epoch == 2 and session.size("Reach") == size * (size + 1) // 2
        assert session.size("Link") == size


def test_a_question_that_a_copy_cannot_answer_waits(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, size = serving(PROGRAM, tmp_path / "state"), 300
    monkeypatch.setattr(served.service.session.state.durable, "history_for", lambda stored: None)
    links = [{"insert": {"Link": [[each, (each + 1) % size] for each in range(size)]}}]
    with served.client() as client, served.client() as other:
        client.post("/transactions", json={"insert": {"Link": [[1, 2]]}})
        writer = threading.Thread(target=lambda: client.post("/transactions", json=links))
        writer.start()
        while served.service.number == 2 and not served.service.owner.is_changing:
            time.sleep(0.001)
        past = other.get("/relations/Reach/rows?epoch=2&limit=2").json()
        assert past["rows_in_all"] == 1
        writer.join()
    with ddlog.connect(served.address) as session:
        assert session.epoch == 3
