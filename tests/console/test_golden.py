"""`ddlog test` and `ddlog init`: what differs is shown, updated, and refused where there is no test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddlog.console.cli import main

DATA = Path(__file__).parents[2] / "programs"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it prints."""
    code = main(arguments)
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def test_a_new_program_passes_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = printed(capsys, "init", "paths")
    assert code == 0 and "ddlog run paths.dl" in out
    assert printed(capsys, "fmt", "--check", "paths", "--quiet")[0] == 0
    assert printed(capsys, "test") == (0, "ok  paths/paths.dl\n1 test passed\n", "")
    assert "paths is already there" in printed(capsys, "init", "paths")[2]
    assert "cannot name a program" in printed(capsys, "init", "9lives")[2]


def test_differences_are_shown_until_they_are_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "p"
    main(["init", str(folder)])
    (folder / "facts/Edge.csv").write_text("from,to\na,c\nb,c\n")
    capsys.readouterr()
    code, out, _ = printed(capsys, "test", str(folder))
    assert code == 1 and out.startswith("FAILED") and out.endswith("1 of 1 tests failed\n")
    assert "-a,b\n" in out and "+Path{" not in out
    assert printed(capsys, "test", "--update", str(folder))[0] == 0
    assert (folder / "expected/Path.csv").read_text() == "from,to\na,c\nb,c\n"
    assert printed(capsys, "test", str(folder / "p.dl"))[0] == 0


def test_a_first_expectation_is_what_the_program_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.dl"
    program.write_text("output relation R(x: u8)\nR(1).\n")
    code, _, err = printed(capsys, "test", str(tmp_path))
    assert code == 1 and "there is no test in" in err
    assert printed(capsys, "test", "--update", str(program))[0] == 0
    assert {path.name for path in (tmp_path / "expected").iterdir()} == {"R.csv"}
    (tmp_path / "expected/S.csv").touch()
    assert "the run writes no such file" in printed(capsys, "test", str(tmp_path))[1]
    (tmp_path / "q.dl").touch()
    assert "2 programs beside its expected files" in printed(capsys, "test", str(tmp_path))[2]


def test_an_error_of_a_program_fails_its_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.dl").write_text("output relation R(x: u8)\nR(300).\n")
    (tmp_path / "expected").mkdir()
    code, out, _ = printed(capsys, "test", str(tmp_path))
    assert code == 1 and "p.dl:2:3" in out


@pytest.mark.parametrize("name", ["routes", "holdings"])
def test_example_programs_are_such_tests(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "test", str(DATA / name))[0] == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_what_completes(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ddlog" in printed(capsys, "completion", shell)[1]


def test_options_are_completed(tmp_path: Path) -> None:
    words = tmp_path / "words"
    line = "ddlog run --memo"
    environment = {
        **os.environ, "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(words),
    }  # fmt: skip
    subprocess.run([sys.executable, "-m", "ddlog"], env=environment, check=True)
    assert words.read_text().split() == ["--memory-limit"]
