"""SQLite's log is looked at before SQLite: what is damaged is told from what was never whole."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.durability.store import FileStore
from ddlog.durability.walog import PAGE, read_log

from ..trying import trying

_COMMITS = 6
_FRAME = PAGE + 24


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state as a process leaves it that is killed after some commits."""
    home = tmp_path_factory.mktemp("killed")
    store = FileStore.open(home / "s")
    for epoch in range(1, _COMMITS + 1):
        store.append(epoch, epoch, {}, [(f"{epoch}", epoch)])
    for end in ("", "-wal", "-shm"):
        shutil.copy(f"{home}/s{end}", f"{home}/t{end}")
    store.close()
    return home / "t"


def copied(killed: Path, home: Path, log: bytes, *, index: bool) -> Path:
    """The state with another log, with or without the index that only lasts as long as the machine runs."""
    for name in ("", "-shm") if index else ("",):
        shutil.copy(f"{killed}{name}", f"{home}/u{name}")
    (home / "u-wal").write_bytes(log)
    return home / "u"


def changed(data: bytes, place: int, new: bytes) -> bytes:
    """The data with other bytes at a place."""
    return data[:place] + new + data[place + len(new) :]


damages = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([b"\x01", bytes(4), bytes(512), bytes(PAGE)])), max_size=3
)


@trying(33)
@given(damages, st.floats(0.5, 1), st.booleans())
def test_as_many_frames_are_taken_as_sqlite_takes(
    tmp_path_factory: pytest.TempPathFactory,
    killed: Path,
    damages: list[tuple[float, bytes]],
    length: float,
    cut: bool,
) -> None:
    log = Path(f"{killed}-wal").read_bytes()
    for place, new in damages:
        log = changed(log, int(place * (len(log) - len(new))), new)
    log = log[: int(length * len(log))] if cut else log
    path = copied(killed, tmp_path_factory.mktemp("u"), log, index=False)
    taken = read_log(path).taken
    base = sqlite3.connect(path)
    frames = base.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    base.close()
    assert taken == max(0, frames)


def damaged_logs(log: bytes, ends: list[int]) -> dict[str, bytes]:
    """Logs of which a commit before the last one is damaged."""
    head = 32 + (ends[-2] - 1) * _FRAME
    return {
        "an early byte": changed(log, 200, bytes([log[200] ^ 1])),
        "one salt, so that SQLite takes the frame for an older one": changed(log, head + 8, b"abcd"),
        "the other salt": changed(log, head + 12, b"abcd"),
        "the mark of the end": changed(log, head + 4, bytes(4)),
    }


def test_damaged_commits_are_told_as_often_as_one_asks(killed: Path, tmp_path: Path) -> None:
    log = Path(f"{killed}-wal").read_bytes()
    ends = [frame.number for frame in read_log(killed).frames if frame.ends]
    for what, data in damaged_logs(log, ends).items():
        path = copied(killed, tmp_path, data, index=False)
        for read_only in (True, False, False, True):
            with pytest.raises(ddlog.DDlogError, match=r"commits in u-wal: not what was written"):
                FileStore.open(path, read_only=read_only).close()
                pytest.fail(what)


def test_the_last_commit_counts_if_the_index_has_it(killed: Path, tmp_path: Path) -> None:
    """The process was killed. Without the index, as when the machine ended, it was perhaps never whole."""
    log = Path(f"{killed}-wal").read_bytes()
    for data in (changed(log, len(log) - 9, b"x"), log[:-_FRAME], log[:-9]):
        path = copied(killed, tmp_path, data, index=True)
        for read_only in (True, False, False):
            with pytest.raises(ddlog.DDlogError, match="1 commit in u-wal: not what was written"):
                FileStore.open(path, read_only=read_only)
        (tmp_path / "u-shm").unlink()
        store = FileStore.open(path)
        assert store.head.epoch == _COMMITS - 1
        store.close()
    store = FileStore.open(copied(killed, tmp_path, log, index=True))
    assert store.head.epoch == _COMMITS
    store.close()
