"""The forms of errors for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ddlog.console.cli import main

PROGRAM = """\
input relation Link(from: string, to: string)
output relation Reach(from: string, to: string)
Reach(x, y) :- Lnk(x, y).
relation Reach(x: bool)
"""
LINK, TWICE = "DL0206", "DL0208"


def checked(capsys: pytest.CaptureFixture[str], path: Path, form: str) -> tuple[int, str]:
    code = main(["check", str(path), "--format", form])
    streams = capsys.readouterr()
    assert streams.err == ""
    return code, streams.out


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "a,b.dl"
    path.write_text(PROGRAM)
    return path


def test_json_has_the_same_keys_for_each(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = checked(capsys, wrong, "json")
    found = {each["code"]: each for each in json.loads(out)}
    assert code == 1 and found.keys() == {LINK, TWICE}
    link = found[LINK]
    assert (link["severity"], link["message"], link["help"]) == (
        "error", "Unknown relation `Lnk`", "did you mean `Link`?",
    )  # fmt: skip
    assert [link[key] for key in ("line", "column", "end_line", "end_column")] == [3, 16, 3, 19]
    [note] = found[TWICE]["notes"]
    assert note["file"] == str(wrong) and note["line"] == 2


def test_sarif_names_rules_and_other_places(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = checked(capsys, wrong, "sarif")
    [run] = json.loads(out)["runs"]
    assert code == 1 and {each["id"] for each in run["tool"]["driver"]["rules"]} == {LINK, TWICE}
    twice = next(each for each in run["results"] if each["ruleId"] == TWICE)
    assert twice["level"] == "error"
    assert twice["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_annotations_are_one_line_each(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = checked(capsys, wrong, "github")
    first = out.splitlines()[0]
    assert code == 1 and len(out.splitlines()) == 2
    assert first.startswith(f"::error title={LINK},file=") and "a%2Cb.dl,line=3,col=16" in first
    assert first.endswith("::Unknown relation `Lnk`%0Ahelp: did you mean `Link`?")


def test_warnings_are_reported_and_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.dl"
    path.write_text("relation Unread(x: u8)\nUnread(1).\n")
    code, out = checked(capsys, path, "json")
    assert code == 0 and {each["severity"] for each in json.loads(out)} == {"warning"}
    path.write_text("")
    assert checked(capsys, path, "json") == (0, "[]\n")
