"""The command line: in this process, or as one of its own where its streams, signals and end matter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from unittest import mock

import pytest

from ddlog.console.cli import main

from ..trying import longer

HERE = ("--engine", "in-process")
DDLOG = [sys.executable, "-m", "ddlog"]

PATHS = """
input relation Edge(a: string, b: string)
output relation Path(a: string, b: string)
output relation Fan(a: string, count: bit<64>)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Fan(a, n) :- Edge(a, b), var g = b.group_by(a), var n = g.count().
"""


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    """A directory with the program `paths.dl` and its facts."""
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Edge.csv").write_text("a,b\nx,y\ny,z\n")
    return tmp_path


def ddlog(where: Path, *arguments: str, stdin: str | bytes | IO[str] = "", code: int = 0) -> tuple[str, str]:
    """The output of a run in this process, its exit code as expected. `stdin` is a text or a file. The note
    on the choice of the engine, which has figures of the machine, is left out; `test_engines` is about it."""
    out, error = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        chdir(where),
        TemporaryFile("w+", encoding="utf-8") as given,
        mock.patch.object(sys, "stdin", given if isinstance(stdin, str | bytes) else stdin),
        mock.patch.dict(os.environ),
        redirect_stdout(out),
        redirect_stderr(error),
    ):
        os.environ.pop("DDLOG_DEBUG", None)
        if isinstance(stdin, str | bytes):
            given.buffer.write(stdin.encode() if isinstance(stdin, str) else stdin)
            given.seek(0)
        ended = main(arguments)
    shown, said = (stream.buffer.getvalue().decode() for stream in (out, error))  # type: ignore[attr-defined]
    assert ended == code, shown + said
    notes = said.splitlines(keepends=True)
    return shown, "".join(line for line in notes if not line.startswith("note: engine: in-process ("))


STATE = """\
Fan:
Fan{.a = "x", .count = 1}
Fan{.a = "y", .count = 1}

Path:
Path{.a = "x", .b = "y"}
Path{.a = "x", .b = "z"}
Path{.a = "y", .b = "z"}

"""
UPDATES = """\
start; insert Edge("z", "w"), delete Edge("x", "y"); commit dump_changes;
start; insert Edge("q", "q"); rollback;
start; delete Edge("z", "w"); commit;
"""
CHANGES = """\
Fan:
Fan{.a = "x", .count = 1}: -1
Fan{.a = "z", .count = 1}: +1
Path:
Path{.a = "x", .b = "y"}: -1
Path{.a = "x", .b = "z"}: -1
Path{.a = "y", .b = "w"}: +1
Path{.a = "z", .b = "w"}: +1
Fan:
Fan{.a = "z", .count = 1}: -1
Path:
Path{.a = "y", .b = "w"}: -1
Path{.a = "z", .b = "w"}: -1
"""


def test_run_prints_the_output_relations(paths: Path) -> None:
    said = "the first line names the columns, and is taken for a header; header=no says otherwise"
    assert ddlog(paths, "run", "paths.dl", "--input", "facts") == (STATE, f"note: facts/Edge.csv: {said}\n")


def test_run_without_input(paths: Path) -> None:
    (paths / "p.dl").write_text('output relation R(x: string)\nR("a").\n')
    assert ddlog(paths, "run", "p.dl")[0] == 'R:\nR{.x = "a"}\n\n'


def test_sizes(paths: Path) -> None:
    assert ddlog(paths, "run", "paths.dl", "--input", "facts", "--sizes")[0] == "Fan\t2\nPath\t3\n"
    chosen = ddlog(paths, "run", "paths.dl", "--input", "facts", "--sizes", "--relation", "Edge")
    assert chosen[0] == "Edge\t2\n"


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("csv", "a,b\nx,y\nx,z\ny,z\n"),
        ("tsv", "x\ty\nx\tz\ny\tz\n"),
        ("jsonl", '{"a": "x", "b": "y"}\n{"a": "x", "b": "z"}\n{"a": "y", "b": "z"}\n'),
    ],
)
def test_formats(paths: Path, format: str, expected: str) -> None:
    base = ("run", "paths.dl", "--input", "facts", "--format", format)
    assert ddlog(paths, *base, "--relation", "Path")[0] == expected
    assert ddlog(paths, *base, "--output", "out/here", "--quiet") == ("", "")
    assert (paths / "out" / "here" / f"Path.{format}").read_text() == expected
    assert (paths / "out" / "here" / f"Fan.{format}").exists()


def test_parquet(paths: Path) -> None:
    ddlog(paths, "run", "paths.dl", "--input", "facts", "--format", "parquet", "--output", "out")
    from pyarrow import parquet

    table = parquet.read_table(paths / "out" / "Fan.parquet")
    assert table.to_pydict() == {"a": ["x", "y"], "count": [1, 1]}
    _, error = ddlog(paths, "run", "paths.dl", "--format", "parquet", code=1)
    assert "needs --output" in error


def test_updates_print_exact_changes(paths: Path) -> None:
    (paths / "u.dat").write_text(UPDATES)
    base = ("run", "paths.dl", "--input", "facts")
    assert ddlog(paths, *base, "--updates", "u.dat")[0] == STATE + CHANGES
    assert ddlog(paths, *base, "--updates", "-", stdin=UPDATES)[0] == STATE + CHANGES
    assert ddlog(paths, *base, "--updates", "u.dat", "--output", "out")[0] == CHANGES
    assert (paths / "out" / "Path.changes.csv").read_text() == (
        "change,a,b\n-1,x,y\n-1,x,z\n+1,y,w\n+1,z,w\ncommit\n-1,y,w\n-1,z,w\ncommit\n"
    )


def test_updates_without_input_begin_with_the_facts(paths: Path) -> None:
    text = 'start; insert Edge("a", "b"); commit; dump Path;'
    (paths / "p.dl").write_text(PATHS + 'Path("fact", "fact").\n')
    assert ddlog(paths, "run", "p.dl", "--updates", "-", stdin=text)[0] == (
        'Path:\nPath{.a = "fact", .b = "fact"}: +1\n'
        'Fan:\nFan{.a = "a", .count = 1}: +1\nPath:\nPath{.a = "a", .b = "b"}: +1\n'
        'Path{.a = "a", .b = "b"}\nPath{.a = "fact", .b = "fact"}\n'
    )


def test_json_changes_in_and_out(paths: Path) -> None:
    stdin = '{"insert": {"Edge": {"a": "z", "b": "w"}}}\n{"commit": true}\n'
    base = ("run", "paths.dl", "--input", "facts", "--updates", "-", "--relation", "Fan", "--format", "jsonl")
    out, _ = ddlog(paths, *base, stdin=stdin)
    assert out.splitlines()[2:] == ['{"insert": {"Fan": {"a": "z", "count": 1}}}', '{"commit": true}']


def test_standard_input_is_read_only_if_it_is_asked_for(paths: Path) -> None:
    (paths / "u.dat").write_text(UPDATES)

    def is_told(stdin: IO[str]) -> bool:
        shown, said = ddlog(paths, "run", "paths.dl", "--input", "facts", stdin=stdin)
        assert shown == STATE
        return "note: standard input is not read: --updates - applies it" in said

    with (paths / "u.dat").open() as file:
        assert is_told(file)
    with (paths / "u.dat").open() as file:
        os.lseek(file.fileno(), 1, os.SEEK_SET)  # as a shell's loop over the lines of a file leaves it
        assert not is_told(file)
    with open(os.devnull) as file:
        assert not is_told(file)
    reader, writer = os.pipe()
    with os.fdopen(reader) as pipe:
        assert not is_told(pipe), "an open pipe without anything in it is not waited for"
        os.write(writer, b"start;")
        assert is_told(pipe)
    os.close(writer)


def test_several_update_files_are_applied_in_order(paths: Path) -> None:
    (paths / "a.dat").write_text('start; insert Edge("a", "b"); commit; exit;')
    (paths / "day2.csv").write_text("-1,a,b\n")
    base = ("run", "paths.dl", "--relation", "Path")
    added, gone = 'Path:\nPath{.a = "a", .b = "b"}: +1\n', 'Path:\nPath{.a = "a", .b = "b"}: -1\n'
    both = (*base, "--updates", "a.dat", "--updates", "Edge=day2.csv")
    assert ddlog(paths, *both)[0] == added + gone
    assert ddlog(paths, *both, "--updates", "-", stdin="start; commit;")[0] == added + gone
    _, error = ddlog(paths, *base, "--updates", "Edge=a.dat", code=1)
    assert "--updates Edge=a.dat: expected rows with +1 or -1" in error
    _, error = ddlog(paths, *base, "--updates", "Path=day2.csv", code=1)
    assert "Path is not an input relation" in error


def test_a_pipe_is_followed_as_it_grows(paths: Path) -> None:
    process = subprocess.Popen(
        [*DDLOG, "run", "paths.dl", "--updates", "-"],
        cwd=paths,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        for name in ("a", "b"):
            process.stdin.write(f'start; insert Edge("{name}", "z");\ncommit;\n')
            process.stdin.flush()
            got = [process.stdout.readline() for _ in range(4)]
            assert got[3] == f'Path{{.a = "{name}", .b = "z"}}: +1\n'
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stdout.close()


def test_check_reports_everything(paths: Path) -> None:
    assert ddlog(paths, "check", "paths.dl") == ("", "")
    (paths / "bad.dl").write_text(
        "input relation A(x: bool)\noutput relation B(x: bool)\nB(y) :- A(x).\nB(x) :- C(x).\n"
    )
    _, error = ddlog(paths, "check", "bad.dl", code=1)
    assert "bad.dl:3:" in error and "bad.dl:4:" in error and "^" in error


def test_circuit_as_text_and_picture(paths: Path) -> None:
    for stage in ("relational", "incremental", "workers"):
        assert "Path" in ddlog(paths, "circuit", "paths.dl", "--stage", stage)[0]
    ddlog(paths, "circuit", "paths.dl", "--output", "c.svg")
    assert (paths / "c.svg").read_text().lstrip().startswith("<")
    _, error = ddlog(paths, "circuit", "paths.dl", "--output", "c.png", code=1)
    assert "a name that ends in" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.dl"], "none.dl: cannot be read: No such file or directory"),
        (["run", "facts"], "facts: cannot be read: Is a directory"),
        (["run", "paths.dl", "--input", "none"], "none: there is no such directory"),
        (["run", "paths.dl", "--input", "paths.dl"], "paths.dl: this is a file, not a directory"),
        (["run", "paths.dl", "--relation", "Pth"], "there is no relation Pth\n  help: did you mean `Path`?"),
        (["run", "paths.dl", "--output", "paths.dl"], "paths.dl: this is a file, not a directory"),
        (
            ["run", "paths.dl", "--output", "a.parquet"],
            "--output a.parquet: expected a folder, in which",
        ),
        (["run", "paths.dl", "--output", "/proc/no"], "/proc/no: cannot be written"),
        (["run", "paths.dl", "--updates", "none.dat"], "none.dat: cannot be read"),
        (["run", "paths.dl", "--updates", "facts"], "facts: this is a directory, not a file"),
        (["run", "paths.dl", "--input", "facts", "--updates", "none.dat"], "none.dat: cannot be read"),
        (["run", "paths.dl", "-L", "none"], "none: there is no such directory"),
        (["run", "paths.dl", "-L", "paths.dl"], "paths.dl: this is a file, not a directory"),
        (
            ["run", "paths.dl", "--sizes", "--format", "csv"],
            "--sizes with --format needs --output or --updates",
        ),
        (["run", "paths.dl", "--input", "Edg=facts/Edge.csv"], "there is no relation Edg\n"),
        (["run", "paths.dl", "--input", "Path=facts/Edge.csv"], "Path is not an input relation"),
        (["run", "paths.dl", "--input", "no/*.csv"], "no/*.csv: cannot be read: no file matches this"),
        (["run", "paths.dl", "--input", "Edge=no/e.csv"], "no/e.csv: cannot be read: there is no such file"),
        (["run", "paths.dl", *HERE, "--input", "s3a://b/f"], "s3a://b/f: the in-process engine reads only"),
        (["run", "paths.dl", *HERE, "--output", "table:x"], "table:x: the in-process engine writes only"),
        (
            ["run", "paths.dl", *HERE, "--master", "local"],
            "--master cannot be combined with --engine in-process",
        ),
        (
            ["run", "paths.dl", "--master", "local", "--remote", "sc://h"],
            "--master cannot be combined with --remote",
        ),
        (["run", "paths.dl", "--conf", "x"], "--conf x: expected KEY=VALUE"),
        (["run", "paths.dl", "--master", "foo"], "--master foo: expected local[N], spark://HOST:PORT"),
    ],
)
def test_what_the_user_got_wrong(paths: Path, arguments: list[str], message: str) -> None:
    out, error = ddlog(paths, *arguments, code=1)
    assert f"error: {message}" in error and out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["run"],
        ["run", "p.dl", "--max-iterations", "0"],
        ["run", "p.dl", "--format", "xml"],
        ["run", "p.dl", "--updates", ""],
        ["run", "p.dl", "--follow", ""],
    ],
)
def test_usage(paths: Path, arguments: list[str]) -> None:
    _, error = ddlog(paths, *arguments, code=2)
    assert error.startswith("ddlog") and ": error: " in error and error.count("\n") == 1


def test_help_and_version(paths: Path) -> None:
    assert ddlog(paths, "--version")[0].startswith("ddlog ")
    for command in ("run", "repl", "check", "circuit"):
        assert command in ddlog(paths, "--help")[0]
        assert ddlog(paths, command, "--help")[0].startswith(f"usage: ddlog {command}")


def test_sizes_go_with_output(paths: Path) -> None:
    out, _ = ddlog(paths, "run", "paths.dl", "--input", "facts", "--sizes", "--output", "out")
    assert out == "Fan\t2\nPath\t3\n"
    assert sorted(path.name for path in (paths / "out").iterdir()) == ["Fan.csv", "Path.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'start; insert Edge("a", "b"); commit; frobnicate;',
            "<stdin>:1:39: there is no command `frobnicate`",
        ),
        ("commit;", "<stdin>:1:1: `commit` outside a transaction"),
        ("start; insert Edge(1, 2);", "<stdin>:1:20: expected string, found `1`"),
        ("\n{", "<stdin>:2:1: "),
    ],
)
def test_bad_updates(paths: Path, text: str, message: str) -> None:
    out, error = ddlog(paths, "run", "paths.dl", "--updates", "-", stdin=text, code=1)
    assert message in error
    assert ("Path{" in out) == ('insert Edge("a"' in text)


def test_a_change_file_is_of_an_input_relation(paths: Path) -> None:
    (paths / "Path.csv").write_text("+1,a,b\n")
    _, error = ddlog(paths, "run", "paths.dl", "--updates", "Path.csv", code=1)
    assert "error: Path.csv:1:1: Path is not an input relation" in error


def test_faulty_facts_write_nothing(paths: Path) -> None:
    (paths / "facts" / "Edge.csv").write_text("x,y\ny\n")
    out, error = ddlog(paths, "run", "paths.dl", "--input", "facts", "--output", "out", code=1)
    assert "facts/Edge.csv:2:2: expected 2 columns (a, b), found 1" in error
    assert out == "" and list((paths / "out").iterdir()) == []


def test_integers_have_any_number_of_digits(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(f"output relation N(x: bigint)\nN({'7' * 6000} + 1).\n")
    assert ddlog(tmp_path, "run", "p.dl")[0] == f"N:\nN{{.x = {'7' * 5999}8}}\n\n"
    (tmp_path / "p.dl").write_text(f"output relation N(x: u8)\nN({'7' * 6000}).\n")
    error = ddlog(tmp_path, "check", "p.dl", code=1)[1]
    assert f"{'7' * 200}… (6,000 digits) is not a value of type bit<8>" in error


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("import m\noutput relation N(x: u8)\nN(one()).\n", "utf-8-sig")
    (tmp_path / "m.dl").write_text("function one(): u8 { 1 }\n", "utf-8-sig")
    assert ddlog(tmp_path, "run", "p.dl")[0] == "N:\nN{.x = 1}\n\n"


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("commit", "1:90: the text ends before this command does: expected `;` after `commit`"),
        ('insert Edge("a', "1:90: the text ends before this command does: "),
        ("comm", "1:90: there is no command `comm`"),
    ],
)
@pytest.mark.parametrize("name", ["u.dat", "-"])
def test_an_unfinished_end_is_an_error(paths: Path, name: str, rest: str, message: str) -> None:
    text = f'start; insert Edge("a", "b"); commit; start; commit; start; insert Edge("quite", "far"); {rest}'
    (paths / "u.dat").write_text(text)
    base = ("run", "paths.dl", "--updates", name, "--relation", "Path", "--quiet")
    out, error = ddlog(paths, *base, stdin=text, code=1)
    assert out == 'Path:\nPath{.a = "a", .b = "b"}: +1\n'
    assert f"error: {'<stdin>' if name == '-' else name}:{message}" in error
    assert "note: the 2 commits before this stand" in error


def test_wrong_lines_are_skipped(paths: Path) -> None:
    (paths / "facts" / "Edge.csv").write_text("x,y\nz\n")
    (paths / "u.jsonl").write_text('{"insert": {"Edge": ["y", "w"]}}\n{"insert": \n{"commit": true}\n')
    (paths / "u.dat").write_text('start; insert Edge(1, 2); insert Edge("w", "v"); commit;')
    (paths / "Edge.csv").write_text("+1,v,u\n+2,a,b\n+1,a\n")
    base = ("run", "paths.dl", "--input", "facts", "--relation", "Path")
    updates = [each for name in ("u.jsonl", "u.dat", "Edge.csv") for each in ("--updates", name)]
    out, error = ddlog(paths, *base, *updates, "--on-error", "wrong.jsonl")
    assert out.count("+1\n") == 2 + 3 + 4
    assert "note: 5 wrong lines skipped: wrong.jsonl has them with the reasons" in error
    wrong = [json.loads(line) for line in (paths / "wrong.jsonl").read_text().splitlines()]
    places = ["facts/Edge.csv:2:2", "u.jsonl:2:12", "u.dat:1:20", "Edge.csv:2:1", "Edge.csv:3:1"]
    assert [each["place"] for each in wrong] == places
    assert wrong[0]["text"] == "z" and wrong[0]["reason"] == "expected 2 columns (a, b), found 1"
    assert "5 wrong lines skipped\n" in ddlog(paths, *base, *updates, "--on-error", "skip")[1]
    assert "facts/Edge.csv:2:2" in ddlog(paths, *base, *updates, code=1)[1]


def test_skipped_lines_are_told_also_where_the_run_fails(paths: Path) -> None:
    (paths / "d.dl").write_text(DIVIDE)
    text = '{"insert": {"N": ["x"]}}\n{"insert": {"N": [0]}}\n{"commit": true}\n'
    _, error = ddlog(paths, "run", "d.dl", "--updates", "-", "--on-error", "wrong.jsonl", stdin=text, code=1)
    assert "division by zero" in error and "note: 1 wrong line skipped: wrong.jsonl" in error
    assert json.loads((paths / "wrong.jsonl").read_text())["place"] == "<stdin>:1:1"


def test_options_of_places_for_all_places(paths: Path) -> None:
    (paths / "facts" / "Edge.csv").write_text("a,b\n")
    (paths / "e.csv").write_text("to,from,rest\ny,x,1\n")
    assert '.a = "a", .b = "b"' in ddlog(paths, "run", "paths.dl", "--input", "facts", "--header", "no")[0]
    mapped = ("--map", "Edge=e.csv:a=from,b=to", "--extra", "ignore")
    assert '.a = "x", .b = "y"' in ddlog(paths, "run", "paths.dl", *mapped)[0]
    _, error = ddlog(paths, "run", "paths.dl", "--map", "Edge=e.csv", code=1)
    assert "--map Edge=e.csv: expected REL=PLACE:COLUMN=NAME,…" in error


def test_a_query_always_has_an_answer(paths: Path) -> None:
    base = ("run", "paths.dl", "--input", "facts", "--query")
    assert ddlog(paths, *base, 'Edge("x", "y")')[0] == "true\n"
    assert ddlog(paths, *base, 'Edge("y", "x")')[0] == "false\n"
    assert ddlog(paths, *base, 'Edge("y", "x")', "--format", "jsonl")[0] == "false\n"
    assert ddlog(paths, *base, "Edge(a, a)")[0] == "query: no rows of (a)\n\n"
    assert ddlog(paths, "run", "paths.dl", "--relation", "Edge")[0] == "Edge: no rows of (a, b)\n\n"
    out, _ = ddlog(paths, *base, 'Edge("x", b)', "--query", 'Edge("x", "y")')
    assert out == 'query1:\nquery1{.b = "y"}\n\nquery2: true\n'


@pytest.mark.parametrize("end", ["", "exit;"])
def test_a_transaction_that_is_not_committed_is_told(paths: Path, end: str) -> None:
    text = f'start; insert Edge("a", "b"); {end}'
    out, error = ddlog(paths, "run", "paths.dl", "--updates", "-", stdin=text)
    assert out == "" and "note: the last transaction was not committed" in error


DIVIDE = """
input relation N(x: signed<32>)
output relation D(x: signed<32>)
D(100 / x) :- N(x).
"""
FOREVER = """
input relation N(x: bigint)
output relation M(x: bigint)
M(x) :- N(x).
M(x + 1) :- M(x).
"""


def test_a_fault_in_a_rule_names_it(paths: Path) -> None:
    (paths / "d.dl").write_text(DIVIDE)
    text = "start; insert N(5); commit; start; insert N(0); commit; echo never;"
    out, error = ddlog(paths, "run", "d.dl", "--updates", "-", stdin=text, code=1)
    assert out == "D:\nD{.x = 20}: +1\n"
    assert "d.dl:4:" in error and "division by zero" in error and "x = 0" in error


def test_an_iteration_limit(paths: Path) -> None:
    (paths / "f.dl").write_text(FOREVER)
    text = "start; insert N(1); commit;"
    base = ("run", "f.dl", "--updates", "-", "--max-iterations", "50")
    out, error = ddlog(paths, *base, stdin=text, code=1)
    assert out == "" and "no fixpoint after 50 iterations of M" in error


def test_interrupting_a_recursion_without_end(paths: Path) -> None:
    (paths / "f.dl").write_text(FOREVER)
    process = subprocess.Popen(
        [*DDLOG, "run", "f.dl", "--quiet", "--updates", "-"],
        cwd=paths,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("start; insert N(1); echo now; commit;\n")
    process.stdin.flush()
    assert process.stdout.readline() == "now\n"
    time.sleep(1)  # it commits
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, "", "interrupted\n")


def test_a_closed_pipe_is_no_error(paths: Path) -> None:
    (paths / "facts" / "Edge.csv").write_text("".join(f"n{i},m{i}\n" for i in range(50_000)))
    command = " ".join(f"'{part}'" for part in [*DDLOG, "run", "paths.dl", "--quiet", "--input", "facts"])
    done = subprocess.run(
        f"{command} | head -1", cwd=paths, shell=True, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("Fan:\n", "")


def test_a_full_disk_is_an_error(paths: Path) -> None:
    command = " ".join(f"'{part}'" for part in [*DDLOG, "run", "paths.dl", "--input", "facts"])
    done = subprocess.run(
        f"{command} > /dev/full", cwd=paths, shell=True, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "cannot write the output" in done.stderr
    command = " ".join(f"'{part}'" for part in [*DDLOG, "--version"])
    done = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stderr.startswith("error: cannot write the output")


@pytest.mark.parametrize("closed", longer(["<&- >&- 2>&-"], ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]))
def test_closed_streams_are_empty(paths: Path, closed: str) -> None:
    arguments = ["run", "paths.dl", "--quiet", "--input", "facts", "--updates", "-", "--output", "out"]
    command = " ".join(f"'{part}'" for part in [*DDLOG, *arguments])
    done = subprocess.run(
        f"{command} {closed}", cwd=paths, shell=True, capture_output=True, text=True, input="", timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (paths / "out" / "Path.csv").read_text() == "a,b\nx,y\nx,z\ny,z\n"


def test_importing_the_package_is_cheap() -> None:
    script = (
        "import sys, ddlog, ddlog.sessions.session, ddlog.console.run; "
        "print([m for m in ('pyspark', 'pandas', 'polars', 'pyarrow', 'rich', 'prompt_toolkit', 'networkx')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


def test_a_library_path_must_be_a_directory(paths: Path) -> None:
    out, _ = ddlog(paths, "check", "paths.dl", "-L", "facts")
    assert out == ""
    _, err = ddlog(paths, "check", "paths.dl", "-L", "nowhere", "-L", "paths.dl", code=1)
    assert "nowhere: there is no such directory" in err
    assert "paths.dl: this is a file, not a directory" in err
