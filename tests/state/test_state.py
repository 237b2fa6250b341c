"""Sessions with a state: closed and opened again, they go on as if they had never ended."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.console.cli import main
from ddlog.durability import folding, log, reports
from ddlog.durability.store import FileStore
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.session import Session

from ..trying import longer, trying
from .kills import forked, wait_for

PROGRAM = ddlog.compile("""
typedef Id = Id{a: u32, b: string}
typedef Shape = Round{radius: double} | Flat{sides: Vec<u8>}
input relation A(x: u32, y: string)
A(1, "own").
input multiset M(x: bigint, id: Id, o: Option<string>, v: Vec<u8>)
input relation K(k: string, s: Shape) primary key (r) r.k
input relation Edge(x: u32, y: u32)
input relation Flag()
input stream S(x: u32)
output relation Path(x: u32, z: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
output relation Total(n: u32)
Total(n + x) :- Total-1(n), S'(x).
Total(x) :- S'(x), not Total-1(_).
Total(n) :- Total-1(n), not S'(_).
output stream Next(x: u32)
Next(x + 1) :- S(x).
output relation Two(x: u32)
Two(x) :- S'-2(x).
output relation WasA(x: u32)
WasA(x) :- A-2(x, _).
output multiset Bag(x: bigint, n: u32)
Bag(x, id.a) :- M(x, id, _, _).
output relation Alone(x: u32, n: usize)
Alone(x, n) :- Edge(x, y), not Path(y, x), var n = y.group_by(x).count().
output relation Up()
Up() :- Flag().
""")

SHAPES = ({"Round": [1.5]}, {"Round": [float("nan")]}, {"Flat": [[]]}, {"Flat": [[1, 2]]})
small = st.integers(0, 3)
moves = st.one_of(
    st.tuples(st.just("Edge"), st.booleans(), st.tuples(small, small)),
    st.tuples(st.just("A"), st.booleans(), st.tuples(small, st.sampled_from(["own", "x", "", "é"]))),
    st.tuples(
        st.just("M"),
        st.booleans(),
        st.tuples(
            st.sampled_from([0, 1 << 62, -(1 << 200)]),
            st.tuples(small, st.sampled_from(["q", "None"])),
            st.sampled_from([None, "", "None", "k"]),
            st.lists(small, max_size=2),
        ),
    ),
    st.tuples(st.just("K"), st.booleans(), st.tuples(st.sampled_from("ab"), st.sampled_from(SHAPES))),
    st.tuples(st.just("S"), st.just(True), st.tuples(small)),
    st.tuples(st.just("Flag"), st.booleans(), st.just(())),
)
scripts = st.lists(st.lists(moves, max_size=4), min_size=1, max_size=10)


def apply(session: Session, transaction: Sequence[tuple[str, bool, Any]]) -> str:
    """The changes of a transaction."""
    for relation, comes, row in transaction:
        if relation == "K" and comes:
            session.upsert(relation, row)
        elif relation == "K":
            if any(each.k == row[0] for each in session["K"]) and not session.in_transaction:
                session.delete_key("K", row[0])
        elif comes:
            session.insert(relation, row)
        else:
            session.delete(relation, row)
    return str(session.commit())


def contents(session: Session) -> dict[str, list[str]]:
    """The records of each relation."""
    relations = session.program.relations
    return {n: list(session[n].records()) for n, each in relations.items() if not each.hidden}


def remove(path: Path) -> None:
    """Removes a state."""
    for end in ("", "-wal", "-shm", "-lock"):
        Path(f"{path}{end}").unlink(missing_ok=True)


@trying(8)
@given(scripts, st.sampled_from(["commit", "interval", "exit"]), st.data())
def test_closing_and_opening_after_any_epoch_changes_nothing(
    tmp_path: Path, script: Any, durability: Any, data: st.DataObject
) -> None:
    path = tmp_path / "s.ddlog"
    remove(path)
    plain, kept = PROGRAM.session(), PROGRAM.session(state=path, durability=durability)
    try:
        for transaction in script:
            assert apply(kept, transaction) == apply(plain, transaction)
            if data.draw(st.integers(0, 2)) == 0:
                kept.close()
                if data.draw(st.integers(0, 3)) == 0:
                    list(reports.compacted(str(path)))
                kept = PROGRAM.session(state=path, durability=durability)
                assert contents(kept) == contents(plain)
    finally:
        kept.close()


def test_spans_are_folded_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MANY", 8)
    monkeypatch.setattr(folding, "_HISTORY_BYTES", 1 << 12)
    path = tmp_path / "s.ddlog"
    plain, kept = PROGRAM.session(), PROGRAM.session(state=path)
    durable = kept.state.durable
    assert durable is not None
    for n in range(64):
        moves = [("Edge", n % 3 > 0, (n % 5, n % 7)), ("S", True, (n,)), ("A", True, (n, str(n)))]
        moves += [("M", n % 4 > 0, (n % 2 << 70, (n % 2, "q"), None, [n % 2]))]
        assert apply(kept, moves) == apply(plain, moves)
        durable._folder.fold_if_due()
    spans = durable.store.spans()
    assert len(durable.store.current()) < 24
    assert any(span.folded for span in spans) and len(spans) < 64
    kept.close()
    with PROGRAM.session(state=path) as again:
        assert contents(again) == contents(plain)
    assert list(reports.checked(str(path)))


def test_a_failed_write_fails_the_commit_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.ddlog"
    kept, plain = PROGRAM.session(state=path), PROGRAM.session()
    for session in (kept, plain):
        apply(session, [("Edge", True, (1, 2))])
    append = FileStore.append

    def fails(*_: Any, **__: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(FileStore, "append", fails)
    with pytest.raises(
        ddlog.DDlogError, match="cannot be written and is rolled back: database or disk is full"
    ):
        apply(kept, [("Edge", True, (2, 3)), ("S", True, (5,))])
    monkeypatch.setattr(FileStore, "append", append)
    assert contents(kept) == contents(plain)
    later = [("Edge", True, (3, 1)), ("S", True, (7,))]
    assert apply(kept, later) == apply(plain, later)
    kept.close()
    with PROGRAM.session(state=path) as again:
        assert contents(again) == contents(plain)


def test_with_interval_the_next_commit_tells_of_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PROGRAM.session(state=tmp_path / "s.ddlog", durability="interval")
    append = FileStore.append
    monkeypatch.setattr(log, "INTERVAL", 100)
    apply(kept, [("Edge", True, (1, 2))])
    monkeypatch.setattr(FileStore, "append", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    durable = kept.state.durable
    assert durable is not None
    durable._log.flush_quietly()
    with pytest.raises(ddlog.DDlogError, match="2 earlier commits are not on disk yet"):
        apply(kept, [("Edge", True, (2, 3))])
    monkeypatch.setattr(FileStore, "append", append)
    apply(kept, [("Edge", True, (3, 4))])
    kept.close()
    with PROGRAM.session(state=tmp_path / "s.ddlog") as again:
        assert list(again["Edge"].records()) == ["Edge{.x = 1, .y = 2}", "Edge{.x = 3, .y = 4}"]


def test_one_writer_and_readers_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "s.ddlog"
    with PROGRAM.session(state=path) as kept:
        apply(kept, [("Edge", True, (1, 2))])
        with pytest.raises(
            ddlog.DDlogError, match=f"in use by the process {os.getpid()}\n.* that is this process"
        ):
            PROGRAM.session(state=path)
        with PROGRAM.session(state=path, read_only=True) as reader:
            apply(kept, [("Edge", True, (2, 3))])
            assert reader.size("Edge") == 1
            reader.insert("Edge", (5, 6))
            with pytest.raises(ddlog.DDlogError, match="takes no changes"):
                reader.commit()
            assert reader.size("Edge") == 1
        with PROGRAM.session(state=path, read_only=True) as reader:
            assert reader.size("Edge") == 2


def test_every_flipped_byte_is_found_or_of_no_account(tmp_path: Path) -> None:
    path = tmp_path / "s.ddlog"
    with PROGRAM.session(state=path) as kept:
        for n in range(4):
            apply(kept, [("Edge", True, (n, n + 1)), ("A", True, (n, "text"))])
        expected = contents(kept)
    whole = path.read_bytes()
    found = 0
    for at in range(0, len(whole), longer(601, 331)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            with PROGRAM.session(state=path, read_only=True) as again:
                assert contents(again) == expected, at
        except ddlog.DDlogError as error:
            found += 1
            assert error.diagnostics[0].message.startswith(str(path)), at
    assert found > 5
    for length in (0, 100, 4096, len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:length])
        with pytest.raises(ddlog.DDlogError):
            PROGRAM.session(state=path, read_only=True).start()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be looked at" * 50)
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.commit()
    with PROGRAM.session(state=tmp_path / "newer") as kept:
        kept.start()
    base = sqlite3.connect(tmp_path / "newer")
    base.execute("PRAGMA user_version = 9")
    base.close()
    for name, reason in (("text", "no database"), ("other", "another program"), ("newer", "version 9")):
        with pytest.raises(ddlog.DDlogError, match=reason):
            PROGRAM.session(state=tmp_path / name)
        assert name == "newer" or not (tmp_path / f"{name}-lock").exists()
    with pytest.raises(ddlog.DDlogError, match="no such state"):
        list(reports.described(str(tmp_path / "absent")))
    with pytest.raises(ddlog.DDlogError, match="no file that keeps"):
        PROGRAM.session(state="/dev/null")


def test_names_of_files_need_not_be_utf8(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"n\xff")
    home.mkdir()
    path, state = home / os.fsdecode(b"p\xfe.dl"), home / os.fsdecode(b"s\xfd")
    path.write_text("input relation R(x: u8)  output relation O(x: u8)  O(x) :- R(x).")
    for number in range(2):
        with ddlog.compile(path).session(state=state) as kept:
            kept.insert("R", (number,))
            kept.commit()
            assert kept.size("O") == number + 1


def test_an_empty_file_is_a_new_state_and_a_note_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.dl").write_text("input relation R(x: u32)\noutput relation O(x: u32)\nO(x) :- R(x).\n")
    (tmp_path / "s").touch()
    assert main(["run", str(tmp_path / "p.dl"), "--state", str(tmp_path / "s")]) == 0
    assert "s is there, but empty: it begins now" in capsys.readouterr().err


@pytest.mark.parametrize("read_only", [False, True])
def test_a_state_without_the_log_that_belongs_to_it_is_an_error(tmp_path: Path, read_only: bool) -> None:
    """As after a kill, when only the file itself was moved."""
    with PROGRAM.session(state=tmp_path / "s") as kept:
        apply(kept, [("Edge", True, (1, 2))])
        kept.state.durable.store.base.execute("PRAGMA wal_checkpoint(PASSIVE)")  # type: ignore[union-attr]
        apply(kept, [("Edge", True, (2, 3))])
        kept.state.durable._background.stop()  # type: ignore[union-attr]
        for end in ("", "-wal"):
            shutil.copy(f"{tmp_path}/s{end}", f"{tmp_path}/copy{end}")
            shutil.copy(tmp_path / "s", tmp_path / "alone")
        with sqlite3.connect(tmp_path / "s") as base, sqlite3.connect(tmp_path / "backup") as backup:
            base.backup(backup)
    for whole in ("copy", "s", "backup"):
        with PROGRAM.session(state=tmp_path / whole, read_only=read_only) as again:
            assert again.size("Edge") == 2
    with pytest.raises(ddlog.DDlogError, match="alone-wal is missing, which has the last commits"):
        PROGRAM.session(state=tmp_path / "alone", read_only=read_only)
    (tmp_path / "alone-wal").touch()  # as the error says
    with PROGRAM.session(state=tmp_path / "alone", read_only=read_only) as again:
        assert again.size("Edge") == 1


@pytest.mark.parametrize("durability", ["commit", "exit"])
def test_the_file_of_a_forgotten_session_is_whole_and_needs_no_log(tmp_path: Path, durability: str) -> None:
    text = (
        "import ddlog\n"
        "p = ddlog.compile('input relation R(x: u32) output relation O(x: u32) O(x) :- R(x).')\n"
        f"s = p.session(state={str(tmp_path / 's')!r}, durability={durability!r})\n"
        "s.insert('R', *range(1000))\ns.commit()\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
    assert not (tmp_path / "s-wal").exists()
    assert "1,000 rows" in "\n".join(reports.described(str(tmp_path / "s")))


def test_after_another_program_is_refused_one_state_is_closed_with_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the program which was refused would close the file before the other has written."""
    with PROGRAM.session(state=tmp_path / "s", durability="interval") as kept:
        kept.start()
        before = atexit._ncallbacks()  # type: ignore[attr-defined]
        with monkeypatch.context() as failing, pytest.raises(ddlog.DDlogError, match="full"):
            failing.setattr(Durable, "_settle", Mock(side_effect=OSError("full")))
            kept.extend("output relation Another(x: u32)")
        assert atexit._ncallbacks() == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_state_that_is_moved_while_it_is_in_use_takes_no_commit(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"s{end}"
    kept = PROGRAM.session(state=tmp_path / "s")
    apply(kept, [("Edge", True, (1, 2))])
    path.rename(tmp_path / "moved")
    with pytest.raises(ddlog.DDlogError, match="the commit cannot be written and is rolled back"):
        apply(kept, [("Edge", True, (2, 3))])
    (tmp_path / "moved").rename(path)
    apply(kept, [("Edge", True, (3, 4))])
    kept.close()
    with PROGRAM.session(state=tmp_path / "s") as again:
        assert {tuple(row) for row in again["Edge"]} == {(1, 2), (3, 4)}


OLD = "input relation R(x: u32, y: string)\ninput relation G(x: u32)\noutput relation O(x: u32)\n"
FOLD = "output relation Last(x: u32)\nLast(x) :- O-1(x).\n"


def test_programs_may_change_but_not_their_inputs(tmp_path: Path) -> None:
    path = tmp_path / "s.ddlog"
    with ddlog.compile(f"{OLD}O(x) :- R(x, _).\n{FOLD}").session(state=path) as kept:
        kept.insert("R", (1, "a"), (2, "b"))
        kept.commit()
    changed = f"{OLD}input relation New(x: u32)\nO(x + 10) :- R(x, _), not New(x).\n{FOLD}"
    with ddlog.compile(changed).session(state=path) as kept:
        assert [each.x for each in kept["O"]] == [11, 12]
        assert str(kept.commit()) == "Last:\nLast{.x = 11}: +1\nLast{.x = 12}: +1"
        kept.insert("New", (1,))
        kept.commit()
    with ddlog.compile(changed).session(state=path) as kept:
        assert str(kept.commit()) == "Last:\nLast{.x = 11}: -1"
    other = "input relation R(x: u64, y: string)\noutput relation O(x: u64)\nO(x) :- R(x, _).\n"
    with pytest.raises(ddlog.DDlogError) as caught:
        ddlog.compile(other).session(state=path)
    message = caught.value.diagnostics[0].message
    assert "input relation R(x: bit<32>, y: string)\n  now input relation R(x: bit<64>, y: string)" in message
    assert "now there is no input relation G" in message


def test_runs_on_a_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.dl").write_text(
        "input relation Edge(x: u32, y: u32)\noutput relation Path(x: u32, y: u32)\n"
        "Path(x, y) :- Edge(x, y).\nPath(x, z) :- Path(x, y), Edge(y, z).\n"
    )
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Edge.csv").write_text("1,2\n2,3\n")
    (tmp_path / "u.dat").write_text("start; insert Edge(3, 4); commit;")

    def run(*words: str) -> tuple[int, str, str]:
        state, program = str(tmp_path / "s.ddlog"), str(tmp_path / "p.dl")
        code = main([*words[:1], program, "--state", state, *words[1:]] if words[0] == "run" else [*words])
        return code, *capsys.readouterr()

    facts, updates = ("--input", str(tmp_path / "facts")), ("--updates", str(tmp_path / "u.dat"))
    code, out, _ = run("run", *facts, *updates, "--durability", "interval", "--sizes")
    assert (code, out.splitlines()[0]) == (0, "Path\t3")
    assert run("run", "--sizes")[:2] == (0, "Path\t6\n")
    code, _, error = run("run", *facts)
    assert code == 1 and "holds data already, as of epoch 2" in error and "--replace" in error
    assert run("run", *facts, "--merge", "--sizes")[1] == "Path\t6\n"
    assert run("run", *facts, "--replace", "--sizes")[1] == "Path\t3\n"
    assert run("run", "--read-only", "--sizes")[1] == "Path\t3\n"
    state = str(tmp_path / "s.ddlog")
    assert "input relation Edge(x: bit<32>, y: bit<32>)  2 rows" in run("state", state)[1]
    exported = run("state", state, "--check", "--compact", "--export", str(tmp_path / "out"))
    assert exported[0] == 0 and "as it was written" in exported[1]
    assert main(["run", str(tmp_path / "p.dl"), "--input", str(tmp_path / "out"), "--sizes"]) == 0
    assert capsys.readouterr().out == "Path\t3\n"


def test_a_damaged_log_of_sqlite_is_found(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.ddlog", tmp_path / "copy.ddlog"
    kept = PROGRAM.session(state=path)
    for n in range(5):
        apply(kept, [("Edge", True, (n, n + 1))])
    kept.start()
    data, wal = path.read_bytes(), Path(f"{path}-wal").read_bytes()  # as after the end of the machine
    expected = contents(kept)
    kept.close()

    def opened(log: bytes) -> Session:
        remove(copy)
        copy.write_bytes(data)
        Path(f"{copy}-wal").write_bytes(log)
        return PROGRAM.session(state=copy)

    with opened(wal) as again:
        assert contents(again) == expected
    with opened(wal[:-100]) as again:  # torn in the last commit
        assert again.size("Edge") == 4
    with pytest.raises(ddlog.DDlogError, match=r"commits in copy\.ddlog-wal: not what was written"):
        opened(wal[:200] + bytes([wal[200] ^ 1]) + wal[201:])
    path.rename(tmp_path / "moved")


def test_a_state_that_is_moved_away_fails_the_commit(tmp_path: Path) -> None:
    with pytest.raises(
        ddlog.DDlogError, match=f"^error: {tmp_path}/no/s: .*: there is no folder {tmp_path}/no$"
    ):
        PROGRAM.session(state=tmp_path / "no" / "s")
    kept = PROGRAM.session(state=tmp_path / "s.ddlog")
    apply(kept, [("Edge", True, (1, 2))])
    (tmp_path / "s.ddlog").rename(tmp_path / "away")
    with pytest.raises(ddlog.DDlogError, match="cannot be written and is rolled back: No such file"):
        apply(kept, [("Edge", True, (2, 3))])
    assert kept.size("Edge") == 1
    (tmp_path / "away").rename(tmp_path / "s.ddlog")
    apply(kept, [("Edge", True, (2, 3))])
    kept.close()
    with PROGRAM.session(state=tmp_path / "s.ddlog") as again:
        assert again.size("Edge") == 2


def test_arguments_about_a_state_need_one() -> None:
    for wrong in ({"durability": "exit"}, {"read_only": True}, {"migrate": True}, {"migrate": {"R.x": 1}}):
        with pytest.raises(ddlog.DDlogError, match=f"{next(iter(wrong))} needs state"):
            PROGRAM.session(**wrong)


def test_what_is_left_of_a_state_that_was_cut_is_told(tmp_path: Path) -> None:
    with PROGRAM.session(state=tmp_path / "s") as kept:
        for n in range(120):
            apply(kept, [("A", True, (n, "long text " * 60))])
    path, size = str(tmp_path / "s"), os.path.getsize(tmp_path / "s")
    left = {}
    for length in (size - 8_000, size - 24_000, 5000):
        os.truncate(path, length)
        with pytest.raises(ddlog.DDlogError) as caught:
            list(reports.checked(path))
        left[length] = str(caught.value)
    first, second, third = left.values()
    assert "parts of its log are lost" in first and "rows of A" in first and "rows of A" in second
    assert "the record of what it held is lost" in third
    assert int(re.findall(r"(\d+) rows of A", first)[0]) > int(re.findall(r"(\d+) rows of A", second)[0]) > 10


def test_what_is_exported_is_an_input_again(tmp_path: Path) -> None:
    """A relation in a module, a multiset, and rows without columns among others."""
    (tmp_path / "lib.dl").write_text("input relation In(x: u32, m: Map<string, Vec<u8>>)")
    (tmp_path / "p.dl").write_text(
        "import lib input relation Z() input relation No() input multiset M(x: string)"
    )
    program = ddlog.compile(tmp_path / "p.dl")
    rows = {"lib::In": [(3, {"a": [1]})], "Z": [()], "No": [], "M": [("x",), ("x",)]}
    with program.session(state=tmp_path / "s") as kept:
        for name, some in rows.items():
            kept.insert(name, *some)
        kept.commit()
        expected = {name: list(kept[name].records()) for name in rows}
    list(reports.exported(str(tmp_path / "s"), str(tmp_path / "out")))
    with program.session() as plain:
        plain.load(tmp_path / "out")
        assert {name: list(plain[name].records()) for name in rows} == expected


def test_empty_relations_are_exported_with_their_types(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("""
typedef P = P{a: u32, b: Option<string>}
typedef U = A{x: u8} | B
input relation R(p: P, u: U, v: Vec<(u8, bool)>, m: Map<string, s64>, b: bit<12>, s: Option<P>, z: bigint)
output relation O(b: bit<12>)
O(b) :- R(.b = b).
""")
    program = ddlog.compile(tmp_path / "p.dl")
    with program.session(state=tmp_path / "s") as kept:
        kept.start()
    (empty,) = reports.exported(str(tmp_path / "s"), str(tmp_path / "empty"))
    row = 'P{1, None}, B{}, [(1, true)], [("a", 1)], 7, Some{P{1, None}}, 5'
    (tmp_path / "u.dat").write_text(f"start; insert R({row}); commit;")
    words = [
        "run",
        str(tmp_path / "p.dl"),
        "--state",
        str(tmp_path / "s"),
        "--updates",
        str(tmp_path / "u.dat"),
    ]
    assert main(words) == 0
    (full,) = reports.exported(str(tmp_path / "s"), str(tmp_path / "full"))
    assert pq.read_schema(empty).equals(pq.read_schema(full))
    with program.session() as plain:
        plain.load(tmp_path / "empty")
        assert plain.size("R") == 0


def test_the_number_of_a_transaction_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = ddlog.compile("""
import print
input relation R(x: u32)
output relation O(x: u32)
O(x) :- R(x), Inspect print("${x} in ${ddlog_timestamp}").
""")
    for number in range(2):
        with program.session(state=tmp_path / "s") as kept:
            kept.insert("R", (number,))
            kept.commit()
    assert capsys.readouterr().out.split("\n")[:3] == ["0 in 1", "0 in 1", "1 in 2"]
    with program.session(state=tmp_path / "s") as kept:
        for epoch in (1.5, "x", True, None):
            with pytest.raises(ddlog.DDlogError, match="names no epoch"):
                kept.at(epoch)  # type: ignore[arg-type]
            with pytest.raises(ddlog.DDlogError, match="names no epoch"):
                kept.changes_of(epoch)  # type: ignore[arg-type]
        assert re.fullmatch(r"  epoch 3  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  R 1", kept.described_state()[-1])


def test_a_forked_process_leaves_the_state_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with PROGRAM.session(state=tmp_path / "s", durability="exit") as kept:
        kept.insert("Edge", (1, 2))
        kept.commit()
        durable, own = kept.state.durable, os.getpid()
        assert durable is not None
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: own + 1)
            kept.insert("Edge", (2, 3))
            with pytest.raises(ddlog.DDlogError, match=f"held by the process {own}, from which this one was"):
                kept.commit()
            with pytest.raises(ddlog.DDlogError, match="was forked"):
                kept.at(1)
            durable.close()
        kept.insert("Edge", (3, 4))
        kept.commit()
    with PROGRAM.session(state=tmp_path / "s") as again:
        assert sorted(each.x for each in again["Edge"]) == [1, 3]


def test_what_fails_at_the_end_of_a_session_keeps_no_commit_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PROGRAM.session(state=tmp_path / "s", durability="exit")
    kept.insert("Edge", (1, 2))
    kept.commit()
    monkeypatch.setattr(kept.state.host.runtime, "close", lambda: os.open("", 0))
    with pytest.raises(OSError):
        kept.close()
    with PROGRAM.session(state=tmp_path / "s") as again:
        assert again.size("Edge") == 1


def test_a_state_that_is_closed_is_free_although_a_forked_process_lives_on(tmp_path: Path) -> None:
    kept = PROGRAM.session(state=tmp_path / "s")
    waiting, going = os.pipe()

    def live() -> None:
        os.close(going)
        os.read(waiting, 1)

    process = forked(live)
    try:
        kept.close()
        PROGRAM.session(state=tmp_path / "s").close()
    finally:
        os.close(going)
        wait_for(process)
    os.close(waiting)


@pytest.mark.parametrize("place", [5, b"s", "", "a\0b", None])
def test_a_state_has_a_path(place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if place is None:
        PROGRAM.session(state=place).close()
    else:
        with pytest.raises(ddlog.DDlogError, match="expected the path of a file"):
            PROGRAM.session(state=place)
    assert not list(tmp_path.iterdir())


def test_a_limit_of_iterations_is_one_of_a_commit(tmp_path: Path) -> None:
    """A state whose commits have taken more together is opened under it, but not with another program."""
    text = "input relation E(x: u32, y: u32)\noutput relation P(x: u32, y: u32)\nP(x, y) :- E(x, y).\n"
    text += "P(x, z) :- P(x, y), E(y, z).\n"
    few = {"state": tmp_path / "state", "max_iterations": 3}
    with ddlog.compile(text).session(**few) as session:
        for x in range(9):
            session.insert("E", (x, x + 1))
            session.commit()
    with ddlog.compile(text).session(**few) as session:
        assert len(session["P"]) == len(session.at(session.epoch)["P"]) == 45
        session.insert("E", *((x, x + 1) for x in range(20, 30)))
        with pytest.raises(ddlog.DDlogError, match="no fixpoint after 3 iterations of P"):
            session.commit()
    other = ddlog.compile(text + "P(x, z) :- P(x, y), E(y, z), x > z.\n")
    with other.session(**few) as session, pytest.raises(ddlog.DDlogError, match="no fixpoint after 3"):
        len(session["P"])
