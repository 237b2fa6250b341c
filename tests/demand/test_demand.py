"""How much is evaluated on demand, and the command line's queries."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main

WAYS = {
    "left": "Reach(x, z) :- Reach(x, y), Edge(y, z).",
    "right": "Reach(x, z) :- Edge(x, y), Reach(y, z).",
    "both": "Reach(x, z) :- Edge(x, y), Reach(y, z). Reach(x, z) :- Reach(x, y), Edge(y, z).",
    "transitive": "Reach(x, z) :- Reach(x, y), Reach(y, z).",
}
REACH = """
input relation Edge(a: u32, b: u32)
relation Reach(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
"""
SIZE = 400


def rows_made(program: ddlog.Program, inputs: dict[str, list[tuple[int, ...]]]) -> tuple[int, set[object]]:
    """The rows of all relations that are not inputs, after the facts are loaded, and the answers."""
    with program.session(relations="outputs", engine="in-process") as session:
        for name, rows in inputs.items():
            session.insert(name, *rows)
        session.commit()
        held = session.state.host.runtime.footprint() or ()
        made = sum(each.rows for each in held if each.kind == "relation" and each.name not in inputs)
        return made, set(session[program.names("output")[-1]].tuples())


@pytest.mark.parametrize("way", WAYS)
def test_only_what_a_source_reaches_is_evaluated(way: str) -> None:
    """A chain: from its last nodes little is reached, and from its first one all nodes, not all pairs."""
    program = ddlog.compile(REACH + WAYS[way])
    edges = [(i, i + 1) for i in range(SIZE)]
    made, answers = rows_made(program.asking(f"Reach({SIZE - 3}, x)"), {"Edge": edges})
    assert answers == {(SIZE - 2,), (SIZE - 1,), (SIZE,)} and made < 30
    made, answers = rows_made(program.asking("Reach(0, x)"), {"Edge": edges})
    assert len(answers) == SIZE and made < 5 * SIZE
    made, answers = rows_made(program.asking("Reach(x, 3)"), {"Edge": edges})
    assert answers == {(0,), (1,), (2,)} and made < 30


def test_same_generation_of_one_pair() -> None:
    program = ddlog.compile("""
        input relation Parent(p: u32, c: u32)
        relation SG(x: u32, y: u32)
        SG(x, y) :- Parent(p, x), Parent(p, y), x != y.
        SG(x, y) :- Parent(p, x), Parent(q, y), SG(p, q).
    """)
    tree = [(child // 2, child) for child in range(2, 1024)]
    made, answers = rows_made(program.asking("SG(1023, 512)"), {"Parent": tree})
    assert answers == {()} and made < 60
    assert not rows_made(program.asking("SG(1023, 511)"), {"Parent": tree})[1]


def test_demands_end_where_evaluation_does() -> None:
    """Numbers without bound are not counted up by a demand, and nothing is divided by zero for one."""
    program = ddlog.compile("""
        input relation Start(n: bigint)
        relation Down(n: bigint, m: bigint)
        Down(n, n) :- Start(n).
        Down(n - 1, m) :- Down(n, m), n > 0.
        relation Up(n: bigint)
        Up(n) :- Down(n, _), Up(n + 1).
        Up(9).
        relation Safe(n: bigint)
        Safe(n) :- Start(n), n != 0.
        relation Share(n: bigint, m: bigint)
        Share(n, m) :- Down(n, _), Up(100 / n), Safe(n), var m = 100 / n.
    """)
    for question, answers in {
        "Up(3)": {()},
        "Up(n), n < 2": {(0,), (1,)},
        "Down(7, 8)": {()},
        "Share(0, m)": set(),
    }.items():
        assert rows_made(program.asking(question), {"Start": [(8,), (0,)]})[1] == answers


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["run", *arguments, "--quiet", "--engine", "in-process"]) == code
    printed = capsys.readouterr()
    return printed.err if code else printed.out


def test_queries_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, facts, updates = tmp_path / "p.dl", tmp_path / "facts", tmp_path / "u.dat"
    path.write_text(f"{REACH}{WAYS['right']}\noutput relation Long(a: u32)\nLong(x) :- Reach(x, x).\n")
    facts.mkdir()
    (facts / "Edge.csv").write_text("1,2\n2,3\n")
    updates.write_text("start; insert Edge(3, 1); commit; dump;\n")
    given = (str(path), "--input", str(facts))
    one = run(capsys, *given, "--query", "Reach(2, to)")
    assert one == "query:\nquery{.to = 3}\n\n"
    two = run(capsys, *given, "--query", "Reach(1, x), x > 2", "--query", "not Reach(3, _)", "--sizes")
    assert two == "query1\t1\nquery2\t1\n"
    changes = run(capsys, *given, "--query", "Reach(2, x)", "--updates", str(updates), "--no-init-snapshot")
    wanted = "query:\nquery{.x = 1}: +1\nquery{.x = 2}: +1\n"
    assert changes == wanted + "query:\nquery{.x = 1}\nquery{.x = 2}\nquery{.x = 3}\n\n"
    error = run(capsys, *given, "--query", "Reech(1, x)", code=1)
    assert "there is no relation `Reech`" in error or "Reech" in error
    path.write_text("input relation Edge(a: u32)\ntypedef query = Q{x: u32}\n")
    assert "the program declares query" in run(capsys, str(path), "--query", "Edge(x)", code=1)
