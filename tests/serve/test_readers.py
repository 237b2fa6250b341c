"""Readers do not wait for a commit, and see the last whole epoch."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import ddlog
from ddlog.engine import interrupt, memory
from ddlog.serve.copies import Copied, fork
from tests.serve.conftest import Serving

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
NAMES = ("Link", "Kind", "Seen", "Reach", "Degree", "Near", "Lonely")


def _all(session: ddlog.Session) -> dict[str, Any]:
    return {name: (list(session[name]), session[name].stored.weights) for name in NAMES}


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


def test_readers_do_not_wait_for_a_commit(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit is held at a safe point, once there is a copy, until readers have had four answers."""
    served, size = serving(PROGRAM, tmp_path / "state"), 300
    with served.client() as client, served.client() as other:
        chain = [[each, each + 1] for each in range(size)]
        begin: Any = [{"insert": {"Link": chain}}, {"insert": {"Kind": [[9, "nine"]]}}]
        assert client.post("/transactions", json=begin).json()["epoch"] == 2
        pairs, ended = size * (size + 1) // 2, threading.Event()
        asked: list[Any] = [
            (lambda: other.get("/relations/Reach/rows?limit=3"), lambda a: a["rows_in_all"], pairs),
            (lambda: other.post("/query", json={"query": 'Near(x, "nine!")'}), lambda a: a["count"], 9),
            (lambda: other.post("/query", json={"sql": "SELECT count(*) FROM Degree"}),
             lambda a: a["rows"][0]["count"], size),
            (lambda: other.post("/trials", json={"delete": {"Link": [[0, 1]]}}),
             lambda a: len(a["changes"]["Reach"]), size),
            (lambda: other.post("/why", json={"question": "Reach(3, 5)"}), lambda a: "errors" in a, False),
            (lambda: other.get("/relations/Nothing/rows"), lambda a: "errors" in a, True),
        ]  # fmt: skip
        answer, times = list[httpx.Response](), list[float]()
        measured, process, until = memory.check, os.getpid(), time.monotonic() + 30

        def slow() -> None:
            measured()
            is_owner = threading.get_ident() == served.thread.ident and os.getpid() == process
            while is_owner and len(times) < 4 and time.monotonic() < until:
                time.sleep(0.01)
                if not served.service.owner.copied:
                    return

        monkeypatch.setattr(memory, "check", slow)

        def commit() -> None:
            links = [[each, each * 7 % size] for each in range(0, size, 3)] + [[size, 0]]
            answer.append(client.post("/transactions", json={"insert": {"Link": links}}))
            ended.set()

        writer = threading.Thread(target=commit)
        writer.start()
        while served.service.number == 2 and not served.service.owner.is_changing:
            time.sleep(0.001)
        while not ended.is_set():
            for ask, of, expected in asked:
                since, before = time.monotonic(), served.service.number
                found = of(ask().json())
                if served.service.number == 2:
                    assert found == expected
                    times.append(time.monotonic() - since)
                assert before == 3 or found in (expected, of(ask().json()))
        writer.join()
        assert answer[0].json() == {"epoch": 3}
        assert served.service.owner.copied
        assert len(times) >= 4
        assert other.get("/relations/Reach/rows?limit=3").json()["rows_in_all"] == (size + 1) ** 2


def test_a_question_that_a_copy_cannot_answer_waits(serving: Serving, tmp_path: Path) -> None:
    served, size = serving(PROGRAM, tmp_path / "state"), 300
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
