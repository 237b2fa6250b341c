"""Texts and numbers that become other values, and what functions make of unusual ones, against DuckDB."""

from __future__ import annotations

import datetime
from typing import Any

from .duck import Both

TABLES = """
CREATE TABLE n (k INTEGER, a VARCHAR, b VARCHAR);
CREATE TABLE x (k INTEGER, x DOUBLE, w TIMESTAMP);
"""
TEXTS = {
    "DATE": "2024-1-5|2024/1/5|2024-1/5|20240105|2024-W01-1|2024-02-29abc| 2024-01-05 |24-1-5"
    "|2024-01-05T10:00:00|epoch|2024-01-05 10:00:00.25+02|2024-01|1/2/2024|2024-00-05|2024-02-30",
    "TIMESTAMP": "2024-1-5|2024-1-5 1:2:3|2024-01-05T10:00:00Z|2024-01-05 10:00:00+02|2024-01-05 10"
    "|2024-01-05 10:00:00.1234567|2024-01-05 10:00:00 UTC|2024-01-05 10:00:00abc|2024-01-05  10:00"
    "|2024-01-05 10:00:60| Epoch |2024-01-05 10:00:00.|2024-01-05 10:00:00 Europe/Berlin",
    "TIME": "10:00|1:2:3|10:00:00.1234567|2024-01-05 10:00:00|2024-01-05|10|10:00abc|10:61|10:00:00.",
    "INTEGER": "0x1F|0b11|1_000|1__0|_1|1e3|1.5|2.5|+5| 7 |7.|.5||\u0661|-0x1F|+0b1|0x1_F|\u00a07|7\t",
    "DECIMAL(8,2)": "0x1F|1_000|1__0|1.005|1.0049|nan|1.|-.5|1e-1|\u0661|\u00a07",
    "DOUBLE": "0x1F|1_000|inf|-Infinity|NaN|1.|.5|1e400|1e|\u0661|\u00a07|\t7",
    "BOOLEAN": "t|TRUE|yes|on|1|2|no|F|1.0",
}
WORDS = [("straße", "ß"), ("İa", ""), ("abc", ""), ("", ""), ("a-b", "-")]
MOMENTS = [
    datetime.datetime(2024, 2, 29, 10, 20, 30, 567_891),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime.datetime(33, 1, 1),
]
DOUBLES = [float("nan"), 2.675, 0.285, -2.675, 1.5, 123456.789, 45.0, float("inf"), None]
VIEWS = {
    "words": "SELECT k, upper(a) AS u, lower(a) AS l, split_part(a, b, 1) AS f, split_part(a, b, -1) AS z"
    " FROM n",
    "maps": "SELECT k, MAP {'a': k}['a'] AS x, MAP {'a': k}['b'] + 1 AS y FROM n",
    "numbers": "SELECT k, sign(x) AS s, round(x, 2) AS r, round(x, 1) AS q, round(x, -1) AS h,"
    " x::VARCHAR AS v, TRY_CAST(x AS INTEGER) AS i, TRY_CAST(x AS DECIMAL(12, 2)) AS d FROM x",
    "far": "SELECT k, (w + to_days((k - 4) * 1000000))::VARCHAR AS w, (w::DATE + k * 1000000)::VARCHAR AS d"
    " FROM x",
    "moments": "SELECT k, epoch_ms(w) AS m, strftime(w, '%g|%c|%x|%X|%G|%f') AS f FROM x",
}


def test_texts_as_values_of_other_types() -> None:
    rows = [
        (k, text, kind)
        for k, (kind, text) in enumerate((t, each) for t in TEXTS for each in TEXTS[t].split("|"))
    ]
    columns = {
        f"v{i}": f"SELECT k, TRY_CAST(a AS {t})::VARCHAR AS r FROM n WHERE b = '{t}'"
        for i, t in enumerate(TEXTS)
    }
    fixed = {
        f"c{k}": f"SELECT TRY_CAST('{text}' AS {kind})::VARCHAR AS r FROM n WHERE k = 0"
        for k, text, kind in rows
    }
    both = Both(TABLES, columns | fixed)
    both.change({"n": rows}, {})
    assert both.differences() == []


def test_functions_of_unusual_values() -> None:
    both = Both(TABLES, VIEWS)
    words: list[tuple[Any, ...]] = [(k, *each) for k, each in enumerate(WORDS)]
    numbers = [(k, x, MOMENTS[k % len(MOMENTS)]) for k, x in enumerate(DOUBLES)]
    both.change({"n": words, "x": numbers}, {})
    assert both.differences() == []
