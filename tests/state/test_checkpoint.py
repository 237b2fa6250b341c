"""Checkpoints of derived state: a session that begins with one goes on as one that derived all anew."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.durability import background, folding, reports
from ddlog.engine.inprocess.epoch import RunningEpoch
from ddlog.engine.inprocess.groups.group import GroupState
from ddlog.sessions.persistence import checkpoint_policy, checkpoints
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.persistence.exports import output_tables
from ddlog.sessions.session import Session
from ddlog.sessions.transactions.durable_state import Notes

from ..programs.random_programs import programs, timed_programs, timed_transactions, transactions
from ..trying import longer, trying
from .crashes import Crashes, reference
from .damage import Damage
from .script import PLAIN, script
from .test_same import Change, Stream, held
from .untrue import PROGRAMS, begun, changed_number, damaged

thorough = trying(3, long=1000)


@pytest.fixture(autouse=True, scope="module")
def _always_worth() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "WORTH", 0.0)
        patch.setattr(checkpoints, "MOST", 1000.0)
        yield


def apply(session: Session, transaction: Sequence[Change]) -> dict[str, Any]:
    """Commits a transaction. Returns its changes, in value order."""
    for name, row, sign in transaction:
        (session.insert_rows if sign > 0 else session.delete_rows)(name, [row])
    changes = session.commit()
    return {name: changes.rows(name) for name in changes}


def crashed(path: Path, target: Path) -> Path:
    """A copy of a state as a crash of its process leaves it."""
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{target}{end}")
    return target


def image(session: Session, number: int) -> None:
    """Makes an image after some commits, and writes it after later ones."""
    durable = session.state.durable
    assert isinstance(durable, Durable) and durable.upkeep is not None
    if number % 4 in (0, 3):
        durable.upkeep.take(durable.epoch)
    elif number % 4 == 2:
        durable.upkeep.write_waiting()


def go_on(text: str, stream: Stream, ends: list[str]) -> None:
    """Runs a stream of transactions with a session that ends again and again, beside one that never does."""
    program = ddlog.compile(text)
    with tempfile.TemporaryDirectory() as home, program.session() as plain:
        plain.start()
        path = Path(home) / "0"
        kept = program.session(state=path)
        try:
            for number, transaction in enumerate(stream):
                assert apply(kept, transaction) == apply(plain, transaction)
                end = ends[number % len(ends)]
                image(kept, number)
                if end == "closed":
                    kept.close()
                elif end == "crashed":
                    path = crashed(path, Path(home) / f"{number + 1}")
                    kept.close()
                if end:
                    kept, told = program.session(state=path), list[str]()
                    assert kept.state.durable is not None
                    kept.state.durable.listen(Notes(told.append))
                    kept.start()
                    assert not told
                    if number % 2:
                        assert held(kept) == held(plain)
        finally:
            kept.close()


ends = st.lists(st.sampled_from(["", "closed", "crashed"]), min_size=1)


@thorough
@given(timed_programs(), timed_transactions(), ends)
def test_a_checkpoint_changes_nothing(text: str, stream: Stream, ends: list[str]) -> None:
    go_on(text, stream, ends)


@thorough
@given(programs(), transactions(), ends)
def test_a_checkpoint_changes_nothing_without_time(text: str, stream: Stream, ends: list[str]) -> None:
    go_on(text, stream, ends)


TWO = """
typedef Pair = Pair{a: u32, s: string} | One
function far(x: u32): u32 { x + 10 }
input relation E(x: u32, y: u32)
input relation F(p: Pair, x: u32)
output relation P(x: u32, y: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), E(y, z).
output relation Q(p: Pair, s: Set<u32>)
Q(p, xs) :- F(p, x), var xs = x.group_by(p).to_set().
output relation N(x: u32, n: usize, m: u32)
N(far(x), n, m) :- P(x, y), var g = y.group_by(x), var n = g.count(), var m = g.max().
output relation Lone(x: u32)
Lone(x) :- E(x, _), not P(_, x).
"""


def filled(path: Path, text: str = TWO) -> dict[str, Any]:
    """A closed state with some rows; returns what it held."""
    with ddlog.compile(text).session(state=path) as session:
        for x in range(12):
            session.insert("E", (x, (x * 5 + 1) % 12), (x, x + 12))
            session.insert("F", ({"Pair": [x % 3, f"s{x % 2}"]} if x % 4 else {"One": []}, x))
        session.commit()
        return held(session)


def titles(session: Session) -> set[str]:
    """The titles of the units that a session began with."""
    session.start()
    durable = session.state.durable
    assert isinstance(durable, Durable) and durable.begun_with is not None
    return {unit.title for unit in durable.begun_with.units.values()}


@pytest.mark.parametrize(
    ("old", "new", "derived"),
    [
        ("Lone(x) :- E(x, _)", "Lone(x) :- E(x, 6)", {"Lone"}),
        ("{ x + 10 }", "{ x + 11 }", {"N"}),
        ("P(x, y) :- E(x, y).", "P(x, y) :- E(x, y), x > 2.", {"P", "N", "Lone"}),
        ("s: string} | One", "s: string} | One | Two", {"F", "Q"}),
    ],
)
def test_what_depends_on_a_change_is_derived_anew(
    tmp_path: Path, old: str, new: str, derived: set[str]
) -> None:
    filled(tmp_path / "s")
    changed = TWO.replace(old, new)
    assert changed != TWO
    expected = filled(tmp_path / "other", changed)
    migrate = "Two" in new
    with ddlog.compile(changed).session(state=tmp_path / "s", migrate=migrate) as session:
        if migrate:  # a new type of a column is another relation
            assert held(session) == expected
            return
        begun = titles(session)
        assert not any(each in begun for each in derived)
        assert {"E", "F", "P", "Q", "N", "Lone"} - derived <= begun
        assert held(session) == expected
        session.delete("E", (1, 6))
        assert session.commit()


def test_what_is_read_with_a_delay_stays_when_the_program_changes(tmp_path: Path) -> None:
    text = """
input relation A(x: u32)
output relation R(x: u32)
R(x) :- A(x).
output relation Gone(x: u32)
Gone(x) :- R-1(x), not R(x).
"""
    for number in range(4):
        with ddlog.compile(text + "\n" * number).session(state=tmp_path / "s") as session:
            for x in range(5):
                session.insert("A", (5 * number + x,))
                session.commit()
            session.delete("A", (5 * number,))
            assert session.commit().rows("Gone") == [((5 * number,), 1)]
    assert any(
        "past relation R" in line and "16 rows" in line for line in reports.described(str(tmp_path / "s"))
    )


def test_a_damaged_checkpoint_is_left_out(tmp_path: Path) -> None:
    expected = filled(tmp_path / "s")
    with sqlite3.connect(tmp_path / "s") as base:
        base.execute("UPDATE piece SET data = zeroblob(length(data)) WHERE id % 2")
    base.close()
    told = list(reports.checked(str(tmp_path / "s")))
    assert "checkpoint is damaged" in told[1]
    notes: list[str] = []
    with ddlog.compile(TWO).session(state=tmp_path / "s") as session:
        assert session.state.durable is not None
        session.state.durable.listen(Notes(notes.append))
        assert held(session) == expected
    assert len(notes) == 1 and "damaged" in notes[0]
    assert len(list(reports.checked(str(tmp_path / "s")))) == 1, "it is written anew"


@pytest.mark.parametrize("seed", range(longer(10, 3000)))
def test_impossible_numbers_with_right_checksums_are_left_out_or_an_error(tmp_path: Path, seed: int) -> None:
    kind, chance = sorted(PROGRAMS)[seed % len(PROGRAMS)], random.Random(seed)
    begun(tmp_path / "s", kind)
    changed_number(tmp_path / "s", chance)
    if damaged(tmp_path / "s", kind, chance):
        assert not damaged(tmp_path / "s", kind, chance), "the checkpoint is gone"


def test_a_fault_on_top_of_a_checkpoint_is_a_damaged_checkpoint_and_an_internal_error_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = filled(tmp_path / "s")
    for kind, fault in [("checkpoint", ddlog.DDlogError), ("none", TypeError)]:
        with ddlog.compile(TWO).session(state=tmp_path / "s") as session, monkeypatch.context() as patch:
            session.start()
            durable = session.state.durable
            assert isinstance(durable, Durable) and (durable.begun_with is None) == (kind == "none")
            patch.setattr(GroupState, "_change_one", itemgetter("nothing"))
            for _ in range(2):
                session.insert("E", (77, 78))
                with pytest.raises(fault) as found:
                    session.commit()
                session.rollback()
            if kind == "checkpoint":
                told = r"the checkpoint is damaged: .* \(TypeError: (.|\n)* the next one derives all anew"
                assert re.search(told, str(found.value))
    with ddlog.compile(TWO).session(state=tmp_path / "s") as session:
        assert held(session) == expected


def test_tables_with_other_columns_are_found(tmp_path: Path) -> None:
    """A byte is changed in what SQLite knows of a table: of checkpoints, made anew, and of spans."""
    expected = filled(tmp_path / "s")
    whole = (tmp_path / "s").read_bytes()
    for table in ("unit", "span"):
        start = whole.index(b"CREATE TABLE %s " % table.encode())
        there = whole.index(b", bytes INTEGER", start)
        (tmp_path / table).write_bytes(whole[: there + 7] + b"_" + whole[there + 8 :])
    told = list(reports.checked(str(tmp_path / "unit")))
    assert "left out: its tables are not as they were made; nothing is lost" in told[1]
    with ddlog.compile(TWO).session(state=tmp_path / "unit") as session:
        assert held(session) == expected
    assert len(list(reports.checked(str(tmp_path / "unit")))) == 1, "they are made anew"
    with pytest.raises(ddlog.DDlogError, match="its tables are not as they were made"):
        ddlog.compile(TWO).session(state=tmp_path / "span")


def test_absent_rows_of_a_checkpoint_may_have_numbers_that_no_value_has_any_more(tmp_path: Path) -> None:
    program = ddlog.compile("""
input relation Name(id: u64, name: string)
output relation Both(a: u64, b: u64)
Both(a, b) :- Name(a, name), Name(b, name).
""")
    with program.session(state=tmp_path / "state") as session:
        session.insert("Name", *((k, f"n{k}") for k in range(9)))
        session.commit()
        session.delete("Name", *((k, f"n{k}") for k in range(4, 9)))
        session.commit()
        session.delete("Name", (0, "n0"))
        session.commit()
        session.tidy()  # forgets the names of the rows that the first deletion took
    with program.session(state=tmp_path / "state") as session:
        session.insert("Name", (9, "n2"), (10, "n7"))
        assert {tuple(row) for row, _ in session.commit()["Both"]} == {(2, 9), (9, 2), (9, 9), (10, 10)}


def test_a_checkpoint_serves_readers_and_the_past(tmp_path: Path) -> None:
    expected = filled(tmp_path / "s")
    program = ddlog.compile(TWO)
    with program.session(state=tmp_path / "s", read_only=True) as session:
        assert {"P", "Q"} <= titles(session)
        assert held(session) == expected
        rows = [(x, y) for x, y in session["P"]]
        assert list(session.at(2)["P"].records()) == list(session["P"].records())
    list(reports.exported(str(tmp_path / "s"), str(tmp_path / "out"), output_tables))
    outputs = tmp_path / "out" / "_outputs"
    for name in ("P", "N", "Q", "Lone"):
        assert pq.read_table(outputs / f"{name}.parquet").num_rows == len(expected[name])
    assert {(row["x"], row["y"]) for row in pq.read_table(outputs / "P.parquet").to_pylist()} == {*rows}
    with program.session() as session:
        session.load(tmp_path / "out")
        assert held(session) == expected, "what was exported are the facts of a run"
    assert any("checkpoint of epoch 2" in line for line in reports.described(str(tmp_path / "s")))
    with program.session(state=tmp_path / "s") as session:
        session.insert("E", (100, 0))
        changes = session.commit()
        assert (100, 0) in [row for row, _ in changes.rows("P")]
        assert session.why("P", (100, 0))
    list(reports.compacted(str(tmp_path / "s")))
    with program.session(state=tmp_path / "s") as session:
        assert {"P", "Q"} <= titles(session)
        session.delete("E", (100, 0))
        session.commit()
        assert held(session) == expected


def test_crashes_and_damage_with_checkpoints(tmp_path: Path) -> None:
    known = reference(script(5, 5), tmp_path / "known", PLAIN)
    Crashes(known, tmp_path / "crashes", random.Random(5)).all(*longer((0.005, 0.0), (0.01, 0.1)))
    found = Damage(script(3, 14), tmp_path / "d", False)
    found.flipped("", range(1, found.size(""), 30011), "write")
    assert found.counts


def test_a_killed_session_begins_with_what_was_written_while_it_lived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LONG", 0.0), ("_ROWS", 0), ("_PAUSES", 0)):
        monkeypatch.setattr(checkpoint_policy, name, value)
    monkeypatch.setattr(background, "INTERVAL", 0.001)
    monkeypatch.setattr(folding, "MANY", 4)
    program = ddlog.compile(TWO)
    filled(tmp_path / "s")
    with program.session(state=tmp_path / "s") as session:
        durable = session.state.durable
        assert isinstance(durable, Durable) and durable.upkeep is not None
        for x in range(40):
            session.insert("E", (x % 12 + 40, x))
            session.insert("F", ({"One": []}, x + 100))
            session.commit()
            if x == 20:
                while durable.upkeep.epoch < 10:  # the background thread writes them
                    session.commit()
                durable._background.stop()
        durable._folder._pause = lambda: False
        durable._folder.fold_if_due()
        epoch, expected = durable.upkeep.epoch, held(session)
        rows = {n: [(row, 1) for row in session[n].tuples()] for n in program.names("output")}
        crashed(tmp_path / "s", tmp_path / "t")
    shutil.copy(tmp_path / "t", tmp_path / "u")
    shutil.copy(tmp_path / "t-wal", tmp_path / "u-wal")
    with program.session(state=tmp_path / "u") as session:
        told = session.start()
        session.insert("E", (200, 0))
        assert session.commit()  # what is told is that of before
        assert {name: told.rows(name) for name in told} == rows
        assert (200, 0) in session["P"] and (200, 0) not in [row for row, _ in told.rows("P")]
    with program.session(state=tmp_path / "t") as session:
        session.start()  # and nothing is needed
    for path in ("t", "s"):
        with program.session(state=tmp_path / path) as session:
            assert {"E", "P", "Q", "N"} <= titles(session)
            durable = session.state.durable
            assert isinstance(durable, Durable) and durable.begun_with is not None
            assert durable.begun_with.epoch == (epoch if path == "t" else durable.epoch)
            assert held(session) == expected


def test_units_that_nothing_needed_are_not_written_again(tmp_path: Path) -> None:
    expected = filled(tmp_path / "s")
    program = ddlog.compile(TWO)
    for number in range(2):
        with program.session(state=tmp_path / "s") as session:
            session.start()
            durable = session.state.durable
            assert isinstance(durable, Durable) and durable.begun_with is not None
            before = {unit.name: unit.first for unit in durable.begun_with.units.values()}
            session.insert("F", ({"One": []}, 1000 + number))
            session.commit()
            if number:
                assert durable.upkeep is not None
                durable.upkeep.take(durable.epoch)
                durable.upkeep.write_waiting()
        with program.session(state=tmp_path / "s", read_only=True) as session:
            found = titles(session)
            durable = session.state.durable
            assert isinstance(durable, Durable) and durable.begun_with is not None
            now = {unit.title: unit for unit in durable.begun_with.units.values()}
            assert {"E", "P", "Q"} <= found
            assert now["P"].first == before[now["P"].name] and now["F"].first != before[now["F"].name]
            rows = held(session)
            assert {name: rows[name] for name in ("P", "N", "Lone")} == {
                name: expected[name] for name in ("P", "N", "Lone")
            }


def test_another_program_goes_on_with_a_checkpoint_and_what_it_reads_with_a_delay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "WORTH", 0.0)
    text = """
    input stream Deposit(account: string, amount: u32)
    stream Came(account: string, total: u32)
    Came(account, total) :- Deposit(account, amount), var total = amount.group_by(account).sum().
    output relation Balance(account: string, total: u32)
    Balance(account, before + more) :- Balance-1(account, before), Came'(account, more).
    Balance(account, before) :- Balance-1(account, before), not Came'(account, _).
    Balance(account, more) :- Came'(account, more), not Balance-1(account, _).
    """
    for number, total in enumerate((1, 3, 3, 7)):
        with ddlog.compile(f"{text}// {number}").session(state=tmp_path / "s") as session:
            if number != 2:
                session.insert("Deposit", ("a", 1 << number if number < 2 else 4))
            session.commit()
            assert [each.total for each in session["Balance"]] == [total]


def test_rules_on_demand_have_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "WORTH", 0.0)
    program = ddlog.compile(
        "input relation E(x: u32, y: u32) input relation Ask(x: u32) relation P(x: u32, y: u32)"
        "P(x, y) :- E(x, y). P(x, z) :- E(x, y), P(y, z)."
        "#[demand] output relation O(x: u32, y: u32) O(x, y) :- Ask(x), P(x, y)."
    )
    for n in range(3):
        with program.session(state=tmp_path / "s") as session:
            session.insert("E", (n, n + 1))
            session.insert("Ask", (0,))
            session.commit()
            assert sorted(each.y for each in session["O"]) == list(range(1, n + 2))


def test_an_extension_that_fails_leaves_groups_to_be_read(tmp_path: Path) -> None:
    program = ddlog.compile(
        "input relation A(x: string, y: bigint)\noutput relation G(x: string, n: bigint)\n"
        "G(x, n) :- A(x, y), var n = y.group_by(x).sum()."
    )
    with program.session(state=tmp_path / "state.db") as session:
        session.insert("A", ("a", 1), ("a", 2), ("b", 3))
        session.commit()
    with program.session(state=tmp_path / "state.db") as session:
        with (
            mock.patch.object(RunningEpoch, "join", side_effect=MemoryError),
            pytest.raises(ddlog.DDlogError),
        ):
            session.extend("output relation H(x: string)\nH(x) :- G(x, n), A(x, n).")  # a sweep reads groups
        session.insert("A", ("a", 4))
        assert session.commit().rows("G") == [(("a", 3), -1), (("a", 7), 1)]
