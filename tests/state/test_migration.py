"""States whose program has other inputs than before."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.durability import reports
from ddlog.durability.log import Durability

from ..trying import is_long
from .disk import LOSSES, Loss, disks, is_change
from .recording import recorded

OLD = """
input relation R(x: u32, y: string, z: bigint)
input relation Gone(x: u32)
input multiset M(a: s8, t: (u8, string))
output relation O(x: u32)
O(x) :- R(x, _, _), Gone(x), M(_, _).
"""
NEW = """
typedef State = Begun | Ended{at: u32}
input relation R(y: Option<string>, state: State, x: double, n: u64)
input multiset M(a: s64, t: (u8, string))
output relation O(x: double)
O(x) :- R(_, _, x, _), M(_, _).
"""


def begun(path: Path, *rows: tuple[int, str, int]) -> None:
    """A state of the old program."""
    with ddlog.compile(OLD).session(state=path) as session:
        commit_rows(session, *rows)


def commit_rows(session: ddlog.Session, *rows: tuple[int, str, int]) -> None:
    """Gives a session of the old program its rows, in two commits."""
    session.insert("R", *rows)
    session.insert("Gone", (1,))
    session.insert("M", (-5, (1, "m")), (-5, (1, "m")))
    session.commit()
    session.insert("R", (9, "later", 0))
    session.commit()


def test_columns_are_mapped_by_name(tmp_path: Path) -> None:
    path, new = tmp_path / "s", ddlog.compile(NEW)
    begun(path, (1, "a", 1), (2, "", 1 << 90))
    for durability in ("commit", "interval"):
        with pytest.raises(ddlog.DDlogError, match="--migrate"):
            new.session(state=path, durability=durability)
    with new.session(state=path, migrate={"R.n": 7}) as session:
        assert list(session["R"].records()) == [
            'R{.y = ddlog_std::Some{.x = ""}, .state = Begun{}, .x = 2, .n = 7}',
            'R{.y = ddlog_std::Some{.x = "a"}, .state = Begun{}, .x = 1, .n = 7}',
            'R{.y = ddlog_std::Some{.x = "later"}, .state = Begun{}, .x = 9, .n = 7}',
        ]
        assert list(session["M"].records()) == ['M{.a = -5, .t = (1, "m")} +2']
        session.delete("R", ("a", "Begun", 1.0, 7))
        session.commit()
    with new.session(state=path) as session:
        assert session.size("R") == 2 and [weight for _, weight in session["M"].weighted()] == [2]
    assert any("Gone" in line and "dropped" in line for line in reports.described(str(path)))
    list(reports.compacted(str(path)))
    assert not any("Gone" in line for line in reports.described(str(path)))
    with new.session(state=path) as session:
        assert session.size("R") == 2 and session.size("M") == 1


REFUSED = [
    ("x: u8, y: string, z: bigint", "R.x of type bit<32> cannot become bit<8>"),
    ("x: string, y: string, z: bigint", "R.x of type bit<32> cannot become string"),
    ("x: u32, y: u32, z: bigint", "R.y of type string cannot become bit<32>"),
    ("x: u32, y: string, z: double", "R.z of type bigint cannot become double"),
]
"""Columns of R that its rows cannot take over, and what the error says."""


@pytest.mark.parametrize(("columns", "problem"), REFUSED)
def test_nothing_is_lost_in_silence(tmp_path: Path, columns: str, problem: str) -> None:
    begun(tmp_path / "s", (1000, "7", (1 << 61) + 1))
    text = OLD.replace("x: u32, y: string, z: bigint", columns).replace(
        "O(x) :- R(x, _, _), Gone(x)", "O(1) :- R(_, _, _), Gone(_)"
    )
    with pytest.raises(ddlog.DDlogError) as caught:
        ddlog.compile(text).session(state=tmp_path / "s", migrate=True)
    assert problem in caught.value.diagnostics[0].message
    with ddlog.compile(OLD).session(state=tmp_path / "s") as session:
        assert session.size("R") == 2


def test_columns_of_every_kind_are_taken_over(tmp_path: Path) -> None:
    kinds = "b: bool, f: float, d: double, w: bit<100>, o: Option<bool>, v: Vec<u8>, t: (bool, string)"
    text = "input relation R({})\noutput relation O(b: bool)\nO(b) :- R(.b = b).\n"
    rows = [
        (True, 0.5, float("inf"), 1 << 99, None, [1], (False, "")),
        (False, -0.0, 2.5, 0, True, [], (True, "é")),
    ]
    with ddlog.compile(text.format(kinds)).session(state=tmp_path / "s") as session:
        session.insert("R", *rows)
        session.commit()
        before = sorted(map(repr, session["R"]))
    new = ddlog.compile(text.format("on: bool, " + kinds))
    for wrong, reason in (
        ({"R.b": True}, "no new column"),
        ({"R.on": 3}, "R.on"),
        ({"R.onn": 3}, "no input relation has"),
    ):
        with pytest.raises(ddlog.DDlogError, match=reason):
            new.session(state=tmp_path / "s", migrate=wrong)
    with new.session(state=tmp_path / "s", migrate={"R.on": True}) as session:
        after = sorted(map(repr, session["R"]))
    with pytest.raises(ddlog.DDlogError, match="no new column"):  # of a relation that is as it was
        new.session(state=tmp_path / "s", migrate={"R.on": True})
    assert after == sorted(row.replace("R(", "R(on=True, ") for row in before)


def test_the_past_begins_with_the_migration(tmp_path: Path) -> None:
    begun(tmp_path / "s", (1, "a", 1))
    new = ddlog.compile(NEW)
    with pytest.raises(ddlog.DDlogError, match="other input relations"):
        new.session(state=tmp_path / "s", migrate=True, read_only=True)
    with new.session(state=tmp_path / "s", migrate=True) as session:
        for epoch in (1, 2):
            with pytest.raises(
                ddlog.DDlogError, match=f"no record of epoch {epoch}: the state has no history"
            ):
                session.at(epoch)
        with pytest.raises(ddlog.DDlogError, match="no record of epoch 3"):
            session.changes_of(3)
        assert session.at(3).size("R") == 2 and "no history" in session.described_state()[1]
        session.insert("R", ("b", "Begun", 3.0, 1))
        session.commit()
        assert session.at(3).size("R") == 2 and session.at(4).size("R") == 3
        assert list(session.changes_of(4)["O"]) == [((3.0,), 1)]
    assert next(reports.described(str(tmp_path / "s"))).startswith("epoch 4, history from epoch 4")


def test_a_new_key_must_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path / "s", (1, "a", 1), (1, "b", 1))
    (tmp_path / "p.dl").write_text(OLD.replace("z: bigint)", "z: bigint) primary key (r) r.x"))
    before = list(reports.described(str(tmp_path / "s")))
    for more in ([], [], ["--read-only"], ["--migrate"]):
        assert main(["run", str(tmp_path / "p.dl"), "--state", str(tmp_path / "s"), *more]) == 1
        assert "several rows of R" in capsys.readouterr().err
    (tmp_path / "p.dl").write_text(OLD.replace("z: bigint)", "z: double) primary key (r) r.x"))
    assert main(["run", str(tmp_path / "p.dl"), "--state", str(tmp_path / "s"), "--migrate"]) == 1
    assert "several rows of R" in capsys.readouterr().err
    assert list(reports.described(str(tmp_path / "s"))) == before  # nothing was taken over


def test_a_key_is_compared_with_the_rows_that_are_left(tmp_path: Path) -> None:
    text = "input relation R(x: u32, y: double) primary key (r) r.x\n"
    with ddlog.compile(text).session(state=tmp_path / "s") as session:
        for value in (float("nan"), -0.0, 1.5):
            session.upsert("R", (1, value))
            session.commit()
    with ddlog.compile(f"{text}// changed").session(state=tmp_path / "s") as session:
        assert [each.y for each in session["R"]] == [1.5]


def test_a_row_that_came_in_two_epochs_is_there_twice(tmp_path: Path) -> None:
    text = "input {} R(x: u8)\noutput relation O(x: u8)\nO(x) :- R(x).\n"
    with ddlog.compile(text.format("multiset")).session(state=tmp_path / "s") as session:
        for _ in range(2):
            session.insert("R", (1,))
            session.commit()
    with pytest.raises(ddlog.DDlogError, match="a row is there more than once"):
        ddlog.compile(text.format("relation")).session(state=tmp_path / "s", migrate=True)


@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_the_past_of_a_migrated_input_is_what_it_was(tmp_path: Path, epochs: int) -> None:
    old, new = (
        ddlog.compile(f"""
input relation R(x: {x}, y: string)
input stream S(x: {x})
output relation Was(x: {x})
Was(x) :- R-2(x, _), not R(x, _).
output stream Twice(x: {x})
Twice(x) :- S'(x), S-1(x).
Twice(x) :- S'(x), S-2(x).
""")
        for x in ("u16", "u64")
    )
    for durability in get_args(Durability):
        path = tmp_path / durability
        with old.session(state=path, durability=durability) as kept, new.session() as plain:
            kept.start()
            plain.start()
            for number in range(epochs):
                _moves(kept, number)
                _moves(plain, number)
            kept.close()
            with new.session(state=path, migrate=True) as again:
                for name in ("R", "S", "Was", "Twice"):
                    assert list(again[name].records()) == list(plain[name].records()), name
                for number in range(epochs, epochs + 4):
                    assert _moves(again, number) == _moves(plain, number), (durability, number)


def _moves(session: ddlog.Session, number: int) -> str:
    session.insert("R", (number, "y"))
    if number:
        session.delete("R", (number - 1, "y"))
    session.insert("S", (number % 2,), (number % 3,))
    return str(session.commit())


def test_a_new_relation_has_nothing_of_one_that_was_dropped(tmp_path: Path) -> None:
    """Also if the rows of the last epoch were of that one, and it was the last that came."""
    text = (
        "input relation R(x: u32)\ninput relation Z(x: u32)\noutput relation O(x: u32)\nO(x) :- R(x), Z(x).\n"
    )
    path = tmp_path / "s"
    with ddlog.compile(text).session(state=path) as session:
        session.insert("R", (1,))
        session.insert("Z", (7,), (8,))
        session.commit()
    one = "input relation R(x: u32)\noutput relation O(x: u32)\nO(x) :- R(x).\n"
    with ddlog.compile(one).session(state=path, migrate=True) as session:
        session.start()
    assert any("Z(x: bit<32>)  2 rows, dropped" in line for line in reports.described(str(path)))
    assert "bytes before" in next(reports.compacted(str(path)))
    assert not any("Z(" in line for line in reports.described(str(path)))
    with ddlog.compile(text.replace("Z", "Q")).session(state=path) as session:
        assert [each.x for each in session["R"]] == [1] and not len(session["Q"])
    assert len(list(reports.checked(str(path)))) == 1


def losses(chance: random.Random) -> Sequence[Loss]:
    """What a crash loses: in the long form of the tests each of all ways."""
    return LOSSES if is_long else [chance.choice(LOSSES)]


def compacted(state: Path) -> None:
    """Folds all spans, and leaves out what was dropped."""
    list(reports.compacted(str(state)))


def taken_over(state: Path) -> list[str]:
    """The rows that the new program has of a state, which is migrated if it is of the old one."""
    with ddlog.compile(NEW).session(state=state, migrate=True) as session:
        return sorted([*session["R"].records(), *session["M"].records()])


def migrated(state: Path) -> None:
    """Takes the relations over for the new program."""
    taken_over(state)


@pytest.mark.parametrize("change", [compacted, migrated])
def test_a_crash_in_upkeep_loses_nothing(change: Callable[[Path], None], tmp_path: Path) -> None:
    begin, place, left, chance = tmp_path / "begin", tmp_path / "place", tmp_path / "left", random.Random(3)
    begin.mkdir()
    begun(begin / "s", *((n, "é" * n, 1 << n) for n in range(40)))
    shutil.copytree(begin, tmp_path / "known")
    shutil.copytree(begin, place)
    expected = taken_over(tmp_path / "known" / "s")
    with recorded(place) as recorder:
        change(place / "s")
    changes = [number for number, event in enumerate(recorder.events, 1) if is_change(event)]
    assert len(changes) > 5
    kept, seen = {0, *changes[:: 1 if is_long else len(changes) // 3]}, 0
    for number, disk in disks(begin, recorder.events):
        for loss in losses(chance) if number in kept else ():
            disk.crash(left, loss, chance)
            assert taken_over(left / "s") == expected, (number, loss)
            shutil.rmtree(left)
            seen += 1
    assert seen >= 4
