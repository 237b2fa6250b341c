"""Views in Spark's dialect of SQL are those of Spark, in ANSI mode and in UTC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from pyspark.sql import SparkSession

from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source

from ..sql.duck import bag, contents
from ..sql.sparkcases import EXPRESSIONS, QUERIES, ROWS, SCHEMAS, TABLES

AT_ONCE = 60  # expressions of one view
CONF = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


@pytest.fixture
def ansi(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with the tables."""
    before = {name: spark.conf.get(name) for name in CONF}
    for name, value in CONF.items():
        spark.conf.set(name, value)
    for name, rows in ROWS.items():
        spark.createDataFrame(rows, SCHEMAS[name]).coalesce(1).createOrReplaceTempView(name)
    yield spark
    for name in ROWS:
        spark.catalog.dropTempView(name)
    for name, old in before.items():
        spark.conf.set(name, str(old))


def views() -> Mapping[str, str]:
    """The queries by the names of views."""
    expressions, queries = EXPRESSIONS.strip().split("\n"), QUERIES.strip().split("\n")
    for begin in range(0, len(expressions), AT_ONCE):
        chosen = enumerate(expressions[begin : begin + AT_ONCE])
        queries.append(f"SELECT pk, {', '.join(f'{each} AS e{at}' for at, each in chosen)} FROM t")
    return {f"v{at}": each for at, each in enumerate(queries)}


def test_views_are_those_of_spark(ansi: SparkSession) -> None:
    named = views()
    text = TABLES + "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in named.items())
    with compile_source(Source("views.sql", text, dialect="spark")).session() as session:
        for name, rows in ROWS.items():
            session.insert(name, *rows)
        session.commit()
        for name, query in named.items():
            assert contents(session, name.capitalize()) == bag(ansi.sql(query).collect()), query
