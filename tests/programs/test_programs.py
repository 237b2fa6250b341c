"""Every program in `programs/` gives its expected output, and its updates exactly the expected changes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ddlog.console.cli import main

from .programs_oracle import ORACLES, PROGRAMS, expected

NAMES = sorted(path.name for path in PROGRAMS.iterdir() if (path / "facts").is_dir())


def run(name: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What `ddlog run` prints for a program and its facts."""
    folder = PROGRAMS / name
    code = main(["run", str(folder / f"{name}.dl"), "--input", str(folder / "facts"), *options])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return printed.out


def table(path: Path) -> list[list[str]]:
    """The cells of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_every_program_has_an_oracle() -> None:
    assert set(NAMES) == set(ORACLES)


@pytest.mark.parametrize("name", NAMES)
def test_expected_files_are_what_the_oracle_says(name: str) -> None:
    folder = PROGRAMS / name / "expected"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_checks_without_a_warning(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(PROGRAMS / name / f"{name}.dl")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_changes(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = PROGRAMS / name
    printed = run(name, capsys, "--output", str(tmp_path), "--updates", str(folder / "updates.dat"))
    wanted = sorted((folder / "expected").glob("*.csv"))
    for path in wanted:
        assert table(tmp_path / path.name) == table(path), path.name
    assert {path.name for path in wanted} == {
        p.name for p in tmp_path.glob("*.csv") if "changes" not in p.name
    }
    assert printed == (folder / "expected" / "updates.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_the_same_without_updates(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(name, capsys, "--output", str(tmp_path))
    for path in (PROGRAMS / name / "expected").glob("*.csv"):
        assert table(tmp_path / path.name) == table(path), path.name
