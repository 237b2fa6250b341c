"""States with right checksums that are not what a session wrote: in a file, rows of its tables are others,
and rows of Arrow in them; in a folder, numbers and texts of its manifest, and rows of Parquet."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
from pyarrow import ipc, parquet

import ddlog
from ddlog.durability.parts import checksum, part_checksum
from ddlog.durability.records import Stored
from ddlog.durability.typetexts import types_of
from ddlog.spark.state import folding
from ddlog.spark.state.files import LocalFiles
from ddlog.spark.state.folder import StateFolder
from ddlog.spark.state.folding import Folding
from ddlog.spark.state.locations import held
from ddlog.spark.state.manifest import FolderSpan
from ddlog.spark.state.relations import stored_rows

from ..state.untrue import ways_to_leaves
from .mutating import mutated

PROGRAM = """
typedef Shape = Dot | Box{w: s8, h: Option<bigint>}
input relation Edge(a: u32, b: string) primary key (e) (e.a, e.b)
input multiset Bag(x: s128, o: Option<Set<u8>>, d: double)
input relation Shapes[Shape]
input stream Came(x: u8, s: string)
output relation Ever(x: u8, s: string)
output multiset Pairs(a: u32, s: Shape)
output relation Big(n: bigint)
Ever(x, s) :- Came'(x, s).
Ever(x, s) :- Ever-1(x, s), not Edge(_, s).
Pairs(a, s) :- Edge(a, _), Edge-1(a, _), Shapes[s].
Big(n) :- Bag(x, _, _), var n = (x as bigint).group_by(()).sum().
"""
UPDATES = """
start; insert Edge(5000, "t1"), delete Edge(2, "t2"), insert Bag(1, None, 0.5), insert Came(1, "a"); commit;
"""
_ODD: Sequence[Any] = (
    -(1 << 63), -1, 0, 1, 2, 3, 7, 1 << 31, 1 << 40, (1 << 63) - 1, "", "x", "a" * 70, "Edge", "../../x",
    "\x1b[2J", "stream", "multiset", "window", "past", "migrated", "added", "bit<99999999999>", "[[]]",
    '[["a", "Vec<Vec"]]', '[["a", "u32"], ["b", "string"]]', "[" * 3000, None, 1.5, float("inf"), b"\xff\xfe",
    [], {}, [1], True,
)  # fmt: skip


def begun(path: Path) -> None:
    """A closed state of the program in a file, with some epochs and ids."""
    program = ddlog.compile(PROGRAM)
    with program.session(state=path) as session:
        for epoch in range(5):
            session.insert("Edge", *((x, f"t{x % 3}") for x in range(epoch * 20, epoch * 20 + 20)))
            session.insert("Bag", (epoch << 70, [epoch], 0.5), (1, None, float("nan")), (1, None, -0.0))
            session.insert("Shapes", "Dot" if epoch % 2 else {"Box": [epoch, epoch << 80]})
            session.insert("Came", (epoch, "a"), (epoch, "b"))
            if epoch:
                session.delete("Edge", (epoch, f"t{epoch % 3}"))
            session.applied.note([f"id {epoch}"])
            session.commit()


def lie(path: Path, chance: random.Random) -> str:
    """Changes something of a state in a file, and makes all checksums right again. Returns what it was."""
    with closing(sqlite3.connect(path)) as base, base:
        told = chance.choice([_odd_field, _odd_field, _odd_rows, _odd_rows, _odd_record])(base, chance)
        _sealed(base)
    return told


def _odd_field(base: sqlite3.Connection, chance: random.Random) -> str:
    """Another value in a row of a table."""
    table = chance.choice(
        ["head", "span", "span", "span", "part", "relation", "relation", "program", "applied"]
    )
    columns = [name for _, name, *_ in base.execute(f"PRAGMA table_info({table})") if name != "checksum"]
    column, odd = chance.choice(columns), _scalar(chance.choice(_ODD))
    row = chance.choice(base.execute(f"SELECT rowid FROM {table}").fetchall())[0]
    if chance.random() < 0.4:
        odd = chance.choice(base.execute(f"SELECT {column} FROM {table}").fetchall())[0]
    if chance.random() < 0.3 and isinstance(odd, int):
        odd = min(odd + chance.choice([-1, 1]), (1 << 63) - 1)
    with suppress(sqlite3.IntegrityError):
        base.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE rowid = ?", (odd, row))
    return f"{table}.{column} of row {row} = {odd!r:.60}"


def _scalar(odd: Any) -> Any:
    return json.dumps(odd) if isinstance(odd, list | dict) else odd


def _odd_record(base: sqlite3.Connection, chance: random.Random) -> str:
    """A row of a table once more, or no longer."""
    table = chance.choice(["span", "part", "relation", "applied"])
    columns = [name for _, name, *_ in base.execute(f"PRAGMA table_info({table})")]
    (row,) = chance.choice(base.execute(f"SELECT rowid FROM {table}").fetchall())
    if chance.random() < 0.5:
        base.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        return f"no {table} {row}"
    id = "'x'" if table == "applied" else f"(SELECT max(id) + 1 FROM {table})"
    base.execute(
        f"INSERT INTO {table} SELECT {', '.join([id, *columns[1:]])} FROM {table} WHERE rowid = {row}"
    )
    return f"{table} {row} twice"


def _odd_rows(base: sqlite3.Connection, chance: random.Random) -> str:
    """Other rows in a part."""
    id, data = chance.choice(base.execute("SELECT id, data FROM part").fetchall())
    table = ipc.open_stream(data).read_all()
    told, changed = odd_table(table, chance)
    new = changed if isinstance(changed, bytes) else _stream(changed, chance)
    if chance.random() < 0.15:
        told, new = "bytes", mutated(data, [], chance)
    rows = len(table) if isinstance(changed, bytes) or chance.random() < 0.3 else changed.num_rows
    base.execute("UPDATE part SET data = ?, rows = ? WHERE id = ?", (new, rows, id))
    return f"part {id}: {told}"


def _stream(table: pa.Table, chance: random.Random) -> bytes:
    sink = pa.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression=chance.choice([None, "zstd", "lz4"]))
    with ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def odd_table(table: pa.Table, chance: random.Random) -> tuple[str, pa.Table]:
    """Another table in the place of one."""
    change = chance.choice(_CHANGES)
    return change.__name__.strip("_"), change(table, chance)


def _without_column(table: pa.Table, chance: random.Random) -> pa.Table:
    return table.drop_columns([chance.choice(table.column_names)])


def _renamed(table: pa.Table, chance: random.Random) -> pa.Table:
    names = list(table.column_names)
    names[chance.randrange(len(names))] = chance.choice(["", "$weight", "$epoch", "\x1b[2J", *names])
    return table.rename_columns(names)


def _other_column(table: pa.Table, chance: random.Random) -> pa.Table:
    place, count = chance.randrange(table.num_columns), table.num_rows
    some = [
        pa.nulls(count), pa.array([None] * count, pa.int64()), pa.array(["x"] * count),
        pa.array([1.5] * count), pa.array([-1] * count, pa.int64()),
        pa.array([(1 << 63) - 1] * count, pa.int64()), pa.array([[1]] * count), pa.array([{"w": 1}] * count),
        pa.array([b"\xff"] * count), pa.array([1] * count, pa.int8()), pa.array(["9" * 5000] * count),
        pa.array(["Box{1, Some{2}}"] * count), pa.array(["[" * 20000] * count),
        pa.array([None] * count, pa.string()).dictionary_encode(), pa.array(["x"] * count, pa.large_string()),
        pa.array(["x"] * count, pa.string_view()), pa.array([True] * count),
        pa.RunEndEncodedArray.from_arrays([count or 1], [7]).slice(0, count),
        pa.array([b"\xff"] * count).view(pa.string()) if count else pa.nulls(0),
        pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int8()), pa.array(["x"])),
        pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int8()), pa.array([None], pa.string())),
    ]  # fmt: skip
    meta = chance.choice([None, table.schema.field(place).metadata, {b"ddlog.form": b"text"}])
    column = chance.choice(some)
    return table.set_column(place, pa.field(table.column_names[place], column.type, metadata=meta), column)


def _weighted(table: pa.Table, chance: random.Random) -> pa.Table:
    weights = [
        chance.choice([-1, 0, 1, 2, -(1 << 63), (1 << 63) - 1, 1 << 33]) for _ in range(table.num_rows)
    ]
    name = chance.choice(["$weight", "$weight", "$epoch"])
    plain = table.drop_columns([name]) if name in table.column_names else table
    return plain.append_column(name, pa.array(weights, pa.int64()))


def _repeated(table: pa.Table, chance: random.Random) -> pa.Table:
    return pa.concat_tables([table] * chance.choice([2, 3]))


def _empty(table: pa.Table, chance: random.Random) -> pa.Table:
    return table.slice(0, 0)


def _shuffled(table: pa.Table, chance: random.Random) -> pa.Table:
    columns = list(table.columns)
    chance.shuffle(columns)
    return pa.table(columns, names=table.column_names)


def _of_nulls(table: pa.Table, chance: random.Random) -> pa.Table:
    """Many rows without a byte."""
    column = pa.Array.from_buffers(pa.null(), 1 << chance.choice([20, 30]), [None])
    return pa.Table.from_arrays([column] * table.num_columns, table.column_names)


def _of_zeros(table: pa.Table, chance: random.Random) -> pa.Table:
    """Many rows that are few bytes when they are compressed."""
    count = 1 << 20
    column = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(bytes(8 * count))])
    return pa.Table.from_arrays([column] * table.num_columns, table.column_names)


_CHANGES: Sequence[Callable[[pa.Table, random.Random], pa.Table]] = (
    _without_column, _renamed, _other_column, _other_column, _other_column, _other_column, _weighted,
    _weighted, _repeated, _empty, _shuffled, _of_nulls, _of_zeros,
)  # fmt: skip


def _sealed(base: sqlite3.Connection) -> None:
    """Makes all checksums right."""
    for id, relation, rows, data in base.execute("SELECT id, relation, rows, data FROM part").fetchall():
        known = part_checksum(data, relation, rows) if isinstance(data, bytes) else -1
        base.execute("UPDATE part SET checksum = ? WHERE id = ?", (known, id))
    sums = dict(base.execute("SELECT id, checksum FROM part"))
    for table in ("head", "span", "relation", "applied", "program"):
        for row, *fields, _ in base.execute(f"SELECT rowid, * FROM {table}").fetchall():
            if (
                table == "span"
                and all(isinstance(each, int) for each in fields[6:8])
                and 0 <= fields[7] < 1000
            ):
                fields += [sums.get(part, -1) for part in range(fields[6], fields[6] + fields[7])]
            if table == "head" or table == "program":
                fields = fields[1:]
            known = 0 if any(isinstance(each, bytes) for each in fields) else checksum(*fields)
            base.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (known, row))


# ---------------------------------------------------------------- in a folder

_SHAPE = "S: Dot() | Box(w: signed<8>, h: ddlog_std::Option<bigint>)"
_OPTION = "ddlog_std::Option: ddlog_std::None() | ddlog_std::Some(x: 'A)"
STORED = [
    Stored(1, "Edge", "relation", "input", True, (("a", "bit<32>"), ("b", "string")), ()),
    Stored(2, "Bag", "multiset", "input", False, (("s", "S"), ("d", "double")), (_SHAPE, _OPTION)),
    Stored(3, "Came", "stream", "input", False, (("x", "bit<8>"),), ()),
    Stored(4, "Gone", "relation", "input", False, (("x", "bigint"),), (), True),
]
_ROWS = {
    1: [((1, "t"), 1), ((2, "u"), 1)],
    2: [(((0,), 0.5), 2), (((1, 3, (1, 1 << 80)), -0.0), 1)],
    3: [((7,), 1)],
    4: [((1 << 90,), 1)],
}


def begun_folder(path: Path) -> None:
    """A state in a folder, with some epochs, history and ids."""
    files = LocalFiles(path)
    folder = StateFolder.open(files, lambda: held(files), None)
    relations = {each.id: stored_rows("", each, types_of(each)[1]) for each in STORED}
    for epoch in range(1, 7):
        draft = folder.draft()
        parts = [
            rows.write(
                files, draft.folder, rows.encoded([(row, (-1) ** (epoch + 1) * n) for row, n in _ROWS[id]])
            )
            for id, rows in relations.items()
        ]
        span = FolderSpan(epoch, epoch, "epochs", tuple(parts), (f"id {epoch}",), time=epoch)
        folder.extend([span], {"name": "p", "digest": "d", "depth": "1"}, STORED)
        if epoch == 4:
            with mock.patch.object(folding, "MANY", 2):
                Folding(folder, None, relations, {3}, 1).fold()
    folder.close()


def lie_in_folder(path: Path, chance: random.Random) -> str:
    """Changes something of a state in a folder, and makes all checksums right again. Returns what it was."""
    (log,) = path.glob("log/*")
    content = json.loads(log.read_bytes().partition(b"\n")[2])
    if chance.random() < 0.4:
        told = _odd_file(path, content, chance)
    else:
        *way, last = chance.choice(list(ways_to_leaves(content)))
        inner = content
        for each in way:
            inner = inner[each]
        odd = chance.choice([each for each in _ODD if not isinstance(each, bytes)])
        if isinstance(inner, list) and chance.random() < 0.3:
            odd = chance.choice([inner[0], [inner[-1], inner[-1]]])
        inner[last] = odd
        told = f"{[*way, last]} = {odd!r:.60}"
    packed = json.dumps(content)
    head = {"format": "ddlog state", "version": 2, "checksum": zlib.crc32(packed.encode())}
    log.write_text(f"{json.dumps(head)}\n{packed}\n")
    return told


def _odd_file(path: Path, content: Any, chance: random.Random) -> str:
    """Other rows in a file."""
    parts = [part for span in content["spans"] for part in span["parts"]]
    named = chance.choice(parts)["files"][0]
    table = parquet.read_table(path / named["name"])
    told, changed = odd_table(table, chance)
    sink = pa.BufferOutputStream()
    with suppress(pa.ArrowNotImplementedError):  # Parquet has no form for every column of Arrow
        parquet.write_table(changed.slice(0, 1 << 20), sink)
    data = sink.getvalue().to_pybytes()
    if chance.random() < 0.2:
        told, data = "bytes", mutated(data, [], chance)
    (path / named["name"]).write_bytes(data)
    named["bytes"], named["checksum"] = len(data), zlib.crc32(data)
    return f"{named['name']}: {told}"
