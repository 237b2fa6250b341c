"""How much is evaluated on demand, and the command line's queries."""

from __future__ import annotations

import io
import re
from pathlib import Path
from unittest import mock

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.demand import adornment
from ddlog.sessions.asking import demandbudget, questions
from ddlog.sessions.profile import SessionProfile

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
    """The rows of all relations that are not inputs, after the facts are loaded without a budget, and the
    answers."""
    with (
        mock.patch.object(demandbudget, "LEAST", 1 << 60),
        program.session(relations="outputs", engine="in-process") as session,
    ):
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


@pytest.mark.parametrize("asked", ["R(1, 2, _, _, _, _)", "R(_, _, 3, _, 5, _)"])
def test_a_relation_is_asked_by_few_sets_of_columns(asked: str) -> None:
    """Rules that change the places of columns ask by all sets of as many; more than a few ask by fewer."""
    program = ddlog.compile("""
        input relation B(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32)
        relation R(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32)
        R(a, b, c, d, e, f) :- B(a, b, c, d, e, f).
        R(a, b, c, d, e, f) :- R(b, c, d, e, f, a), f > 0.
        R(a, b, c, d, e, f) :- R(b, a, c, d, e, f).
    """)
    rows = [(1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 0), (9, 8, 7, 7, 8, 9)]
    circuit = str(program.asking(asked).circuit("relational"))
    parts = set(re.findall(r"R\$[bf]+(?!\w)", circuit))
    assert len(parts) <= adornment.MOST_PARTS
    with program.session(relations="inputs") as session, program.session() as whole:
        for each in (session, whole):
            each.insert("B", *rows)
            each.commit()
        assert session.query(asked).rows == whole.query(asked).rows


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


def test_a_term_after_a_group_is_asked_for_what_the_head_is() -> None:
    text = f"""{REACH}{WAYS["left"]}
    output relation Far(x: u32, y: u32, n: u32)
    Far(x, y, n) :- Reach(k, m), var n = m.group_by(k).max(), Reach(k, x), Reach(y, x).
    """
    with ddlog.compile(text).session(relations="inputs") as session:
        session.insert("Edge", (1, 2), (2, 3), (3, 4))
        session.commit()
        assert set(session.query("Far(3, y, n)").stored) == {(1, 4), (2, 4)}
        assert set(session.query("Far(3, 2, n), Far(4, 1, n)").stored) == {(4,)}


def test_a_relation_that_a_query_reads_is_not_said_to_be_unread() -> None:
    text = "input relation E(x: u32)\nrelation P(x: u32)\nP(x) :- E(x).\nrelation Q(x: u32)\nQ(x) :- E(x).\n"
    program = ddlog.compile(text)
    assert [each.message for each in program.warnings] == [
        "relation `P` is never read",
        "relation `Q` is never read",
    ]
    assert [each.message for each in program.asking("P(1)").warnings] == ["relation `Q` is never read"]
    assert not program.asking("E(x), not P(x)", "Q(_)").warnings


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
    updates.write_text(
        'query Reach(2, to);\nquery Edge(x, _), var s = "a;${x}";\nquery Reach(3, _);\n'
        "start; insert Edge(3, 1); commit; query Reach(x, 3), x > 1; query Long(3);\n"
    )
    asked = run(capsys, *given, "--updates", str(updates), "--no-init-snapshot", "--no-delta")
    lines = [
        "{.to = 3}",
        '{.x = 1, .s = "a;1"}',
        '{.x = 2, .s = "a;2"}',
        "false",
        "{.x = 2}",
        "{.x = 3}",
        "true",
    ]
    assert asked.splitlines() == lines
    error = run(capsys, *given, "--query", "Reech(1, x)", code=1)
    assert "there is no relation `Reech`" in error or "Reech" in error
    path.write_text("input relation Edge(a: u32)\ntypedef query = Q{x: u32}\n")
    assert "the program declares query" in run(capsys, str(path), "--query", "Edge(x)", code=1)


def on_demand(text: str, facts: dict[str, list[tuple[object, ...]]]) -> ddlog.Session:
    session = ddlog.compile(text).session(relations="inputs", engine="in-process")
    for name, rows in facts.items():
        session.insert(name, *rows)
    session.commit()
    return session


def test_a_question_is_kept_up_to_date() -> None:
    with on_demand(REACH + WAYS["right"], {"Edge": [(1, 2), (2, 3), (5, 6)]}) as session:
        questions = session.state.questions
        assert session.query("Reach(1, x)").rows == [(2,), (3,)]
        (host,) = questions.hosts()
        assert session.query("Reach(5, to)").columns == ("to",) and list(questions.hosts()) != [host]
        session.insert("Edge", (3, 4))
        session.delete("Edge", (1, 2))
        session.commit()
        assert session.query("Reach(1, x)").rows == [] and session.query("Reach(2, x)").rows == [(3,), (4,)]
        assert host in list(questions.hosts())
        for number in range(6):
            session.query(f"Reach({number}, x), x > {number}, var s = x + {number}")
            session.query(f"Reach(x, {number}), not Reach(_, x), var c{number} = x")
        assert len(list(questions.hosts())) == 4
        with pytest.raises(ddlog.DDlogError, match="Reach is not kept"):
            session["Reach"]


def test_a_fault_of_a_question_is_its_own() -> None:
    text = "input relation N(n: s32)\nrelation D(n: s32, m: s32)\nD(n, 100 / n) :- N(n)."
    with on_demand(text, {"N": [(5,)]}) as session:
        assert session.query("D(n, 20)").rows == [(5,)]
        session.insert("N", (0,))
        session.commit()
        with pytest.raises(ddlog.DDlogError, match="division by zero"):
            session.query("D(n, 20)")
        assert session.query("D(5, m)").rows == [(20,)]
        session.delete("N", (0,))
        session.commit()
        assert session.query("D(n, 20)").rows == [(5,)] and session.query("N(n)").rows == [(5,)]


def test_effects_happen_as_without_demand(capsys: pytest.CaptureFixture[str]) -> None:
    text = """import print
    input relation N(n: u8)
    relation Told(n: u8)
    Told(n) :- N(n), Inspect print("told ${n}").
    relation More(n: u8, m: u8)
    More(n, n + 1) :- Told(n).
    """
    with on_demand(text, {"N": [(1,), (2,)]}) as session:
        assert "told 2" in "".join(capsys.readouterr())
        assert session.query("More(2, m)").rows == [(3,)]
        assert "told" not in "".join(capsys.readouterr())
        session.insert("N", (4,))
        session.commit()
        assert "told 4" in "".join(capsys.readouterr())
        assert session.query("More(4, m)").rows == [(5,)]
    with (
        ddlog.compile(text).session(relations=["N"], engine="in-process") as session,
        pytest.raises(ddlog.DDlogError, match="a query does not cause the effects"),
    ):
        session.query("More(2, m)")


def test_streams_and_the_past_on_demand() -> None:
    text = """input stream S(x: u8)
    input relation R(x: u8, y: u8)
    relation Way(x: u8, y: u8)
    Way(x, y) :- R(x, y).
    Way(x, z) :- Way(x, y), R(y, z).
    stream To(x: u8, y: u8)
    To(x, y) :- S(x), Way(x, y).
    relation Was(x: u8)
    Was(x) :- R-1(x, _), not R(x, _).
    """
    with on_demand(text, {"S": [(1,)], "R": [(1, 2), (2, 3), (3, 4)]}) as session:
        assert session.query("To(1, y)").rows == [(2,), (3,), (4,)] and session.query("To(2, y)").rows == []
        assert session.query("To(1, y)").rows == [(2,), (3,), (4,)] and session.query("Was(1)").rows == []
        session.insert("S", (2,))
        session.delete("R", (1, 2))
        session.commit()
        assert session.query("To(1, y)").rows == [] and session.query("To(2, y)").rows == [(3,), (4,)]
        assert session.query("Was(1)").rows == [()] and session.query("Was(2)").rows == []
        session.commit()
        assert session.query("To(2, y)").rows == [] and session.query("Was(x)").rows == []


def test_an_interrupt_in_a_question_is_raised_after_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_demand(REACH + WAYS["right"], {"Edge": [(1, 2), (2, 3)]}) as session:
        assert session.query("Reach(1, x)").rows == [(2,), (3,)]
        (host,) = session.state.questions.hosts()

        def interrupted(*given: object, **more: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(host.runtime, "commit", interrupted)
        session.insert("Edge", (3, 4))
        with pytest.raises(KeyboardInterrupt):
            session.commit()
        assert session.size("Edge") == 3 and not session.in_transaction
        assert session.query("Reach(1, x)").rows == [(2,), (3,), (4,)]
        session.delete("Edge", (2, 3))
        session.commit()
        assert session.query("Reach(1, x)").rows == [(2,)]


def test_all_is_computed_once_most_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST_VALUES", 10)
    edges = [(i, i + 1) for i in range(60)]
    with on_demand(REACH + WAYS["transitive"], {"Edge": edges}) as session:
        for asked in range(59):
            assert len(session.query(f"Reach({asked}, x)")) == 60 - asked
        (host,) = session.state.questions.hosts()
        assert host.runtime.size("Reach") == 60 * 61 / 2
        session.delete("Edge", (30, 31))
        session.commit()
        assert len(session.query("Reach(4, x)")) == 26
    with on_demand(REACH + WAYS["right"], {"Edge": edges}) as session:
        session.query("Reach(50, x)")
        lines = list(SessionProfile(session).lines())
        at = lines.index("Relations on demand: the values that are asked for, and the rows computed:")
        assert lines[at + 1].split() == ["1", "10", "Reach$bf"]


def test_the_repl_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.dl"
    path.write_text(f"{REACH}{WAYS['right']}\noutput relation Long(a: u32)\nLong(x) :- Reach(x, x).\n")
    entered = "start; insert Edge(1, 2), insert Edge(2, 1); commit;\n? Reach(1, x)\n? Long(2)\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{entered}relations\ndump;\n"))
    assert main(["repl", str(path), "--on-demand", "--quiet", "--engine", "in-process"]) == 0
    printed = re.sub(r"[\d.]+ m?s\b", "TIME", capsys.readouterr().out)
    assert printed == (
        "(TIME)\nx\n─\n1\n2\n(2 rows, TIME)\ntrue (TIME)\n"
        "input relation Edge(a: bit<32>, b: bit<32>)  2 rows\n"
        "internal relation Reach(a: bit<32>, b: bit<32>)  on demand\n"
        "output relation Long(a: bit<32>)  on demand\n"
    )
