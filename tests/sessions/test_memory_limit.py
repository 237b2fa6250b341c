"""Memory limits: a commit that would go over one says which relation grew, and leaves no trace."""

from __future__ import annotations

import re
import resource
from pathlib import Path
from unittest import mock

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine import machine, memory
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
            assert re.fullmatch(rf"  note: `Path` grew from 3 rows to [\d,]+ rows \({SIZE}\)", grew)
            assert "intermediate rows" not in error  # of the epoch before
            held = memory.resident()
            assert held is not None and held < here(0) + room
            assert sorted(session["Path"].tuples()) == [(0, 1), (0, 2), (1, 2)]
            session.insert_rows("Left", [(k,) for k in range(8000)])
            error = refused(session)
            assert re.match(rf"error: the memory limit of {SIZE} is reached, in `Pair\(n\) :- ", error)
            assert re.search(rf"note: `Left` grew from 1 rows to 8,000 rows \({SIZE}\)", error)
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
                "  help: the session is at its last commit; set a higher memory limit, or let less follow",
                str(raised.value),
            )


def test_memory_that_the_machine_has_not() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert_rows("Edge", [(0, 1), (1, 2)])
        session.commit()
        session.insert_rows("Edge", [(k, k + 1) for k in range(50)])
        with mock.patch.object(hashing, "insert_words", side_effect=MemoryError):
            error = refused(session)
        assert error.splitlines()[0] == "error: there is no more memory, in `Edge`"
        assert error.splitlines()[-1] == (
            "  help: the session is at its last commit; a memory limit ends such a commit before the machine "
            "does"
        )
        session.insert("Edge", (2, 3))
        assert session.commit().rows("Path") == [((0, 3), 1), ((1, 3), 1), ((2, 3), 1)]


GROWING = {
    "range_vec(0, 100000000, 1).len()": "bit<64>",
    "range_vec(0.0, 100000000.0, 1.0).len()": "bit<64>",
    "vec_with_length(1 << 30, 7).len()": "bit<64>",
    'string_len(doubled(32, "ab"))': "bit<64>",
    'string_len(joined(1 << 20, "' + "x" * 1000 + '"))': "bit<64>",
    'replaced("' + "x" * 10000 + '")': "bit<64>",
    "pow32(7, 40000000) % 10": "bigint",
    "(1 << 130000000) % 10": "bigint",
    "squared(1 << 40000000, 1) % 10": "bigint",
    "pushed(300).len()": "bit<64>",
    "string_len(written(60))": "bit<64>",
    "string_len(" + " ++ ".join(['doubled(19, "ab")'] * 100) + ")": "bit<64>",
}


@pytest.mark.parametrize("expression", GROWING)
def test_values_ask_before_they_grow(expression: str) -> None:
    """Within one expression there is no safe point: what makes a large value asks for its memory."""
    text = f"""
        input relation R(x: bit<64>)
        function doubled(n: bit<64>, s: string): string {{ if (n == 0) s else doubled(n - 1, s ++ s) }}
        function joined(n: bit<64>, s: string): string {{ string_join(vec_with_length(n, s), "") }}
        function replaced(s: string): bit<64> {{
            var all = s.replace("x", s);
            string_len(all.replace("x", s))
        }}
        function squared(n: bigint, times: bit<64>): bigint {{
            var square = n;
            for (i in range_vec(0, times, 1)) {{ square = square * square }};
            square
        }}
        function pushed(n: bit<64>): Vec<string> {{
            var all: Vec<string> = vec_empty();
            for (i in range_vec(0, n * n, 1)) {{ all.push(doubled(10, "ab")) }};
            all
        }}
        function written(n: bit<64>): string {{
            if (n == 0) "" else {{ var text = written(n - 1); "${{[text, text]}}" }}
        }}
        output relation Out(y: {GROWING[expression]})
        Out({expression}) :- R(x), x > 0.
    """
    room = 10 * MIB if "bigint" in GROWING[expression] else 60 * MIB
    with ddlog.compile(text).session(memory_limit=here(room)) as session:
        before = peak()
        session.insert("R", 1)
        assert "the memory limit of" in refused(session)
        assert peak() <= max(before, here(2 * room))


def test_a_query_ends_at_the_limit() -> None:
    text = """
        input relation R(x: bit<64>)
        function doubled(n: bit<64>, s: string): string { if (n == 0) s else doubled(n - 1, s ++ s) }
    """
    with ddlog.compile(text).session(memory_limit=here(60 * MIB)) as session:
        session.insert_rows("R", [(n,) for n in range(5000)])
        session.commit()
        for query in ('R(x), var n = string_len(doubled(32, "ab"))', "R(x), R(y), x * y > 0"):
            with pytest.raises(ddlog.DDlogError, match="the memory limit of"):
                session.query(query)
        assert session.query("R(x), x < 2").rows == [(0,), (1,)]


def peak() -> int:
    """The largest resident size that the process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_the_limit_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "machine_memory", lambda: here(100 * MIB) * 4 // 3)
    with ddlog.compile(PATHS).session() as session:
        session.insert_rows("Edge", [(k, k + 1) for k in range(20000)])
        error = refused(session)
        assert re.match(rf"error: the memory limit of {SIZE} is reached, in `Path`\n", error)
        assert re.search(r"note: `Path` grew from 0 rows to [\d,]+ rows", error)
    monkeypatch.setattr(machine, "machine_memory", lambda: here(0) * 10 // 9)
    with ddlog.compile(PATHS).session(memory_limit="none") as session:
        session.insert_rows("Edge", [(0, 1)])
        assert session.commit()
    assert machine.default_limit() == pytest.approx(here(0) * 19 // 18, rel=0.05)
    monkeypatch.setattr(machine, "machine_memory", lambda: None)
    assert machine.default_limit() is None


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        ("0::/", {"memory.max": "max"}, []),
        ("0::/", {"memory.max": "500"}, [500]),
        ("0::/a/b", {"a/memory.max": "700", "a/b/memory.max": "800", "memory.max": "900"}, [700, 800, 900]),
        ("0::/../x", {"memory.max": "500"}, [500]),
        ("5:cpu,memory:/docker/1\n4:pids:/", {"memory/docker/1/memory.limit_in_bytes": "600"}, [600]),
        ("3:memory:/docker/1", {"memory/memory.limit_in_bytes": "300"}, [300]),
    ],
)
def test_limits_of_containers(tmp_path: Path, groups: str, files: dict[str, str], limit: list[int]) -> None:
    (tmp_path / "cgroup").write_text(f"{groups}\n")
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    found = machine._group_limits(tmp_path / "cgroup", str(tmp_path))
    assert sorted(set(found)) == limit


@pytest.mark.parametrize("limit", ["x", "", "0", 0, -1, "-1G", True, 1.5, "0.1"])
def test_limits_that_are_no_sizes(limit: object) -> None:
    with pytest.raises(ddlog.DDlogError) as raised:
        ddlog.compile(PATHS).session(memory_limit=limit)  # type: ignore[arg-type]
    expected = f'error: memory_limit {limit!r}: expected a size such as "4GiB", bytes, or "none"'
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


def test_a_fact_that_grows_takes_no_memory_before_the_session_has_a_limit() -> None:
    """Facts are evaluated when the circuit is made, unless that takes much."""
    program = """
    function doubled(s: string, times: bit<32>): string = if (times == 0) s else doubled(s ++ s, times - 1)
    output relation Size(n: usize)
    Size(string_len(doubled("abcdefgh", 25))).
    Size(string_len(doubled("abcdefgh", 2))).
    """
    made: list[int] = []
    reserve = memory.reserve

    def recorded(size: int) -> None:
        reserve(size)
        made.append(size)

    with mock.patch("ddlog.codegen.support.reserve", recorded):
        compiled = ddlog.compile(program)
        with compiled.session(memory_limit=here(100 * MIB)) as session:
            assert "the memory limit" in refused(session)
        assert max(made) <= 64 * MIB
        with compiled.session() as session:
            session.commit()
            assert session.query("Size(n)").rows == [(32,), (1 << 28,)]
