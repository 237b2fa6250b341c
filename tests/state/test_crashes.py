"""Runs that die at the N-th write, for every N: what returned is kept, and each epoch is given out once."""

from __future__ import annotations

import atexit
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog.console.epochfiles import StateFiles
from ddlog.sessions.session import Session

from ..trying import longer

PROGRAM = ddlog.compile("""
input relation K(k: u32, v: string) primary key (r) r.k
input multiset M(x: u32)
input stream S(x: u32)
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
output relation Sum(n: u32)
Sum(n + x) :- Sum-1(n), S'(x).
Sum(x) :- S'(x), not Sum-1(_).
Sum(n) :- Sum-1(n), not S'(_).
output multiset Both(x: u32, v: string)
Both(x, v) :- M(x), K(x, v).
""")
EPOCHS = 6
STEP = longer(5, 1)  # each fifth write, or every one


def transact(session: Session, n: int) -> str:
    """The changes of the transaction n."""
    session.upsert("K", (n % 3, f"text {n}"))
    session.insert("M", (n % 2,), (n % 2,))
    session.insert("S", (n,))
    session.insert("Edge", (n, n + 1))
    if n % 2:
        session.delete("Edge", (n - 1, n))
    return str(session.commit())


class Dead(BaseException):
    """The end of a process."""


class Deadly:
    """Counts writes; the last one that it allows ends everything, and nothing after it is done."""

    def __init__(self, left: int) -> None:
        self.left = left

    def count(self) -> None:
        if self.left <= 0:
            raise Dead
        self.left -= 1


class Connection:
    """A connection whose writes are counted."""

    def __init__(self, base: sqlite3.Connection, deadly: Deadly) -> None:
        self._base, self._deadly = base, deadly

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def execute(self, text: str, *rest: Any) -> Any:
        if not text.startswith("SELECT"):
            self._deadly.count()
        return self._base.execute(text, *rest)

    def executemany(self, *rest: Any) -> Any:
        self._deadly.count()
        return self._base.executemany(*rest)


@contextmanager
def counted(deadly: Deadly, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Counts the writes of files, too."""
    with monkeypatch.context() as patch:
        for name in ("fsync", "rename"):
            original = getattr(os, name)

            def write(*rest: Any, original: Any = original) -> Any:
                deadly.count()
                return original(*rest)

            patch.setattr(os, name, write)
        yield


@pytest.mark.parametrize("durability", ["commit", "exit"])
def test_a_run_that_dies_at_any_write_goes_on(
    tmp_path: Path, durability: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = PROGRAM.session()
    expected = [transact(plain, n) for n in range(EPOCHS)]
    at, ended = 0, False
    while not ended:
        home = tmp_path / f"{at}"
        home.mkdir()
        ended = _dies_and_goes_on(home, durability, at, expected, monkeypatch)
        at += STEP
    assert at > 20


def _dies_and_goes_on(
    home: Path, durability: Any, at: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Lets a run die at a write, and another one go on. Returns whether the first came to its end."""
    deadly, returned, ended = Deadly(at), 0, False
    session = PROGRAM.session(state=home / "s", durability=durability)
    durable = session.state.durable
    assert durable is not None
    store, base = durable.store, durable.store.base
    files = ["Path", "Sum", "Both"]
    try:
        with counted(deadly, monkeypatch):
            StateFiles(session, files, home / "out")
            store._base = Connection(base, deadly)  # type: ignore[assignment]
            for n in range(EPOCHS):
                assert transact(session, n) == expected[n]
                returned = n + 1 if durability == "commit" else 0
            session.close()
        ended = True
    except Dead:
        atexit.unregister(durable.close_at_exit)
        durable._background.stop()
        left = {each.name: each.read_bytes() for each in home.glob("s*") if each.name != "s-lock"}
        base.close()  # SQLite tidies up as no process does that dies
        for name, data in left.items():
            (home / name).write_bytes(data)
        assert store._state_lock is not None
        store._state_lock.release()
    with PROGRAM.session(state=home / "s") as again:
        StateFiles(again, files, home / "out")
        begun = max(0, (again.epoch or 0) - 1)  # the first epoch is that of the program's facts
        assert returned <= begun <= returned + 1 or durability == "exit"
        assert durability == "commit" or begun in (0, EPOCHS)
        for n in range(begun, EPOCHS):
            assert transact(again, n) == expected[n], n
    published = [path.name for path in (home / "out" / "changes").iterdir()]
    numbers = sorted(int(name.removeprefix("epoch=")) for name in published)
    assert numbers == list(range(2, EPOCHS + 2)), numbers
    for number in numbers:
        lines = (home / "out" / "changes" / f"epoch={number}" / "changes.jsonl").read_text().splitlines()
        weights = [abs(int(found)) for found in re.findall(r": ([+-]\d+)$", expected[number - 2], re.M)]
        assert len(lines) == sum(weights) + 1
    return ended
