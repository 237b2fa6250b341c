"""Views against DuckDB after inserts and deletes: window functions, recursion, and TPC-H."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ..trying import longer
from .duck import Both
from .tpch import Maintained, Refresh, generate

TABLES = """
CREATE TABLE r (a INTEGER, b INTEGER, k INTEGER NOT NULL, f DOUBLE);
CREATE TABLE e (x INTEGER, y INTEGER);
"""

VIEWS = {
    "w1": "SELECT a, row_number() OVER (PARTITION BY a ORDER BY k) AS n, rank() OVER (ORDER BY b DESC) AS r,"
    " dense_rank() OVER (PARTITION BY a ORDER BY b NULLS FIRST) AS d FROM r",
    "w2": "SELECT k, sum(b) OVER (PARTITION BY a ORDER BY k) AS s, sum(b) OVER (PARTITION BY a) AS t,"
    " count(*) OVER () AS c, avg(b) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m FROM r",
    "w3": "SELECT k, lag(b) OVER (ORDER BY k) AS l, lead(b, 2) OVER (PARTITION BY a ORDER BY k) AS m,"
    " first_value(b) OVER w AS f, last_value(k) OVER w AS z, nth_value(k, 2) OVER w AS h FROM r"
    " WINDOW v AS (PARTITION BY a), w AS (v ORDER BY k)",
    "w4": "SELECT a, sum(sum(b)) OVER (ORDER BY a) AS s, rank() OVER (ORDER BY count(*)) AS q FROM r"
    " GROUP BY a",
    "w5": "SELECT * FROM (SELECT a, k, row_number() OVER (PARTITION BY a ORDER BY k DESC) AS n FROM r) q"
    " WHERE n <= 2",
    "w6": "SELECT a, k FROM r QUALIFY row_number() OVER (PARTITION BY a ORDER BY k) = 1",
    "w7": "SELECT k, ntile(3) OVER (ORDER BY k) AS n, percent_rank() OVER (ORDER BY b) AS p,"
    " cume_dist() OVER (ORDER BY a) AS c, max(f) OVER (ORDER BY b) AS m, avg(f) OVER (PARTITION BY a) AS g,"
    " min(b) OVER (ORDER BY k ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS o FROM r",
    "r1": "WITH RECURSIVE p(x, y) AS (SELECT x, y FROM e UNION SELECT p.x, e.y FROM p JOIN e ON p.y = e.x)"
    " SELECT * FROM p",
    "r2": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 20) SELECT n FROM t",
    "r3": "WITH RECURSIVE p(x, y, d) AS (SELECT x, y, 1 FROM e UNION ALL"
    " SELECT p.x, e.y, d + 1 FROM p, e WHERE p.y = e.x AND d < 3) SELECT * FROM p",
    "r4": "WITH RECURSIVE t(n, s) AS (SELECT 1, 'a' UNION SELECT n + 1,"
    " CASE WHEN n > 3 THEN NULL ELSE s || 'b' END FROM t WHERE n < 6) SELECT count(*), max(s) FROM t",
    "r5": "WITH RECURSIVE t AS (SELECT a, b, 0 AS n FROM r UNION ALL SELECT y, 0, n + 1 FROM t JOIN e"
    " ON a = x WHERE n < 2) SELECT * FROM t",
    "g1": "SELECT a, b, grouping(a, b) AS g, count(*) AS n FROM r GROUP BY GROUPING SETS ((a, b), (a), ())",
    "g2": "SELECT DISTINCT a, stddev(b) AS s, var_pop(b) AS v, bool_and(b > 1) AS t FROM r GROUP BY a",
    "j1": "SELECT x, b, r.k FROM e NATURAL JOIN (SELECT a AS x, b, k FROM r) r",
    "j2": "SELECT a, x, y FROM r FULL JOIN (SELECT x AS a, x, y FROM e) q USING (a)",
    "j3": "SELECT k FROM r SEMI JOIN e ON a = x",
    "t1": "SELECT k, b FROM r ORDER BY b DESC NULLS LAST, k LIMIT 3 OFFSET 1",
    "o1": "SELECT r.k, y FROM r JOIN e ON (a = x AND b > 1) OR (b = 2 AND a = x)"
    " WHERE a = x AND k > 1 OR a = x",
    "o2": "SELECT k FROM r WHERE (a = 1 AND b IS NULL AND f > 1) OR (b > 1 AND a = 1)"
    " OR (a = 1 AND f IS NULL)",
    "d1": "SELECT k, cast(b AS VARCHAR) || '!' AS s, sqrt(f) AS q, f / 0 AS z, k // 2 AS h FROM r",
}


def test_windows_recursion_and_groups() -> None:
    both, rand = Both(TABLES, VIEWS), random.Random(3)
    rows: list[tuple[object, ...]] = []
    edges: list[tuple[object, ...]] = []
    for step in range(4):
        come: list[tuple[object, ...]] = [
            (
                rand.choice([None, 1, 2]),
                rand.choice([None, 1, 2, 3]),
                step * 10 + i,
                rand.choice([None, 0.5, 1.25]),
            )
            for i in range(5)
        ]
        gone = [row for row in rows if rand.random() < 0.4]
        rows = [row for row in rows if row not in gone] + come
        more: list[tuple[object, ...]] = [
            (rand.choice([1, 2, 3, None]), rand.choice([1, 2, 3, 4])) for _ in range(3)
        ]
        fewer = [edges.pop()] if edges else []
        edges += more
        both.change({"r": come, "e": more}, {"r": gone, "e": fewer})
        assert both.differences() == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the data of TPC-H is."""
    return tmp_path_factory.mktemp("tpch")


def test_tpch_is_kept_up(folder: Path) -> None:
    home = generate(longer(0.001, 0.1), folder)
    maintained = Maintained(home, threads=1)
    assert maintained.compared()[1] == []
    for step in maintained.rounds(Refresh(home), 2):
        assert step.differ == [], step.name


def test_a_projection_of_a_join_of_many_terms_follows_a_row() -> None:
    joins = "".join(f" JOIN e a{i} ON a0.x = a{i}.x" for i in range(1, 20))
    view = f"SELECT a0.x, COUNT(DISTINCT a0.y) AS n, SUM(a1.y) AS s FROM e a0{joins} GROUP BY a0.x"
    both = Both(TABLES, {"many": view})
    both.change({"e": [(1, 10), (2, 20)]}, {})
    for come, gone in (([(2, 30)], []), ([], [(2, 20)]), ([(3, 1), (1, 5)], [])):
        both.change({"e": come}, {"e": gone})
        assert both.differences() == []
    held = both.program.relations.values()
    assert max(len(each.columns) for each in held if each.name.startswith("Rows")) == 3
