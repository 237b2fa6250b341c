"""Python code beside a program: read by `check` and `circuit`, executed by what runs the program."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError

PROGRAM = """
extern function f(x: u32): u32
extern function key_of(x: string): string
extern function size(g: Group<u32, u32>): u32
extern transformer T(R: relation[A]) -> (Out: relation[A])
typedef A = A{x: u32}
input relation I(s: string, v: u32) primary key (r) key_of(r.s)
input relation E(x: u32, y: u32)
relation RA[A]
RA[A{x}] :- E(x, _).
output relation TA[A]
apply T(RA) -> (TA)
output relation C(x: u32)
C(f(1)).
C(f(x) + 1) :- I(_, x), E(x, y), f(y) == 2, var z = f(3), z > 2.
output relation G(x: u32, c: u32)
G(x, c) :- E(x, y), var c = y.group_by(x).size().
relation P(x: u32, y: u32)
P(x, f(y)) :- E(x, y).
P(x, f(z)) :- P(x, y), E(y, z).
output relation Q(x: u32)
Q(x) :- P(x, y), not C(f(y)).
index Starts(x: u32) on P(x, _)
"""
CODE = """
open({mark!r}, "w").close()
def f(x): return x
def key_of(x): return x
size = len
if True:
    def T(rows): return rows
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program whose Python file leaves a mark when it is executed."""
    path = tmp_path / "marked.dl"
    path.write_text(PROGRAM)
    path.with_suffix(".py").write_text(CODE.format(mark=str(tmp_path / "executed")))
    return path


READING = [
    ["check"],
    ["check", "--externs", "error"],
    ["circuit"],
    ["circuit", "--stage", "relational"],
    ["circuit", "--plans"],
    ["circuit", "--engine", "spark"],
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("cache", ["on", "off"])
def test_python_beside_a_program_is_not_executed(
    program: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], cache: str
) -> None:
    monkeypatch.setenv("DDLOG_CACHE", cache)
    for _ in range(2):  # the second time from the cache
        assert main([command[0], str(program), *command[1:]]) == 0
    assert not (program.parent / "executed").exists()


def test_it_is_executed_where_the_program_runs(program: Path) -> None:
    assert main(["run", str(program)]) == 0
    assert (program.parent / "executed").exists()


def test_absent_functions_are_warnings_of_check(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.with_suffix(".py").unlink()
    for command in READING:
        assert main([command[0], str(program), *command[1:]]) == ("--externs" in command)
        severity = "error" if "--externs" in command else "warning"
        told = [line for line in capsys.readouterr().err.splitlines() if line.startswith(severity)]
        names = [line.partition("`")[2].partition("`")[0] for line in told]
        assert names == ["f", "key_of", "size", "T"]


def test_absent_functions_are_errors_where_the_program_runs(program: Path) -> None:
    program.with_suffix(".py").write_text("def f(x): ...\nkey_of = T = f\n")
    with pytest.raises(DDlogError, match=r"extern function `size` has no Python code: .* does not define it"):
        ddlog.compile(program)
    checked = ddlog.compile(program, externs="warn")
    assert "extern function `size` has no Python code" in checked.warnings[0].message
    with pytest.raises(DDlogError, match=r"error: .* extern function `size` has no Python code"):
        checked.session()
    with pytest.raises(DDlogError, match="externs 'no': expected error or warn"):
        ddlog.compile(program, externs="no")  # type: ignore[arg-type]


FITTING = ["def f(x): ...", "def f(x, /, y=1): ...", "def f(*x): ...", "from math import *",
           "from m import f", "import m as f", "f = max", "f, g = 1, 2",
           "try:\n import m as f\nexcept E:\n f = None",
           "@cache\ndef f(): ...", "class f: ...", "def f(): ...\ndef f(x): ...", "(f := 1)"]  # fmt: skip
WRONG = {
    "": "does not define it",
    "def g(f): f = 1": "does not define it",
    "class A:\n def f(x): ...": "does not define it",
    "print(f)": "does not define it",
    "def f(): ...": "cannot be called with 1 arguments",
    "def f(x, y): ...": "cannot be called with 1 arguments",
    "def f(x, *, y): ...": "cannot be called with 1 arguments",
    "def f(x:": "does not load: SyntaxError",
    "\0": "does not load: ",
}


def only_function(folder: Path, code: str) -> ddlog.Program:
    path = folder / "one.dl"
    path.write_text("extern function f(x: u32): u32\noutput relation R(x: u32)\nR(f(1)).\n")
    path.with_suffix(".py").write_text(code)
    return ddlog.compile(path)


@pytest.mark.parametrize("code", FITTING)
def test_definitions_are_found_in_the_text(tmp_path: Path, code: str) -> None:
    only_function(tmp_path, code)


@pytest.mark.parametrize("code", WRONG)
def test_what_the_text_shows_to_be_wrong(tmp_path: Path, code: str) -> None:
    with pytest.raises(DDlogError, match=WRONG[code]):
        only_function(tmp_path, code)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("raise OSError('no')\ndef f(x): ...", "does not load: OSError: no"),
        ("exit(3)\ndef f(x): ...", "does not load: SystemExit: 3"),
        ("f = lambda: 1", "cannot be called with 1 arguments"),
        ("f = 7", "does not define it"),
    ],
)
def test_what_shows_when_the_file_is_executed(tmp_path: Path, code: str, wrong: str) -> None:
    program = only_function(tmp_path, code)
    with pytest.raises(DDlogError, match=wrong):
        program.session()


def test_modules_of_the_present_folder_are_not_imported(program: Path) -> None:
    """A cloned repository may hold files with the names of modules that ddlog imports."""
    for name in ("argparse", "hashlib", "lark", "numpy", "pickle"):
        program.with_name(f"{name}.py").write_text(f"open({str(program.parent / 'executed')!r}, 'w').close()")
    command = [sys.executable, "-m", "ddlog", "check", program.name]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (program.parent / "executed").exists()


DAYS = """
import time
import sql as q
typedef P = P{x: u32, at: Option<Date>}
extern function days(a: Date, b: Option<Date>): Option<s64>
extern function later(p: P): P
extern function dearer(d: q::Decimal2): q::Decimal2
extern function total(g: Group<(), Option<u32>>): u32
extern function mapped(v: Vec<Option<u32>>, f: function(Option<u32>): Option<u32>): Vec<Option<u32>>
extern function kept(f: function(Option<u32>): Option<u32>): function(Option<u32>): Option<u32>
extern function shift(d: mut Date, n: s64): bool
function moved(d: Date): Date { var e = d; shift(e, 2); e }
function more(x: Option<u32>): Option<u32> { match (x) { Some{y} -> Some{y + 1}, None -> Some{0} } }
input relation R(a: Date, b: Option<Date>, d: q::Decimal2, o: Option<u32>)
output relation D(n: Option<s64>, p: P, d: q::Decimal2, e: Date)
D(days(a, b), later(P{1, b}), dearer(d), moved(a)) :- R(a, b, d, _).
output relation G(sum: u32)
G(total(g)) :- R(_, _, _, o), var g = o.group_by(()).
output relation M(v: Vec<Option<u32>>, o: Option<u32>)
M(mapped([o, None], f), g(o)) :- R(_, _, _, o), var f = |x| more(x), var g = kept(f).
"""
DAYS_CODE = """
from datetime import timedelta
from decimal import Decimal
def days(a, b): return None if b is None else (b - a).days
def later(p): return {"x": p.x + 1, "at": p.at and p.at + timedelta(days=1)}
def dearer(d): return d * Decimal("1.5")
def total(g): return sum(each or 0 for each in g.values)
def mapped(v, f): return [f(each) for each in v]
def kept(f): return f
def shift(d, n): return True, d + timedelta(days=n)
"""


def test_functions_are_given_what_python_has(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(DAYS)
    (tmp_path / "p.py").write_text(DAYS_CODE)
    new, second = date(2026, 1, 1), date(2026, 2, 1)
    with ddlog.compile(tmp_path / "p.dl").session() as session:
        session.insert("R", (new, second, "1.50", 3), (new, None, 2, None))
        session.commit()
        rows = [(n, tuple(p), d, e) for n, p, d, e in session["D"].tuples()]
        third = date(2026, 1, 3)
        assert rows == [
            (None, (2, None), Decimal("3.00"), third),
            (31, (2, date(2026, 2, 2)), Decimal("2.25"), third),
        ]
        assert list(session["G"].tuples()) == [(3,)]
        assert list(session["M"].tuples()) == [((0, 0), 0), ((4, 0), 4)]
