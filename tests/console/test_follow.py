"""`--follow` in process: without Spark, whole files only, each once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import ddlog
from ddlog.console import folderwatch
from ddlog.console.cli import main
from ddlog.console.folderwatch import FolderWatch, seconds_of
from ddlog.console.pauses import Pauses
from ddlog.errors.diagnostics import DDlogError

PROGRAM = """
input relation Edge(from: u32, to: u32)
output relation Path(from: u32, to: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
Follow = Callable[..., str]


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    (tmp_path / "p.dl").write_text(PROGRAM)
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def follow(tmp_path: Path, incoming: Path, capsys: pytest.CaptureFixture[str]) -> Follow:
    """A function that applies the present files, and returns what is printed, or the error."""

    def run(*options: str) -> str:
        code = main(["run", str(tmp_path / "p.dl"), "--follow", str(incoming), "--once", *options])
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return run


def put(incoming: Path, name: str, text: str, at: int = 1) -> None:
    (incoming / name).parent.mkdir(exist_ok=True)
    (incoming / name).write_text(text)
    os.utime(incoming / name, (at, at))


def test_files_are_one_epoch_in_the_order_of_their_times(incoming: Path, follow: Follow) -> None:
    put(incoming, "Edge/b.csv", "1,2\n2,3\n", at=1)
    put(incoming, "Edge/a.csv", "-1,2,3\n+1,2,4\ncommit\n", at=2)
    put(incoming, "Edge/.draft.csv", "7,7\n")
    put(incoming, "other/x.csv", "7,7\n")
    path = "Path{.from = %s, .to = %s}: %+d"
    assert follow().splitlines() == ["Path:", *(path % row for row in ((1, 2, 1), (1, 4, 1), (2, 4, 1)))]


@pytest.mark.parametrize("option", ["--state", "--checkpoint"])
def test_a_state_remembers_what_was_read(
    tmp_path: Path, incoming: Path, follow: Follow, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(tmp_path / "kept")
    put(incoming, "Edge/1.csv", "1,2\n")
    assert follow(option, state) == "Path:\nPath{.from = 1, .to = 2}: +1\n"
    assert follow(option, state) == ""
    put(incoming, "Edge/0.csv", "2,3\n", at=0)  # older than what was read
    out = str(tmp_path / "out")
    assert follow(option, state, "--output", out) == ""
    (changes,) = Path(out).rglob("changes.jsonl")
    assert changes.read_text().count("insert") == 2
    assert follow(option, state, "--output", out) == ""
    put(incoming, "Edge/1.csv", "1,2\n5,6\n", at=7)  # another file of the same name
    assert follow(option, state) == "Path:\nPath{.from = 5, .to = 6}: +1\n"


def test_an_error_applies_nothing_and_reads_nothing(tmp_path: Path, incoming: Path, follow: Follow) -> None:
    state = str(tmp_path / "kept")
    put(incoming, "Edge/1.csv", "1,2\n")
    put(incoming, "Edge/2.csv", "1,x\n", at=2)
    assert "2.csv:1:3: expected bit<32>" in follow("--state", state)
    put(incoming, "Edge/2.csv", "2,3\n", at=3)
    assert follow("--state", state).count("+1") == 3


def test_wrong_rows_are_skipped(tmp_path: Path, incoming: Path, follow: Follow) -> None:
    table = pa.table({"from": [1, 2, -7, 2], "to": [2, 3, 1, 4], "op": ["+1", "1", "+1", "?"]})
    (incoming / "Edge").mkdir()
    write_table(table, incoming / "Edge/1.parquet")
    (tmp_path / "Edge.csv").write_text("5,6\n6,x\n")
    shown = follow("--input", f"Edge={tmp_path}/Edge.csv", "--on-error", str(tmp_path / "wrong"))
    assert shown.count("Path{.from") == 4  # 5 to 6, 1 to 2, 2 to 3 and 1 to 3
    wrong = [json.loads(line) for line in (tmp_path / "wrong").read_text().splitlines()]
    places = [
        f"{tmp_path}/Edge.csv:2:3",
        f"{incoming}/Edge/1.parquet: row 3",
        f"{incoming}/Edge/1.parquet: row 4",
    ]
    assert [each["place"] for each in wrong] == places
    assert "row 3: column `from`: -7 is out of the range" in follow()


def test_a_file_that_grows_is_not_taken(incoming: Path) -> None:
    with ddlog.compile(PROGRAM).session() as session:
        watch = FolderWatch(session, incoming)
        put(incoming, "Edge/1.csv", "1,")
        assert watch.take() == []
        put(incoming, "Edge/1.csv", "1,2\n")
        assert watch.take() == []
        (found,) = watch.take()
        watch.advance([found], lambda paths: session.commit())
        assert watch.take() == [] and watch.take(at_once=True) == []


def test_a_folder_is_looked_at_when_it_changes(incoming: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folderwatch, "_TRUST", 1000.0)
    with ddlog.compile(PROGRAM).session() as session:
        watch = FolderWatch(session, incoming)
        for _ in range(2):
            assert watch.take() == []
            watch.wait()
        looks = iter([[], []])
        monkeypatch.setattr(watch, "_look", lambda: next(looks))
        assert watch.take() == [] and list(looks) == [[], []]  # nothing changed: there was no look
        monkeypatch.undo()
        put(incoming, "Edge/1.csv", "1,2\n")
        for _ in range(3):
            watch.wait()
            found = watch.take()
            if found:
                break
        assert [each.name for each in found] == ["Edge/1.csv"]


def test_spark_is_not_needed_and_files_are_found_as_they_come(tmp_path: Path, incoming: Path) -> None:
    start = "import sys; sys.modules['pyspark'] = None; from ddlog.console.cli import main; main()"
    arguments = ["run", "p.dl", "--follow", "in", "--state", "kept", "--every", "50ms"]
    running = subprocess.Popen(
        [sys.executable, "-c", start, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    try:
        for n in (1, 2):
            put(incoming, f"Edge/{n}.csv", f"{n},{n + 10}\n", at=n)
            assert running.stdout.readline() == "Path:\n"
            assert running.stdout.readline() == f"Path{{.from = {n}, .to = {n + 10}}}: +1\n"
            time.sleep(0.1)
    finally:
        running.kill()
        running.wait()


def test_ctrl_c_between_two_looks(
    tmp_path: Path, incoming: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends the run at once, and not after the time of `--every`."""
    monkeypatch.setattr(Pauses, "pause", lambda _: os.kill(os.getpid(), signal.SIGINT))
    began = time.monotonic()
    main(["run", str(tmp_path / "p.dl"), "--follow", str(incoming), "--every", "9 seconds"])
    assert "stopped: 0 batches" in capsys.readouterr().err
    assert time.monotonic() - began < 8


def test_files_that_spark_found(tmp_path: Path, incoming: Path, follow: Follow) -> None:
    """A state does not say which ones they were: they are not read once more."""
    put(incoming, "Edge/1.csv", "1,2\n")
    with ddlog.compile(PROGRAM).session(state=tmp_path / "kept") as session:
        session.start()
        durable = session.state.durable
        assert durable is not None
        durable.keep_positions()
        with durable.positions.advanced("follow", "query", 3):
            session.commit()
    for _ in range(2):
        assert "the stream follow does not belong to its log" in follow("--state", str(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("text", "seconds"), [("10 seconds", 10), ("500ms", 0.5), ("2 minutes", 120), ("1s", 1)]
)
def test_every(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


def test_every_of_another_form() -> None:
    with pytest.raises(DDlogError, match="expected a time such as"):
        seconds_of("soon")
