"""Windows against DuckDB, asked anew after each epoch: range, tumbling, sliding and session windows."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ddlog

duckdb = pytest.importorskip("duckdb")

TEXT = """
import window
input multiset Event(user: u32, amount: s64, time: s64)
input relation Now(time: s64)
multiset Recent[Event]
apply window::range(Event, |e| e.time, Now, 60) -> (Recent)
multiset Short[Event]
apply window::range(Event, |e| e.time, Now, 20) -> (Short)
output relation Ranged(user: u32, n: u64, total: s64, most: s64)
Ranged(user, n, total, most) :-
    Recent(user, amount, _), var g = amount.group_all_by(user),
    var n = g.count(), var total = g.sum(), var most = g.max().
output relation Tumbling(start: s64, n: u64, total: s64)
Tumbling(start, n, total) :-
    Recent(_, amount, time), var start = window::tumbling(time, 16), var g = amount.group_all_by(start),
    var n = g.count(), var total = g.sum().
output relation Sliding(start: s64, n: u64, total: s64)
Sliding(start, n, total) :-
    Recent(_, amount, time), var start = FlatMap(window::sliding(time, 24, 8)),
    var g = amount.group_all_by(start), var n = g.count(), var total = g.sum().
output relation Session(user: u32, start: s64, end: s64, n: u64, total: s64)
Session(user, start, end, n, total) :-
    Recent(user, amount, time), var g = (time, amount).group_all_by(user),
    (var start, var end, var amounts) = FlatMap(window::sessions(g, 5)),
    var n = amounts.len(), var total = { var t = 64'sd0; for (x in amounts) { t = t + x }; t }.
output relation Near(user: u32, first: s64, second: s64)
Near(user, a, b) :- Short(user, _, a), Short(user, _, b), a < b, b - a <= 5.
output relation Alone(user: u32)
Alone(user) :- Recent(user, _, _), not Short(user, _, _).
"""
# `w` is the window of 60, `short` that of 20.
QUERIES = {
    "Ranged": "SELECT user, count(*), sum(amount), max(amount) FROM w GROUP BY user",
    "Tumbling": """SELECT start, count(*), sum(amount)
        FROM (SELECT amount, 16 * CAST(floor(time / 16) AS BIGINT) AS start FROM w) GROUP BY start""",
    "Sliding": """SELECT start, count(*), sum(amount) FROM w,
        (SELECT DISTINCT 8 * unnest(range(least - 4, least + 20)) AS start
         FROM (SELECT CAST(floor(min(time) / 8) AS BIGINT) AS least FROM w)) AS starts
        WHERE start <= time AND time < start + 24 GROUP BY start""",
    "Session": """SELECT user, min(time), max(time), count(*), sum(amount) FROM (
        SELECT *, sum(new) OVER (PARTITION BY user ORDER BY time) AS number FROM (
            SELECT *, CAST(time > 5 + lag(time, 1, time) OVER (PARTITION BY user ORDER BY time) AS INT) AS new
            FROM w))
        GROUP BY user, number""",
    "Near": """SELECT DISTINCT a.user, a.time, b.time FROM short a JOIN short b ON a.user = b.user
        WHERE a.time < b.time AND b.time - a.time <= 5""",
    "Alone": "SELECT user FROM w EXCEPT SELECT user FROM short",
}


@pytest.mark.parametrize("start", [0, 7])
def test_windows_are_those_of_duckdb(start: int) -> None:
    chance, base = random.Random(start), duckdb.connect()
    base.execute("CREATE TABLE event (user BIGINT, amount BIGINT, time BIGINT)")
    events, clock = list[tuple[int, int, int]](), -30
    with ddlog.compile(TEXT).session() as session:
        session.insert("Now", (clock,))
        for epoch in range(25):
            come = [
                (chance.randrange(4), chance.randrange(-5, 9), clock + chance.randrange(-40, 20))
                for _ in range(chance.randrange(8))
            ]
            here = [each for each in events if each[2] >= clock - 60]
            gone = chance.sample(here, min(len(here), chance.randrange(3)))
            after = clock + chance.choice([0, 0, 3, 10, 70 if epoch == 17 else 5])
            session.insert("Event", *come)
            for row in gone:
                session.delete("Event", row)
                events.remove(row)
            events += come
            session.delete("Now", (clock,))
            session.insert("Now", (after,))
            session.commit()
            clock = after
            base.execute("DELETE FROM event")
            if events:
                base.execute(f"INSERT INTO event VALUES {', '.join(map(str, events))}")
            for name, query in QUERIES.items():
                assert sorted(map(tuple, session[name])) == asked(base, query, clock), (epoch, name)


def asked(base: Any, query: str, clock: int) -> list[tuple[Any, ...]]:
    """What DuckDB answers."""
    windows = ", ".join(
        f"{name} AS (SELECT * FROM event WHERE time >= {clock - width})"
        for name, width in (("w", 60), ("short", 20))
    )
    return sorted(base.execute(f"WITH {windows} {query}").fetchall())
