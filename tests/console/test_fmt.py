"""`ddlog fmt`: files, folders, standard input, and what is refused."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ddlog.console.cli import main

UGLY, NEAT = "R( 1 ).\n", "R(1).\n"


def test_files_are_formatted_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (
        ("a.dl", UGLY),
        ("b.dl", NEAT),
        ("c.dat", "start ;\n"),
        ("in/d.dl", UGLY),
        (".x/e.dl", UGLY),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "a.dl").chmod(0o640)
    assert main(["fmt", str(tmp_path), str(tmp_path / "c.dat")]) == 0
    texts = [(tmp_path / each).read_text() for each in ("a.dl", "b.dl", "c.dat", "in/d.dl", ".x/e.dl")]
    assert texts == [NEAT, NEAT, "start;\n", NEAT, UGLY]
    assert (tmp_path / "a.dl").stat().st_mode & 0o777 == 0o640
    assert capsys.readouterr().err == "3 files formatted, 1 file left as it is\n"


def test_check_and_diff_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.dl"
    file.write_text(UGLY)
    assert main(["fmt", "--check", str(file)]) == 1
    assert main(["fmt", "--diff", "--quiet", str(file)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith(f"{file}\n--- {file}\n")
    assert shown.endswith("-R( 1 ).\n+R(1).\n")
    assert file.read_text() == UGLY
    file.write_text(NEAT)
    assert main(["fmt", "--check", str(file)]) == 0


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(UGLY.encode())))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr() == (NEAT, "")


def test_a_wrong_file_stays_and_the_others_are_formatted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.dl").write_text("R(1).\nS(\n")
    (tmp_path / "b.dl").write_text(UGLY)
    (tmp_path / "c.dl").write_bytes(b"R(\xff).\n")
    (tmp_path / "d.sql").write_text("SELECT 1")
    assert main(["fmt", str(tmp_path), str(tmp_path / "d.sql"), str(tmp_path / "no.dl")]) == 1
    assert [(tmp_path / each).read_text() for each in ("a.dl", "b.dl")] == ["R(1).\nS(\n", NEAT]
    told = capsys.readouterr().err
    for each in (
        f"{tmp_path}/a.dl:2:2: this `(` has no closing `)`",
        "is not UTF-8",
        "it is SQL",
        "no.dl: cannot be read: No such file",
    ):
        assert each in told


def test_what_a_link_leads_to_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, link, round, back = (tmp_path / each for each in (f"{'n' * 250}.dl", "a.dl", "b.svg", "c.svg"))
    file.write_text(UGLY)
    for one, other in ((link, file), (round, back), (back, round)):
        one.symlink_to(other)
    assert main(["fmt", str(link)]) == 0
    assert link.is_symlink() and file.read_text() == NEAT
    assert main(["circuit", "-c", "output relation R(x: u8)", "--output", str(round)]) == 1
    assert "b.svg: cannot be written: Too many levels of symbolic links" in capsys.readouterr().err


def test_line_ends_of_windows_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.dl"
    file.write_bytes(b"R( 1 ).\r\n// c\r\n")
    assert main(["fmt", "--quiet", str(file)]) == 0
    assert file.read_bytes() == b"R(1).\r\n// c\r\n"


def test_a_full_disk_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.dl").write_text(UGLY)
    monkeypatch.setattr(os, "replace", full)
    assert main(["fmt", str(tmp_path)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert [each.read_text() for each in tmp_path.iterdir()] == [UGLY]


def test_lines_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--lines", "5-3", "a.dl"]) == 2
    assert "are no lines such as 10-20" in capsys.readouterr().err
