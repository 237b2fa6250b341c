"""Sessions on Spark whose state is in a folder: restarts, crashes, damage, and one writer at a time."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ddlog.console.cli import main
from ddlog.durability.lock import StateLock
from ddlog.durability.records import Stored
from ddlog.engine.spark.runtime import SparkOptions
from ddlog.engine.spark.tables import arrow_schema
from ddlog.errors.diagnostics import DDlogError
from ddlog.lowering.builder import column
from ddlog.sessions.program import compile
from ddlog.sessions.session import Session
from ddlog.spark.state import contents as statecontents
from ddlog.spark.state import durable, folding, lease, reports
from ddlog.spark.state import rows as staterows
from ddlog.spark.state.files import HadoopFiles, LocalFiles
from ddlog.spark.state.folder import StateFolder
from ddlog.spark.state.folding import Folding
from ddlog.spark.state.lease import Lease
from ddlog.spark.state.locations import held
from ddlog.spark.state.manifest import FolderSpan
from ddlog.spark.state.rows import RelationRows
from ddlog.spark.types.codec import SparkCodec

from ..trying import longer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
typedef Shape = Circle{r: double} | Dot
input relation Edge(a: (u8, u8), bb: Shape, bB: Vec<string>, c: Option<string>)
input multiset Bag(x: bigint)
input stream Came(x: u8)
output multiset Twice(x: bigint)
output relation Ever(x: u8)
output relation Copy(a: (u8, u8), b: Shape, c: Vec<string>, d: Option<string>)
Twice(x) :- Bag-1(x), Bag(x).
Ever(x) :- Came'(x).
Ever(x) :- Ever-1(x), not Edge((x, x), _, _, _).
Copy(a, s, t, o) :- Edge(a, s, t, o).
"""
EDGES = {
    0: [((1, 2), "Dot", ["é", ""], None), ((1, 2), "Circle{0.5}", [], "x")],
    2: [((5, 5), "Circle{-0.0}", ["x"], "")],
}
COMMITS: list[list[tuple[str, str, list[Any]]]] = [
    [("insert", "Edge", EDGES[0]), ("insert", "Came", [(1,), (1,), (5,)])],
    [("insert", "Bag", [(7,), (7,), (1 << 70,)]), ("insert", "Came", [(2,)])],
    [("delete", "Edge", EDGES[0][1:]), ("delete", "Bag", [(7,)]), ("insert", "Edge", EDGES[2])],
    [("insert", "Came", [(3,)]), ("delete", "Bag", [(7,)])],
]


def session_on(spark: SparkSession, place: Path, text: str = PROGRAM, **options: Any) -> Session:
    """A session whose state is in a folder."""
    return compile(text).session(
        spark=spark, state=place, spark_options=SparkOptions(partitions=1), **options
    )


def told(session: Session, number: int) -> dict[str, Any]:
    """The changes that one of COMMITS makes."""
    for verb, relation, rows in COMMITS[number]:
        if relation == "Edge":
            columns = zip(("a", "bb", "bB", "c"), zip(*rows, strict=True), strict=True)
            data = {name: list(each) for name, each in columns}
            table = pa.table({**data, "a": [{"0": x, "1": y} for x, y in data["a"]]})
            getattr(session, f"{verb}_table")(relation, table)
        else:
            getattr(session, verb)(relation, *rows)
    changes = session.commit()
    found = {name: changes.rows(name) for name in sorted(changes)}
    return {name: [(str(row), w) for row, w in rows] for name, rows in found.items() if rows}


def test_a_session_goes_on(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In other sessions the commits have the same changes; also by rows that executors write and read."""
    with compile(PROGRAM).session(engine="in-process") as session:
        expected = [told(session, number) for number in range(len(COMMITS))]
    with session_on(spark, tmp_path / "state") as session:
        assert [told(session, number) for number in range(2)] == expected[:2]
        with pytest.raises(DDlogError, match="is in use by the process"):
            session_on(spark, tmp_path / "state")
    for module in (staterows, folding, statecontents):
        monkeypatch.setattr(module, "FEW", -1)
    monkeypatch.setattr(staterows, "_SMALL_FILE", 0)
    monkeypatch.setattr(folding, "MANY", 2)
    with session_on(spark, tmp_path / "state") as session:
        assert session.epoch == 3  # a session that begins from nothing commits the facts of the program
        before = len(session.state.durable.folder.manifest.spans)  # type: ignore[union-attr]
        assert told(session, 2) == expected[2]
        keeping = session.state.durable
        assert isinstance(keeping, durable.FolderDurable)
        keeping._folding.fold_if_due()
        assert len(keeping.folder.manifest.spans) <= before
    renamed = PROGRAM.replace("Twice", "Again")
    with session_on(spark, tmp_path / "state", renamed, read_only=True) as session:
        assert session.state.durable is not None and session.state.durable.changed
        assert session.state.durable.holds_rows() and not session.state.started
        assert session.size("Bag") == 2
        session.insert("Came", (1,))
        with pytest.raises(DDlogError, match="open for reading only"):
            session.commit()
        assert sorted(session["Ever"].tuples()) == [(1,), (2,)]
    full = OSError(errno.ENOSPC, "No space left on device")

    def refuse(*given: Any) -> None:
        raise full

    with session_on(spark, tmp_path / "state") as session:
        with monkeypatch.context() as patch:
            patch.setattr(LocalFiles, "create", refuse)
            with pytest.raises(DDlogError, match="cannot be written and is rolled back: No space left"):
                told(session, 3)
        assert told(session, 3) == expected[3]
    monkeypatch.setattr(reports, "FEW", -1)
    exported = rows_of_an_export(tmp_path / "state", tmp_path / "by executors")
    assert [len(rows) for rows in exported.values()] == [2, 1] and exported["Bag"] == [
        "(Decimal('1180591620717411303424'),)"
    ]
    monkeypatch.undo()
    assert rows_of_an_export(tmp_path / "state", tmp_path / "here") == exported
    with session_on(spark, tmp_path / "state"), pytest.raises(DDlogError, match="is in use by the process"):
        list(reports.compacted(str(tmp_path / "state")))
    assert "bytes before" in next(reports.compacted(str(tmp_path / "state")))
    assert rows_of_an_export(tmp_path / "state", tmp_path / "again") == exported
    with session_on(spark, tmp_path / "state") as session:
        assert session.epoch == 5 and sorted(session["Ever"].tuples()) == [(1,), (2,), (3,)]


def rows_of_an_export(state: Path, target: Path) -> dict[str, list[str]]:
    """The rows that `ddlog state --export` writes."""
    found = {}
    for line in reports.exported(str(state), str(target)):
        table = pq.read_table(line)
        found[Path(line).stem] = sorted(str(tuple(row.values())) for row in table.to_pylist())
    return found


def test_what_a_folder_is_not_for(spark: SparkSession, tmp_path: Path) -> None:
    text = "input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x)."
    for options, message in [
        ({"read_only": True}, "there is no such state"),
    ]:
        with pytest.raises(DDlogError, match=message):
            session_on(spark, tmp_path / "state", text, **options)
    with pytest.raises(DDlogError, match="cannot be combined with the in-process engine"):
        compile(text).session(state="hdfs://host/state")
    with session_on(spark, tmp_path / "state", text) as session:
        session.insert("R", (1,))
        session.commit()
    with pytest.raises(DDlogError, match="has data of other input relations") as raised:
        session_on(spark, tmp_path / "state", text.replace("u8", "u16"))
    with pytest.raises(DDlogError, match="a session in process keeps its state in a file"):
        compile(text).session(state=tmp_path / "state")
    assert "R(x: bit<8>)" in str(raised.value) and "R(x: bit<16>)" in str(raised.value)
    assert "--migrate takes over columns of the same names" in str(raised.value)


# ---------------------------------------------------------------- the folder itself

RELATION = compile("input multiset R(x: u8, y: string)").relations["R"]
SCHEMA = tuple(column(each.name, each.type) for each in RELATION.columns)
CODEC = SparkCodec({})
ROWS = RelationRows(1, RELATION, CODEC)
STORED = [Stored(1, "R", "multiset", "input", False, (("x", "bit<8>"), ("y", "string")), ())]
GONE = replace(STORED[0], id=2, name="Gone", dropped=True)
STREAM = replace(STORED[0], id=3, name="S", kind="stream")
PROGRAM_OF_R = {"name": "r.dl", "digest": "d", "depth": "0"}


class Dead(BaseException):
    """The process is gone."""


@contextmanager
def dying(steps: int, half: bool = False) -> Iterator[list[str]]:
    """This thread's process dies at the N-th step that changes files: before it, or when a file is half
    written. It gives a list, which then has the step."""
    left, here, died = steps, threading.get_ident(), list[str]()

    def step(name: str, given: Any) -> None:
        nonlocal left
        if threading.get_ident() != here or (name == "fsync" and stat.S_ISDIR(os.fstat(given).st_mode)):
            return
        left -= 1
        if left <= 0:
            if half and not died and name == "fsync":
                os.truncate(f"/proc/self/fd/{given}", os.fstat(given).st_size // 2)
            died.append(name)
            raise Dead

    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "link", "rename", "unlink", "rmdir"):
            original = getattr(os, name)

            def counted(*given: Any, name: str = name, original: Any = original, **more: Any) -> Any:
                step(name, given[0])
                return original(*given, **more)

            patch.setattr(os, name, counted)
        try:
            yield died
        except Dead:
            assert died


def opened(files: LocalFiles) -> StateFolder:
    return StateFolder.open(files, lambda: held(files), None)


def append(
    folder: StateFolder,
    rows: list[tuple[int, str, int]],
    written: Sequence[RelationRows] = (ROWS,),
    stored: Sequence[Stored] = STORED,
) -> None:
    """A commit of rows with weights, to one relation or several."""
    data = [CODEC.encode(each, [row[k] for row in rows]) for k, each in enumerate(SCHEMA)]
    weights = pa.array([row[2] for row in rows], pa.int64())
    table = pa.Table.from_arrays([*data, weights], schema=arrow_schema(CODEC, SCHEMA))
    draft = folder.draft()
    parts = [each.write(folder.files, draft.folder, table) for each in written] if rows else []
    epoch = folder.manifest.epoch + 1
    span = FolderSpan(epoch, epoch, "epochs", tuple(parts), (f"id {epoch}",), time=int(time.time()))
    folder.extend([span], PROGRAM_OF_R, stored)


def contents(folder: StateFolder) -> dict[tuple[int, str], int]:
    """The sum of all rows of R."""
    parts = [part for span in folder.manifest.spans for part in span.parts if part.relation == ROWS.id]
    rows = ROWS.sum(None, [ROWS.read(folder.files, parts)])
    return {(row["c0"], row["c1"]): row["w"] for row in rows.to_pylist()}


SCRIPT = [
    [(n % 3, "a", 1), (n, "é" * n, n + 1)] if n % 4 else [(n - 1, "é" * (n - 1), -n)] for n in range(1, 7)
]
STATES: list[dict[tuple[int, str], int]] = [{}]
for _rows in SCRIPT:
    _next = dict(STATES[-1])
    for _x, _y, _w in _rows:
        _next[_x, _y] = _next.get((_x, _y), 0) + _w
    STATES.append({row: weight for row, weight in _next.items() if weight})


def folds(folder: StateFolder) -> Folding:
    return Folding(folder, None, {1: ROWS}, {STREAM.id}, 0)  # type: ignore[arg-type]  # few rows need no Spark


@pytest.mark.parametrize("half", [False, True])
def test_a_crash_at_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool) -> None:
    monkeypatch.setattr(folding, "MANY", 3)
    steps, dead = 0, ["not yet"]
    while dead:
        steps += longer(2 + half, 1)
        place = tmp_path / str(steps)
        folder, done = opened(LocalFiles(place)), 0
        with dying(steps, half) as dead:
            for rows in SCRIPT:
                append(folder, rows)
                done += 1
                folds(folder).fold()
        folder.close()
        again = opened(LocalFiles(place))
        epoch = again.manifest.epoch
        assert epoch in (done, done + 1) and contents(again) == STATES[epoch]
        assert folds(again).ids() == {f"id {n}" for n in range(1, epoch + 1)}
        there = {str(each.relative_to(place)) for each in (place / "data").rglob("*") if each.is_file()}
        assert again.all_files().keys() == there and len(again.files.sizes("log")) == 1
        for rows in SCRIPT[epoch:]:
            append(again, rows)
        assert contents(again) == STATES[-1]
        again.close()
        shutil.rmtree(place)
    assert steps > 25


def test_a_failed_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(LocalFiles(tmp_path))
    append(folder, SCRIPT[0])

    def fails(*given: Any) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, "create", fails)
        with pytest.raises(OSError, match="I/O error"):
            append(folder, SCRIPT[1])
    append(folder, SCRIPT[1])
    assert contents(folder) == STATES[2]
    (tmp_path / "log" / "0000000004.json").write_text("another writer")
    for _ in range(2):
        with pytest.raises(DDlogError, match="another session has written to it"):
            append(folder, SCRIPT[2])
    folder.close()


DAMAGE: list[tuple[Callable[[Path], Any], str]] = [
    (lambda p: next(p.glob("data/*2-*/*")).unlink(), "is missing"),
    (lambda p: shutil.rmtree(next(p.glob("data/*2-*"))), "is missing"),
    (lambda p: flip(next(p.glob("data/*2-*/*"))), "R-1.parquet is not what was written"),
    (lambda p: cut(next(p.glob("data/*2-*/*"))), "is not what was written"),
    (lambda p: flip(next(p.glob("log/*"))), "json is not what was written"),
    (lambda p: cut(next(p.glob("log/*"))), "json is not what was written"),
    (lambda p: next(p.glob("log/*")).rename(p / "log" / "0000000009.json"), "is not what was written"),
    (lambda p: next(p.glob("log/*")).unlink(), "no manifest in log/"),
    (lambda p: shutil.rmtree(p / "log"), "no manifest in log/"),
    (lambda p: newer(next(p.glob("log/*"))), "state of version 7, and this ddlog reads version 2"),
    (
        lambda p: [shutil.rmtree(p), p.mkdir(), (p / "mine.txt").write_text("x")],
        "other files, such as mine.txt",
    ),
    (lambda p: [shutil.rmtree(p), p.write_text("x")], "cannot be used"),
]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def newer(path: Path) -> None:
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(head), "version": 7}).encode() + b"\n" + rest)


def test_a_folder_that_is_moved_while_it_is_in_use_takes_no_commit(tmp_path: Path) -> None:
    folder = opened(LocalFiles(tmp_path / "s"))
    append(folder, SCRIPT[0])
    (tmp_path / "s").rename(tmp_path / "moved")
    with pytest.raises(OSError, match="No such file"):
        append(folder, SCRIPT[1])
    assert not (tmp_path / "s").exists()
    (tmp_path / "s").mkdir()
    with pytest.raises(OSError, match="another folder has taken its place"):
        append(folder, SCRIPT[1])
    shutil.rmtree(tmp_path / "s")
    (tmp_path / "moved").rename(tmp_path / "s")
    append(folder, SCRIPT[1])
    assert contents(folder) == STATES[2]
    folder.close()


def test_text_that_is_none_is_found_though_its_checksum_is_right(tmp_path: Path) -> None:
    folder = opened(LocalFiles(tmp_path))
    append(folder, [(1, "bbcc", 1)])
    (part,) = folder.manifest.spans[0].parts
    path = tmp_path / part.files[0].name
    rows = pq.read_table(path)
    sink = io.BytesIO()
    pq.write_table(rows, sink, compression="none")
    path.write_bytes(sink.getvalue().replace(b"\x04\0\0\0bbcc", b"\x04\0\0\0\xff\xffcc"))
    with pytest.raises(DDlogError, match=f"is damaged: {part.files[0].name}"):
        ROWS.read(folder.files, [part])
    folder.close()


@pytest.mark.parametrize("number", range(len(DAMAGE)))
def test_damage_is_found(tmp_path: Path, number: int) -> None:
    place, (spoil, message) = tmp_path / "state", DAMAGE[number]
    folder = opened(LocalFiles(place))
    for rows in SCRIPT[:3]:
        append(folder, rows)
    folder.close()
    spoil(place)
    for open in (opened, lambda files: StateFolder.open(files, None, None)):
        with pytest.raises(DDlogError, match=message):
            open(LocalFiles(place))
    StateLock(place).release()  # nobody holds what could not be opened


def test_the_command_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder on this machine is told of, checked, exported and compacted without Spark and the program."""
    place = tmp_path / "state"

    def run(*words: str) -> tuple[int, str]:
        code, (out, error) = main(["state", str(place), *words]), capsys.readouterr()
        return code, out + error

    assert "there is no such state" in run()[1]
    folder = opened(LocalFiles(place))
    for rows in SCRIPT[:4]:
        append(folder, rows)
    code, out = run()
    size = sum(each.bytes for each in folder.manifest.files())
    told = f"epoch 4, history from epoch 1, 4 spans, {size:,} bytes\n"
    assert (code, out.startswith(told), "4 ids of applied updates" in out) == (0, True, True)
    assert f"input multiset R(x: bit<8>, y: string)  {sum(STATES[4].values())} rows" in out
    assert "is in use by the process" in run("--compact")[1]
    folder.close()
    assert run("--check") == (0, "epoch 4: all of it is as it was written\n")
    for words in (["--compact"], []):
        assert run(*words, "--export", str(tmp_path / "out"))[0] == 0
        rows = pq.read_table(tmp_path / "out" / "R.parquet").to_pylist()
        counted = {row: sum((each["x"], each["y"]) == row for each in rows) for row in STATES[4]}
        assert counted == STATES[4] and len(rows) == sum(STATES[4].values())
    assert "epoch 4, history from epoch 4, 2 spans" in run()[1] and len(list(place.glob("data/*"))) == 2
    again = opened(LocalFiles(place))
    append(again, SCRIPT[4])
    assert contents(again) == STATES[5] and folds(again).ids() == {f"id {n}" for n in range(1, 6)}
    again.close()
    flip(next(place.glob("data/*/*.parquet")))
    next(place.glob("data/*/ids.json")).unlink()
    code, out = run("--check")
    assert code == 1 and "R-1.parquet is not what was written" in out and "ids.json is missing" in out
    assert "other files can be read, with changes of" in out


@pytest.mark.parametrize("half", [False, True])
def test_a_crash_in_a_compaction_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool
) -> None:
    """With history, ids, a stream, and a relation that was dropped."""
    begin, stored = tmp_path / "begin", [*STORED, GONE, STREAM]
    folder, written = opened(LocalFiles(begin)), [RelationRows(each.id, RELATION, CODEC) for each in stored]
    with monkeypatch.context() as patch:
        patch.setattr(folding, "MANY", 3)
        for rows in SCRIPT:
            append(folder, rows, written, stored)
            folds(folder).fold()
    assert folder.manifest.past is not None
    folder.close()
    steps, dead = 0, ["not yet"]
    while dead:
        steps += longer(2 + half, 1)
        place = tmp_path / str(steps)
        shutil.copytree(begin, place)
        with dying(steps, half) as dead:
            list(reports.compacted(str(place)))
        assert list(reports.checked(str(place))) == ["epoch 6: all of it is as it was written"]
        list(reports.compacted(str(place)))
        again = opened(LocalFiles(place))
        assert contents(again) == STATES[-1] and folds(again).ids() == {f"id {n}" for n in range(1, 7)}
        assert [each.name for each in again.manifest.relations] == ["R", "S"]
        there = {str(each.relative_to(place)) for each in (place / "data").rglob("*") if each.is_file()}
        assert again.all_files().keys() == there and again.manifest.past is None
        again.close()
        shutil.rmtree(place)
    assert steps > 12


def test_a_reader_goes_beside_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MANY", 2)
    files = LocalFiles(tmp_path)
    folder = opened(files)
    for number, rows in enumerate(SCRIPT, 1):
        append(folder, rows)
        reader = StateFolder.open(files, None, None)
        folds(folder).fold()
        assert contents(reader) == STATES[number]  # what it reads is there until the fold after the next
        with pytest.raises(DDlogError, match="for reading only"):
            append(reader, rows)
    folder.close()


def test_a_fold_leaves_the_files_of_a_commit_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "MANY", 2)
    folder = opened(LocalFiles(tmp_path))
    for rows in SCRIPT[:3]:
        append(folder, rows)
    draft = folder.draft()
    data = [CODEC.encode(each, values) for each, values in zip(SCHEMA, ([4], ["x"]), strict=True)]
    table = pa.Table.from_arrays([*data, pa.array([1])], schema=arrow_schema(CODEC, SCHEMA))
    part = ROWS.write(folder.files, draft.folder, table)
    assert folds(folder).fold()  # as the thread that folds does, while the rows of a commit are written
    folder.extend([FolderSpan(4, 4, "epochs", (part,))], PROGRAM_OF_R, STORED)
    folder.close()
    again = opened(LocalFiles(tmp_path))
    assert contents(again) == {**STATES[3], (4, "x"): 1}
    again.close()


def test_any_file_system_of_hadoop(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without locks of its own: here that of Java's Hadoop, on local files."""
    monkeypatch.setattr(lease, "RENEWED", 0.2)
    monkeypatch.setattr(lease, "STALE", 1.5)
    files = HadoopFiles(spark, f"file://{tmp_path}/state")
    folder = StateFolder.open(files, lambda: Lease(files), None)
    for rows in SCRIPT[:2]:
        append(folder, rows)
    with pytest.raises(DDlogError, match=r"is in use by the process \d+ on "):
        StateFolder.open(files, lambda: Lease(files), None)
    slept = folder._holder
    assert isinstance(slept, Lease)
    slept._ended.set()  # as if the process stood still
    slept._thread.join()
    again = StateFolder.open(files, lambda: Lease(files), None)
    with pytest.raises(DDlogError, match="was taken over by the process"):
        append(folder, SCRIPT[2])
    append(again, SCRIPT[2])
    assert contents(again) == STATES[3]
    again.close()
    assert not files.sizes("").keys() & {"lock"}
    with pytest.raises(FileExistsError):
        files.create(again.manifest.name, b"")
    with pytest.raises(FileNotFoundError):
        files.read("data/none")
    folder = StateFolder.open(files, None, None)
    assert contents(folder) == STATES[3]
