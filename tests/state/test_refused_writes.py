"""Kills, full disks and missing permission. More kills: `python -m tests.state.whole kills 1000`."""

from __future__ import annotations

import os
import random
import resource
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ddlog import DDlogError
from ddlog.console.epochfiles import StateFiles

from .crashes import published, reference
from .kills import forked, kills, wait_for
from .script import OUTPUTS, PROGRAM, contents, script, transact


def test_killed_processes_lose_nothing(tmp_path: Path) -> None:
    counts = kills(6, tmp_path, most=0.15)
    assert counts["kills of 2"] and counts["kills of 1"]


@contextmanager
def most_bytes(size: int) -> Iterator[None]:
    """No file of this process grows beyond a size: the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_fails_the_commit_and_no_more(tmp_path: Path) -> None:
    known, chance = reference(script(5, 24), tmp_path / "known"), random.Random(5)
    failed = 0
    with PROGRAM.session(state=tmp_path / "s") as session:
        StateFiles(session, OUTPUTS, tmp_path / "out")
        session.start()
        for number, steps in enumerate(known.script):
            for _ in range(2):
                log = os.path.getsize(tmp_path / "s-wal")
                with most_bytes(chance.choice((100, log - 5000, log + chance.randrange(20_000)))):
                    try:
                        assert transact(session, steps) == known.changes[number]
                        break
                    except DDlogError:
                        failed += 1
                assert contents(session) == known.contents[number]
            else:
                assert transact(session, steps) == known.changes[number]
            assert contents(session) == known.contents[number + 1]
    with PROGRAM.session(state=tmp_path / "s") as again:
        assert contents(again) == known.contents[-1]
    assert published(tmp_path) == known.lines
    assert failed > 5


def test_folders_without_permission() -> None:
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        with PROGRAM.session(state=place / "s") as session:
            session.insert("Edge", (1, 2))
            session.commit()
            expected = contents(session)
        (place / "fixed").write_bytes((place / "s").read_bytes())
        (place / "fixed").chmod(0o444)
        (place / "fixed-lock").touch(0o666)
        (place / "fixed-lock").chmod(0o666)
        place.chmod(0o555)

        def work() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)
            _refused(lambda: PROGRAM.session(state=place / "fixed"))
            _refused(lambda: PROGRAM.session(state=place / "s"))
            _refused(lambda: PROGRAM.session(state=place / "new"))
            with PROGRAM.session(state=place / "s", read_only=True) as reader:
                assert contents(reader) == expected

        wait_for(forked(work))
        place.chmod(0o755)


def _refused(work: Callable[[], object]) -> None:
    with pytest.raises(DDlogError, match="Permission denied"):
        work()
