"""The choice of the engine, what Spark needs, and places of facts: without Spark."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ddlog import DDlogError, compile
from ddlog.engine.machine import machine_memory
from ddlog.io.places import find_local, only_spark, parse_places, total_size
from ddlog.sessions.engines import EngineChoice, EngineOptions, choose, parse_conf
from ddlog.sessions.sizes import parse_size, size_text, weighed
from ddlog.spark.sessions.java import check_java

MB = 1 << 20
IN_PROCESS = EngineOptions("in-process")
PROGRAM = """
input relation Edge(a: s32, b: s32)
input relation Node(a: s32)
output relation O(a: s32)
O(a) :- Edge(a, _).
O(a) :- Node(a).
"""


def chosen(
    options: EngineOptions | None = None,
    *,
    size: int | None = MB,
    spark_only: str | None = None,
    environ: dict[str, str] | None = None,
    active: bool = False,
) -> EngineChoice:
    """The choice in a world that is given whole."""
    return choose(
        options or EngineOptions(limit=8 * MB), lambda: size, spark_only, environ=environ or {}, active=active
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "engine: in-process (input 1.0 MB, limit 8.0 MB)"),
        ({"size": None}, "engine: in-process (no input files)"),
        ({"size": 9 * MB}, "engine: spark (input 9.0 MB, limit 8.0 MB)"),
        ({"size": 8 * MB}, "engine: in-process (input 8.0 MB, limit 8.0 MB)"),
        ({"active": True}, "engine: spark (a Spark session is active)"),
        ({"spark_only": "s3a://b/f"}, "engine: spark (only Spark reads s3a://b/f)"),
        ({"environ": {"SPARK_REMOTE": "sc://h"}}, "engine: spark (SPARK_REMOTE is sc://h)"),
        ({"environ": {"MASTER": "local[3]"}}, "engine: spark (MASTER is local[3])"),
        ({"environ": {"MASTER": "zone-1"}}, "engine: in-process (input 1.0 MB, limit 8.0 MB)"),
        ({"environ": {"PYSPARK_GATEWAY_PORT": "1"}}, "engine: spark (started by spark-submit)"),
        ({"options": EngineOptions(master="local[2]")}, "engine: spark (--master local[2])"),
        ({"options": EngineOptions(remote="sc://h:1")}, "engine: spark (--remote sc://h:1)"),
        ({"options": EngineOptions(engine="spark")}, "engine: spark (--engine spark)"),
        ({"options": IN_PROCESS, "active": True}, "engine: in-process (--engine in-process)"),
        ({"options": EngineOptions(conf=(("a", "b"),))}, "engine: spark (--conf is given)"),
    ],
)  # fmt: skip
def test_the_choice_and_its_reason(given: dict[str, Any], text: str) -> None:
    assert chosen(**given).text == text


def test_options_go_before_the_environment() -> None:
    choice = chosen(EngineOptions(remote="sc://mine"), environ={"SPARK_REMOTE": "sc://other"})
    assert (choice.remote, choice.master) == ("sc://mine", None)
    choice = chosen(EngineOptions(engine="spark"), environ={"MASTER": "spark://h:7077"})
    assert (choice.remote, choice.master) == (None, "spark://h:7077")
    assert chosen(EngineOptions(conf=(("spark.master", "local[1]"),))).master == "local[1]"


def test_workers() -> None:
    """In-process and on Spark on this machine, as many as are asked for; elsewhere, Spark knows."""
    assert not chosen(EngineOptions(limit=8 * MB, workers=2)).spark
    assert chosen(EngineOptions("spark", workers=3)).master == "local[3]"
    assert chosen(EngineOptions(limit=MB, workers=3), size=2 * MB).master == "local[3]"
    for options, world, message in (
        (EngineOptions("spark", master="local[2]", workers=2), {}, "--workers 2: the place of Spark"),
        (
            EngineOptions("spark", workers=2),
            {"environ": {"SPARK_REMOTE": "sc://h"}},
            "the place of Spark settles",
        ),
        (EngineOptions("spark", workers=2), {"active": True}, "the place of Spark settles"),
    ):
        with pytest.raises(DDlogError, match=message):
            chosen(options, **world)  # type: ignore[arg-type]


def test_the_size_is_asked_for_only_where_it_decides() -> None:
    def fail() -> int:
        raise AssertionError("asked for the size")

    for options in (EngineOptions("spark"), EngineOptions("in-process"), EngineOptions(master="local")):
        choose(options, fail, environ={}, active=False)


def test_the_limit_is_a_share_of_the_memory() -> None:
    memory = machine_memory()
    assert memory is not None
    text = chosen(EngineOptions(), size=memory // 4 + 1).text
    limit = f"limit {size_text(memory // 4)}, 1/4 of the memory"
    assert text == f"engine: spark (input {size_text(memory // 4 + 1)}, {limit})"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (EngineOptions(engine="duck"), "there is no engine `duck`"),
        (EngineOptions(master="local", remote="sc://h"), "--master cannot be combined with --remote"),
        (
            EngineOptions(engine="in-process", conf=(("a", "b"),)),
            "--conf cannot be combined with --engine in-process",
        ),
        (EngineOptions(remote="http://h"), "expected sc://HOST"),
        (EngineOptions(master="sc://h"), "expected local"),
    ],
)
def test_options_that_contradict_each_other(options: EngineOptions, message: str) -> None:
    with pytest.raises(DDlogError, match=message):
        chosen(options)


def test_sizes() -> None:
    assert [parse_size(text) for text in ("8G", "512m", "1.5 KB", "7", "2GiB")] == [
        8 << 30, 512 << 20, 1536, 7, 2 << 30,
    ]  # fmt: skip
    for wrong in ("", "0", "G", "8X", "-1", "1e9"):
        with pytest.raises(ValueError, match="no size"):
            parse_size(wrong)
    assert [size_text(size) for size in (7, 1536, 6 << 30)] == ["7 B", "1.5 KB", "6.0 GB"]
    assert weighed([(10, "csv", False), (10, "parquet", False), (10, "csv", True)]) == 10 + 40 + 50


def test_settings() -> None:
    assert parse_conf(["a=b", "c=d=e", "f="]) == (("a", "b"), ("c", "d=e"), ("f", ""))
    for wrong in ("a", "=b", ""):
        with pytest.raises(DDlogError, match="expected KEY=VALUE"):
            parse_conf([wrong])


# ------------------------------------------------------------ Java


def java(folder: Path, version: str) -> Path:
    """A `java` that says it is of a version."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "java"
    file.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_java_is_found(tmp_path: Path) -> None:
    path = java(tmp_path / "bin", "17.0.1")
    assert check_java({"PATH": str(tmp_path / "bin")}) == str(path)
    assert check_java({"PATH": "", "JAVA_HOME": str(tmp_path)}) == str(path)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22"])
def test_java_is_too_old(tmp_path: Path, version: str) -> None:
    java(tmp_path, version)
    with pytest.raises(DDlogError) as raised:
        check_java({"PATH": str(tmp_path)})
    major = version.removeprefix("1.").partition(".")[0]
    text = str(raised.value)
    assert f"the Spark engine needs Java 17 or later: {tmp_path}/java is Java {major}" in text
    assert "the in-process engine (--engine in-process) needs no Spark" in text


def test_java_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DDlogError, match="JAVA_HOME is not set and there is no `java` in PATH"):
        check_java({"PATH": str(tmp_path)})
    with pytest.raises(DDlogError, match=r"JAVA_HOME is .* and there is no bin/java in it"):
        check_java({"PATH": os.environ["PATH"], "JAVA_HOME": str(tmp_path)})


def test_the_command_line_without_java(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment.pop("JAVA_HOME", None)
    run = [sys.executable, "-m", "ddlog", "run", "p.dl", "--engine", "spark"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    note, error, *hints = done.stderr.splitlines()
    assert note == "note: engine: spark (--engine spark) on local[*]"
    assert error.startswith("error: the Spark engine needs Java 17 or later: JAVA_HOME is not set and")
    assert len(hints) == 1 and "apt install openjdk-17" in hints[0]


def test_the_note_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "Edge.csv").write_text("1,2\n")
    run = [
        sys.executable,
        "-m",
        "ddlog",
        "run",
        "p.dl",
        "--input",
        "Edge=Edge.csv",
        "--in-process-limit",
        "1K",
    ]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == "O:\nO{.a = 1}\n\n"
    assert done.stderr.splitlines()[0] == "note: engine: in-process (input 4 B, limit 1.0 KB)"
    for option in ("--quiet", "--engine=in-process"):
        done = subprocess.run([*run, option], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert "engine" not in done.stderr


# ------------------------------------------------------------ places

INPUTS, RELATIONS = ("Edge", "Node"), ("Edge", "Node", "O")


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with facts of several forms, which is the current one."""
    for name in (
        "a/Edge.csv",
        "a/Node.csv",
        "b/Edge.csv",
        "parts/Edge/1.csv",
        "parts/Edge/2.csv",
        "x=1/e.csv",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1,2\n" if "Node" not in name else "1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ("a", "path", None)),
        ("none", ("none", "path", None)),
        ("x=1", ("x=1", "path", None)),
        ("a/*.csv", ("a/*.csv", "pattern", None)),
        ("s3a://b/f", ("s3a://b/f", "url", None)),
        ("file:///a/b", ("/a/b", "path", None)),
        ("table:db.", ("db.", "table", None)),
        ("Edge=a/Edge.csv", ("a/Edge.csv", "path", "Edge")),
        ("Edge=none.csv", ("none.csv", "path", "Edge")),
        ("Edge=db.edges", ("db.edges", "table", "Edge")),
        ("Edge=s3a://b/e/*.json", ("s3a://b/e/*.json", "url", "Edge")),
        ("Edge=b", ("b", "path", "Edge")),
    ],
)
def test_places(facts: Path, text: str, expected: tuple[str, str, str | None]) -> None:
    (place,) = parse_places(text, INPUTS, RELATIONS)
    assert (place.text, place.kind, place.relation) == expected
    assert (only_spark([place]) is not None) == (expected[1] in ("url", "table"))


def found(*texts: str) -> dict[str, list[str]]:
    """The files of each relation in places."""
    files: dict[str, list[str]] = {}
    for file in find_local(parse_places(texts, INPUTS, RELATIONS), INPUTS, ("O",)).files:
        files.setdefault(file.relation, []).append(str(file.path))
    return files


def test_files_of_places(facts: Path) -> None:
    assert found("a") == {"Edge": ["a/Edge.csv"], "Node": ["a/Node.csv"]}
    assert found("a/E*.csv") == {"Edge": ["a/Edge.csv"]}
    assert found("parts/*") == {"Edge": ["parts/Edge/1.csv", "parts/Edge/2.csv"]}
    assert found("Edge=parts/Edge/*", "Edge=x=1/e.csv") == {
        "Edge": ["parts/Edge/1.csv", "parts/Edge/2.csv", "x=1/e.csv"]
    }
    assert found("a", "Edge=b/Edge.csv") == {"Edge": ["b/Edge.csv"], "Node": ["a/Node.csv"]}
    sizes = total_size(parse_places(["a", "parts/*"], INPUTS, RELATIONS))
    assert sorted(sizes) == [(2, "csv", False), *[(4, "csv", False)] * 3]
    with pytest.raises(DDlogError, match="several files for the relation Edge: a, b"):
        found("a", "b")
    with pytest.raises(DDlogError, match="only local files"):
        found("table:db.")


def test_sessions_load_places(facts: Path) -> None:
    program = compile(PROGRAM)
    with program.session() as session:
        session.load(["a", "Edge=parts/Edge"])
        assert (session.size("Edge"), session.size("Node")) == (1, 1)
    with pytest.raises(DDlogError, match="to_spark needs a session on Spark"):
        program.session()["Edge"].to_spark()
    with pytest.raises(DDlogError, match="cannot be combined with a Spark session"):
        program.session(engine="in-process", spark=object())  # type: ignore[arg-type]
