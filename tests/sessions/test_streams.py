"""Streams and delays against the definition: every output of every transaction, whatever became of the
transactions before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError, Session
from ddlog.console.cli import main
from ddlog.engine.runtime import NotKept

from ..engine.reference_runtime import by_definition
from ..test_readme import ROOT
from ..trying import trying

thorough = trying(16)

Row = tuple[int, ...]

PROGRAM = """
input stream S(a: bit<2>, b: bit<2>)
input relation R(a: bit<2>, b: bit<2>)
input multiset M(a: bit<2>)
input relation Divisor(a: bit<2>)

output stream Joined(a: bit<2>, b: bit<2>, c: bit<2>)
Joined(a, b, c) :- S(a, b), R(b, c).
output stream Late(a: bit<2>, b: bit<2>)
Late(a, b) :- S-2(a, b), M(a).
output stream Twice(a: bit<2>, b: bit<2>)
Twice(a, b) :- S(a, b).
Twice(a, b) :- Joined-1(a, b, _).
output stream Counted(a: bit<2>, n: bit<64>)
Counted(a, n) :- S(a, b), var n = b.group_by(a).count().
output relation Held(a: bit<2>, b: bit<2>)
Held(a, b) :- S'(a, b), S'-1(b, _), not S'-2(a, _).
output relation New(a: bit<2>)
New(a) :- R(a, _), not R-1(a, _).
output relation Lost(a: bit<2>, b: bit<2>)
Lost(a, b) :- R-1(a, b), not R(a, b).
output multiset Bags(a: bit<2>)
Bags(a) :- M-1(a), M-3(a).
relation Total(a: bit<2>, n: bit<64>)
Total(a, n) :- Sum(a, n).
output relation Sum(a: bit<2>, n: bit<64>)
Sum(a, m + n) :- Total-1(a, m), Counted'(a, n).
Sum(a, m) :- Total-1(a, m), not Counted'(a, _).
Sum(a, n) :- Counted'(a, n), not Total-1(a, _).
output relation Path(a: bit<2>, b: bit<2>)
Path(a, b) :- R(a, b).
Path(a, c) :- Path(a, b), S'(b, c).
output relation PastPath(a: bit<2>, b: bit<2>)
PastPath(a, b) :- R-1(a, b).
PastPath(a, c) :- PastPath(a, b), R-2(b, c).
output relation Divided(a: bit<2>)
Divided(2 / a) :- Divisor(a).
"""


WIDTHS = {"S": 2, "R": 2, "M": 1, "Divisor": 1}


def changes(relation: str) -> st.SearchStrategy[tuple[str, Row, int]]:
    """An insertion or a deletion."""
    numbers = st.integers(0, 3)
    rows = st.tuples(*[numbers] * WIDTHS[relation])
    return st.tuples(st.just(relation), rows, st.sampled_from((1, 1, -1)))


transactions = st.lists(
    st.tuples(
        st.lists(st.sampled_from(sorted(WIDTHS)).flatmap(changes), max_size=8),
        st.sampled_from(("commit", "commit", "commit", "rollback")),
    ),
    max_size=10,
)


@thorough
@given(transactions)
def test_every_output_of_every_transaction(plan: list[tuple[list[tuple[str, Row, int]], str]]) -> None:
    program = ddlog.compile(PROGRAM)
    with program.session() as session, by_definition(program, fails=True) as definition:
        for transaction, ending in plan:
            found = []
            for each in (session, definition):
                for name, row, sign in transaction:
                    (each.insert if sign > 0 else each.delete)(name, row)
                if ending == "rollback":
                    each.rollback()
                    continue
                try:
                    told = str(each.commit())
                except Exception as error:
                    assert "division by zero" in str(error)
                    told = "a fault"
                found.append((told, [str(list(each[name].weighted())) for name in program.names("output")]))
            assert found[:1] == found[1:]


# ---- Sessions


SMALL = """
input stream Event(kind: string, n: u32)
input relation Price(kind: string, each: u32)
output stream Cost(kind: string, cost: u32)
Cost(kind, n * each) :- Event(kind, n), Price(kind, each).
output relation Last(kind: string)
Last(kind) :- Event'(kind, _).
output relation Raised(kind: string)
Raised(kind) :- Price(kind, now), Price-1(kind, before), now > before.
"""


@pytest.fixture
def session() -> Iterator[Session]:
    with ddlog.compile(SMALL).session() as opened:
        yield opened


def test_a_stream_shows_what_came_and_not_what_went(session: Session) -> None:
    session.insert("Price", ("tea", 2))
    session.insert("Event", ("tea", 3), ("tea", 3), ("milk", 1))
    assert session.commit() == {"Cost": [(("tea", 6), 2)], "Last": [(("milk",), 1), (("tea",), 1)]}
    assert list(session["Event"].weighted()) == [(("milk", 1), 1), (("tea", 3), 2)]
    session.insert("Event", ("tea", 4))
    assert session.commit() == {"Cost": [(("tea", 8), 1)], "Last": [(("milk",), -1)]}
    assert session.commit() == {"Last": [(("tea",), -1)]}
    assert not list(session["Cost"]) and not session.commit()


def test_a_change_of_the_other_side_does_not_bring_elements_back(session: Session) -> None:
    session.insert("Event", ("tea", 3))
    session.commit()
    session.insert("Price", ("tea", 2))
    assert session.commit() == {"Last": [(("tea",), -1)]}


def test_equal_transactions_of_a_stream_give_equal_outputs(session: Session) -> None:
    session.insert("Price", ("tea", 2))
    for _ in range(3):
        session.insert("Event", ("tea", 5))
        assert session.commit()["Cost"] == [(("tea", 10), 1)]


def test_subscribers_hear_the_elements(session: Session) -> None:
    heard: list[Any] = []
    session.subscribe("Cost", heard.append)
    session.insert("Price", ("tea", 2))
    session.insert("Event", ("tea", 3))
    session.commit()
    session.commit()
    assert heard == [[(("tea", 6), 1)]]


def test_deletions_take_back_what_the_transaction_inserted(session: Session) -> None:
    session.insert("Price", ("tea", 1))
    session.insert("Event", ("tea", 1))
    session.commit()
    session.delete("Event", ("tea", 1))
    session.insert_table("Event", {"kind": ["tea", "tea"], "n": [1, 2]})
    session.delete_table("Event", {"kind": ["tea"], "n": [2]})
    assert session.commit()["Cost"] == [(("tea", 1), 1)]


def test_an_epoch_of_a_stream_cannot_be_undone() -> None:
    """The state before it had other elements, which nothing keeps."""
    opened = ddlog.compile("input stream S(a: u32)\noutput relation O(a: u32)\nO(a) :- S'(a).").session()
    for element in (1, 2):
        opened.insert("S", element)
        opened.commit()
    with pytest.raises(NotKept, match="it changed streams"):
        opened.state.host.runtime.before(lambda: opened.size("O"), None)
    assert list(opened["O"].tuples()) == [(2,)]


def test_tables_of_elements(session: Session) -> None:
    session.insert("Price", ("tea", 1))
    session.insert_table("Event", {"kind": ["tea", "tea"], "n": [1, 2]})
    session.insert("Event", ("tea", 2))
    assert session.commit()["Cost"] == [(("tea", 1), 1), (("tea", 2), 2)]


def test_clearing_a_stream_is_an_error(session: Session) -> None:
    session.insert("Event", ("tea", 1))
    with pytest.raises(DDlogError, match="Event is a stream and cannot be cleared"):
        session.clear("Event")
    assert session.commit()["Last"] == [(("tea",), 1)]


def test_queries_read_the_last_transaction_and_the_past_that_is_kept(session: Session) -> None:
    session.insert("Price", ("tea", 2))
    session.insert("Event", ("tea", 3), ("tea", 3))
    session.commit()
    assert session.query("Event(k, n), Price(k, each)").rows == [("tea", 3, 2)]
    assert session.query("Event'(k, n)").rows == [("tea", 3)]
    assert session.query("Price-1(k, each)").rows == []
    session.commit()
    assert session.query("Event(k, n)").rows == []
    assert session.query("Price-1(k, each)").rows == [("tea", 2)]
    with pytest.raises(DDlogError, match=r"Price-2 is not kept(.|\n)*the rules read Price-1"):
        session.query("Price-2(k, each)")


def test_a_delay_of_n_is_n_transactions_ago() -> None:
    delayed = "".join(
        f"output relation Ago{n}(a: u8)\nAgo{n}(a) :- M-{n}(a).\n"
        f"output stream Was{n}(a: u8)\nWas{n}(a) :- S-{n}(a).\n"
        for n in range(1, 5)
    )
    with ddlog.compile(f"input relation M(a: u8)\ninput stream S(a: u8)\n{delayed}").session() as session:
        for number in range(6):
            session.insert("M", (number,))
            session.insert("S", (number,))
            session.commit()
        for n in range(1, 5):
            assert [a for (a,) in session[f"Ago{n}"].tuples()] == [*range(6 - n)]
            assert [a for (a,) in session[f"Was{n}"].tuples()] == [5 - n]


def test_only_what_is_wanted_is_kept_of_the_past() -> None:
    program = ddlog.compile(SMALL)
    with program.session(relations="Last") as session:
        session.insert("Event", ("tea", 1))
        assert session.commit() == {"Last": [(("tea",), 1)]}
    circuit = program.circuit(outputs=["Last"])
    assert "Price-1" not in dict(circuit.relations)


def test_a_stream_may_be_wanted_for_its_past_alone() -> None:
    program = ddlog.compile("input stream S(x: u8)\noutput relation Was(x: u8)\nWas(x) :- S'-1(x).")
    with program.session() as session:
        session.insert("S", 1)
        assert not session.commit()
        assert session.commit() == {"Was": [((1,), 1)]}
        assert session.commit() == {"Was": [((1,), -1)]}


# ---- The command line

EVENTS_JSON = """\
{"insert": {"Event": {"kind": "tea", "n": 3}}}
{"insert": {"Event": ["tea", 3]}}
{"commit": true}
{"commit": true}
"""


def test_the_document_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "time.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.M | re.S)
    for _, file, contents in blocks:
        if file:
            (tmp_path / file).write_text(contents)
    ((_, _, shown),) = (block for block in blocks if block[0] == "console")
    command, _, output = shown.partition("\n")
    monkeypatch.chdir(tmp_path)
    assert main(command.removeprefix("$ ddlog ").split()) == 0
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    ("name", "updates"),
    [
        ("updates.dat", 'start; insert Event("tea", 3), insert Event("tea", 3); commit; start; commit;'),
        ("updates.jsonl", EVENTS_JSON),
        ("Event.csv", "+1,tea,3\n+1,tea,3\ncommit\ncommit\n"),
    ],
)
def test_every_form_of_updates(
    name: str, updates: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.dl").write_text(SMALL)
    (tmp_path / name).write_text(updates)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Event.csv").write_text("kind,n\nmilk,1\n")
    (tmp_path / "facts" / "Price.csv").write_text("kind,each\nmilk,5\ntea,2\n")
    words = ["run", tmp_path / "small.dl", "--input", tmp_path / "facts", "--updates", tmp_path / name]
    assert main([str(word) for word in words]) == 0
    assert capsys.readouterr().out == FIRST + CHANGES


FIRST = """\
Cost:
Cost{.kind = "milk", .cost = 5}

Last:
Last{.kind = "milk"}

"""
CHANGES = """\
Cost:
Cost{.kind = "tea", .cost = 6}: +2
Last:
Last{.kind = "milk"}: -1
Last{.kind = "tea"}: +1
Last:
Last{.kind = "tea"}: -1
"""


def test_files_of_changes_hold_the_elements(tmp_path: Path) -> None:
    (tmp_path / "small.dl").write_text(SMALL)
    (tmp_path / "u.dat").write_text(
        'start; insert Price("tea", 2), insert Event("tea", 3); commit; start; commit;'
    )
    words = ["run", "small.dl", "--updates", "u.dat", "--output", "out"]
    assert main([str(tmp_path / word) if "." in word or word == "out" else word for word in words]) == 0
    assert (tmp_path / "out" / "Cost.csv").read_text() == "kind,cost\n"
    assert (
        tmp_path / "out" / "Cost.changes.csv"
    ).read_text() == "change,kind,cost\n+1,tea,6\ncommit\ncommit\n"


def test_dump_and_clear_in_a_command_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.dl").write_text(SMALL)
    (tmp_path / "u.dat").write_text(
        'start; insert Event("tea", 3); commit; dump; dump Event; start;\nclear Event;\n'
    )
    assert main(["run", str(tmp_path / "small.dl"), "--updates", str(tmp_path / "u.dat")]) == 1
    printed = capsys.readouterr()
    assert printed.out == 'Last:\nLast{.kind = "tea"}: +1\n' + 'Last:\nLast{.kind = "tea"}\n\n'
    assert "u.dat:2:1: Event is a stream and cannot be cleared" in printed.err


def test_the_circuit_names_streams_and_delays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "small.dl").write_text(SMALL)
    assert main(["circuit", str(tmp_path / "small.dl")]) == 0
    printed = capsys.readouterr().out
    for each in ("input stream Event (", "input Price-1 (", "output stream Cost ", "output Price "):
        assert each in printed
