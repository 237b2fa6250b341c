"""`--format`: the forms in which rows are printed, and what a terminal shows."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from ddlog.console import progress, snapshot
from ddlog.console.cli import main
from ddlog.io.tables import table_lines
from ddlog.types import Signed, String

PROGRAM = """
import time
output relation Order(item: string, sent: Option<Date>, price: double)
Order("tea|x", Some{time::Date{2021, 3, 4}}, 1e300).
Order("a\\nb", None, 2.5).
output relation One(n: u32)
One(1).
"""
TABLE = """\
item   sent        price
────────────────────────
a\\nb                 2.5
tea|x  2021-03-04  1e300
"""
MARKDOWN = """\
| item | sent | price |
| --- | --- | ---: |
| a\\nb |  | 2.5 |
| tea\\|x | 2021-03-04 | 1e300 |
"""
CSV = 'item,sent,price\n"a\nb",,2.5\ntea|x,2021-03-04,1e300\n'
JSON = [{"item": "a\nb", "sent": None, "price": 2.5}, {"item": "tea|x", "sent": "2021-03-04", "price": 1e300}]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["run", *arguments, "--quiet"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("format", "text"), [("table", TABLE), ("markdown", MARKDOWN), ("csv", CSV)])
def test_one_relation(program: str, capsys: pytest.CaptureFixture[str], format: str, text: str) -> None:
    assert printed(capsys, program, "--relation", "Order", "--format", format) == text


def test_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(printed(capsys, program, "--relation", "Order", "--format", "json")) == JSON
    assert json.loads(printed(capsys, program, "--format", "json")) == {"Order": JSON, "One": [{"n": 1}]}
    lines = printed(capsys, program, "--relation", "Order", "--format", "jsonl").splitlines()
    assert list(map(json.loads, lines)) == JSON
    assert json.loads(printed(capsys, program, "--query", "One(n), n > 1", "--format", "json")) == []


def test_several_relations_have_names(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, program, "--format", "table") == f"One:\nn\n─\n1\n\nOrder:\n{TABLE}\n"


@pytest.mark.parametrize("format", ["json", "arrow", "parquet"])
def test_files(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    assert printed(capsys, program, "--format", format, "--output", str(tmp_path)) == ""
    path = tmp_path / f"Order.{format}"
    if format == "json":
        assert json.loads(path.read_text()) == JSON
    if format == "arrow":
        assert pa.ipc.open_file(path).read_all()["item"].to_pylist() == ["a\nb", "tea|x"]
    copy = tmp_path / "copy.dl"
    copy.write_text("import time\ninput relation Order(item: string, sent: Option<Date>, price: double)\n")
    (tmp_path / f"One.{format}").unlink()
    assert (
        printed(capsys, str(copy), "--input", str(tmp_path), "--relation", "Order", "--format", "csv") == CSV
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "arrow"], "--format arrow needs --output: Arrow is not a text"),
        (["--format", "table", "--output", "o"], "cannot be combined with --format table or markdown"),
        (["--no-limit", "--output", "o"], "--output cannot be combined with --no-limit"),
    ],
)
def test_forms_that_do_not_fit(
    program: str, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["run", program, *options]) == 1
    assert message in capsys.readouterr().err


def test_changes(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, updates = tmp_path / "copy.dl", tmp_path / "u.dat"
    copy.write_text(
        "input relation A(x: u32, y: string)\noutput relation B(x: u32, y: string)\nB(x, y) :- A(x, y)."
    )
    updates.write_text('start; insert A(1, "tea"); commit;')
    options = [str(copy), "--updates", str(updates), "--no-init-snapshot", "--format"]
    assert printed(capsys, *options, "table") == "B:\nchange  x  y\n──────────────\n    +1  1  tea\n\n"
    assert printed(capsys, *options, "markdown").splitlines()[3] == "| +1 | 1 | tea |"
    assert printed(capsys, *options, "json").splitlines()[0] == '{"insert": {"B": {"x": 1, "y": "tea"}}}'


def test_a_terminal_shows_a_table_that_fits(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert printed(capsys, program, "--relation", "Order") == TABLE
    monkeypatch.setattr(snapshot, "terminal_width", lambda: 22)
    assert printed(capsys, program, "--relation", "Order").splitlines()[2:] == [
        "a\\nb               2.5",
        "tea|x  2021-03…  1e300",
        "(wide columns are cut; --no-limit shows all)",
    ]
    assert printed(capsys, program, "--relation", "Order", "--no-limit") == TABLE
    monkeypatch.setattr("ddlog.io.tables.SHOWN", 1)
    assert printed(capsys, program, "--relation", "Order").splitlines()[-1] == (
        "(the first 1 of 2 rows; --no-limit shows all)"
    )


def test_wide_characters_take_two_places() -> None:
    lines = list(table_lines(["a", "n"], [String(), Signed(64)], [["日本", "1"], ["x", "20"]]))
    assert lines == ["a      n", "────────", "日本   1", "x     20"]


def test_progress_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    for quiet in (True, False):
        told = ""
        with progress.ProgressLine(quiet) as line:
            line("reading Edge", 0, 1000)
            assert "--max-iterations" not in line._text()
            time.sleep(0.2)
            while not quiet and "\n" not in told:  # the test has a time limit
                time.sleep(0.01)
                told += capsys.readouterr().err
        while line._lines is not None:  # the lines end
            time.sleep(0.01)
        told += capsys.readouterr().err
        assert bool(told) != quiet
        assert all(re.match(r"\d+ s: reading Edge, 1,000 rows", each) for each in told.splitlines())
        line("Path", 10_000, 20_000)
        assert "--max-iterations" in line._text()


@pytest.mark.parametrize(
    ("format", "lines"),
    [
        ("csv", ["One:", "n", "1", "", "n,m", "1,2"]),
        ("jsonl", ['{"One": {"n": 1}}', '{"n": 1, "m": 2}']),
        ("markdown", ["One:", "| n |", "| ---: |", "| 1 |", "", "| n | m |", "| ---: | ---: |", "| 1 | 2 |"]),
    ],
)
def test_dumps_and_answers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    format: str,
    lines: list[str],
) -> None:
    program, updates = tmp_path / "p.dl", tmp_path / "u.dat"
    program.write_text("output relation One(n: u32)\nOne(1).")
    updates.write_text("dump; query One(n), var m = n + 1; query One(7);")
    options = [str(program), "--updates", str(updates), "--no-init-snapshot", "--format", format]
    assert printed(capsys, *options).splitlines() == [*lines, "false"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("dump;\n? One(n), var m = n + 1\n"))
    assert main(["repl", str(program), "--quiet", "--format", format]) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_command_prints_records_where_the_form_is_one_of_files(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, updates = tmp_path / "p.dl", tmp_path / "u.dat"
    program.write_text("output relation R(x: u32)\nR(1).\n")
    updates.write_text("dump;\n")
    options = ["--updates", str(updates), "--output", str(tmp_path / "out"), "--format", format]
    assert main(["run", str(program), *options]) == 0
    assert capsys.readouterr().out == "R:\nR{.x = 1}\n\n"
