"""The file of a state and SQLite's log stay small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ddlog.state import keeper
from ddlog.state.store import Store
from ddlog.state.walog import PAGE


def test_free_pages_are_given_back(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s")
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
    monkeypatch.setattr(keeper, "LONG", 64 * PAGE)
    store = Store.open(tmp_path / "s")
    kept = keeper.Keeper(store, None, [])
    for epoch in range(1, 2001):
        store.append(epoch, epoch, {})
        kept.wake()
    kept.stop()
    longest = os.path.getsize(tmp_path / "s-wal")
    store.close()
    assert longest < 1000 * PAGE
