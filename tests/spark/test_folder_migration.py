"""States in folders whose program has other inputs than before, beside states in files."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.sessions.session import Session
from ddlog.spark.state import contents as statecontents
from ddlog.spark.state import folding, migration, reports
from ddlog.spark.state.files import LocalFiles
from tests.spark.test_folder import dying, session_on
from tests.spark.test_folder_past import folder_of
from tests.state.test_migration import NEW, OLD, REFUSED, commit_rows
from tests.state.test_same import thorough
from tests.trying import longer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begun(spark: SparkSession, path: Path, *rows: tuple[int, str, int], text: str = OLD) -> None:
    """A state of the old program."""
    with session_on(spark, path, text) as session:
        commit_rows(session, *rows)


def refuse(*given: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_columns_are_mapped_by_name(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    begun(spark, path, (1, "a", 1), (2, "", 1 << 90))
    for options in ({}, {"read_only": True, "migrate": True}):
        with pytest.raises(DDlogError, match="--migrate takes over"):
            session_on(spark, path, NEW, **options)
    for fill, reason in (
        ({"R.x": 3}, "it is no new column"),
        ({"R.n": "x"}, "R.n"),
        ({"R.nn": 3}, "no input relation has this column"),
    ):
        with pytest.raises(DDlogError, match=reason):
            session_on(spark, path, NEW, migrate=fill)
    before = folder_bytes(path)
    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, "create", refuse)
        with pytest.raises(DDlogError, match="the state cannot be used: No space left"):
            session_on(spark, path, NEW, migrate={"R.n": 7})
    assert folder_bytes(path) == before
    with session_on(spark, path, NEW, migrate={"R.n": 7}) as session:
        assert sorted(session["R"].records()) == [
            'R{.y = ddlog_std::Some{.x = ""}, .state = Begun{}, .x = 2, .n = 7}',
            'R{.y = ddlog_std::Some{.x = "a"}, .state = Begun{}, .x = 1, .n = 7}',
            'R{.y = ddlog_std::Some{.x = "later"}, .state = Begun{}, .x = 9, .n = 7}',
        ]
        assert list(session["M"].records()) == ['M{.a = -5, .t = (1, "m")} +2']
        for epoch in (1, 2):
            with pytest.raises(DDlogError, match=f"no record of epoch {epoch}: the state has no history"):
                session.at(epoch)
        assert session.at(3).size("R") == 3 and "no history" in session.described_state()[1]
        session.delete("R", ("a", "Begun", 1.0, 7))
        session.commit()
    monkeypatch.setattr(folding, "MANY", 2)
    with session_on(spark, path, NEW) as session:
        session.insert("R", ("b", "Begun", 3.0, 7))
        session.commit()
        folder_of(session)._folding.fold_if_due()
        folder_of(session)._folding.fold()
        assert session.size("R") == 3 and [weight for _, weight in session["M"].weighted()] == [2]
        assert [session.at(epoch).size("R") for epoch in (3, 4, 5)] == [3, 2, 3]
        with pytest.raises(DDlogError, match="no record of epoch 2: the state has the epochs 4 to 5"):
            session.at(2)
    lines = list(reports.described(str(path)))
    assert any("Gone(x: bit<32>)  1 row, dropped: --compact removes it" in line for line in lines)
    assert any("R(x: bit<32>, y: string, z: bigint)  3 rows, dropped" in line for line in lines)
    list(reports.compacted(str(path)))
    assert not any("dropped" in line for line in reports.described(str(path)))
    with session_on(spark, path, NEW) as session:
        assert session.size("R") == 3 and session.size("M") == 1


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        *REFUSED,
        ("x: u64, y: string, z: bigint) primary key (r) (r.x", "several rows of R"),
    ],
)
def test_what_is_refused_leaves_the_state_as_it_was(
    spark: SparkSession, tmp_path: Path, columns: str, problem: str
) -> None:
    begun(spark, tmp_path / "s", (1000, "7", (1 << 61) + 1), (1000, "8", 0))
    text = OLD.replace("x: u32, y: string, z: bigint", columns).replace(
        "O(x) :- R(x, _, _), Gone(x)", "O(1) :- R(_, _, _), Gone(_)"
    )
    before = folder_bytes(tmp_path / "s")
    with pytest.raises(DDlogError) as caught:
        session_on(spark, tmp_path / "s", text, migrate=True)
    assert problem in caught.value.diagnostics[0].message
    assert folder_bytes(tmp_path / "s") == before
    with session_on(spark, tmp_path / "s", OLD) as session:
        assert session.size("R") == 3


def folder_bytes(path: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in path.rglob("*") if each.is_file()}


@pytest.mark.parametrize("many", [False, True])
def test_rows_that_become_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    """A relation has them once, and lost them when the last of them went; a multiset counts them."""
    text = "input {} R({})\noutput relation O(x: {})\nO(x) :- R(.x = x), not R-1(.x = x).\n"
    with session_on(spark, tmp_path / "s", text.format("relation", "x: u8, y: string", "u8")) as session:
        session.insert("R", (1, "a"), (1, "b"), (2, "a"), (3, "a"))
        session.commit()
        session.delete("R", (2, "a"), (1, "b"), (3, "a"))
        session.insert("R", (3, "b"), (4, "a"), (4, "b"))
        session.commit()
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    if many:
        monkeypatch.setattr(statecontents, "FEW", -1)
        monkeypatch.setattr(migration, "PIECE", 2)
    with session_on(spark, tmp_path / "s", text.format("relation", "x: u32", "u32"), migrate=True) as session:
        assert sorted(session["R"].tuples()) == [(1,), (3,), (4,)] and list(session["O"]) == [(4,)]
        session.delete("R", (4,))
        session.commit()
        assert sorted(session["R"].tuples()) == [(1,), (3,)] and not list(session["O"])
    if not many:
        new = text.format("multiset", "x: u32", "u32")
        with session_on(spark, tmp_path / "t", new, migrate=True) as session:
            assert sorted(session["R"].weighted()) == [((1,), 1), ((3,), 1), ((4,), 2)]


def taken_over(spark: SparkSession, path: Path) -> list[str]:
    """The rows that the new program has of a state, which is migrated if it is of the old one."""
    with session_on(spark, path, NEW, migrate=True) as session:
        return sorted([*session["R"].records(), *session["M"].records()])


@pytest.mark.parametrize("half", [False, True])
def test_a_crash_in_a_migration_loses_nothing(spark: SparkSession, tmp_path: Path, half: bool) -> None:
    begun(spark, tmp_path / "s", *((n, "é" * n, 1 << n) for n in range(40)))
    shutil.copytree(tmp_path / "s", tmp_path / "whole")
    expected, steps, dead = taken_over(spark, tmp_path / "whole"), 0, ["not yet"]
    while dead:
        steps += longer(2, 1)
        place = tmp_path / str(steps)
        shutil.copytree(tmp_path / "s", place)
        with dying(steps, half) as dead:
            taken_over(spark, place)
        assert next(reports.checked(str(place))).endswith("all of it is as it was written")
        assert taken_over(spark, place) == expected
        shutil.rmtree(place)
    assert steps > 6


# ---------------------------------------------------------------- beside a state in a file

PROGRAM = """
input {kind} R(k: {key}{columns})
input stream S(k: {key})
output multiset O(k: {key})
output relation Was(k: {key})
output stream Again(k: {key})
O(k) :- R(.k = k).
Was(k) :- R-{delay}(.k = k), not R(.k = k).
Again(k) :- S'(k), S-{delay}(k).
"""
VALUES: dict[str, list[Any]] = {
    "u8": [0, 7],
    "bigint": [0, 7, 1 << 70],
    "double": [0.0, 7.0, 0.5],
    "Option<u8>": [None, 7],
    "string": ["", "é"],
    "(u8, string)": [(1, "a"), (2, "")],
    "Vec<u8>": [[], [1, 1]],
    "Set<u8>": [[], [1]],
}
TYPES = st.sampled_from(sorted(VALUES))


@st.composite
def columns(draw: Any) -> dict[str, str]:
    """Columns beside `k`, with their types."""
    return {name: draw(TYPES) for name in draw(st.sets(st.sampled_from("abc"), max_size=2))}


def text_of(columns: dict[str, str], kind: str, key: str, delay: int) -> str:
    more = "".join(f", {name}: {columns[name]}" for name in sorted(columns))
    return PROGRAM.format(kind=kind, key=key, columns=more, delay=delay)


def moves(session: Session, changes: list[tuple[int, int, int]], columns: dict[str, str]) -> dict[str, Any]:
    """Commits insertions, and deletions where something is to be deleted."""
    for key, choice, sign in changes:
        values = [VALUES[columns[name]] for name in sorted(columns)]
        row = (key, *(each[choice % len(each)] for each in values))
        (session.insert if sign > 0 else session.delete)("R", row)
        session.insert("S", (key,))
    changed = session.commit()
    return {name: dict(changed.rows(name)) for name in changed}


def held(session: Session) -> dict[str, Any]:
    return {name: sorted(map(str, session[name].records())) for name in ("R", "O", "Was", "Again")}


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.just(1)), max_size=4)
LATER = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from([1, -1])), max_size=4)
KINDS = st.sampled_from(["relation", "relation", "multiset"])


@thorough
@given(
    st.tuples(columns(), KINDS),
    st.tuples(columns(), KINDS),
    st.integers(1, 2),
    st.lists(st.one_of(ROWS, LATER), min_size=1, max_size=4),
    st.lists(st.just([]), min_size=1, max_size=3),
)
def test_what_is_migrated_is_what_a_file_holds(
    spark: SparkSession,
    old: tuple[dict[str, str], str],
    new: tuple[dict[str, str], str],
    delay: int,
    before: list[list[tuple[int, int, int]]],
    after: list[list[tuple[int, int, int]]],
) -> None:
    """Also as errors, as later commits change it, and as the past is told."""
    first, second = text_of(*old, "u8", delay), text_of(*new, "u16", delay)
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "MANY", 2)
        file, folder = Path(home) / "file", Path(home) / "folder"
        with ddlog.compile(first).session(state=file) as plain, session_on(spark, folder, first) as kept:
            for changes in before:
                assert moves(kept, changes, old[0]) == moves(plain, changes, old[0])
                folder_of(kept)._folding.fold_if_due()
        wanted, found = (
            opened(lambda: ddlog.compile(second).session(state=file, migrate=True)),
            opened(lambda: session_on(spark, folder, second, migrate=True)),
        )
        if isinstance(wanted, str) or isinstance(found, str):
            assert isinstance(wanted, str) and isinstance(found, str)
            twice = (old[1], new[1]) == (
                "multiset",
                "relation",
            )  # a file may be asked for something else first
            assert twice or found.replace("folder", "file") == wanted
            return
        with wanted as plain, found as kept:
            assert held(kept) == held(plain)
            for changes in after:
                assert moves(kept, changes, new[0]) == moves(plain, changes, new[0])
            assert held(kept) == held(plain)
            epoch = len(before) + len(after) + 1
            one, other = opened(lambda: kept.at(epoch - 1)), opened(lambda: plain.at(epoch - 1))
            assert one == other if isinstance(other, str) else held(one) == held(other)


def opened(make: Any) -> Session | str:
    try:
        session: Session = make()
    except DDlogError as error:
        return str(error)
    return session
