"""The past of sessions whose state is in a folder, and their migration, beside a state in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.console.cli import main
from ddlog.console.progress import ProgressLine
from ddlog.console.shell import Shell
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.spark.state import contents as statecontents
from ddlog.spark.state import folding, past
from ddlog.spark.state.durable import FolderDurable
from tests.spark.test_folder import COMMITS, PROGRAM, session_on, told
from tests.state.test_same import apply, held, thorough

from ..programs.random_programs import timed_programs, timed_transactions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def folder_of(session: Session) -> FolderDurable:
    assert isinstance(session.state.durable, FolderDurable)
    return session.state.durable


def fold(session: Session) -> None:
    """Folds as the thread does."""
    folder_of(session)._folding.fold()


def shown(session: Session) -> dict[str, list[str]]:
    """The contents of all relations."""
    return {name: sorted(map(str, session[name].records())) for name in session.state.kept if "-" not in name}


def test_the_past_is_what_it_was(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of epochs that are in the history, in one piece or several, and of those that are not folded yet."""
    monkeypatch.setattr(folding, "MANY", 2)
    program = compile(PROGRAM)
    with program.session(state=tmp_path / "file") as plain, session_on(spark, tmp_path / "s") as session:
        for number in range(len(COMMITS)):
            expected = told(plain, number)
            assert told(session, number) == expected
            folder_of(session)._folding.fold_if_due()
            fold(session)
        assert [span.folded for span in folder_of(session).folder.manifest.spans] == [True, False, False]
        for epoch in (5, 3, 2, 0):
            assert shown(session.at(epoch)) == shown(plain.at(epoch)), epoch
        for epoch in (5, 2, 1):
            assert str(session.changes_of(epoch)) == str(plain.changes_of(epoch)), epoch
        then = session.at(2)
        told(then, 1)  # it goes on as the session did then
        assert shown(then) == shown(plain.at(3))
        for epoch in (6, -1):
            with pytest.raises(
                DDlogError, match=f"no record of epoch {epoch}: the state has the epochs 1 to 5"
            ):
                session.at(epoch)
        with pytest.raises(DDlogError, match="no record of epoch 0"):
            session.changes_of(0)
        shell = Shell(session, ProgressLine(True))
        for text in ("state;", "? at 2: Bag(x)", "? at 3: Bag(x)", "changes 2;"):
            shell.take(text)
        out = capsys.readouterr().out
        for line, other in zip(
            session.described_state()[1:], plain.described_state()[1:], strict=True
        ):  # but for the times, which may be those of two seconds
            assert line.split("  ")[-1] == other.split("  ")[-1]
    assert "history of the epochs 1 to 5\n  epoch 1" in out
    assert "(0 rows" in out and "(2 rows" in out and "Edge 2, Came 2" in out


def test_executors_read_the_past(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "input relation R(x: u8, y: string)\noutput relation O(x: u8)\nO(x) :- R(x, _).\n"
    with session_on(spark, tmp_path / "s", text) as session:
        for number in range(3):
            session.insert("R", (number, "a"), (7, str(number)))
            if number:
                session.delete("R", (number - 1, "a"))
            session.commit()
        monkeypatch.setattr(folding, "MANY", 2)
        fold(session)
        monkeypatch.setattr(statecontents, "FEW", -1)
        assert [piece.apart for piece in folder_of(session).folder.past()] == [True]
        assert sorted(session.at(3)["R"].tuples()) == [(1, "a"), (7, "0"), (7, "1")]
        assert dict(session.changes_of(3).rows("O")) == {(0,): -1, (1,): 1}


def test_history_is_bounded_and_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MANY", 4)
    text = "input relation R(x: u32)\noutput relation O(x: u32)\nO(x) :- R(x).\n"
    for start in range(0, 36, 12):
        with session_on(spark, tmp_path / "s", text) as session:
            if start:
                monkeypatch.setattr(past, "MOST_EPOCHS", 16)
            if not start:  # so much that the first epochs are not folded
                session.insert("R", *((n,) for n in range(1000, 1100)))
            for n in range(start, start + 12):
                session.insert("R", (n,))
                session.commit()
                folder_of(session)._folding.fold_if_due()
            pieces = folder_of(session).folder.past()
            assert len(pieces) <= 8 and sum(piece.apart for piece in pieces)
            assert [one.last + 1 for one in pieces[:-1]] == [one.first for one in pieces[1:]]
            assert folder_of(session)._told().first == (1 if not start else pieces[0].first)
    with session_on(spark, tmp_path / "s", text, read_only=True) as session:
        folder = folder_of(session).folder
        first = folder.past()[0].first
        assert 15 < first < 30 and session.described_state()[1] == f"history of the epochs {first} to 37"
        for epoch in (first - 1, first):
            assert session.at(epoch).size("R") == epoch + 99
        assert list(session.changes_of(first).rows("O")) == [((first - 2,), 1)]
        with pytest.raises(DDlogError, match=f"no record of epoch {first - 2}"):
            session.at(first - 2)
        with session_on(spark, tmp_path / "s", text) as writer:  # goes on, and folds what the other reads
            for n in range(36, 48):
                writer.insert("R", (n,))
                writer.commit()
                folder_of(writer)._folding.fold_if_due()
        assert session.at(36).size("R") == 135
        with pytest.raises(DDlogError, match="no record of epoch 38"):
            session.at(38)


def test_a_lost_piece_of_history_is_an_error_of_its_own(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session goes on without it. `ddlog state --compact` removes all history."""
    monkeypatch.setattr(folding, "MANY", 2)
    place = tmp_path / "s"

    def run(*words: str) -> tuple[int, str]:
        code, (out, error) = main(["state", str(place), *words]), capsys.readouterr()
        return code, out + error

    with session_on(spark, place) as session:
        for number in range(len(COMMITS)):
            told(session, number)
            folder_of(session)._folding.fold_if_due()
        fold(session)
        folder = folder_of(session).folder
        (lost,) = {name for name in folder.all_files() if "/past-" in name and "Edge" in name}
        named = folder.manifest.past
        assert named is not None
    assert run("--check") == (0, "epoch 5: all of it is as it was written\n")
    assert run()[1].startswith("epoch 5, history from epoch 1, ")
    (place / lost).unlink()
    code, out = run("--check")
    assert code == 1 and f"{lost} is missing" in out and "other files can be read, with changes of" in out
    with session_on(spark, place) as session:
        before = shown(session)
        with pytest.raises(DDlogError, match=f"{lost} is missing"):
            session.at(2)
        session.at(5).close()
        for _ in range(2):
            session.insert("Came", (1,))
            session.commit()
            folder_of(session)._folding.fold_if_due()
        fold(session)
        assert len(folder_of(session).folder.manifest.spans) == 3 and folder_of(session)._told().first == 4
        before = shown(session)
    assert "bytes before" in run("--compact")[1]
    assert run("--check")[0] == 0 and run()[1].startswith("epoch 7, history from epoch 6, ")
    assert not list(place.glob("data/*past*"))
    with session_on(spark, place) as session:
        assert shown(session) == before
        with pytest.raises(DDlogError, match="no record of epoch 2: the state has the epochs 6 to 7"):
            session.at(2)
    assert not (place / named.name).exists()


@thorough
@given(timed_programs(), timed_transactions(), st.lists(st.booleans(), min_size=1))
def test_the_past_is_that_of_a_state_in_a_file(
    spark: SparkSession, text: str, stream: Sequence[Any], closed: list[bool]
) -> None:
    program = compile(text)
    with (
        tempfile.TemporaryDirectory() as home,
        pytest.MonkeyPatch.context() as patch,
        program.session(state=Path(home) / "file") as plain,
    ):
        patch.setattr(folding, "MANY", 2)
        session = session_on(spark, Path(home) / "s", text)
        try:
            for number, transaction in enumerate(stream):
                assert apply(session, transaction) == apply(plain, transaction)
                folder_of(session)._folding.fold_if_due()
                if closed[number % len(closed)]:
                    session.close()
                    session = session_on(spark, Path(home) / "s", text)
            for epoch in {1, 2, 1 + len(stream) // 2, len(stream) + 1} & set(range(len(stream) + 2)):
                assert held(session.at(epoch)) == held(plain.at(epoch)), epoch
                found, wanted = session.changes_of(epoch), plain.changes_of(epoch)
                assert {n: dict(found.rows(n)) for n in found} == {n: dict(wanted.rows(n)) for n in wanted}
        finally:
            session.close()
