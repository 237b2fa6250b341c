"""NOW() as the clock of a session, against DuckDB at the same moment, and its errors."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.errors.diagnostics import DDlogError, render

from ..trying import trying
from .duck import Both, program_of

TABLES = """
CREATE TABLE t (a INTEGER, ts TIMESTAMP);
CREATE TABLE d (a INTEGER PRIMARY KEY, day DATE NOT NULL);
"""
VIEWS = {
    "recent": "SELECT a, ts FROM t WHERE ts > NOW() - INTERVAL 1 HOUR",
    "past": "SELECT a FROM t WHERE NOW() >= ts AND a > 1",
    "edges": "SELECT a FROM t WHERE ts BETWEEN NOW() - INTERVAL 2 HOURS AND NOW() + INTERVAL 1 HOUR",
    "moved": "SELECT a, ts + INTERVAL 1 HOUR AS e FROM t WHERE ts + INTERVAL 1 HOUR < NOW()",
    "days": "SELECT count(*) AS n FROM d WHERE day >= CURRENT_DATE - 1",
    "today": "SELECT a FROM d WHERE day = CURRENT_DATE",
    "month": "SELECT a FROM d WHERE day > date_trunc('day', NOW() - INTERVAL 1 MONTH)",
    "joined": "SELECT t.a, day FROM t JOIN d ON t.a = d.a AND t.ts > NOW() - INTERVAL 3 HOURS AND t.ts < day",
    "two": "SELECT t.a FROM t, d WHERE greatest(t.ts, d.day) >= NOW()",
    "kept": "SELECT d.a, t.ts FROM d LEFT JOIN t ON t.a = d.a AND t.ts > NOW() - INTERVAL 2 HOURS",
    "there": "SELECT a FROM d WHERE EXISTS (FROM t WHERE t.a = d.a AND ts > NOW() - INTERVAL 1 HOUR)",
    "grouped": "SELECT a, max(ts) AS m FROM t GROUP BY a HAVING max(ts) <= NOW() - INTERVAL 1 HOUR",
    "ages": "SELECT a, date_diff('minute', ts, NOW()) AS m, ts > NOW() AS later FROM t",
    "either": "SELECT a FROM t WHERE ts > NOW() OR a = 1",
    "steps": "WITH RECURSIVE r AS (SELECT a, ts FROM t WHERE ts < NOW() UNION "
    "SELECT a + 1, ts + INTERVAL 1 HOUR FROM r WHERE ts < NOW() AND a < 4) "
    "SELECT a, ts FROM r WHERE ts >= NOW() - INTERVAL 2 HOURS",
}
START = datetime.datetime(2024, 3, 30, 21)  # the night in which clocks in Berlin are put forward

Row = tuple[int | None, datetime.datetime | None]

moments = st.integers(-8, 12).map(lambda n: START + datetime.timedelta(minutes=30 * n))
rows = st.tuples(st.integers(0, 3) | st.none(), moments | st.none())
commits = st.tuples(st.lists(rows, max_size=4), st.integers(0, 5), st.booleans())


@pytest.fixture(scope="module", params=["UTC", "Europe/Berlin"])
def both(request: pytest.FixtureRequest) -> Both:
    """Moments are timestamps in UTC, and instants in another zone."""
    if request.param == "UTC":
        return Both(TABLES, VIEWS)
    zoned = TABLES.replace("TIMESTAMP", "TIMESTAMPTZ")
    return Both(f"SET TimeZone = '{request.param}';\n{zoned}", VIEWS)


@trying(7)
@given(data=st.lists(commits, min_size=3, max_size=6))
def test_views_are_those_of_duckdb_at_each_moment(
    data: list[tuple[list[Row], int, bool]], both: Both
) -> None:
    """Rows come and go, also rows that all windows have left, and the clock advances."""
    both.duck.execute("DELETE FROM t; DELETE FROM d")
    both.session = both.program.session(relations="outputs")
    zone = None if both.program.source.zone == "UTC" else datetime.UTC
    now, there = START.replace(tzinfo=zone), list[Row]()
    both.change({"d": [(a, (START + datetime.timedelta(days=a - 2)).date()) for a in range(4)]}, {})
    for given_rows, steps, gone in data:
        new = [(a, ts and ts.replace(tzinfo=zone)) for a, ts in given_rows]
        now += datetime.timedelta(minutes=30 * steps)
        both.session.execute("INSERT OR REPLACE INTO now VALUES (?)", (now,))
        old = [there.pop(0)] if gone and there else []
        both.change({"t": new}, {"t": old})
        there += new
        moment = f"TIMESTAMP{'TZ' if zone else ''} '{now}'"
        both.views = {
            name: query.replace("NOW()", moment).replace("CURRENT_DATE", f"CAST({moment} AS DATE)")
            for name, query in VIEWS.items()
        }
        assert both.differences() == []
        assert len(both.session.select("SELECT * FROM t").rows) == len(there)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE now (a INTEGER); CREATE VIEW v AS SELECT now();", "give the other table another name"),
        (
            "CREATE VIEW v AS SELECT now(); CREATE TABLE now (a INTEGER);",
            "the relation `Now` is declared twice",
        ),
        (TABLES + "INSERT INTO d VALUES (1, current_date);", "a fact that reads the clock is not supported"),
    ],
)
def test_what_is_no_clock_is_refused(text: str, message: str) -> None:
    with pytest.raises(DDlogError) as error:
        program_of(text)
    assert message in render(error.value.diagnostics)


def test_a_clock_does_not_go_back_and_a_statement_needs_one() -> None:
    session = program_of(TABLES + "CREATE VIEW v AS SELECT a FROM t WHERE ts < NOW()").session()
    session.execute("INSERT INTO now VALUES ('2024-01-02 00:00:00')")
    with pytest.raises(
        DDlogError, match="does not go back does not hold: it is 2024-01-02 00:00:00, not 2024-01-01"
    ):
        session.execute("UPDATE now SET time = '2024-01-01 00:00:00'")
    assert session.select("SELECT now()").rows == [(datetime.datetime(2024, 1, 2),)]
    with pytest.raises(DDlogError, match="no view reads the clock"):
        program_of(TABLES).session().select("SELECT now()")


@pytest.mark.parametrize("read", ["NOW() > TIMESTAMP '2024-01-01'", "ts > NOW() - INTERVAL 1 HOUR"])
def test_a_clock_goes_with_the_last_view_that_reads_it(read: str) -> None:
    with program_of(f"{TABLES}CREATE VIEW u AS SELECT a FROM t WHERE ts < NOW()").session() as session:
        session.execute(f"CREATE VIEW v AS SELECT a FROM t WHERE {read}")
        session.execute("DROP VIEW u")
        assert "Now" in session.program.relations
        session.execute("DROP VIEW v")
        assert [*session.program.relations] == ["T", "D"]
