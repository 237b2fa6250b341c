"""Views of SQL change alike on both runtimes: NULL, an outer join, a group, top-k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ddlog.sessions.session import Session

VIEWS = """
CREATE TABLE r (a INTEGER, s VARCHAR, d DATE);
CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, m DECIMAL(8, 2));
CREATE VIEW outer_join AS SELECT r.s, t.m, t.k IS NULL AS alone FROM r LEFT JOIN t ON r.a = t.a AND t.m > 1;
CREATE VIEW grouped AS SELECT s, count(*) AS n, sum(a) AS total, max(d) AS last FROM r GROUP BY s;
CREATE VIEW best AS SELECT k, m FROM t ORDER BY m DESC NULLS LAST, k LIMIT 2;
"""


def changes(session: Session) -> list[str]:
    """What two commits change."""
    session.insert("r", (1, "x", "2024-01-01"), (1, "x", "2024-01-01"), (None, "y", None), (2, None, None))
    session.insert("t", (1, 1, "2.50"), (2, 1, "0.50"), (3, None, None), (4, 3, "9.99"))
    found = [str(session.commit())]
    session.delete("r", (1, "x", "2024-01-01"), (2, None, None))
    session.delete("t", (3, None, None))
    session.upsert("t", (4, 2, "1.00"))
    session.insert("r", (4, "z", "2024-02-29"))
    return [*found, str(session.commit())]


def test_views_change_alike(spark: SparkSession) -> None:
    program = compile_source(Source("views.sql", VIEWS))
    with program.session() as here, program.session(spark=spark) as there:
        first = changes(here)
        assert "Outer_join" in first[0] and "Best" in first[1]
        assert changes(there) == first


STATEMENTS = (
    ("INSERT INTO t VALUES (?, 1, 2.5), (?, NULL, 1)", (1, 2)),
    ("BEGIN", ()),
    ("UPDATE t SET a = coalesce(a, 0) + ? WHERE k IN (SELECT min(k) FROM t)", (2,)),
    ("MERGE INTO t USING (SELECT 2 AS k, 9 AS a) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a", ()),
    ("SELECT k, a FROM t ORDER BY k", ()),
    ("SAVEPOINT p", ()),
    ("DELETE FROM t RETURNING k", ()),
    ("ROLLBACK TO p", ()),
    ("COMMIT", ()),
)


def test_statements_do_the_same(spark: SparkSession) -> None:
    """They read the transaction so far; a view cannot come there."""
    program = compile_source(Source("views.sql", VIEWS))
    with program.session() as here, program.session(spark=spark) as there:
        for text, parameters in STATEMENTS:
            outcomes = [each.execute(text, parameters) for each in (here, there)]
            first, second = (
                (o.count, str(o.changes), sorted(o.rows.rows) if o.rows else None) for o in outcomes
            )
            assert first == second, text
        with pytest.raises(DDlogError, match="Spark"):
            there.execute("DROP VIEW best")
