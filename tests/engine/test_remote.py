"""Workers that are processes, which come to the first one by TCP."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

import ddlog
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.memory import Exhausted
from ddlog.engine.runtime import Runtime
from ddlog.engine.schema import RowFault
from ddlog.engine.shards import remote, tcp
from ddlog.engine.shards.bootstrap import Address, start
from ddlog.engine.shards.remote import WorkersMissing, open_remote
from ddlog.engine.shards.runtime import Sharded
from ddlog.engine.shards.tcp import Door, connected
from ddlog.engine.spark.workers import pickled_with
from ddlog.spark.types.codec import SparkCodec
from ddlog.values import NAN

from ..trying import longer
from .test_tls import Tap

PROGRAM = ddlog.compile("""
typedef Place = Town{name: string, height: double} | Sea
input relation Road(from: string, to: string, toll: s64)
input relation At(name: string, height: double)
output relation Reach(from: string, to: string)
output relation Shown(place: Option<Place>)
output relation Heights(values: Vec<double>)
output relation Best(to: string, share: s64)
Reach(a, b) :- Road(a, b, _).
Reach(a, c) :- Reach(a, b), Road(b, c, _).
relation Known(place: Place)
Known(Town{string_to_uppercase(n), h}) :- At(n, h), Reach(n, _).
Shown(Some{p}) :- Known(p), At(n, h), p == Town{string_to_uppercase(n), h}.
Heights([h, 1.0]) :- At(_, h).
Best(b, 100 / t) :- Road(_, b, toll), var t = toll.group_by(b).sum().
""")
CIRCUIT = PROGRAM.circuit("relational")
PICKLED = pickled_with(SparkCodec(PROGRAM.checked.typedefs))


@dataclass
class Started:
    """Processes that were started on this machine."""

    processes: list[int] = field(default_factory=list)
    missing: bool = False
    twice: bool = False
    """Whether the first one is started twice, as Spark may do."""
    ending: bool = False
    """Whether the next one ends before it says who it is."""

    def launch(self, address: Address, key: bytes, count: int) -> None:
        """See `Launch`."""
        if self.missing:
            raise WorkersMissing
        if self.ending:
            threading.Thread(target=lambda: connected(address, key, 9).close(), daemon=True).start()
            self.ending = False
            return
        for number in [*range(self.twice), *range(count)]:
            self.processes.append(start(address, key, number, os.getpid()))


def kill(*processes: int) -> None:
    """Ends processes as a failing machine does."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def started() -> Started:
    """What a test starts."""
    return Started()


@pytest.fixture
def workers(request: pytest.FixtureRequest, started: Started) -> Iterator[Sharded]:
    """A runtime with two workers beside this process; what they say is encrypted if a test asks for it, and
    if it says whether, one of them is started twice."""
    encrypt, started.twice = getattr(request, "param", False), hasattr(request, "param")
    runtime = open_remote(CIRCUIT, 2, started.launch, PICKLED, nan=NAN, encrypt=encrypt)
    yield runtime
    runtime.close()
    while any(map(runs, started.processes)):  # not even as zombies; the test has a time limit
        time.sleep(0.01)


def runs(process: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def commit(runtime: Runtime, sign: int = 1, **rows: list[tuple[Any, ...]]) -> dict[str, dict[Any, int]]:
    """The changes of outputs by rows that come, or go."""
    changes = {name: [(runtime.batch(name, each), sign)] for name, each in rows.items()}
    return {name: dict(zip(d.rows, d.weights, strict=True)) for name, d in runtime.commit(changes).items()}


ROADS = [("ä", "b", 7), ("b", "c", 5), ("c", "d", 3), ("d", "b", 10), ("x", "y", 20)]
PLACES = [("ä", 1.5), ("b", NAN), ("x", -0.0), ("y", NAN), ("c", NAN), ("nowhere", 2.0)]


@pytest.fixture
def taps(monkeypatch: pytest.MonkeyPatch) -> list[Tap]:
    """What goes between the first worker and the others."""
    found: list[Tap] = []

    class Tapped(Door):
        def __init__(self, host: str, key: bytes) -> None:
            super().__init__(host, key)
            found.append(Tap(self.address))
            self.address = found[-1].address

    monkeypatch.setattr(remote, "Door", Tapped)
    return found


@pytest.mark.parametrize("workers", [False, True], ids=["plain", "encrypted"], indirect=True)
def test_answers_are_those_of_one_process_and_errors_leave_no_trace(
    request: pytest.FixtureRequest, taps: list[Tap], workers: Sharded, started: Started
) -> None:
    """Others read texts of rows on the lines if these are not encrypted. Nobody sees the key."""
    assert workers.doors is not None
    secrets = [workers.doors.key.hex().encode(), workers.doors.key]
    for process in started.processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # one that was not needed has ended
            about = [Path(f"/proc/{process}/{name}").read_bytes() for name in ("cmdline", "environ")]
            assert not any(secret in told for secret in secrets for told in about)
    one = InProcess(incrementalize(CIRCUIT), NAN)
    assert commit(workers, Road=ROADS, At=PLACES) == commit(one, Road=ROADS, At=PLACES)
    with pytest.raises(RowFault, match="division by zero"):
        commit(workers, Road=[("e", "free", 0)])
    assert commit(workers, -1, Road=ROADS[1:2]) == commit(one, -1, Road=ROADS[1:2])
    assert commit(workers, -1, At=PLACES[1:2]) == commit(one, -1, At=PLACES[1:2])
    for name in ("Reach", "Shown", "Heights", "Best"):
        assert set(workers.rows(name)) == set(one.rows(name))
    assert workers.size("Reach") == one.size("Reach")
    assert [b"nowhere" in tap.seen for tap in taps] == ["plain" in request.node.name]


def test_workers_that_are_killed_are_started_again(workers: Sharded, started: Started) -> None:
    """At any moment, most of them while a commit runs; every other time the first one is started twice."""
    one, chosen = InProcess(incrementalize(CIRCUIT), NAN), Random(33)
    chain = [(f"{k}", f"{k + 1}", 1) for k in range(80)]
    assert commit(workers, Road=ROADS, At=PLACES) == commit(one, Road=ROADS, At=PLACES)
    for turn in range(longer(2, 100)):
        begun, copies = len(started.processes), started.processes[-3 if started.twice else -2 : -1]
        end = chosen.choice([copies, started.processes[-1:]])
        started.twice = turn % 2 == 0
        killed = threading.Timer(chosen.random() / 10, kill, end)
        killed.start()
        some, sign = chain[turn % 20 :: 2 + turn % 3], (1, -1)[turn % 2]
        for rows in (chain, some) if sign > 0 else (some, chain):
            assert commit(workers, sign, Road=rows) == commit(one, sign, Road=rows)
        killed.join()
        assert workers.size("Reach") == one.size("Reach")
        assert len(started.processes) == begun + 2 + started.twice


def test_workers_that_do_not_come_again(workers: Sharded, started: Started) -> None:
    """The commit fails, and the next one tries again."""
    commit(workers, Road=ROADS)
    kill(started.processes[-1])
    with mock.patch.object(started, "missing", True), pytest.raises(WorkersMissing):
        commit(workers, Road=[("d", "e", 1)])
    assert workers.lookup("Reach", [("ä", "d"), ("ä", "e")]) == [1, 0]
    assert commit(workers, Road=[("d", "e", 1)])["Reach"].keys() == {(x, "e") for x in ("ä", "b", "c", "d")}


def test_a_worker_that_ends_while_it_starts(started: Started) -> None:
    """Another one is started."""
    started.ending = True
    open_remote(CIRCUIT, 1, started.launch, PICKLED).close()
    assert len(started.processes) == 1


def test_a_worker_that_answers_too_late(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes again to the first worker, which had dropped its line."""
    line, dropped = tcp._line, list[Any]()

    def hasty(end: Any, key: bytes, asks_first: bool) -> Any:
        if dropped:
            return line(end, key, asks_first)
        dropped.append(end.close())
        raise BlockingIOError

    monkeypatch.setattr(tcp, "_line", hasty)
    open_remote(CIRCUIT, 1, started.launch, PICKLED).close()
    assert len(started.processes) == 1
    assert dropped


def test_workers_that_do_not_come(started: Started) -> None:
    with pytest.raises(WorkersMissing, match="0 of 2 workers came"):
        open_remote(CIRCUIT, 2, lambda *_: None, PICKLED, patience=0.1)
    with pytest.raises(WorkersMissing, match="cannot listen to workers"):
        open_remote(CIRCUIT, 2, lambda *_: None, PICKLED, host="nowhere.invalid")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no folder in memory")
def test_a_worker_that_reaches_its_share_of_memory(
    workers: Sharded, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it has no disk, the error says what grew, and the state is that of before."""
    monkeypatch.setenv("TMPDIR", "/dev/shm")
    commit(workers, Road=ROADS)
    files = [Path(f"/proc/{each}/statm") for each in started.processes if runs(each)]
    pages = max(int(file.read_text().split()[1]) for file in files)
    share = pages * os.sysconf("SC_PAGE_SIZE") + (8 << 20)
    with closing(open_remote(CIRCUIT, 2, started.launch, PICKLED, nan=NAN, share=share)) as small:
        commit(small, Road=ROADS)
        with pytest.raises(Exhausted) as found:
            commit(small, Road=[(f"{k}", f"{k + 1}", 1) for k in range(1500)])
        assert found.value.limit == share
        assert found.value.grown
        assert small.size("Reach") == workers.size("Reach")


def test_workers_get_the_code_of_rules_and_no_more() -> None:
    assert b"Functions" not in PICKLED(CIRCUIT)
