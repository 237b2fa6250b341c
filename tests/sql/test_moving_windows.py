"""Window functions of large partitions, kept up row by row: against DuckDB, with ties, NULL and frames."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from ddlog.engine import thresholds
from ddlog.engine.inprocess.groups.orderedgroups import moved, with_values
from ddlog.stdlib.sqlwindows import WindowFunction

from ..trying import longer
from .duck import Both

TABLES = "CREATE TABLE r (g INTEGER, o INTEGER, i INTEGER NOT NULL, x INTEGER, d DOUBLE, m TIMESTAMP);"
ENDS = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING")
LAST = "UNBOUNDED FOLLOWING"
OF_PLACES = (
    "row_number()", "ntile(3)", "lag(x)", "lead(x, 2, -1)", "lag(x, 2 IGNORE NULLS)", "first_value(x)",
    "last_value(x)", "nth_value(x, 2)", "first_value(x IGNORE NULLS)", "last_value(x IGNORE NULLS)",
    "list(x)",
)  # fmt: skip
OF_PEERS = (
    "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)", "count(x)", "sum(x)", "sum(d)",
    "avg(x)", "avg(d)", "min(x)", "max(x)", "sum(x) FILTER (WHERE x > 1)", "count(DISTINCT x)", "stddev(d)",
)  # fmt: skip
FAR = "count(x) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND 9223372036854775806 FOLLOWING)"
NO_FRAME = ("()", "ntile", "lag", "lead")


def window(chosen: random.Random) -> str:
    """A window function whose value is the same however ties are broken."""
    of_place = chosen.random() < 0.5
    call = chosen.choice(OF_PLACES if of_place else OF_PEERS)
    way = chosen.choice(["", " DESC", " NULLS FIRST", " DESC NULLS FIRST"])
    by = chosen.choice(["o", "m", "d"]) + way
    order = f"{by}, i" if of_place else by
    parts = ["PARTITION BY g"] if chosen.random() < 0.8 else []
    if of_place or chosen.random() < 0.8:
        kinds = ["ROWS"] if of_place else ["RANGE", "RANGE", "GROUPS"]
        frame = f" {frame_of(chosen, chosen.choice(kinds), by)}" if chosen.random() < 0.7 else ""
        if any(each in call for each in NO_FRAME) and "count" not in call:
            frame = ""
        if "DISTINCT" in call or "list" in call:
            frame = frame.partition(" EXCLUDE")[0]
        parts.append(f"ORDER BY {order}{frame}")
    return f"{call} OVER ({' '.join(parts)})"


def frame_of(chosen: random.Random, kind: str, by: str) -> str:
    """A frame that does not end before it begins."""
    ends = [*ENDS, LAST]
    first = chosen.randrange(len(ENDS))
    last = chosen.randrange(max(first, 1), len(ends))
    texts = [ends[first], ends[last]]
    if kind == "RANGE" and by.startswith("m"):
        texts = [each.replace("1 ", "INTERVAL 1 DAY ").replace("2 ", "INTERVAL 1 MONTH ") for each in texts]
    out = chosen.choice(["", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
    return f"{kind} BETWEEN {texts[0]} AND {texts[1]}{out}"


@pytest.mark.parametrize("seed", range(longer(6, 200)))
def test_values_of_windows_are_kept_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    low = {"SMALL_GROUP": 3, "ROWS_MOVED": 9 * (seed % 2), "ORDER_BLOCK": 3, "ORDER_FIRST": 2}
    for name, value in (*low.items(), ("SORTED_COLUMNS", 2), ("FEW_ROWS", 0)):
        monkeypatch.setattr(thresholds, name, value)
    chosen = random.Random(seed)
    windows = [FAR, *(window(chosen) for _ in range(12))]
    both = Both(TABLES, {f"v{k}": f"SELECT g, o, i, x, {w} AS w FROM r" for k, w in enumerate(windows)})
    held: list[tuple[Any, ...]] = []
    ids = itertools.count()
    for step in range(12):
        gone = chosen.sample(held, chosen.randint(0, min(len(held), 4 if step < 9 else 12)))
        for row in gone:
            held.remove(row)
        come = [
            chosen.choice(held) if held and chosen.random() < 0.2 else _row(chosen, ids)
            for _ in range(chosen.choice([0, 1, 1, 3, 12]) if step < 9 else 0)
        ]
        held += come
        both.change({"r": come}, {"r": gone})
        assert both.differences() == []


def _row(chosen: random.Random, ids: Iterator[int]) -> tuple[Any, ...]:
    day, month = chosen.choice([1, 2, 28, 30]), chosen.choice([1, 3])
    return (
        chosen.choice([0, 1, 1, None]),
        chosen.choice([None, 0, 1, 2, 5]),
        next(ids) * 7 % 1000,
        chosen.choice([None, 0, 1, 2, 3]),
        chosen.choice([None, 0.5, -1.25, 1e9, 3.0]),
        chosen.choice([None, f"2020-0{month}-{day:02d} 10:00:00"]),
    )


KINDS = (
    "row_number", "rank", "dense_rank", "ntile", "count", "distinct", "lag", "lead",
    "lag_there", "first", "last", "nth", "first_there", "last_there", "min", "max", "sum", "doubles", "mean",
    "frames",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(longer(300, 30_000)))
def test_a_change_moves_values_as_computing_them_anew_does(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("SMALL_GROUP", 0), ("ROWS_MOVED", 0), ("ORDER_BLOCK", 3), ("ORDER_FIRST", 2)):
        monkeypatch.setattr(thresholds, name, value)
    chosen = random.Random(seed)
    name, order, first = chosen.choice(KINDS), chosen.choice("aAdDNM"), chosen.randrange(6)
    ends = [*["-", "-2", "-1", "0", "1", "2", "+"]]
    last = ends[chosen.randrange(max(first, 1), 7)]
    out = chosen.choice(["none", "none", "row", "group", "ties"])
    number = chosen.randint(1, 3) if name in ("ntile", "nth", "lag", "lead", "lag_there") else 0
    kind = chosen.choice(["rows", "groups", "range"])
    function = WindowFunction(order, name, number, f"{kind} {ends[first]} {last} {out}")

    def row() -> tuple[Any, ...]:
        key, value = chosen.randrange(5), chosen.randrange(4)
        plain = float(value) if name == "doubles" else value
        optional = (1, key) if key else (0,)
        cell = key if order in "NM" else optional
        return cell, chosen.randrange(10), (1, plain) if value else (0,)

    def results(rows: Counter[Any]) -> Counter[Any]:
        made = with_values(function, rows)
        return Counter(map(function.result, made.part(0, len(made)), made.values(0, len(made))))

    now = Counter(row() for _ in range(chosen.randrange(1, 8)))
    kept = with_values(function, now)
    for _ in range(6):
        change = Counter(row() for _ in range(chosen.randrange(3)))
        held = list(now.elements())
        change.subtract(chosen.sample(held, min(len(held), chosen.randrange(3))))
        wanted = results(now)
        now.update(change)
        wanted.subtract(results(now))
        made, moved_rows = moved(function, kept, Counter({r: w for r, w in change.items() if w}))
        wanted.update(made)
        assert not any(wanted.values())
        kept = with_values(function, now) if moved_rows is None else moved_rows


def test_functions_of_one_window_take_equal_rows_in_one_order() -> None:
    query = """SELECT i, x, lag(i) OVER w AS before, lead(x) OVER w AS behind,
        first_value(i) OVER (w ROWS 1 PRECEDING) AS first, row_number() OVER w AS n
        FROM r WINDOW w AS (ORDER BY o)"""
    copies = """SELECT lag(x) OVER w AS a, lead(o) OVER w AS b, lag(o, 2) OVER w AS c
        FROM r WINDOW w AS (PARTITION BY g ORDER BY x, o)"""
    both, chosen = Both(TABLES, {"one": query, "copies": copies}), random.Random(5)
    rows: list[tuple[Any, ...]] = []
    for step in range(8):
        gone = [row for row in dict.fromkeys(rows) if chosen.random() < 0.3]
        for row in gone:
            rows.remove(row)
        come: list[tuple[Any, ...]] = [
            (1, chosen.choice([None, 1, 2]), 10 * step + i, chosen.choice([1, 2]), None, None)
            for i in range(5)
        ]
        come += chosen.choices(come, k=3)
        rows += come
        both.change({"r": come}, {"r": gone})
        assert not [each for each in both.differences() if each.startswith(copies)]
        found = sorted((row[0] for row in both.session["One"].weighted()), key=lambda row: row.n)
        assert [row.n for row in found] == list(range(1, len(rows) + 1))
        before = [None, *(row.i for row in found)]
        assert [row.before for row in found] == before[:-1]
        assert [row.first for row in found] == [found[0].i, *before[1:-1]]
        assert [row.behind for row in found] == [*(row.x for row in found[1:]), None]
