"""ORDER BY with LIMIT, kept up with few rows beside the first: against DuckDB, with ties and NULL."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ddlog.engine import thresholds

from .duck import Both

TABLES = "CREATE TABLE r (g INTEGER, a INTEGER, s VARCHAR);"
ORDERS = ("a", "a DESC, s", "s NULLS FIRST, a DESC NULLS FIRST", "a DESC NULLS LAST, s DESC")


@pytest.mark.parametrize("seed", range(3))
def test_the_first_rows_are_kept_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "SMALL_GROUP", 2)
    monkeypatch.setattr(thresholds, "FIRST_SPARE", 1)
    chosen = random.Random(seed)
    views = {
        f"v{i}": f"SELECT * FROM r ORDER BY {order}, g, a, s LIMIT {i * 2} OFFSET {i % 2}"
        for i, order in enumerate(ORDERS)
    }
    views["each"] = (
        "SELECT x.g, (SELECT a FROM r y WHERE y.g = x.g ORDER BY s DESC, a LIMIT 1) AS best "
        "FROM (SELECT DISTINCT g FROM r) x"
    )
    both = Both(TABLES, views)
    held: list[tuple[Any, ...]] = []
    for step in range(25):
        gone = chosen.sample(held, chosen.randint(0, min(len(held), 6)))
        for row in gone:
            held.remove(row)
        come = [
            (
                chosen.choice([0, 1, None]),
                chosen.choice([None, 0, 1, 2]),
                chosen.choice([None, "x", "y", "z"]),
            )
            for _ in range(chosen.choice([0, 1, 3, 12]) if step < 18 else 0)
        ]
        held += come
        both.change({"r": come}, {"r": gone})
        assert both.differences() == []
