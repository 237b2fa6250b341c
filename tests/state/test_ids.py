"""Updates with an id: one that was applied is skipped, also by a later run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.durability import records, reports
from ddlog.durability.store import FileStore

PROGRAM = "input multiset M(x: u32)\noutput multiset O(x: u32)\nO(x) :- M(x).\n"
FIRST = """\
{"insert": {"M": [1]}, "id": "a"}
{"insert": {"M": [1]}, "id": 7}
{"commit": true}
{"insert": {"M": [2]}, "id": "a"}
{"insert": {"M": [3]}, "id": "b"}
{"rollback": true}
{"insert": {"M": [4]}, "id": "7"}
{"commit": true}
"""
SECOND = """\
{"insert": {"M": [1]}, "id": "a"}
{"insert": {"M": [5]}, "id": "b"}
{"insert": {"M": [5]}, "id": "b"}
{"insert": {"M": [6]}}
{"commit": true}
"""


@pytest.mark.parametrize("durability", ["commit", "interval", "exit"])
def test_updates_with_ids_are_applied_once(
    tmp_path: Path, durability: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "1.jsonl").write_text(FIRST)
    (tmp_path / "2.jsonl").write_text(SECOND)

    def run(updates: str) -> list[str]:
        words = ["--state", str(tmp_path / "s"), "--durability", durability, "--no-init-snapshot"]
        words += ["--output", str(tmp_path / "out")]
        assert main(["run", str(tmp_path / "p.dl"), "--updates", str(tmp_path / updates), *words]) == 0
        return capsys.readouterr().out.splitlines()

    assert run("1.jsonl") == ["O:", "O{.x = 1}: +2", "O:", "O{.x = 4}: +1"]
    assert run("2.jsonl") == ["O:", "O{.x = 5}: +1", "O{.x = 6}: +1"]
    assert run("2.jsonl") == ["O:", "O{.x = 6}: +1"]
    assert sorted(path.name for path in (tmp_path / "out" / "changes").iterdir()) == [
        "epoch=2", "epoch=3", "epoch=4", "epoch=5",
    ]  # fmt: skip
    (tmp_path / "3.jsonl").write_text('{"commit": true, "id": 3}\n')
    assert main(["run", str(tmp_path / "p.dl"), "--updates", str(tmp_path / "3.jsonl")]) == 1
    assert "only an update has an id, not commit" in capsys.readouterr().err


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A state in which the updates `a` and `b` were applied."""
    with closing(FileStore.open(tmp_path / "s")) as store:
        store.append(1, 1, {}, [("a", 1), ("b", 1)])
    return tmp_path / "s"


def test_a_changed_id_is_found(kept: Path) -> None:
    sqlite3.connect(kept).execute("UPDATE applied SET id = 'c' WHERE id = 'b'").connection.commit()
    with (
        closing(FileStore.open(kept, read_only=True)) as store,
        pytest.raises(ddlog.DDlogError, match="an id of an update is not"),
    ):
        store.applied()


def test_the_last_keys_of_requests_are_kept_and_all_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LAST_KEYS", 16)
    (tmp_path / "p.dl").write_text(PROGRAM)
    program = ddlog.compile(tmp_path / "p.dl")
    last = 0
    for _ in range(2):
        with program.session(state=tmp_path / "s") as session:
            for number in range(last, last + 30):
                assert not session.applied.has(f"{records.KEY}{number}")
                session.applied.note([f"{records.KEY}{number}", f"id {number}"])
                session.insert("M", (number,))
                session.commit()
                oldest = max(number - 16, -1)
                assert oldest < 0 or not session.applied.has(f"{records.KEY}{oldest}")
                assert all(session.applied.has(f"{records.KEY}{n}") for n in range(oldest + 1, number + 1))
                assert all(session.applied.has(f"id {n}") for n in range(number + 1))
        last += 30
        (told,) = reports.checked(str(tmp_path / "s"))
        assert told.endswith("all of it is as it was written")
    with closing(FileStore.open(tmp_path / "s")) as store:
        keys = [each for each in store.applied() if each.startswith(records.KEY)]
        assert 16 <= len(keys) <= 18
        assert keys[-1] == f"{records.KEY}59"
