"""Timestamps with a time zone, in the zones that programs set: each view is that of DuckDB, also around the
nights in which clocks are put forward and back."""

# ruff: noqa: E501

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

import pytest

from ddlog.errors.diagnostics import DDlogError, render

from ..trying import longer
from .duck import Both, program_of

TABLES = "CREATE TABLE t (k INTEGER PRIMARY KEY, a TIMESTAMPTZ, b TIMESTAMPTZ NOT NULL, w TIMESTAMP NOT NULL, z VARCHAR NOT NULL);\n"
VIEWS = """\
k, a AT TIME ZONE 'Asia/Tokyo' AS x, w AT TIME ZONE 'america/new_york' AS y, timezone(z, a) AS u, timezone(z, w) AS v
k, CAST(a AS VARCHAR) AS x, CAST(a AS DATE) AS y, CAST(b AS TIMESTAMP) AS u, CAST(w AS TIMESTAMPTZ) AS v, CAST(CAST(w AS DATE) AS TIMESTAMPTZ) AS s
k, CAST(CAST(a AS VARCHAR) AS TIMESTAMPTZ) AS x, TRY_CAST(CAST(w AS VARCHAR) || ' ' || z AS TIMESTAMPTZ) AS y, CAST(CAST(w AS VARCHAR) AS TIMESTAMPTZ) AS u, TRY_CAST(z AS TIMESTAMPTZ) AS v
k, a + INTERVAL 1 DAY AS x, a - INTERVAL '1 month 1 day 1 hour' AS y, b + k * INTERVAL 1 DAY AS u, b - INTERVAL 90 MINUTES AS v, b + to_months(k) AS s
k, b - a AS x, age(b, a) AS y, date_diff('hour', a, b) AS u, date_diff('day', a, b) AS v, date_diff('month', a, b) AS s, b - w AS r
k, date_trunc('hour', a) AS x, date_trunc('day', a) AS y, date_trunc('week', b) AS u, date_trunc('month', b) AS v, date_trunc('minute', b) AS s
k, extract(hour FROM a) AS x, dayofweek(a) AS y, year(b) AS u, epoch(b) AS v, last_day(a) AS s, dayname(b) AS r, extract(minute FROM b) AS q
k, strftime(a, '%Y-%m-%d %H:%M %z %Z') AS x, strptime(strftime(b, '%Y-%m-%d %H:%M%z'), '%Y-%m-%d %H:%M%z') AS y, to_timestamp(epoch(a)) AS u, CAST(to_json(b) AS VARCHAR) AS v
k, a < b AS x, a = w AS y, b BETWEEN '2024-10-27 02:30' AND TIMESTAMPTZ '2025-03-30 02:30' AS u, coalesce(a, w) AS v, a IN ('2024-03-31 01:00Z', b) AS s, greatest(a, b, w) AS r
k, time_bucket(INTERVAL 1 DAY, a) AS x, time_bucket(INTERVAL '90 minutes', b) AS y, [a, b] AS u
k, lag(b) OVER (ORDER BY b, k) AS x, count(*) OVER (ORDER BY b RANGE BETWEEN INTERVAL 3 HOUR PRECEDING AND CURRENT ROW) AS n
""".splitlines()
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]
NIGHTS = [datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1), datetime(2024, 3, 10, 7), datetime(2024, 11, 3, 6), datetime(2024, 4, 6, 15), datetime(2024, 10, 5, 15)]  # fmt: skip


def row(number: int, choose: random.Random) -> tuple[object, ...]:
    """A row of moments within a day of a night in which clocks are changed."""

    def moment() -> datetime:
        return choose.choice(NIGHTS) + timedelta(minutes=choose.choice((1, 15, 30)) * choose.randint(-90, 90))

    a = None if choose.random() < 0.1 else moment().replace(tzinfo=UTC)
    return number, a, moment().replace(tzinfo=UTC), moment(), choose.choice(ZONES)


@pytest.mark.parametrize("zone", longer(ZONES[:2] + ZONES[4:5], ZONES))
def test_views_are_those_of_duckdb(zone: str) -> None:
    choose = random.Random(zone)
    views = {f"v{n}": f"SELECT {each} FROM t" for n, each in enumerate(VIEWS)}
    views["g"] = (
        "SELECT date_trunc('day', b) AS day, min(a) AS x, max(b) AS y, count(DISTINCT a) AS n FROM t GROUP BY 1"
    )
    views["s"] = "SELECT k, g FROM t, generate_series(a, a + INTERVAL 3 DAY, INTERVAL '1 day 1 hour') q(g)"
    both = Both(f"SET TimeZone = '{zone}';\n{TABLES}", views)
    rows = [row(number, choose) for number in range(40)]
    both.change({"t": rows}, {})
    assert both.differences() == []
    both.change({"t": [row(number, choose) for number in range(40, 60)]}, {"t": rows[:20]})
    assert both.differences() == []


def test_instants_are_read_in_the_zone_of_the_program_or_their_own() -> None:
    """Facts without an offset are in UTC, texts of SQL in the zone; Python's datetimes are in UTC."""
    text = f"SET TimeZone = 'Europe/Berlin';\n{TABLES.replace(' NOT NULL', '')}"
    session = program_of(text).session()
    noon = datetime(2024, 7, 1, 12)
    session.insert("t", {"k": 1, "a": noon.replace(tzinfo=timezone(timedelta(hours=5)))})
    session.insert("t", {"k": 2, "a": "2024-07-01 12:00 Asia/Tokyo"}, {"k": 3, "a": "2024-07-01 12:00"})
    session.commit()
    session.execute("INSERT INTO t (k, a) VALUES (4, '2024-07-01 12:00')")
    session.execute("INSERT INTO t (k, a) VALUES (5, ?), (6, ?)", (noon, noon.replace(tzinfo=UTC)))
    session.execute("UPDATE t SET b = '2024-10-27 02:30' WHERE k = 1")
    hours = [(at.hour, at.tzinfo) for _, at in session.select("SELECT k, a FROM t ORDER BY k").rows]
    assert hours == [(7, UTC), (3, UTC), (12, UTC), (10, UTC), (10, UTC), (12, UTC)]
    assert session.select("SELECT b FROM t WHERE k = 1").rows == [
        (datetime(2024, 10, 27, 1, 30, tzinfo=UTC),)
    ]
    assert str(session["t"].to_arrow().schema.field("a").type) == "timestamp[us, tz=UTC]"
    with pytest.raises(DDlogError, match="begins with SET TimeZone"):
        session.execute("SET TimeZone = 'UTC'")
    with pytest.raises(DDlogError, match="stands before all other statements"):
        session.extend("SET TimeZone = 'UTC'; CREATE VIEW u AS SELECT k FROM t;")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET TimeZone = 'Nowhere';", "no time zone `Nowhere`"),
        ("SET threads = 1;", "there is SET TimeZone = 'Europe/Berlin' alone"),
        (f"{TABLES} SET TimeZone = 'UTC';", "SET TimeZone stands before all other statements"),
        (f"{TABLES} CREATE VIEW v AS SELECT a AT TIME ZONE 'x' FROM t;", "no time zone `x`"),
        (f"{TABLES} CREATE VIEW v AS SELECT strptime(z, '%Z') FROM t;", "reads a zone"),
    ],
)
def test_what_is_no_zone_is_refused(text: str, message: str) -> None:
    with pytest.raises(DDlogError) as error:
        program_of(text)
    assert message in render(error.value.diagnostics)
