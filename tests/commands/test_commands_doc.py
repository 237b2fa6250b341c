"""docs/commands.md: every command and option is in it, and its examples print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ddlog.commands.commands import COMMANDS
from ddlog.console.cli import main
from ddlog.console.shell import HELP

TEXT = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", TEXT, re.M | re.S)
OPTIONS = ("--no-init-snapshot", "--no-delta", "--no-store", "--output-internal-relations", "--workers N")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files that are shown, where the test runs."""
    for _, file, text in BLOCKS:
        if file:
            (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(language: str) -> list[str]:
    """The texts of the blocks of a language."""
    return [text for each, _, text in BLOCKS if each == language]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_a_table(command: str) -> None:
    assert re.search(rf"^\| `{command}[ ;]", TEXT, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_both_helps(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    for text in (HELP, capsys.readouterr().out):
        assert re.search(rf"\b{command}\b", text)


def test_the_options_are_those_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    shown = capsys.readouterr().out
    for option in OPTIONS:
        assert f"`{option}`" in TEXT and option.split()[0] in shown


def test_commands_print_what_is_shown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = blocks("console")
    line, _, output = shown.partition("\n")
    words = shlex.split(line.removeprefix("$ ddlog "))
    assert main(words) == 0
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(("code", "output"), list(zip(blocks("python"), blocks("output"), strict=True)))
def test_python_examples_print_what_is_shown(place: Path, code: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == output
