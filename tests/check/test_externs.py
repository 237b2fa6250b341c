"""Python code beside a program: read by `check` and `circuit`, executed by what runs the program."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime
from ddlog.errors.diagnostics import DDlogError

from ..engine.reference_runtime import ReferenceRuntime

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


VERSIONS = """
extern type Version
extern function version(text: string): Version
extern function major(v: Version): u32
extern function text(v: Version): string
function to_string(v: Version): string { text(v) }
typedef Named = Named{name: string, v: Option<Version>}
input relation Raw(name: string, text: string)
input relation Given(v: Version) primary key (x) x.v
relation Has(name: string, v: Version)
Has(name, version(text)) :- Raw(name, text).
Has("given", v) :- Given(v).
output relation Newest(name: string, v: Version)
Newest(name, v) :- Has(name, each), var v = each.group_by(name).max().
output relation Below(v: Version, w: Version)
Below(v, w) :- Has(_, v), Has(_, w), v < w.
output relation Down(v: Version)
Down(v) :- Has(_, v).
Down(version("${major(v) - 1}")) :- Down(v), major(v) > 1.
output relation Told(named: Named, all: Set<Version>, text: string)
Told(Named{name, Some{v}}, all, "${v} of ${name}") :-
    Newest(name, v), Has(_, w), var all = w.group_by((name, v)).to_set().
"""
VERSIONS_CODE = """
from dataclasses import dataclass
@dataclass(frozen=True, order=True)
class Version:
    parts: tuple[int, ...]
    def __str__(self): return ".".join(map(str, self.parts))
def version(text): return Version(tuple(map(int, text.split("."))))
def major(v): return v.parts[0]
text = str
"""


def versions(folder: Path, code: str = VERSIONS_CODE, program: str = VERSIONS) -> ddlog.Program:
    path = folder / "versions.dl"
    path.write_text(program)
    path.with_suffix(".py").write_text(code)
    return ddlog.compile(path)


@pytest.mark.parametrize("evaluation", ["in process", "reference"])
def test_values_of_a_class_are_joined_grouped_compared_and_printed(
    tmp_path: Path, evaluation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if evaluation == "reference":
        monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    program = versions(tmp_path)
    with program.session() as session:
        session.insert("Raw", ("a", "1.2"), ("a", "1.10"), ("b", "3"))
        session.commit()
        made = {row.v.parts: row.v for row in session["Down"]}
        assert set(made) == {(1, 2), (1, 10), (3,), (2,), (1,)}
        session.delete("Raw", ("a", "1.10"))
        session.insert("Given", (made[2,],))
        changes = session.commit()
        with pytest.raises(DDlogError, match=r"Given.v: expected Version, found 'x'"):
            session.insert("Given", ("x",))
        told = sorted(str(row) for row in session["Told"])
    assert sorted((str(row.v), n) for row, n in changes["Newest"]) == [("1.10", -1), ("1.2", 1), ("2", 1)]
    assert {(str(row.v), str(row.w)) for row, n in changes["Below"] if n > 0} == {("1.2", "2"), ("2", "3")}
    assert [(str(row.v), n) for row, n in changes["Down"]] == [("1.10", -1)]
    assert len(told) == 3 and "2 of given" in told[2]


FRAGILE = {
    "class Version: ...": "has no __eq__, has no __hash__, has no __lt__, has no __le__, has attributes",
    "Version = 7": "is no class",
    "@dataclass\nclass Version: x: int": "has no __hash__, has no __lt__, has no __le__, has attributes",
    "@dataclass(frozen=True)\nclass Version: x: int": "has no __lt__, has no __le__$",
    "@dataclass(order=True, unsafe_hash=True)\nclass Version: x: int": "has attributes that can be set$",
    "@dataclass(order=True, unsafe_hash=True, slots=True)\nclass Version: x: int": "has attributes that can",
}


@pytest.mark.parametrize("code", FRAGILE)
def test_a_class_whose_objects_are_no_values_is_refused(tmp_path: Path, code: str) -> None:
    program = versions(tmp_path, f"from dataclasses import dataclass\n{code}", "extern type Version")
    with pytest.raises(DDlogError) as error:
        program.session()
    (told,) = error.value.diagnostics
    assert re.search(f"class Version of .* cannot be an extern type: it {FRAGILE[code]}", told.message)


@pytest.mark.parametrize(
    "code", ["class Version(str): __slots__ = ()", "Version = int", "from datetime import date as Version"]
)
def test_classes_of_immutable_objects_are_taken(tmp_path: Path, code: str) -> None:
    with versions(tmp_path, code, "extern type Version").session() as session:
        assert session.commit() is not None


def test_an_absent_class_is_a_warning_of_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "versions.dl")
    versions(tmp_path, "Version = str", "extern type Version")
    (tmp_path / "versions.py").unlink()
    assert main(["check", path]) == 0
    assert "warning: " in (told := capsys.readouterr().err) and told.count("no Python class") == 1
    assert main(["check", "--externs", "error", path]) == 1
    assert main(["run", path]) == 1
    assert "help: write `class Version` in " in capsys.readouterr().err


def test_a_state_holds_no_values_of_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    versions(tmp_path)
    assert main(["run", str(tmp_path / "versions.dl"), "--state", str(tmp_path / "s")]) == 1
    assert (
        "Given: its rows hold values of extern types, so the state cannot hold it" in capsys.readouterr().err
    )
