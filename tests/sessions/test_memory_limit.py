"""Memory limits: a commit that would go over one says which relation grew, and leaves no trace."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine import memory
from ddlog.engine.inprocess.kernels import hashing

PATHS = """
input relation Edge(a: bigint, b: bigint)
output relation Path(a: bigint, b: bigint)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
input relation Left(a: bigint)
output relation Pair(n: bit<64>)
Pair(n) :- Left(a), Left(b), a + b > 0, var n = (a, b).group_by(()).count_distinct().
output relation Text(t: string)
Text("${x}") :- Left(x).
"""
SIZE = r"[\d.]+ [KMG]?B"
MIB = 1 << 20


def here(more: int) -> int:
    """A limit that leaves so much room from now on."""
    held = memory.resident()
    assert held is not None
    return held + more


def refused(session: ddlog.Session) -> str:
    """The error of a commit."""
    with pytest.raises(ddlog.DDlogError) as raised:
        session.commit()
    return str(raised.value)


def test_a_recursion_and_a_join_that_explode_are_stopped() -> None:
    room = 150 * MIB
    with ddlog.compile(PATHS).session(memory_limit=here(room)) as session:
        session.insert_rows("Edge", [(0, 1), (1, 2)])
        session.insert_rows("Left", [(1,)])
        session.commit()
        for _ in range(2):
            session.insert_rows("Edge", [(k, k + 1) for k in range(20000)])
            error = refused(session)
            first, grew = error.splitlines()[:2]
            assert re.fullmatch(rf"error: the memory limit of {SIZE} is reached, in `Path`", first)
            assert re.fullmatch(
                rf"  note: `Path` grew from 3 rows \({SIZE}\) to [\d,]+ rows \({SIZE}\)", grew
            )
            assert "intermediate rows" not in error  # of the epoch before
            held = memory.resident()
            assert held is not None and held < here(0) + room
            assert sorted(session["Path"].tuples()) == [(0, 1), (0, 2), (1, 2)]
            session.insert_rows("Left", [(k,) for k in range(8000)])
            error = refused(session)
            assert re.match(rf"error: the memory limit of {SIZE} is reached, in `Pair\(n\) :- ", error)
            assert re.search(rf"note: `Left` grew from 1 rows \({SIZE}\) to 8,000 rows \({SIZE}\)", error)
        session.insert("Edge", (2, 3))
        session.insert("Left", 2)
        changes = session.commit()
        assert changes.rows("Path") == [((0, 3), 1), ((1, 3), 1), ((2, 3), 1)]
        assert changes.rows("Pair") == [((1,), -1), ((4,), 1)]
        assert changes.rows("Text") == [(("2",), 1)]


def test_a_process_that_is_over_the_limit_at_once() -> None:
    with ddlog.compile(PATHS).session(memory_limit="1MB") as session:
        for _ in range(2):
            with pytest.raises(ddlog.DDlogError) as raised:
                session.insert("Edge", (1, 2))
                session.commit()
            assert re.fullmatch(
                rf"error: the memory limit of 1.0 MB is reached(, in `[^`]+`)?\n"
                rf"  note: the process had {SIZE}\n"
                "  help: the session is at its last commit; set a higher limit, or let less follow",
                str(raised.value),
            )


def test_memory_that_the_machine_has_not() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert_rows("Edge", [(0, 1), (1, 2)])
        session.commit()
        session.insert_rows("Edge", [(k, k + 1) for k in range(5)])
        with mock.patch.object(hashing, "insert_words", side_effect=MemoryError):
            error = refused(session)
        assert error.splitlines()[0] == "error: there is no more memory, in `Edge`"
        assert error.splitlines()[-1] == (
            "  help: the session is at its last commit; a memory limit ends such a commit before the machine "
            "does"
        )
        session.insert("Edge", (2, 3))
        assert session.commit().rows("Path") == [((0, 3), 1), ((1, 3), 1), ((2, 3), 1)]


@pytest.mark.parametrize("limit", ["x", "", "0", 0, -1, "-1G", True, 1.5, "0.1"])
def test_limits_that_are_no_sizes(limit: object) -> None:
    with pytest.raises(ddlog.DDlogError) as raised:
        ddlog.compile(PATHS).session(memory_limit=limit)  # type: ignore[arg-type]
    expected = f'error: memory_limit {limit!r}: expected a size such as "4GiB", or bytes'
    assert str(raised.value) == expected


def test_spark_has_limits_of_its_own() -> None:
    with pytest.raises(ddlog.DDlogError) as raised:
        ddlog.compile(PATHS).session(engine="spark", memory_limit="4GiB")
    assert str(raised.value) == (
        "error: a memory limit cannot be combined with Spark: its settings spark.driver.memory and "
        "spark.executor.memory limit it"
    )


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, updates = tmp_path / "p.dl", tmp_path / "u.dat"
    program.write_text(PATHS)
    updates.write_text("start; insert Edge(1, 2); commit;")
    given = ["run", str(program), "--updates", str(updates), "--engine", "in-process"]
    assert main([*given, "--memory-limit", "64GiB"]) == 0
    assert capsys.readouterr().out.startswith("Path:\nPath{.a = 1, .b = 2}: +1\n")
    assert main([*given, "--memory-limit", "1M"]) == 1
    assert "the memory limit of 1.0 MB is reached" in capsys.readouterr().err
    assert main([*given, "--memory-limit", "1G", "--engine", "spark"]) == 1
    assert "a memory limit cannot be combined with Spark" in capsys.readouterr().err
    for wrong in ("x", "0", "-1"):
        assert main([*given, f"--memory-limit={wrong}"]) == 2
        assert f"--memory-limit: {wrong!r} is no size such as 8G or 512M" in capsys.readouterr().err
