"""Crashes, damage, kills and a long life of durable states, in their long forms."""

from __future__ import annotations

import pytest

from .whole import KINDS


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "count"), [("crashes", 4), ("damage", 3), ("kills", 200), ("soak", 100_000)]
)
def test_the_long_form(kind: str, count: int) -> None:
    assert KINDS[kind](count), "something was checked"
