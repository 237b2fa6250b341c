"""Soufflé programs that run as in Soufflé: their fact files, their results, and the messages about both.

A folder of `running/` holds a program, its facts in `facts/`, the files that it must write in `expected/`,
and what it must write to standard output and standard error, in `stdout` and `stderr`. It may hold options of
the command, in `options`, and its standard input, in `stdin`.
"""

from __future__ import annotations

import gzip
import io
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ddlog.console.cli import main

HERE = Path(__file__).parent / "running"
FOLDERS = sorted(path.parent for path in HERE.glob("*/program.dl"))


def run(folder: Path, out: Path, *options: str) -> int:
    """Runs the program of a folder by the command."""
    facts = ["-F", "facts"] if (folder / "facts").exists() else []
    return main(["import-souffle", "program.dl", "--run", *facts, "-D", str(out), *options])


def written(out: Path) -> dict[str, str]:
    """The text of each file in a folder. A file of gzip is unpacked, and for a database stands the text of
    statements that make it."""
    texts: dict[str, str] = {}
    for file in (file for file in sorted(out.rglob("*")) if file.is_file()):
        name, data = str(file.relative_to(out)), file.read_bytes()
        if file.suffix == ".sqlite":
            with closing(sqlite3.connect(file)) as database:
                texts[f"{name}.sql"] = "\n".join([*database.iterdump(), ""])
        else:
            texts[name] = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
    return texts


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_runs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    given = (folder / "stdin").read_bytes() if (folder / "stdin").exists() else b""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    code = run(folder, tmp_path, *shlex.split(text_of(folder / "options")))
    shown = capsys.readouterr()
    assert shown.err == text_of(folder / "stderr")
    assert shown.out == text_of(folder / "stdout")
    assert code == ("error: " in shown.err)
    assert written(tmp_path) == written(folder / "expected")


def files(folder: Path, texts: dict[str, str | bytes]) -> None:
    """Writes files into a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


PAIRS = """
.decl pair(x: number, s: symbol)
.input pair{input}
.output pair{output}
"""


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with facts, in which commands run."""
    monkeypatch.chdir(tmp_path)
    files(tmp_path, {"facts/pair.facts": "1\ta\n2\tb\n"})
    return tmp_path


def run_pairs(folder: Path, input: str = "", output: str = "", *options: str) -> int:
    files(folder, {"program.dl": PAIRS.format(input=input, output=output)})
    return run(folder, folder / "out", *options)


def test_defaults(pairs: Path) -> None:
    """Without -F and -D the present folder has the facts and takes the results."""
    files(pairs, {"program.dl": PAIRS.format(input="", output=""), "pair.facts": "3\tc\n"})
    assert main(["import-souffle", "program.dl", "--run"]) == 0
    assert (pairs / "pair.csv").read_text() == "3\tc\n"


def test_compressed_files(pairs: Path) -> None:
    """Facts are unpacked whatever their name; results are packed if the directive says so."""
    files(pairs, {"facts/pair.facts": gzip.compress(b"7\tg\n")})
    assert run_pairs(pairs, "", "(compress=true)") == 0
    assert written(pairs / "out") == {"pair.csv.gz": "7\tg\n"}


def test_standard_output_for_all_results(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`-D -` prints every output, with the names of the columns, whatever its directive says."""
    files(pairs, {"program.dl": PAIRS.format(input="", output='(filename="x", delimiter=",")')})
    assert main(["import-souffle", "program.dl", "--run", "-F", "facts", "-D", "-"]) == 0
    shown = "---------------\npair\nx,s\n===============\n1,a\n2,b\n===============\n"
    assert capsys.readouterr() == (shown, "")
    assert not (pairs / "x").exists()


def test_absent_facts(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An absent file is an error, with -w an empty relation. All absent files are named."""
    for option, code in ((), 1), (("-w",), 0):
        given = '(filename="none.facts")\n.input pair(filename="nor.this")'
        assert run_pairs(pairs, given, "", *option) == code
    assert capsys.readouterr().err == (
        "error: program.dl:3:8: facts/none.facts: there is no such file, and the facts of pair are read from "
        'it\n    .input pair(filename="none.facts")\n           ^^^^\n  help: -F gives the folder of fact '
        "files; a relation without facts has an empty file\n"
        "error: program.dl:4:8: facts/nor.this: there is no such file, and the facts of pair are read from "
        'it\n    .input pair(filename="nor.this")\n           ^^^^\n  help: -F gives the folder of fact '
        "files; a relation without facts has an empty file\n"
    )
    assert written(pairs / "out") == {"pair.csv": ""}


@pytest.mark.parametrize(
    ("input", "output", "message"),
    [
        ("(IO=files)", "", "3:8: IO=files: expected file, stdin, jsonfile, sqlite"),
        ("", "(IO=stdin)", "4:9: IO=stdin: expected file, stdout, "),
        (
            "",
            "(IO=parquet)",
            "4:9: IO=parquet: expected file, stdout, stdoutprintsize, jsonfile, json, sqlite",
        ),
        ('(columns="0:x")', "", "columns=0:x: expected 2 different numbers of columns, such as 0:1"),
        ('(columns="0")', "", "columns=0: expected 2 different"),
        ('(columns="1:1")', "", "columns=1:1: expected 2 different"),
        ('(columns="1:5")', "", "facts/pair.facts:1:4: expected 6 columns (x, s), found 2"),
        ('(delimiter="")', "", "delimiter=: expected a text on one line"),
    ],
)
def test_wrong_parameters(
    pairs: Path, capsys: pytest.CaptureFixture[str], input: str, output: str, message: str
) -> None:
    assert run_pairs(pairs, input, output) == 1
    assert message in capsys.readouterr().err


def test_notes_on_parameters(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parameter without a meaning, and columns that are left out, are noted; notes on the text are not."""
    files(pairs, {"facts/pair.facts": "1\ta\n2\tb\tmore\n"})
    assert run_pairs(pairs, '(delimeter=",")') == 0
    assert capsys.readouterr().err == (
        "note: program.dl:3:8: the parameter `delimeter` has no meaning; did you mean `delimiter`?\n"
        "note: facts/pair.facts:2: there are more columns than pair has, which are left out\n"
    )
    files(pairs, {"facts/pair.facts": "".join(f"{i}\ta\tmore\n" for i in range(20000))})
    assert run_pairs(pairs) == 0
    assert capsys.readouterr().err == (
        "note: facts/pair.facts:1: there are more columns than pair has, which are left out\n"
    )
    assert written(pairs / "out")["pair.csv"] == "".join(f"{i}\ta\n" for i in range(20000))


def test_options(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options of a run need --run; those of Soufflé that have no meaning are refused with the reason."""
    assert run_pairs(pairs, "", "", "-j", "4", "--word", "64", "-o", "translated.dl") == 0
    assert "signed<64>" in (pairs / "translated.dl").read_text()
    assert capsys.readouterr().err == ""
    assert main(["import-souffle", "program.dl", "-F", "facts", "-D", "out", "-j", "2"]) == 1
    assert capsys.readouterr().err == "".join(
        f"error: {option} needs --run: a program that is only translated reads and writes no facts\n"
        for option in ("-F", "-D", "-j")
    )
    assert main(["import-souffle", "program.dl", "-c"]) == 2
    assert "-c is an option of Soufflé that is not supported: nothing is compiled" in capsys.readouterr().err
    assert main(["import-souffle", "program.dl", "--run", "-F", "none"]) == 1
    assert capsys.readouterr().err == "error: none: there is no such directory\n"
    assert main(["import-souffle", "program.dl", "--run", "-F", "facts", "-D", "program.dl"]) == 1
    assert capsys.readouterr().err == "error: program.dl: this is a file, not a directory\n"


def test_functors(pairs: Path) -> None:
    """A functor of the program is a function of the Python module beside it."""
    text = """
    .functor twice(number): number
    .decl r(x: number)
    .output r
    r(@twice(4)).
    """
    files(pairs, {"program.dl": text, "program.py": "def twice(x):\n    return 2 * x\n"})
    assert run(pairs, pairs / "out", "-w") == 0
    assert written(pairs / "out") == {"r.csv": "8\n"}


def test_faults_of_rules_are_in_the_text_of_souffle(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place of a fault is in the program, or in the file that it includes; a functor is missed where it
    is declared."""
    quotient = ".decl q(x: number)\nq(0).\n.decl p(x: number)\n.output p\np(y) :- q(x), y = 10 / x.\n"
    files(pairs, {"program.dl": '#include "more.dl"\n', "more.dl": quotient})
    assert run(pairs, pairs / "out") == 1
    assert capsys.readouterr().err.endswith(
        "error: more.dl:5:19: division by zero, in the rule `p(y) :- q(x), y = 10 / x.`, for x = 0\n"
        "    p(y) :- q(x), y = 10 / x.\n"
        "                      ^^^^^^\n"
    )
    functor = ".functor half(number): number\n.decl p(x: number)\n.output p\np(@half(1)).\n"
    files(pairs, {"program.dl": functor})
    assert run(pairs, pairs / "out") == 1
    assert "error: program.dl:1:1: extern function `half` has no Python code" in capsys.readouterr().err


def test_modules_of_the_library_are_not_looked_for_beside_the_program(pairs: Path) -> None:
    """A program of Soufflé that is named as a module of the library is not taken for it."""
    text = '.decl r(s: symbol)\n.output r\nr(s) :- s = "aab", match("a+b", s).\n'
    files(pairs, {"program.dl": text, "regex.dl": ".decl no(x: number)\n"})
    assert run(pairs, pairs / "out") == 0
    assert written(pairs / "out") == {"r.csv": "aab\n"}


def test_facts_that_no_result_needs_are_not_read(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
    .decl unused(x: number)
    .input unused
    .decl more(x: number)
    more(x) :- unused(x).
    .decl r(x: number)
    .output r
    r(1).
    """
    files(pairs, {"program.dl": text})
    assert run(pairs, pairs / "out") == 0
    assert written(pairs / "out") == {"r.csv": "1\n"}
    assert capsys.readouterr().err == ""


def test_floats_have_the_digits_that_reading_them_back_needs(pairs: Path) -> None:
    values = ["0.0009765625", "16777216", "3", "-2.5", "1.25e+30"]
    files(
        pairs, {"program.dl": ".decl r(f: float)\n.input r\n.output r\n", "facts/r.facts": "\n".join(values)}
    )
    assert run(pairs, pairs / "out", "-w") == 0
    assert sorted(written(pairs / "out")["r.csv"].split()) == sorted([*values[:4], "1.24999998e+30"])
    assert run(pairs, pairs / "out", "-w", "--word", "64") == 0
    assert sorted(written(pairs / "out")["r.csv"].split()) == sorted(values)


def test_other_commands_say_which_one_runs_a_program_of_souffle(
    pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files(pairs, {"program.dl": "#define N 1\n.decl r(x: number)\nr(N).\n.output Out\n"})
    for command in ("run", "check"):
        assert main([command, "program.dl"]) == 1
        assert capsys.readouterr().err == (
            "error: program.dl:2:1: program.dl is a program of Soufflé\n"
            "    .decl r(x: number)\n"
            "    ^^^^^\n"
            "  help: `ddlog import-souffle program.dl --run` runs it; with `-o OUT.dl` in place of `--run` "
            "it is translated\n"
        )


def test_long_lists(pairs: Path) -> None:
    """Lists are records in records, and as long as they need to be."""
    text = """
    .type L = [h: number, t: L]
    .decl r(l: L)
    .input r
    .output r
    .output r(IO=jsonfile)
    .decl s(l: L)
    .input s(IO=jsonfile)
    .output s
    """
    begin, end = "".join(f"[{i}, " for i in range(2000)), "]" * 2000
    files(
        pairs,
        {
            "program.dl": text,
            "facts/r.facts": f"{begin}nil{end}\n",
            "facts/s.json": f"[[{begin}null{end}]]",
        },
    )
    assert run(pairs, pairs / "out") == 0
    assert written(pairs / "out") == {
        "r.csv": f"{begin}nil{end}\n",
        "r.json": f"[[{begin}null{end}]]\n",
        "s.csv": f"{begin}nil{end}\n",
    }


def test_pipes_and_devices_are_written_to(pairs: Path) -> None:
    """The file of a result may be a pipe, or /dev/stdout; it is not replaced."""
    os.mkfifo(pairs / "pipe")
    files(pairs, {"program.dl": PAIRS.format(input="", output=f'(filename="{pairs / "pipe"}")')})
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True, cwd=pairs) as cat:
        assert run(pairs, pairs / "out") == 0
        assert cat.communicate(timeout=60)[0] == "1\ta\n2\tb\n"
    assert (pairs / "pipe").is_fifo()
    files(pairs, {"program.dl": PAIRS.format(input="", output='(filename="/dev/stdout")\n.printsize pair')})
    command = [sys.executable, "-m", "ddlog", "import-souffle", "program.dl", "--run", "-F", "facts"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == ("1\ta\n2\tb\npair\t2\n", "")


MEDIA = """
.type P = [x: number, s: symbol]
.type T = A {{x: number}} | B {{}}
.decl r(n: number, s: symbol, f: float, p: P, t: {type})
.input r(IO={io}, filename="facts.{io}")
.output r
"""


def test_databases(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Facts from a table or a view; values in it that are wrong, and relations that it lacks."""
    with closing(sqlite3.connect(pairs / "facts" / "facts.sqlite")) as database:
        database.execute("create table r (a integer, b text, c real, d text, e text)")
        rows = [(1, "one", 1.5, "[2, x]", "$A(3)"), ("2", 2, 3, "nil", "$B"), (3, None, -1, "nil", "$B()")]
        database.executemany("insert into r values (?, ?, ?, ?, ?)", rows)
        database.commit()
        text = MEDIA.format(io="sqlite", type="T")
        files(pairs, {"program.dl": text})
        assert run(pairs, pairs / "out") == 0
        shown = "1\tone\t1.5\t[2, x]\t$A(3)\n2\t2\t3\tnil\t$B\n3\t\t-1\tnil\t$B\n"
        assert written(pairs / "out") == {"r.csv": shown}
        database.execute("insert into r values ('x', '', '', 'nil', '$C')")
        database.commit()
    assert run(pairs, pairs / "out") == 1
    assert capsys.readouterr().err == (
        'error: facts/facts.sqlite: row 4: table r: expected a number, found "x"\n'
    )
    for parameters, message in (
        (', name="other"', "facts/facts.sqlite: no such table: other"),
        (', dbname="program.dl"', "there is no such file"),
    ):
        files(pairs, {"program.dl": text.replace("IO=sqlite", "IO=sqlite" + parameters)})
        assert run(pairs, pairs / "out") == 1
        assert message in capsys.readouterr().err
    files(pairs, {"program.dl": text.replace("n: number, ", ""), "facts/no.sqlite": "no database" * 100})
    assert run(pairs, pairs / "out") == 1
    assert "facts.sqlite: r has 5 columns there, and 4 in the program" in capsys.readouterr().err
    files(pairs, {"program.dl": text.replace("facts.sqlite", "no.sqlite")})
    assert run(pairs, pairs / "out") == 1
    assert "facts/no.sqlite: file is not a database" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ("[[1, 2, 3, null, 4]]", "1:2: expected string, found 2"),
        ('[[1.5, "", 3, null, 4]]', "1:2: expected "),
        ('[[1, "", 3, [1], 4]]', "1:2: expected an array of 2 values, or an object with x, s"),
        ('[[1, "", 3,\n null, true]]', "1:2: expected a number, found true"),
        ('[[1, "", 3, null, 4],\n{"n": 1}]', '2:1: there is no "s"'),
        ('[[1, "", 3, null, 4]', "expected `,` or `]` in the array of rows"),
        ("[x]", "1:2: this is not JSON"),
    ],
)
def test_wrong_json(pairs: Path, capsys: pytest.CaptureFixture[str], json: str, message: str) -> None:
    files(pairs, {"program.dl": MEDIA.format(io="jsonfile", type="number"), "facts/facts.jsonfile": json})
    assert run(pairs, pairs / "out") == 1
    assert f"error: facts/facts.jsonfile:{message}" in capsys.readouterr().err.replace(
        "jsonfile:1:21: expected `,`", "jsonfile:expected `,`"
    )


def test_algebraic_types_have_no_json(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(pairs, {"program.dl": MEDIA.format(io="jsonfile", type="T")})
    assert run(pairs, pairs / "out") == 1
    message = (
        "program.dl:5:8: IO=jsonfile: expected another medium, since algebraic types have no form in JSON"
    )
    assert message in capsys.readouterr().err


LARGE = """
.type Pair = [x: number, s: symbol]
.decl r(n: number, s: symbol, f: float, p: Pair)
.input r({parameters})
.output r
.decl t(n: number, u: unsigned)
.input t({parameters})
.output t
"""


@pytest.mark.parametrize(
    ("parameters", "start", "separator", "quote"),
    [
        ("IO=file", "", "\t", False),
        ('headers=true, delimiter="|"', "a|b|c|d\n", "|", False),
        ("rfc4180=true", "", ",", True),
        ('delimiter="::"', "", "::", False),
    ],
)
def test_large_files_are_read_as_small_ones(
    pairs: Path, parameters: str, start: str, separator: str, quote: bool
) -> None:
    """The same rows from files for the fast readers, and cut into small ones; and the same errors."""
    rows = [(i - 3000, f"s {i % 70}" if i % 7 else "", i / 8, f"[{i % 50}, s{i % 9}]") for i in range(6000)]
    cells = [[f'"{cell}"' if quote and isinstance(cell, str) else str(cell) for cell in row] for row in rows]
    pairs_of_numbers = [f"{i - 5}{separator}{i * 7}" for i in range(20000)]
    files(
        pairs,
        {
            "program.dl": LARGE.format(parameters=parameters),
            "facts/r.facts": start + "".join(separator.join(row) + "\n" for row in cells),
            "facts/t.facts": start + "\n".join(pairs_of_numbers),
        },
    )
    assert run(pairs, pairs / "out") == 0
    out = written(pairs / "out")
    assert out["t.csv"] == "".join(f"{i - 5}\t{i * 7}\n" for i in range(20000))
    assert sorted(out["r.csv"].splitlines()) == sorted(f"{n}\t{s}\t{f:g}\t{p}" for n, s, f, p in rows)


@pytest.mark.parametrize("wrong", ["", "1\t2 x", "1", "1\t-2", "1\t4294967296", "1_0\t1", "1.0\t1"])
def test_errors_in_large_files(pairs: Path, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    lines = [f"{i}\t{i}" for i in range(20000)]
    lines[15000] = wrong
    text = PAIRS.format(input="", output="").replace("symbol", "unsigned")
    files(pairs, {"program.dl": text, "facts/pair.facts": "\n".join(lines)})
    assert run(pairs, pairs / "out") == 1
    assert "error: facts/pair.facts:15001:" in capsys.readouterr().err


def test_infinite_floats_and_bytes_that_are_no_text(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ".decl r(f: float, s: symbol)\n.input r\n.output r"
    lines = [f"{i}.5\t{i}\n" for i in range(20000)]
    files(pairs, {"program.dl": text, "facts/r.facts": "".join(lines) + "-inf\tlast\n"})
    assert run(pairs, pairs / "out") == 0
    assert written(pairs / "out")["r.csv"].startswith("-inf\tlast\n0.5\t0\n")
    files(pairs, {"facts/r.facts": "".join(lines) + "1e39\tlast\n"})
    assert run(pairs, pairs / "out") == 1
    assert "r.facts:20001:1: 1e39 is out of the range" in capsys.readouterr().err
    files(pairs, {"facts/r.facts": "".join(lines).encode() + b"1\t\xff\n"})
    assert run(pairs, pairs / "out") == 1
    assert "r.facts:20001:3: byte 0xff at offset" in capsys.readouterr().err
