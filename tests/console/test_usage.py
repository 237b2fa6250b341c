"""What is typed wrong, and the programs that are no files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ddlog.console.cli import main
from ddlog.console.topics import TOPICS

LINE = "output relation R(x: u32)  R(1)."
PRINTED = "R:\nR{.x = 1}\n\n"


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> str:
    """What a command prints on standard error, and ends with a code."""
    assert main(arguments) == code
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run --inptu facts p.dl", "ddlog run: error: there is no option --inptu: did you mean --input?"),
        ("run p.dl --outptu=x", "ddlog run: error: there is no option --outptu: did you mean --output?"),
        ("check p.dl --zzzzz", "ddlog check: error: there is no option --zzzzz"),
        ("state s --exprt d", "ddlog state: error: there is no option --exprt: did you mean --export?"),
        ("check p.dl q.dl", "ddlog check: error: nothing takes the argument 'q.dl'"),
        ("run p.dl .", "ddlog run: error: nothing takes the argument '.': did you mean --input .?"),
        ("rnu p.dl", "ddlog: error: there is no command 'rnu': did you mean run?"),
        ("p.dl", "ddlog: error: a command stands before the program: `ddlog run p.dl`"),
        ("run", "ddlog run: error: the following arguments are required: PROG.dl"),
        ("run -c", "ddlog run: error: argument -c: expected one argument"),
        ("check p.dl -c x", "ddlog check: error: nothing takes the argument 'p.dl'"),
        ("help fatcs", "ddlog: error: there is no topic 'fatcs': did you mean facts?"),
        ("run p.dl --format xml", "ddlog run: error: argument --format: invalid choice: 'xml'"),
    ],
)
def test_wrong_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    error = told(capsys, *arguments.split(), code=2)
    assert error.startswith(message) and error.count("\n") == 1


def test_ddlog_alone_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["help"]):
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert printed.startswith("usage: ddlog") and "ddlog run paths.dl --input facts" in printed


def test_help_by_topic(capsys: pytest.CaptureFixture[str]) -> None:
    """Each begins with an example, or a table."""
    for topic in TOPICS:
        assert main(["help", topic]) == 0
        assert capsys.readouterr().out.startswith("  " if topic != "man" else ".TH DDLOG 1")
    assert main(["help", "check"]) == 0
    assert capsys.readouterr().out.startswith("usage: ddlog check")
    assert main(["help", "follow"]) == 0
    printed = capsys.readouterr().out
    assert "followed files (--follow DIR)" in printed and "update files (--updates)" not in printed


def test_programs_that_are_texts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["-c", LINE]) == 0
    assert main(["run", "-c", LINE]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE.encode())))
    assert main(["run", "-"]) == 0
    assert capsys.readouterr().out == 3 * PRINTED
    assert main(["explain", "-c", LINE, "R(1)"]) == 0
    assert capsys.readouterr().out.startswith("R(1)")
    assert "<-c>:1:1: unexpected `x`" in told(capsys, "check", "-c", "x", code=1)
    assert main(["explain", "--depth", "3", "R(1)", "-c", LINE]) == 0
    assert capsys.readouterr().out.startswith("R(1)")
    assert main(["repl", "--quiet", "-c", "oops"]) == 1
    assert main(["check", "-c", "-- no comment"]) == 1
    capsys.readouterr()
    assert "the program - cannot be combined with commands of standard input" in told(
        capsys, "run", "-", "--updates", "-", code=1
    )


def test_a_repl_without_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "? 40 + 2\ninsert R(1),\nhelp\nquit\n? 1\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["repl", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "42" in printed and "begin a transaction" in printed
    assert printed.count("row, ") == 1  # `quit` was heard


def test_leaving_with_an_open_transaction(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("start; insert I(1); exit;\n"))
    assert main(["repl", "-c", "input relation I(x: u32) output relation R(x: u32) R(x) :- I(x)."]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == ["note: the last transaction was not committed"]


def test_a_file_of_facts_is_of_the_relation_that_it_is_named_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "I.csv").write_text("1\n")
    program = "input relation I(x: u32) output relation R(x: u32) R(x) :- I(x)."
    assert main(["run", "-c", program, "--quiet", "--input", str(tmp_path / "I.csv")]) == 0
    assert capsys.readouterr().out == "R:\nR{.x = 1}\n\n"


def test_errors_name_the_command_that_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("1\n")
    program = "input relation I(x: u32) output relation R(x: u32) R(x) :- I(x)."
    given = f"I={tmp_path / 'e.csv'}"
    assert "`ddlog explain … --not`" in told(
        capsys, "explain", "-c", program, "R(2)", "--input", given, code=1
    )
    for query in ("SELECT * FROM R", "select x from R"):
        assert "the REPL takes statements" in told(capsys, "run", "-c", program, "--query", query, code=1)
    error = told(capsys, "run", "-c", program, "--input", str(tmp_path / "e.csv"), code=1)
    assert "the program has no input relation e\n" in error and f"={tmp_path / 'e.csv'} takes" in error


WORDS = {
    "input relation I(x: int)": "write `s64`",
    "input relation I(x: i32)": "write `s32`",
    "input relation I(x: text)": "write `string`",
    "input relation I(x: boolean)": "write `bool`",
    "input relation I(x: date)": "`import time`, and `time::Date`",
    "input relation I(x: list<u32>)": "write `Vec<T>`",
    "Q(x) :- I(x) AND x > 1.": "the clauses of a rule are separated by commas",
    "Q(x) :- I(x) && x > 1.": "the clauses of a rule are separated by commas",
    "Q(x) :- I(x), NOT x == 1.": "`not` is written small",
    "Q(x) :- I(x), x <> 1.": "`<>` is written `!=`",
    "-- a comment": "a comment begins with `//`",
    "Q(y) :- I(x), y := x + 1.": "a variable is defined by `var x = ...`",
    "B(True) :- I(x).": "write `true`",
    "Q(null) :- I(x).": "an absent value is `None`",
    "Q(count(x)) :- I(x).": "`var n = x.group_by(key).count()`",
    "Q(sum(x)) :- I(x).": "values are counted and summed up in a group",
}


@pytest.mark.parametrize("line", WORDS)
def test_words_of_other_languages(capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str) -> None:
    declared = "" if line.startswith("input") else "input relation I(x: u32)\n"
    program = f"{declared}output relation Q(x: u32)\noutput relation B(x: bool)\n{line}\n"
    error = told(capsys, "check", "-c", program, code=1)
    assert f"help: {WORDS[line]}" in error or WORDS[line] in error.partition("help: ")[2]
