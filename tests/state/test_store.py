"""The file of a state and SQLite's log stay small, and nothing is removed for damage."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

import ddlog
from ddlog.durability import background, reports
from ddlog.durability.contents import contents_of
from ddlog.durability.parts import packed
from ddlog.durability.records import EpochSpan, StateHead, Stored, span_of, span_row
from ddlog.durability.store import FileStore
from ddlog.durability.walog import PAGE
from ddlog.errors.diagnostics import DDlogError

from ..trying import longer


def test_free_pages_are_given_back(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path / "s")
    with store.writing():
        parts = store.add_parts([(1, 1, bytes(1 << 20)) for _ in range(12)])
        store.add_span(1, 1, "epochs", parts)
    spans = store.spans()
    with store.writing():
        store.remove_spans(spans)
    assert len(list(store.remove_parts(spans))) in range(5, 13)
    turns = 0
    while store.give_back(256):
        turns += 1
    assert 5 <= turns <= 12
    assert store.base.execute("PRAGMA page_count").fetchone()[0] < 1100
    store.close()


def test_the_log_of_sqlite_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while commits follow each other without a pause."""
    monkeypatch.setattr(background, "LONG", 64 * PAGE)
    store = FileStore.open(tmp_path / "s")
    kept = background.Background(store, None, [])
    for epoch in range(1, 2001):
        store.append(epoch, epoch, {})
        kept.wake()
    kept.stop()
    longest = os.path.getsize(tmp_path / "s-wal")
    store.close()
    assert longest < 1000 * PAGE


def test_damage_is_no_reason_to_remove_rows(tmp_path: Path) -> None:
    """Rows of a span that is damaged look like those of a fold that did not come to its end."""
    store = FileStore.open(tmp_path / "s")
    with store.writing():
        store.add_span(1, 1, "epochs", store.add_parts([(1, 1, b"row")] * 3))
        store.set_head(store.head)
    store.close()
    for column, value in (("parts", 1), ("parts", 1 << 40), ("parts", None), ("part_from", 2)):
        with closing(sqlite3.connect(tmp_path / "s")) as base:
            (before,) = base.execute(f"SELECT {column} FROM span").fetchone()
            base.execute(f"UPDATE span SET {column} = ?", [value])
            base.commit()
            for read_only in (False, True):
                with (
                    pytest.raises(ddlog.DDlogError, match="the record of the epochs 1 to 1 is not what"),
                    closing(FileStore.open(tmp_path / "s", read_only=read_only)) as store,
                ):
                    store.current()
            base.execute(f"UPDATE span SET {column} = ?", [before])
            base.commit()
            assert base.execute("SELECT count(*) FROM part").fetchone() == (3,)


def test_no_row_is_passed_over_in_silence(tmp_path: Path) -> None:
    """In damaged pages SQLite may find rows that it does not find again, or not at all."""
    store = FileStore.open(tmp_path / "s")
    store.add_relation(Stored(0, "R", "relation", "input", False, (), ()))
    with store.writing():
        for epoch in range(1, 4):
            parts = store.add_parts([(1, 1, b"%d" % number * 400) for number in range(8)])
            store.add_span(epoch, epoch, "epochs", parts)
            store.set_head(StateHead(epoch, store.head.spans, 0))
    written = [list(store.parts([span])) for span in store.current()]
    store.close()
    whole = (tmp_path / "s").read_bytes()
    found = 0
    offsets = longer((0, 3, 5, 8, 20), (*range(10), 20))  # of the head of a page, and of what it says of rows
    for place in (page + offset for page in range(PAGE, len(whole), PAGE) for offset in offsets):
        for change in (0xFF, *(1 << bit for bit in range(8))):
            (tmp_path / "t").write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
            try:
                with closing(FileStore.open(tmp_path / "t", read_only=True)) as store:
                    there = [list(store.parts([span])) for span in store.current()]
                    assert there == written, (place, change)
                    assert store.relations_in(store.current()) == {1}
            except ddlog.DDlogError:
                found += 1
    assert found > 100


def test_text_that_is_none_is_found_though_its_checksums_are_right(tmp_path: Path) -> None:
    """Arrow would read beyond its memory."""
    good = packed(pa.record_batch({"y": ["a", "bbb"]}))
    harmful = good.replace(struct.pack("<3i", 0, 1, 4), struct.pack("<3i", 0, 1, 1 << 30))
    assert harmful != good
    store = FileStore.open(tmp_path / "s")
    with store.writing():
        relation = store.add_relation(Stored(0, "R", "relation", "input", False, (("y", "string"),), ()))
        store.add_span(1, 1, "epochs", store.add_parts([(relation.id, 2, harmful)]))
        store.set_head(StateHead(1, 1, 0))
    with pytest.raises(DDlogError, match="rows of R of epoch 1"):
        list(contents_of(store, {relation.id}).held(relation, 1))
    store.close()
    with pytest.raises(DDlogError, match="rows of R of epoch 1"):
        list(reports.checked(str(tmp_path / "s")))


def test_a_span_of_parts_that_have_no_number_is_damaged() -> None:
    for part_from, fits in ((7, True), ((1 << 63) - 1, False)):
        span = EpochSpan(1, 1, 1, "epochs", False, 1.0, part_from, 0, 0)
        assert (span_of(span_row(span, ()), {}) == span) == fits
