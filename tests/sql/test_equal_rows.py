"""Aggregates that choose among rows that are equal in their order: several of a query choose the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.sql.duck import Both
from tests.trying import longer

TABLES = "CREATE TABLE r (g INTEGER, t INTEGER, a INTEGER, b VARCHAR, n INTEGER NOT NULL);\n"
DETERMINED = {
    "greatest": "sum(n) AS s, arg_max(a, t) AS x, arg_max(b, t) AS y, arg_max(n, t) AS z",
    "least": "arg_min(n, t) AS z, arg_min(b, t) AS y, arg_min(a, t) AS x",
    "firsts": "first(a ORDER BY t) AS x, first(b ORDER BY t) AS y, first(n ORDER BY t) AS z",
    "lasts": "count(*) AS m, last(a ORDER BY t) AS x, last(b ORDER BY t) AS y, last(n ORDER BY t) AS z",
    "ordered": "list(a ORDER BY t) AS x, list(b ORDER BY t) AS y, list(n ORDER BY t) AS z",
    "texts": "string_agg(a, ' ' ORDER BY t) AS x, string_agg(b, ' ' ORDER BY t) AS y",
    "two": "arg_max(a, t, 2) AS x, arg_max(b, t, 2) AS y, arg_max(n, t, 2) AS z",
}
"""Aggregates that have one result where no two rows of a group are equal in `t`."""
CHOSEN = {
    "anyone": "any_value(a) AS x, max(t) AS u, any_value(b) AS y, any_value(n) AS z",
    "filtered": ", ".join(f"any_value({a}) FILTER (WHERE n > 1) AS {x}" for a, x in ("ax", "by", "nz")),
    "listed": "sum(n) AS s, list(a) AS x, list(b) AS y, list(n) AS z",
    "joined": "string_agg(a, ' ') AS x, string_agg(b, ' ') AS y",
}
Row = tuple[Any, ...]


def _queries(parts: dict[str, str]) -> dict[str, str]:
    return {name: f"SELECT g, {aggregates} FROM r GROUP BY g" for name, aggregates in parts.items()}


def _change(chosen: random.Random, held: list[Row], nulls: bool, tied: bool) -> tuple[list[Row], list[Row]]:
    """Rows to insert and to delete, some of them in place of each other; `held` are those after them."""
    none = [None] if nulls else []
    gone = [row for row in dict.fromkeys(held) if chosen.random() < 0.3]
    for row in gone:
        held.remove(row)
    come = [
        (
            chosen.choice([1, 2, None]),
            chosen.choice([1, 2, *none]) if tied else chosen.randrange(10**9),
            chosen.choice([1, 2, 3, *none]),
            chosen.choice([*"xyz", *none]),
            chosen.randrange(4),
        )
        for _ in range(chosen.randrange(8))
    ]
    come += [(*row[:-1], 9) for row in gone[:2]]
    come += chosen.choices(held, k=1) if held and tied else []
    held += come
    return come, gone


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("seed", range(longer(2, 60)))
def test_what_the_order_determines_is_as_in_duckdb(seed: int, nulls: bool) -> None:
    both, chosen, held = Both(TABLES, _queries(DETERMINED)), random.Random(seed), list[Row]()
    for _ in range(6):
        both.change(*({"r": rows} for rows in _change(chosen, held, nulls, tied=False)))
        assert both.differences() == []


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("seed", range(longer(3, 100)))
def test_the_columns_of_a_result_are_of_one_row(seed: int, nulls: bool) -> None:
    both, chosen = Both(TABLES, _queries(DETERMINED | CHOSEN)), random.Random(seed)
    held: list[Row] = []
    for _ in range(6):
        both.change(*({"r": rows} for rows in _change(chosen, held, nulls, tied=True)))
        for group in {row[0] for row in held}:
            rows = [row for row in held if row[0] == group]
            _check(both, group, rows)


def _check(both: Both, group: Any, rows: Sequence[Row]) -> None:
    """Looks whether the results of a group are of its rows."""

    def found(view: str) -> Any:
        (row,) = (row for row, _ in both.session[view.capitalize()].weighted() if row.g == group)
        return (row.x, row.y, row.z) if hasattr(row, "z") else (row.x, row.y)

    timed = [row for row in rows if row[1] is not None]
    latest = [row for row in timed if row[1] == max(row[1] for row in timed)]
    earliest = [row for row in timed if row[1] == min(row[1] for row in timed)]
    last = latest if len(timed) == len(rows) else [row for row in rows if row[1] is None]
    assert found("firsts") in [row[2:] for row in earliest or rows]
    assert found("lasts") in [row[2:] for row in last]
    some = [row for row in rows if row[4] > 1]
    for view, of in (("greatest", latest), ("least", earliest), ("anyone", rows), ("filtered", some)):
        whole = [row[2:] for row in of if None not in row[2:]]
        assert not whole or found(view) in whole  # any of them that has no NULL, if there is one
    for view in ("ordered", "listed"):
        assert Counter(zip(*found(view), strict=True)) == Counter(row[2:] for row in rows)
    if all(None not in row for row in rows):
        for view in ("texts", "joined"):
            pairs = zip(*(each.split() for each in found(view)), strict=True)
            assert Counter(pairs) == Counter((str(row[2]), row[3]) for row in rows)
        pairs = list(zip(*found("two"), strict=True))
        assert not Counter(pairs) - Counter(row[2:] for row in rows)


def test_aggregates_over_a_partition_choose_as_those_of_a_group_do() -> None:
    query = "SELECT g, any_value(a){0} AS x, any_value(n){0} AS z, list(b){0} AS bs, list(n){0} AS ns FROM r"
    over = query.format(" OVER (PARTITION BY g)")
    both = Both(TABLES, {"groups": query.format("") + " GROUP BY g", "over": over})
    both.change({"r": [(1, 1, 1, "z", 3), (1, 1, 2, "y", 2), (1, 1, 3, "x", 1)]}, {})
    (of_group,) = both.session["Groups"].weighted()
    assert {tuple(row) for row, _ in both.session["Over"].weighted()} == {tuple(of_group[0])}
    assert of_group[0][1:3] == (1, 3)
    assert sorted(zip(*of_group[0][3:], strict=True)) == [("x", 1), ("y", 2), ("z", 3)]
