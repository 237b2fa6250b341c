"""Arrow and Parquet files that were damaged, or made to do harm: one message, and never a signal."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import ddlog
from ddlog.engine.memory import resident
from ddlog.errors.diagnostics import DDlogError
from ddlog.io import decompression

PROGRAM = ddlog.compile("input relation Word(text: string, n: s32)")


GOOD = pa.table({"text": ["a", "bb", "ccc"], "n": pa.array([0, 1, 2], pa.int32())})


def offsets(*of: int) -> bytes:
    """Where each text of a column begins, and the end of the last, as Arrow stores them."""
    return struct.pack(f"<{len(of)}i", *of)


def as_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def as_parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression=None)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def replaced(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


HARMFUL: dict[str, tuple[str, bytes]] = {
    "letters outside of the file": (
        "arrow",
        replaced(as_file(GOOD), offsets(0, 1, 3, 6), offsets(0, 1, 1 << 30, 6)),
    ),
    "a text of negative length": (
        "arrow",
        replaced(as_file(GOOD), offsets(0, 1, 3, 6), offsets(0, 5, 3, 6)),
    ),
    "text that is not UTF-8": ("arrow", replaced(as_file(GOOD), b"abbccc", b"a\xff\xffccc")),
    "Parquet with text that is not UTF-8": (
        "parquet",
        replaced(as_parquet(GOOD), b"\x02\0\0\0bb", b"\x02\0\0\0\xff\xff"),
    ),
    "a name that is not UTF-8": ("arrow", replaced(as_file(GOOD), b"text", b"t\xffxt")),
    "integers of 24 bits": ("arrow", replaced(as_file(GOOD), offsets(32), offsets(24))),
    "cut short": ("arrow", as_file(GOOD)[:-30]),
}


@pytest.mark.parametrize("case", HARMFUL)
def test_a_harmful_table_is_refused_with_a_message(case: str, tmp_path: Path) -> None:
    form, data = HARMFUL[case]
    path = tmp_path / f"Word.{form}"
    path.write_bytes(data)
    with PROGRAM.session() as session, pytest.raises(DDlogError, match=f"this cannot be read as {form}"):
        session.load(path.parent)


def test_an_arrow_file_that_shrinks_after_it_was_read_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "Word.arrow"
    path.write_bytes(as_file(GOOD))
    with PROGRAM.session() as session:
        session.load(tmp_path)
        path.write_bytes(b"")
        session.commit()
        assert sorted(session["Word"].tuples()) == [("a", 0), ("bb", 1), ("ccc", 2)]


def as_stream(table: pa.Table, compression: str | None) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def nulls(count: int) -> pa.Table:
    column = pa.Array.from_buffers(pa.null(), count, [None])
    return pa.Table.from_arrays([column], names=["n"])


EQUAL = pa.table({"n": pa.array(np.zeros(1 << 20, np.int64))})
LARGE: dict[str, tuple[str, bytes]] = {
    "nulls": ("arrow", as_stream(nulls(1 << 30), None)),
    "nulls in a file": ("arrow", as_file(nulls(1 << 30))),
    "compressed": ("arrow", as_stream(EQUAL, "zstd")),
    "compressed texts of a dictionary": (
        "arrow",
        as_stream(pa.table({"n": pa.array(["x" * (1 << 23)]).dictionary_encode()}), "lz4"),
    ),
    "Parquet": ("parquet", as_parquet(EQUAL)),
}


@pytest.mark.parametrize("case", LARGE)
def test_a_few_bytes_do_not_take_all_the_memory(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, data = LARGE[case]
    assert len(data) < 1 << 17
    path = tmp_path / f"Word.{form}"
    path.write_bytes(data)
    monkeypatch.setattr(decompression, "limit_here", lambda: (resident() or 0) + (1 << 22))
    with PROGRAM.session() as session, pytest.raises(DDlogError, match="bytes of it the memory limit of"):
        session.load(path.parent)
