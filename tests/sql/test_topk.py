"""ORDER BY with LIMIT, and windows of which only the first numbers are read, kept up with few rows beside the
first: against DuckDB, with ties and NULL."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ddlog.engine import thresholds
from ddlog.engine.circuit import Ordered

from .duck import Both, program_of

TABLES = "CREATE TABLE r (g INTEGER, a INTEGER, s VARCHAR);"
NUMBERS = {
    "numbered": "SELECT g, s, n FROM (SELECT *, row_number() OVER (ORDER BY a DESC, s, g) AS n FROM r) "
    "WHERE n < 4",
    "one": "WITH t AS (SELECT *, row_number() OVER (PARTITION BY g ORDER BY s, a) AS n FROM r) "
    "SELECT x.g, t.a FROM (SELECT DISTINCT g FROM r) x LEFT JOIN t ON x.g = t.g AND t.n = 1",
    "ranked": "SELECT a, s, sum(a) OVER (PARTITION BY g) AS t FROM r "
    "QUALIFY 2 >= rank() OVER (PARTITION BY g ORDER BY a)",
    "left": "SELECT DISTINCT ON (g) g, a FROM r QUALIFY count(*) OVER (PARTITION BY s) > 1 ORDER BY g, a",
    "first": "SELECT DISTINCT ON (g) g, a, row_number() OVER (PARTITION BY s ORDER BY a, g) AS n FROM r "
    "QUALIFY n = 1 ORDER BY g, a",
    "any": "SELECT a FROM r QUALIFY row_number() OVER (ORDER BY a, s, g) <= 9223372036854775807",
    "dense": "SELECT *, dense_rank() OVER (ORDER BY s NULLS FIRST) AS n FROM r QUALIFY n BETWEEN 2 AND 3",
}
"""Windows of which only the rows up to some number are read."""
ORDERS = ("a", "a DESC, s", "s NULLS FIRST, a DESC NULLS FIRST", "a DESC NULLS LAST, s DESC")


@pytest.mark.parametrize("seed", range(3))
def test_the_first_rows_are_kept_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "SMALL_GROUP", 2 if seed % 2 else 64)
    monkeypatch.setattr(thresholds, "FIRST_SPARE", 1)
    monkeypatch.setattr(thresholds, "SORTED_COLUMNS", 2)
    chosen = random.Random(seed)
    views = {
        f"v{i}": f"SELECT * FROM r ORDER BY {order}, g, a, s LIMIT {i * 2 or (1 << 63) - 2} OFFSET {i % 2}"
        for i, order in enumerate(ORDERS)
    }
    views |= NUMBERS
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


def test_a_bound_reaches_a_window_that_only_its_rows_are_read_of() -> None:
    """And no other: the numbers of rows that something else reads stay."""
    number = "row_number() OVER (PARTITION BY g ORDER BY a) AS n"
    cases = {
        f"SELECT s FROM (SELECT *, {number} FROM r) t WHERE t.n <= 2 AND a > 0": True,
        f"SELECT s, {number} FROM r QUALIFY n = 1": True,
        f"WITH t AS (SELECT *, {number} FROM r) SELECT s FROM t WHERE n = 1": True,
        f"WITH t AS (SELECT *, {number} FROM r) SELECT x.s FROM t x JOIN t y ON x.n = 1 AND y.n = x.n": False,
        f"SELECT s FROM (SELECT *, {number} FROM r LIMIT 3) WHERE n = 1": False,
        f"SELECT s FROM (SELECT *, {number} FROM r) WHERE n = 1 OR a = 1": False,
        f"SELECT a AS n, {number}2 FROM r QUALIFY n = 1": False,
    }
    for query, bounded in cases.items():
        circuit = program_of(f"{TABLES}CREATE VIEW v AS {query};").circuit("relational")
        assert bounded == (not any(isinstance(node, Ordered) for node in circuit.nodes)), query
