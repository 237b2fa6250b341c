"""docs/explain.md: its commands print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ddlog.console import explain
from ddlog.console.cli import main

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "explain.md").read_text()
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", TEXT, re.M | re.S)


def test_commands_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _, file, text in BLOCKS:
        if file:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text)
    (tmp_path / "programs").symlink_to(ROOT / "programs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(explain, "WITHIN", 600.0)  # however slow the machine is
    for language, _, text in BLOCKS:
        if language == "console":
            line, _, output = text.partition("\n")
            assert main(shlex.split(line.removeprefix("$ ddlog "))) == 0
            assert capsys.readouterr().out == output, line
        elif language == "python":
            exec(text, {})
        elif language == "output":
            assert capsys.readouterr().out == text


def test_forms_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.dl").write_text(
        "input relation E(a: u32)\nE(1).\noutput relation R(a: u32)\nR(a) :- E(a)."
    )
    monkeypatch.chdir(tmp_path)
    for name, part in (
        ("w.html", "<details"),
        ("w.dot", "digraph"),
        ("w.json", '"kind": "rule"'),
        ("w.txt", "fact"),
    ):
        assert main(["explain", "p.dl", "R(1)", "--quiet", "--output", name]) == 0
        assert part in (tmp_path / name).read_text()
    assert main(["explain", "p.dl", "R(1)", "--quiet", "--output", "w.pdf"]) == 1
    assert main(["explain", "p.dl", "R(2)", "--quiet", "--not", "--format", "json"]) == 0
    for question, *options in (("R(2)", "--not"), ("R(1)", "--ends"), ("R(1)", "--change")):
        for name, part in (
            ("w.html", "<title>R("),
            ("w.dot", "digraph"),
            ("w.json", '"title": "R('),
            ("w.txt", "E("),
        ):
            assert main(["explain", "p.dl", question, "--quiet", *options, "--output", name]) == 0
            assert (part if "--ends" not in options or name != "w.txt" else "no set") in (
                tmp_path / name
            ).read_text()
    assert main(["explain", "p.dl", "R(1)", "--quiet", "--ends", "--change"]) == 1
    assert main(["explain", "p.dl", "R(2)", "--quiet", "--not", "--all"]) == 1
    assert main(["explain", "p.dl", "R(1)", "--quiet", "--within", "1s"]) == 1
