"""Values that lie in several forms in one state: texts with and without a dictionary, numbers that outgrow 64
bits, and values of which only some have a form in Arrow."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ddlog
from ddlog.durability import reports
from ddlog.errors.diagnostics import DDlogError

PROGRAM = """
typedef Id = Id{name: string, n: bigint}
input relation In(id: Id, v: Vec<bigint>)
relation Mid(id: Id, v: Vec<bigint>)
Mid(id, v) :- In(id, v).
output relation Was(id: Id, v: Vec<bigint>)
Was(id, v) :- Mid-1(id, v).
"""
HUGE = 10**50
ROWS = [(("a", n), [n]) for n in range(40)]
SCRIPT = [ROWS, [(("a", HUGE), [1]), (("b", 7), [HUGE])], ROWS[1:], [(("b", 7), [HUGE])]]
"""Transactions: a row that is there is deleted, another one is inserted."""


def test_a_value_is_the_same_in_every_form(tmp_path: Path) -> None:
    """A session on the state goes on as one that never ended; without a checkpoint all is compared."""
    program, path = ddlog.compile(PROGRAM), tmp_path / "s"
    with program.session() as plain:
        plain.start()
        for rows in SCRIPT:
            kept = program.session(state=path)
            for session in (kept, plain):
                there = set(session["In"])
                for row in rows:
                    known = any(each.id == row[0] and list(each.v) == row[1] for each in there)
                    (session.delete if known else session.insert)("In", row)
            assert str(kept.commit()) == str(plain.commit())
            assert list(kept["Was"].records()) == list(plain["Was"].records())
            kept.close()
    list(reports.exported(str(path), str(tmp_path / "out")))
    assert pq.read_table(tmp_path / "out" / "In.parquet").to_pylist() == [
        {"id": {"name": "a", "n": "0"}, "v": "[0]"},
        {"id": {"name": "a", "n": str(HUGE)}, "v": "[1]"},
    ]
    list(reports.compacted(str(path)))
    with program.session(state=path, read_only=True) as session:
        assert sorted(map(str, session["In"].records())) == [
            f'In{{.id = Id{{.name = "a", .n = {n}}}, .v = [{v}]}}' for n, v in ((0, 0), (HUGE, 1))
        ]


def test_an_export_that_needs_the_program_says_so(tmp_path: Path) -> None:
    """Which parameter of a type is the first is not in the file."""
    program = ddlog.compile("input relation In(v: Vec<bigint>, e: Either<string, u8>)")
    with program.session(state=tmp_path / "s") as session:
        session.insert("In", ([1], {"Left": {"l": "x"}}))
        session.commit()
        session.insert("In", ([HUGE], {"Right": {"r": 1}}))
        session.commit()
    with pytest.raises(DDlogError, match="In cannot be exported: without the program"):
        list(reports.exported(str(tmp_path / "s"), str(tmp_path / "out")))


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("F(a, |x| x + a) :- S'(a). output relation O(a: u32) O(g(1)) :- F-1(_, g).", "read with a delay"),
        ("F(a, |x| x + a) :- S'(a), G(_, _).", "its rows hold functions, so"),
        ("apply window::range(A, |e| e.a, Now, 5) -> (W)  A(a, |x| x + a) :- S(a).", "a window keeps them"),
    ],
)
def test_functions_cannot_be_kept(tmp_path: Path, rules: str, problem: str) -> None:
    program = ddlog.compile(f"""
    import window
    typedef Fn = |u32|: u32
    input stream S(a: u32)
    input relation Now(t: u32)
    {"input relation G(a: u32, f: Fn)" if "G(" in rules else ""}
    stream A(a: u32, f: Fn)
    output relation F(a: u32, f: Fn)
    output multiset W(a: u32, f: Fn)
    {rules}
    """)
    with pytest.raises(DDlogError, match=problem):
        program.session(state=tmp_path / "s")
    assert not list(tmp_path.iterdir())
