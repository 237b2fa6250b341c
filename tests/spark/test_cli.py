"""The command line and the README's Python on Spark: programs, messages, and that nothing of Spark's is
printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddlog.console.cli import main

from ..test_readme import CODES, PRINTED, place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["place"]

PROGRAMS = Path(__file__).parents[2] / "programs"
EDGES = """
input relation Edge(a: s32, b: s32)
output relation Path(a: s32, b: s32)
Path(a, b) :- Edge(a, b).
"""


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of the command line."""
    code = main(arguments)
    out, error = capfd.readouterr()
    return code, out, error


@pytest.mark.parametrize("updates", [True, False])
def test_a_program(spark: SparkSession, capfd: pytest.CaptureFixture[str], updates: bool) -> None:
    home = PROGRAMS / "routes"
    arguments = [f"{home}/routes.dl", "--input", f"{home}/facts", "--quiet"]
    if updates:
        arguments += ["--updates", f"{home}/updates.dat"]
    expected = run(capfd, "run", *arguments, "--engine", "in-process")
    assert run(capfd, "run", *arguments) == expected
    assert expected[0] == 0 and len(expected[1]) > 100


def test_outputs_and_notes(spark: SparkSession, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(EDGES)
    (tmp_path / "Edge.csv").write_text("1,2\n3,4\n")
    base = ("run", f"{tmp_path}/p.dl", "--input", f"Edge={tmp_path}/Edge.csv")
    code, out, error = run(capfd, *base, "--output", f"{tmp_path}/out", "--sizes")
    assert (code, out) == (0, "Path\t2\n")
    assert error == "note: engine: spark (a Spark session is active)\n"
    (part,) = (tmp_path / "out" / "Path").glob("part-*")
    assert part.read_text() == "a,b\n1,2\n3,4\n"
    (tmp_path / "Edge.csv").write_text("1,2\n3,x\n")
    code, out, error = run(capfd, *base, "--quiet")
    assert (code, out) == (1, "") and "Edge.csv:2:3: expected signed<32>" in error
    code, out, error = run(capfd, *base[:3], "Edge=nowhere.such", "--quiet")
    assert (code, out) == (1, "") and error.startswith("error: there is no table nowhere.such")


def test_circuits_say_what_is_sql(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(EDGES + "Path(a, b + 1) :- Edge(a, b), a / b > 1.\n")
    code, out, _ = run(capfd, "circuit", f"{tmp_path}/p.dl", "--engine", "spark")
    assert code == 0
    assert any(line.strip().startswith("udf: a / b > 1") for line in out.splitlines()), out
    assert any(line.strip().startswith("sql: ") and "b + 1" in line for line in out.splitlines()), out


def test_the_readme_prints_what_is_shown(
    spark: SparkSession, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)  # where the JVM is not
    exec(CODES[1].text.replace('"facts/', f'"{place}/facts/'), {})
    assert capsys.readouterr().out.rstrip() == PRINTED[1].text.rstrip()


@pytest.mark.long
@pytest.mark.java
def test_a_process_of_its_own(tmp_path: Path) -> None:
    """Starts and stops Spark; all that is printed is ours. In the short form the README's command does so."""
    (tmp_path / "p.dl").write_text(EDGES)
    (tmp_path / "Edge.csv").write_text("1,2\n3,x\n")
    command = [
        sys.executable, "-m", "ddlog", "run", "p.dl", "--input", "Edge=Edge.csv", "--master", "local[1]",
        "--conf", "spark.driver.memory=1g",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=os.environ)
    assert (done.returncode, done.stdout) == (1, "")
    said = [line for line in done.stderr.splitlines() if not re.match(r"\d+ s: ", line)]  # progress
    assert said == [
        "note: engine: spark (--master local[1])",
        'error: Edge.csv:2:3: expected signed<32>, found "x"',
        "    3,x",
        "      ^",
    ]


@pytest.mark.java
def test_nobody_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(EDGES)
    for option, address in (("--master", "spark://localhost:1"), ("--remote", "sc://localhost:1")):
        code, out, error = run(capfd, "run", f"{tmp_path}/p.dl", option, address, "--quiet")
        assert (code, out) == (1, "")
        assert error.startswith(f"error: no Spark answers at {address}: connection refused")
